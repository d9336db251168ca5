"""The driver of the DeepSeek Harness itself: its adapter on a pinned, cached installation."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from conformance.drivers.driver import HarnessError
from conformance.drivers.node import find_node
from conformance.drivers.npm import PinnedSet, install
from conformance.drivers.stdio import StdioDriver

ADAPTER = Path(__file__).resolve().parent.parent / "adapters" / "dsh"
"""The folder of the harness's adapter; the pins lie in it."""
VERSION = "0.1.0-rc.8"
"""The version of every package of the set: the newest that npm offers whole."""


class DshSpec(Protocol):
    """What of a bridge specification is needed here: ``dsh`` or ``dsh@VERSION``; ``label`` is its name in reports."""

    @property
    def label(self) -> str:
        """The implementation's name in reports."""
        ...

    @property
    def version(self) -> str | None:
        """:data:`VERSION`, or ``None`` for it."""
        ...

    @property
    def mount(self) -> str | None:
        """The mount asked for; the harness alone has none."""
        ...


def make_driver(spec: DshSpec) -> StdioDriver:
    """Return a driver of the real harness, after installing it if it is not cached.

    Raises ``HarnessError`` for a version that is not pinned, for a mount, and when Node or the packages are not to be
    had.
    """
    if spec.version not in (None, VERSION):
        raise HarnessError(f"dsh@{spec.version} is not pinned", f"write dsh, or dsh@{VERSION}")
    if spec.mount is not None:
        raise HarnessError(
            f"the harness has no mount {spec.mount!r}", "leave ?mount= out: mounts are a bridge's, and here is none"
        )
    node = find_node()
    root = install(PinnedSet("dsh", VERSION, ADAPTER), npm=node.npm)
    argv = [str(node.program), str(ADAPTER / "adapter.mjs"), "--root", str(root)]
    return StdioDriver(spec.label, argv)
