"""Whose a tool is that steps of a scenario speak of."""

from __future__ import annotations

import pytest

from conformance.plan import Plan
from conformance.scripts import Behaviour, CallPi


def test_a_tool_that_is_registered_at_work_is_that_packages() -> None:
    plan = Plan()
    registers = CallPi(call="registerTool", args=[{"name": "print_label"}])
    plan.package("parcels").executes("open_shop", Behaviour(acts=[registers]))
    plan.package("letters").handles("tool_call", Behaviour(acts=[CallPi(call="getActiveTools", args=[])]))

    assert plan.owner_of("print_label").name == "parcels"


def test_a_tool_that_nobody_registers_is_nobodys() -> None:
    plan = Plan()
    odd = CallPi(call="registerTool", args=["print_label"])
    plan.package("parcels").executes("open_shop", Behaviour(acts=[odd]))

    with pytest.raises(LookupError, match="print_label"):
        plan.owner_of("print_label")
