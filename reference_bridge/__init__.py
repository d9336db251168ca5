"""A reference Pi bridge on a reference host: the clearest program in the house."""
