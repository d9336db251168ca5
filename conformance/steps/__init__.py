"""The Gherkin steps, by subject. Step modules are loaded as pytest plugins, so that other feature files can use them."""
