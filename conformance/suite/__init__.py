"""The tests of the suite, made from the catalogue: one for each scenario and vector row."""
