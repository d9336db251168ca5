"""The driver of Pi itself: its adapter on a pinned, cached installation."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from conformance.drivers.driver import HarnessError
from conformance.drivers.node import find_node
from conformance.drivers.npm import PinnedSet, install
from conformance.drivers.stdio import StdioDriver

ADAPTER = Path(__file__).resolve().parent.parent / "adapters" / "pi"
"""The folder of Pi's adapter."""
DEFAULT = "0.84.1"
"""The version that decides what "same semantics" means; its pins lie beside the adapter, other versions' below it."""


class PiSpec(Protocol):
    """What of a bridge specification is needed here: ``pi``, ``pi@VERSION``; ``label`` is its name in reports."""

    @property
    def label(self) -> str:
        """The bridge's name in reports."""
        ...

    @property
    def version(self) -> str | None:
        """One of :func:`versions`, or ``None`` for the default."""
        ...

    @property
    def mount(self) -> str | None:
        """The mount asked for; Pi has none."""
        ...


def versions() -> list[str]:
    """Return the versions of Pi that are pinned, the default first."""
    return [DEFAULT, *sorted(folder.name for folder in (ADAPTER / "versions").iterdir() if folder.is_dir())]


def make_driver(spec: PiSpec) -> StdioDriver:
    """Return a driver of the real Pi, after installing that version if it is not cached.

    Raises ``HarnessError`` for a version that is not pinned, for a mount, and when Node or the packages are not to be
    had.
    """
    version = spec.version or DEFAULT
    if version not in versions():
        raise HarnessError(f"pi@{version} is not pinned", f"name one of: {', '.join(versions())}")
    if spec.mount is not None:
        raise HarnessError(
            f"Pi has no mount {spec.mount!r}", "leave ?mount= out: packages are always Pi's own extensions"
        )
    source = ADAPTER if version == DEFAULT else ADAPTER / "versions" / version
    node = find_node()
    root = install(PinnedSet("pi", version, source), npm=node.npm)
    argv = [str(node.program), str(ADAPTER / "adapter.mjs"), "--root", str(root)]
    return StdioDriver(spec.label, argv)
