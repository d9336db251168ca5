"""What the bridge reports to the operator, each thing once."""

from __future__ import annotations

from collections.abc import Hashable

from reference_bridge.host.logger import Logger


class Notices:
    """Writes to the host's logger and to nowhere else, so that nobody reads one report twice."""

    def __init__(self, logger: Logger) -> None:
        self._logger = logger
        self._said: set[Hashable] = set()

    def warn(self, text: str) -> None:
        """Report something a package asked for that did not happen as on Pi."""
        self._logger.warn(f"pi bridge: {text}")

    def warn_once(self, key: Hashable, text: str) -> None:
        """Report it unless it was reported under the same `key` before."""
        if key not in self._said:
            self._said.add(key)
            self.warn(text)

    def handler_failed(self, package: str, event: str, text: str) -> None:
        """Report what an observing handler threw."""
        self.warn(f"a {event} handler of package {package!r} failed: {text}")
