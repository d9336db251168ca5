"""The driver of the reference bridge, in process."""

from __future__ import annotations

from conformance.drivers.reference.backend import make_backend as make_backend
