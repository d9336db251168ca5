"""Carrying out what the suite replied: ops on the object at hand, then a return or a throw."""

from __future__ import annotations

from typing import Any

import msgspec

from conformance.drivers.protocol import Op, Reply
from conformance.drivers.reference._values import Signals, decode, exception
from reference_bridge.host import UNDEFINED


def apply_ops(ops: list[Op], at: str, target: Any, signals: Signals | None = None) -> None:
    """Make the changes due at one moment. A path that leads nowhere changes nothing."""
    for op in ops:
        if op.at == at:
            _apply(op, target, decode(op.value, signals))


def finish(reply: Reply, otherwise: Any = UNDEFINED, signals: Signals | None = None) -> Any:
    """Return or throw what the reply says; ``otherwise`` where it says neither."""
    if reply.throws is not msgspec.UNSET:
        raise exception(decode(reply.throws, signals))
    return otherwise if reply.returns is msgspec.UNSET else decode(reply.returns, signals)


def _apply(op: Op, target: Any, value: Any) -> None:
    if op.op == "assign":
        target[op.path[0]] = value
        return
    *way, last = op.path if op.op != "append" else [*op.path, None]
    for key in way:
        try:
            target = target[key]
        except (KeyError, IndexError, TypeError):
            return
    if op.op == "append" and isinstance(target, list):
        target.append(value)
    elif op.op == "set" and isinstance(target, dict):
        target[last] = value
    elif op.op == "set" and isinstance(target, list) and isinstance(last, int):
        target[last : last + 1] = [value]
    elif op.op == "delete" and isinstance(target, dict):
        target.pop(last, None)
    elif op.op == "delete" and isinstance(target, list) and isinstance(last, int):
        del target[last : last + 1]
