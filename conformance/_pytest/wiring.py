"""From the command line to implementations: which specifications are given, and how each is connected to."""

from __future__ import annotations

import pytest

from conformance._pytest.bridges import Bridge, Connect, shake_hands
from conformance.drivers.driver import Driver
from conformance.drivers.specs import SpecError, make_driver, parse, parse_all


def meet(config: pytest.Config) -> list[Bridge]:
    """Shake hands with every bridge that is given, once."""
    folder = config.invocation_params.dir
    try:
        specs = parse_all(config.getoption("--bridge"), folder)
        bridges = []
        for spec in specs:
            hello = shake_hands(spec.label, make_driver(spec, config.getoption("--bridge-env")))
            mount = spec.mount or (hello.mounts[0] if hello.mounts else None)
            bridges.append(Bridge(spec.label, spec.text, hello, mount))
        return bridges
    except SpecError as error:
        raise pytest.UsageError(str(error)) from None


def connections(config: pytest.Config) -> Connect:
    """How this run connects to the implementation of a specification."""

    def connect(spec: str) -> Driver:
        return make_driver(parse(spec, config.invocation_params.dir), config.getoption("--bridge-env"))

    return connect
