"""The Pi API on the reference host: six methods and six events.

Start at `Bridge`, whose docstring says what hangs on which seam of the host, then read a part for each surface:
`registrations`, `active_tools` and `exec` for the methods, `execution_events`, `gate`, `patches` and `batches` for the
events, `tools` and `arguments` for what a package's own tool goes through.
"""

from __future__ import annotations

from reference_bridge.bridge.api import Pi, Unloaded
from reference_bridge.bridge.arguments import UNDEFINED, ArgumentsInvalid, validate_arguments
from reference_bridge.bridge.bridge import Bridge, Mount
from reference_bridge.bridge.context import Context
from reference_bridge.bridge.packages import Package

__all__ = [
    "UNDEFINED",
    "ArgumentsInvalid",
    "Bridge",
    "Context",
    "Mount",
    "Package",
    "Pi",
    "Unloaded",
    "validate_arguments",
]
