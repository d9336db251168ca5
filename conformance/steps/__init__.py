"""The Gherkin steps, by subject; loaded as pytest plugins, so that other feature files can use them too."""
