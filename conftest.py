"""In this checkout, ``pytest --bridge=…`` without paths is about the suite, not about the project's own tests."""

from __future__ import annotations

from pathlib import Path

import pytest

SUITE = Path(__file__).parent / "conformance" / "suite"


def pytest_configure(config: pytest.Config) -> None:
    """Leave out the tests of the project where the command line asks for a verdict and names no path."""
    if config.getoption("--bridge", default=[]) and config.args_source is pytest.Config.ArgsSource.TESTPATHS:
        config.args = [str(SUITE)]
