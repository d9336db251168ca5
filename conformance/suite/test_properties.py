"""Random programs, each shard a test: whatever packages, model and operator do, no invariant breaks."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from conformance._pytest.bridges import Bridge
from conformance._pytest.random_programs import run_shard
from conformance.plugin import WORKER, current_plan
from conformance.properties import PROPERTIES


def _bound(shard: int) -> Callable[[pytest.FixtureRequest, Bridge], None]:
    def test(request: pytest.FixtureRequest, bridge: Bridge) -> None:
        run_shard(request.config.stash[WORKER], request.node, bridge, shard)

    return test


made = set(current_plan().items_of("property"))
globals().update({name: _bound(shard) for shard, name in enumerate(PROPERTIES, 1) if name in made})
