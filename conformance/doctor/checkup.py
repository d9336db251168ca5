"""The whole checkup of one implementation: every check once, each on a connection that works."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from functools import partial

from conformance.deadlines import Deadlines
from conformance.doctor import talk, wire
from conformance.doctor.findings import Finding, broken, left_out, ok, trouble, warning
from conformance.doctor.patience import Patience
from conformance.drivers import mends
from conformance.drivers.capabilities import CAPABILITIES
from conformance.drivers.driver import Driver, HarnessError, Unsupported
from conformance.drivers.envelope import quote
from conformance.drivers.protocol import InitializeResult
from conformance.drivers.stdio import GRACE_SECONDS, StdioDriver
from conformance.probes import PROBES, Found, look
from conformance.stage import Stage

HANDSHAKE = 6.0
"""How many times longer than any other answer the handshake may take: programs start slowly."""
BREAKS = 3
"""Connections that may break before the rest is left out: one trouble has many faces."""

Check = Callable[[Driver, Patience], Finding | list[Finding]]


class Stopped(Exception):
    """Nothing more can be checked; ``finding`` says why."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.text)
        self.finding = finding


class Checkup:
    """Made for one implementation; ``make`` gives a driver that was not started, as often as one breaks.

    ``seconds`` is how long an answer may take.
    """

    def __init__(self, make: Callable[[], Driver], mount: str | None, seconds: float) -> None:
        self._make = make
        self._mount = mount
        self._seconds = seconds
        self._driver: Driver | None = None
        self._breaks = 0

    def findings(self) -> Iterator[Finding]:
        """Yield what each check finds, as soon as it is known; the last leaves nothing running."""
        with asyncio.Runner() as runner:
            patience = Patience(runner, self._seconds)
            before = asyncio.all_tasks(runner.get_loop())
            try:
                yield from self._all(patience)
            except Stopped as reason:
                yield reason.finding
            finally:
                self._discard(patience)
            runner.run(asyncio.sleep(0))
            if left := asyncio.all_tasks(runner.get_loop()) - before:
                names = ", ".join(sorted(task.get_coro().__qualname__ for task in left))  # type: ignore[union-attr]
                yield warning("tasks", f"it left {len(left)} behind: {names}", "cancel and await them in close()")

    def _all(self, patience: Patience) -> Iterator[Finding]:
        began = time.monotonic()
        hello = self._hello(patience)
        yield ok("handshake", f"it answered in {time.monotonic() - began:.1f} s")
        yield from talk.said(hello)
        in_process = not isinstance(self._driver, StdioDriver)
        single: dict[str, Check] = {"ping and flush": talk.answers_at_once}
        if not in_process:
            big = partial(talk.takes_big, limit=hello.limits.line_bytes)
            single |= {"unknown method": talk.answers_unknown, "a message of 32 MiB": big}
        for name, check in single.items():
            for finding in self._checked(name, check, patience):
                yield finding
                if name == "ping and flush" and finding.state != "ok":
                    raise Stopped(left_out("the rest", "it does not even answer a ping"))
        turn = list(self._checked("a turn", talk.has_turns, patience))
        yield from turn
        if any(finding.state == "trouble" for finding in turn):
            yield left_out("capabilities", "they are tried in turns")
        else:
            yield from self._capabilities(patience)
        if not in_process:
            yield from self._end(patience)
            yield from self._pieces(patience)

    # --- the connection -----------------------------------------------------------------------------------------------

    def _hello(self, patience: Patience) -> InitializeResult:
        """Connect; raises :class:`Stopped`."""
        driver = self._driver = self._make()
        if isinstance(driver, StdioDriver):
            driver.start_seconds = HANDSHAKE * self._seconds
        try:
            # The driver's own deadline comes first where it has one, and says more.
            self._said = patience.wait(driver.start(), "initialize", HANDSHAKE + 1)
            return self._said
        except HarnessError as error:
            found = broken("handshake", error)
        except Exception as error:
            found = trouble("handshake", f"it broke: {type(error).__name__}: {error}", "mend what makes the backend")
        self._discard(patience)
        if isinstance(driver, StdioDriver) and "did not answer initialize" in found.text:
            found = patience.runner.run(wire.why_silent(self._fresh(), self._mount, self._seconds)) or found
        raise Stopped(found)

    def _fresh(self) -> StdioDriver:
        driver = self._make()
        assert isinstance(driver, StdioDriver)
        return driver

    def _discard(self, patience: Patience) -> None:
        driver, self._driver = self._driver, None
        if driver is not None:
            patience.runner.run(driver.close())

    def _checked(self, name: str, check: Check, patience: Patience) -> Iterator[Finding]:
        """Make one check; when the connection breaks in it, that is its finding, and the next gets a fresh one."""
        if self._driver is None:
            if self._breaks >= BREAKS:
                raise Stopped(left_out("the rest", f"the connection broke {self._breaks} times"))
            self._hello(patience)
        driver = self._driver
        assert driver is not None
        try:
            found = check(driver, patience)
        except Unsupported as lack:
            found = trouble(name, f"it lacks {lack.capability}, which every implementation has", "answer it")
        except HarnessError as error:
            found = broken(name, error)
            if isinstance(driver, StdioDriver) and driver.unfinished:
                text = f"{error.cause}; it has begun a line, {quote(driver.unfinished)}, and not ended it"
                found = trouble(name, text, mends.TOO_LONG)
            self._breaks += 1
            self._discard(patience)
        yield from found if isinstance(found, list) else [found]

    # --- capabilities -------------------------------------------------------------------------------------------------

    def _capabilities(self, patience: Patience) -> Iterator[Finding]:
        counts = dict.fromkeys(("declared and found", "declared and not to be tried here", "neither"), 0)
        for name in PROBES:
            for finding in self._checked(f"capability {name}", self._probing(name, patience, counts), patience):
                if finding.state != "ok":
                    yield finding
        said = ", ".join(f"{count} {what}" for what, count in counts.items() if count)
        yield ok("capabilities", f"{len(PROBES)} probed: {said or 'nothing to tell'}")

    def _probing(self, name: str, patience: Patience, counts: dict[str, int]) -> Check:
        def probe(driver: Driver, _: Patience) -> Finding:
            hello = self._said
            deadlines = Deadlines(request=self._seconds)
            found = look(name, lambda: Stage(patience.runner, driver, hello, self._mount, deadlines))
            return _judged(name, name in hello.capabilities, found, counts)

        return probe

    # --- the end ------------------------------------------------------------------------------------------------------

    def _end(self, patience: Patience) -> Iterator[Finding]:
        if self._driver is None:
            self._hello(patience)
        driver, self._driver = self._driver, None
        assert isinstance(driver, StdioDriver)
        patience.runner.run(driver.close())
        yield _ended(driver)
        if driver.left_behind:
            names = ", ".join(map(str, driver.left_behind))
            yield warning("children", f"it left behind {names}", "end what you started before you end yourself")
        yield _errors(driver)

    def _pieces(self, patience: Patience) -> Iterator[Finding]:
        yield from patience.runner.run(wire.takes_pieces(self._fresh(), self._mount, self._seconds))


