"""The parts of the pytest plugin: whom it asks what, how a test becomes a verdict, what is shown."""
