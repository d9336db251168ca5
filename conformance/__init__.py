"""The conformance suite: catalogue, drivers, stage, steps, suite and reports."""
