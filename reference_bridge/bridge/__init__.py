"""The Pi API on the reference host: six methods and six events."""
