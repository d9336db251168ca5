"""Programs for which a right implementation was accused once: nothing is wrong with them on the reference nor on Pi."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.drivers.driver import HarnessError
from conformance.drivers.specs import make_driver, parse
from conformance.invariants import judge
from conformance.programs.cases import read_case
from conformance.programs.differential import differ
from conformance.programs.run import Connection, run_program
from conformance.programs.search import own_connection

CASES = {
    path.stem: read_case(path) for path in sorted((Path(__file__).parents[1] / "data" / "innocent").glob("*.json"))
}
SPECS = ("pi", "reference?mount=root", "reference?mount=engine")


@pytest.fixture(scope="module")
def sides() -> Iterator[list[Connection]]:
    try:
        found = [own_connection(make_driver(parse(spec))) for spec in SPECS]
    except HarnessError as error:
        pytest.skip(f"Pi cannot be had here: {error.cause}")
    yield found
    for at in found:
        at.runner.run(at.driver.close())
        at.runner.close()


@pytest.mark.parametrize("name", CASES)
def test_nobody_is_accused_who_is_right(sides: list[Connection], name: str) -> None:
    program = CASES[name].operations

    pi, root, engine = (run_program(at, program) for at in sides)

    assert [each for ran in (pi, root, engine) for each in judge(ran.trace, ran.context)] == []
    assert [differ(program, pi, root), differ(program, pi, engine), differ(program, root, engine)] == [None] * 3