def _judged(name: str, declared: bool, found: Found, counts: dict[str, int]) -> Finding:
    check = f"capability {name}"
    if declared and found is Found.LACKING:
        return warning(
            check,
            "it is declared and is not there: rules that need it will be absent, which is a failure",
            "implement it, or take it out of the capabilities",
        )
    if declared and found is Found.UNCLEAR:
        return warning(
            check, "it is declared, and its probe did not see what it does", f"make sure of it: {CAPABILITIES[name]}"
        )
    if not declared and found is Found.THERE:
        return warning(
            check, "it works and is not declared: rules that pass with it will read undeclared", "declare it"
        )
    if declared:
        counts["declared and found" if found is Found.THERE else "declared and not to be tried here"] += 1
    else:
        counts["neither"] += 1
    return ok(check, str(found))


def _ended(driver: StdioDriver) -> Finding:
    check = "end of input"
    if driver.ended is None:
        return warning(
            check,
            f"it still ran {GRACE_SECONDS:g} s after its input had ended, and had to be ended",
            "end the process when standard input ends",
        )
    if driver.ended != "exited with code 0":
        return warning(check, f"it {driver.ended}", "exit with code 0 when standard input ends")
    return ok(check, "it ended by itself")


def _errors(driver: StdioDriver) -> Finding:
    check = "standard error"
    lines = driver.stderr.strip().splitlines()
    if not lines:
        return ok(check, "nothing was written")
    if "bytes left out" in driver.stderr:
        return warning(
            check,
            f"it wrote more than is kept: the first line is {lines[0]!r}",
            "write less there: only the beginning and the end are kept with a report",
        )
    plural = "" if len(lines) == 1 else "s"
    return ok(check, f"{len(lines)} line{plural}, kept with reports: {lines[0][:100]!r}")
