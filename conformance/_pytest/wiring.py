"""From the command line to implementations: which specifications are given, and how each is connected to."""

from __future__ import annotations

import pytest

from conformance._pytest.bridges import Bridge, Connect, check_labels, shake_hands
from conformance.drivers.driver import Driver


def meet(config: pytest.Config) -> list[Bridge]:
    """Shake hands with every bridge that is given, once."""
    given = [_label(text) for text in config.getoption("--bridge")]
    check_labels(label for label, _ in given)
    connect = connections(config)
    bridges = []
    for label, spec in given:
        hello = shake_hands(label, connect(spec))
        bridges.append(Bridge(label, spec, hello, hello.mounts[0] if hello.mounts else None))
    return bridges


def connections(config: pytest.Config) -> Connect:
    """How this run connects to the implementation of a specification."""

    def connect(spec: str) -> Driver:
        # Stands in for conformance.drivers.specs until that module is there.
        from importlib import import_module
        from types import SimpleNamespace

        from conformance.drivers.backend import InProcessDriver

        name, _, query = spec.partition("?mount=")
        mount = query or None
        if name.split("@")[0] == "pi":
            from conformance.drivers.pi import make_driver

            return make_driver(SimpleNamespace(label="pi", version=name.partition("@")[2] or None, mount=mount))
        if name == "reference":
            from conformance.drivers.reference import make_backend

            return InProcessDriver(spec, lambda suite: make_backend(suite, mount), mount)
        _, module, factory = spec.split(":")
        return InProcessDriver(spec, getattr(import_module(module), factory))

    return connect


def _label(text: str) -> tuple[str, str]:
    label, equals, spec = text.partition("=")
    return (label, spec) if equals else (text, text)
