"""How many random programs a second, beside the same programs drawn and thrown away before an empty stage."""

from __future__ import annotations

import multiprocessing
import statistics
import sys
import time
from typing import Literal

Way = Literal["in process", "through stdio"]
PROCESSES = 2


def programs(count: int, rounds: int) -> None:
    """Measure and print, for each way to the reference."""
    for way in ("in process", "through stdio"):
        spent: dict[bool, list[tuple[float, float]]] = {True: [], False: []}
        for number in range(rounds):
            for whole in (True, False):
                spent[whole].append(_at_once(way, count, whole, number))
        full, empty = (statistics.median(wall for wall, _ in spent[whole]) for whole in (True, False))
        clock = 1 if way == "in process" else 0
        with_stage, without = (statistics.median(pair[clock] for pair in spent[whole]) for whole in (True, False))
        print(
            f"random programs {way} with invariants: {count * PROCESSES / full:.0f} a second on {PROCESSES} cores; "
            f"before an empty stage {count * PROCESSES / empty:.0f}; ratio {without / with_stage:.2f}"
        )


def _at_once(way: Way, count: int, whole: bool, number: int) -> tuple[float, float]:
    """Return the seconds on the wall, and those of a processor, that ``count`` programs in each process took."""
    with multiprocessing.get_context("fork").Pool(PROCESSES) as pool:
        work = [(way, count, whole, number * PROCESSES + at) for at in range(PROCESSES)]
        found = pool.starmap(_run, work, chunksize=1)
    return max(wall for wall, _ in found), sum(processor for _, processor in found)


def _run(way: Way, count: int, whole: bool, number: int) -> tuple[float, float]:
    from hypothesis import HealthCheck, Phase, given, seed, settings

    from conformance.drivers.backend import InProcessDriver
    from conformance.drivers.driver import Driver
    from conformance.drivers.reference import make_backend
    from conformance.drivers.stdio import StdioDriver
    from conformance.garbage import spared
    from conformance.invariants import judge
    from conformance.programs import AnyOperation, run_program
    from conformance.programs.search import own_connection
    from conformance.programs.strategy import programs as strategy

    driver: Driver = InProcessDriver("reference", lambda suite: make_backend(suite, "root"))
    if way == "through stdio":
        driver = StdioDriver("served", [sys.executable, "-m", "conformance.cli", "serve", "--bridge=reference"])
    at = own_connection(driver, "root")
    started: list[tuple[float, float]] = []

    @seed(number)
    @settings(
        max_examples=count + 20,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy(at.hello.capabilities, at.waits_cost_nothing))
    def run(program: list[AnyOperation]) -> None:
        started.append((time.perf_counter(), time.process_time()))
        ran = run_program(at, program if whole else [])
        if whole:
            judge(ran.trace, ran.context)

    with spared():  # as a session of tests has it
        run()
    wall, processor = time.perf_counter(), time.process_time()
    at.runner.run(driver.close())
    at.runner.close()
    # The first twenty warm up.
    return wall - started[20][0], processor - started[20][1]
