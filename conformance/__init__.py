"""The conformance suite: catalogue, drivers, stage, steps, suite and reports."""

__version__ = "0.1.0"
