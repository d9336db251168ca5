"""`exec`: a program run by the host's subprocess provider, bounded in output and in time."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from reference_bridge.host.subprocess import SubprocessRuntime

STREAM_LIMIT: Final = 64 * 1024 * 1024
"""Bytes of each stream the bridge asks the provider to keep; of a longer stream it has the end."""


class Exec:
    """Runs programs for packages. `provider` gives the host's service, `None` where there is none."""

    def __init__(
        self, provider: Callable[[], SubprocessRuntime | None], grace: float = 5.0, limit: int = STREAM_LIMIT
    ) -> None:
        """`grace` is how many seconds a child has between being asked to end and being made to."""
        self._provider = provider
        self._grace = grace
        self._limit = limit
