"""From the command line to implementations: which specifications are given, and how each is connected to."""

from __future__ import annotations

import pytest

from conformance._pytest.bridges import Bridge, Connect, shake_hands
from conformance.drivers.driver import Driver, HarnessError
from conformance.drivers.specs import BridgeSpec, SpecError, make_driver, parse, parse_all
from conformance.verdicts import Exit


def meet(config: pytest.Config) -> list[Bridge]:
    """Shake hands with every bridge that is given, once."""
    folder = config.invocation_params.dir
    try:
        specs = parse_all(config.getoption("--bridge"), folder)
        against = config.getoption("--bridge-against")
        if against is not None and against not in [spec.label for spec in specs]:
            parse(against, folder)
        return [_met(spec, make_driver(spec, config.getoption("--bridge-env"))) for spec in specs]
    except SpecError as error:
        raise pytest.UsageError(str(error)) from None
    except HarnessError as error:
        pytest.exit(str(error), returncode=Exit.HARNESS_ERROR)


def _met(spec: BridgeSpec, driver: Driver) -> Bridge:
    hello = shake_hands(spec.label, driver)
    if spec.mount is not None and hello.mounts and spec.mount not in hello.mounts:
        raise pytest.UsageError(
            f"{spec.label} has no mount called {spec.mount!r}. Mend: name one of {', '.join(hello.mounts)}."
        )
    return Bridge(spec.label, spec.text, hello, spec.mount or (hello.mounts[0] if hello.mounts else None))


def connections(config: pytest.Config) -> Connect:
    """How this run connects to the implementation of a specification."""

    def connect(spec: str) -> Driver:
        return make_driver(parse(spec, config.invocation_params.dir), config.getoption("--bridge-env"))

    return connect
