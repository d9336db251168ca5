"""The right bridges as ``--bridge=py:tests.right_bridges.backends:NAME`` takes them, hyphens as underscores."""

from __future__ import annotations

from collections.abc import Callable

from conformance.drivers.backend import Backend, Suite
from tests.right_bridges.table import load_right_bridges


def __getattr__(name: str) -> Callable[[Suite], Backend]:
    for bridge in load_right_bridges().values():
        if bridge.factory == name:
            return bridge.make_backend
    raise AttributeError(f"no right bridge is called {name}")
