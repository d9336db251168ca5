"""What holds for the project's own tests alone: drawn examples are the same on every machine, and none is timed."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# A machine that is busy with something else is no finding: neither a slow example nor a slow draw is.
settings.register_profile(
    "repeatable", derandomize=True, database=None, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("repeatable")
