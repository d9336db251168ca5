"""What slow tests share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.slow.small_checkout import SmallCheckout


@pytest.fixture
def checkout(tmp_path: Path) -> SmallCheckout:
    """A private copy of the suite that a test may break."""
    return SmallCheckout(tmp_path / "checkout")


@pytest.fixture(scope="session")
def sound(tmp_path_factory: pytest.TempPathFactory) -> SmallCheckout:
    """A private copy that no test changes."""
    return SmallCheckout(tmp_path_factory.mktemp("sound") / "checkout")
