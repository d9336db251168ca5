"""What happens where tests run: making them for each bridge, running each on a fresh stage, judging it at once."""

from __future__ import annotations

import inspect
import json
from collections.abc import Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import pytest
from _pytest.runner import runtestprotocol

from conformance import invariants
from conformance._pytest import block
from conformance._pytest.bridges import Bridge, Pool, stderr_of
from conformance._pytest.judge import InvariantBroken, Judged, NotRun, judge
from conformance._pytest.plan import Plan, Task, blocked
from conformance.catalogue.features import TAGS
from conformance.deadlines import Deadlines
from conformance.drivers.driver import Driver, HarnessError, PossibleHang
from conformance.drivers.envelope import printable
from conformance.garbage import spared
from conformance.reporting import files
from conformance.reporting.model import Broken
from conformance.stage import Stage
from conformance.trace import Event, Trace
from conformance.transcripts.keeping import Keeper
from conformance.transcripts.recording import RecordingDriver
from conformance.transcripts.replaying import NotRecorded, ReplayDriver, StimulusChanged
from conformance.verdicts import TABLE, RuleFailed, Verdict

SUITE = Path(__file__).resolve().parent.parent / "suite"
JUDGED = "conformance"
"""The user property that carries a :class:`Judged` from a worker to the controller."""
TRACE = "conformance_trace"
"""The attribute of a report that carries a trace in its file form the same way."""
MODULES = {"test_features.py": "scenario", "test_vectors.py": "vector", "test_properties.py": "property"}
"""The kind of proof that each module of the suite runs."""


@dataclass
class Run:
    """One test while it runs."""

    task: Task
    bridge: Bridge
    stage: Stage | None = None
    driver: Driver | None = None
    trace: Trace | None = None
    step: str = ""
    broken: list[Broken] = field(default_factory=list)
    witnessed: bool = False
    hangs: int = 0
    recording: RecordingDriver | None = None


RUN = pytest.StashKey[Run]()


class Worker:
    """The plugin of a process that runs tests: the only one, or each of xdist's workers."""

    def __init__(self, config: pytest.Config, plan: Plan, pool: Pool) -> None:
        self.config = config
        self.plan = plan
        self.pool = pool
        self.bridges = {bridge.label: bridge for bridge in plan.bridges}
        record = config.getoption("--bridge-record")
        self.traced = files.folder(config.getoption("--bridge-report")) is not None
        self._printed: set[tuple[str, ...]] = set()
        self.keeper = Keeper(config.invocation_params.dir / record, plan) if record else None

    # --- making tests -------------------------------------------------------------------------------------------------

    @pytest.hookimpl(tryfirst=True)
    def pytest_bdd_apply_tag(self, tag: str, function: Any) -> object:
        """Keep our tags from becoming marks: some hold a colon, and a user may have strict markers on."""
        head, colon, _ = tag.partition(":")
        return True if head + colon in TAGS else None

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Make each of our tests, and each of a user's that asks for a stage, once for every bridge."""
        ours = metafunc.definition.path.parent == SUITE
        if ours or "bridge" in metafunc.fixturenames or "stage" in metafunc.fixturenames:
            if "bridge" not in metafunc.fixturenames:
                metafunc.fixturenames.append("bridge")
            labels = self.plan.labels_of(metafunc.definition.name) if ours else list(self.bridges)
            metafunc.parametrize("bridge", labels, indirect=True, scope="session")

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(
        self, collector: pytest.Collector
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        """Refuse a module of the suite that made other tests than the catalogue has for it."""
        report = yield
        if isinstance(collector, pytest.Module) and collector.path.parent == SUITE and report.passed:
            kind = MODULES.get(collector.path.name)
            made = sorted(node.name for node in report.result)
            items = self.plan.items_of(kind or "")
            wanted = sorted(f"{item}[{label}]" for item in items for label in self.plan.labels_of(item))
            if kind is not None and made != wanted:
                report.outcome = "failed"
                report.longrepr = _miscount(collector.path.name, made, wanted)
        return report

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Deselect what does not apply and what was not chosen; a skip would claim that it might have run."""
        kept, dropped = [], []
        for item in items:
            label = _label(item)
            if label is None or item.path.parent != SUITE:
                kept.append(item)
                continue
            name = getattr(item, "originalname", item.name)
            task = self.plan.tasks.get((label, name))
            if task is None or (label, name) not in self.plan.chosen:
                dropped.append(item)
                continue
            item.stash[RUN] = Run(task, task.bridge)
            kept.append(item)
        if dropped:
            self.config.hook.pytest_deselected(items=dropped)
            items[:] = kept

    def runs(self, item: pytest.Item) -> bool:
        """Whether this is a test of the suite."""
        return item.stash.get(RUN, None) is not None

    # --- running them -------------------------------------------------------------------------------------------------

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtestloop(self) -> Generator[None, object, object]:
        """Run the tests with the garbage collector out of their way."""
        with spared(ending=hasattr(self.config, "workerinput")):
            return (yield)

    def open_stage(self, item: pytest.Item, bridge: Bridge) -> Stage:
        """A fresh stage on a bridge for the test ``item``."""
        driver = self.pool.driver(bridge)
        run = item.stash.get(RUN, None)
        deadlines = Deadlines.of(run.task.rule if run is not None else None, self.config.getoption("--bridge-timeout"))
        if run is not None and isinstance(driver, ReplayDriver) and blocked(run.task) is None:
            try:
                driver.select(run.task.item)
            except NotRecorded as error:
                raise NotRun(Verdict.NOT_RUN, str(error)) from None
        if run is not None and self.keeper is not None and not isinstance(driver, ReplayDriver):
            run.recording = RecordingDriver(driver)
        stage = Stage(self.pool.runner, (run and run.recording) or driver, bridge.hello, bridge.mount, deadlines)
        if run is not None:
            run.stage, run.driver = stage, driver
        return stage

    def owns(self, item: pytest.Item) -> bool:
        """Whether a stage of this test is still open: closing it is part of the test, unless the test broke off."""
        run = item.stash.get(RUN, None)
        return run is None or run.stage is not None

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(
        self, item: pytest.Item, nextitem: pytest.Item | None
    ) -> Generator[None, object, object]:
        """Ask once more where the implementation stopped answering: twice in one place, and the rule has its answer."""
        result = yield
        run = item.stash.get(RUN, None)
        if run is not None and run.hangs == 1 and not item.session.shouldstop and not item.session.shouldfail:
            run.broken, run.trace, run.witnessed = [], None, False
            item._initrequest()  # type: ignore[attr-defined]
            runtestprotocol(item, nextitem=nextitem)
        if run is not None:  # Nobody asks for them any more, and a session may have tens of thousands.
            run.trace, run.recording, run.driver = None, None, None
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> Generator[None, object, object]:
        """Decide what need not run; else run, close the stage and judge its whole trace by the invariants."""
        run = pyfuncitem.stash.get(RUN, None)
        if run is None:
            return (yield)
        decided = blocked(run.task)
        if decided is not None:
            raise NotRun(*decided)
        try:
            result = yield
        except Exception as error:
            self._finish(run, error)
            raise
        except BaseException:
            # Interrupted in the middle of whatever it was: nothing more is asked of this implementation.
            if run.stage is not None:
                run.stage.leave()
            run.stage = None
            self.pool.discard(run.bridge)
            raise
        self._finish(run, None)
        if run.broken:
            first = run.broken[0]
            raise InvariantBroken(f"the invariant {first.invariant} does not hold: {first.sentence}")
        return result

    def _finish(self, run: Run, error: Exception | None) -> None:
        stage, run.stage = run.stage, None
        if stage is None:
            return
        run.trace = stage.trace
        if isinstance(error, HarnessError):
            # Whoever it was that broke, the next test starts with a fresh implementation.
            stage.leave()
            self.pool.discard(run.bridge)
            return
        try:
            stage.close()
            if isinstance(run.driver, ReplayDriver):
                run.driver.finish()
        except HarnessError:
            self.pool.discard(run.bridge)
            if error is None:
                raise
        except StimulusChanged:
            if error is None:
                raise
        if isinstance(error, StimulusChanged):
            return  # a trace of which the second half is of another scenario breaks invariants that nobody broke
        capabilities = frozenset(run.bridge.hello.capabilities)
        children = frozenset(stage.child_agents)
        context = invariants.Context(run.bridge.hello.role, run.bridge.mount, capabilities, child_agents=children)
        run.broken = [told(each) for each in invariants.judge(stage.trace, context)]
        run.witnessed = True

    def pytest_bdd_before_step(self, request: pytest.FixtureRequest, step: Any, step_func: Any) -> None:
        """Note the step; refuse an async one, which pytest-bdd would never await and call passed."""
        run = request.node.stash.get(RUN, None)
        if run is not None:
            run.step = f"{step.keyword} {step.name} (line {step.line_number})"
        function = inspect.unwrap(step_func)
        if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
            raise HarnessError(
                f"the step {step.name!r} is an async function, which is never awaited and would pass",
                f"make {function.__qualname__} a plain function; stage.do runs a coroutine",
            )

    # --- judging them -------------------------------------------------------------------------------------------------

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Turn the end of a phase into a verdict, before any other plugin sees the report."""
        report = yield
        run = item.stash.get(RUN, None)
        error = call.excinfo.value if call.excinfo is not None else None
        if run is None or (error is None and call.when != "call"):
            return report
        if isinstance(error, PossibleHang):
            run.hangs += 1
            if run.hangs > 1:
                error = RuleFailed(f"twice the implementation stopped answering: {error.cause}")
        judged = judge(
            run.task,
            self.plan,
            error,
            run.broken if call.when == "call" else [],
            step=run.step if error is not None else "",
            duration=call.duration,
            witnessed=run.witnessed,
        )
        kept = run.task.kind != "property" and not isinstance(run.driver, ReplayDriver)
        if self.keeper is not None and call.when == "call" and kept:
            self.keeper.keep(run.task, run.recording, run.trace, judged)
        self._write(report, run, judged, error)
        return report

    def _write(self, report: pytest.TestReport, run: Run, judged: Judged, error: BaseException | None) -> None:
        outcome = TABLE[judged.outcome].outcome
        report.user_properties = [
            *report.user_properties,
            ("rule", judged.rule),
            ("verdict", str(judged.outcome)),
            (JUDGED, msgspec.json.encode(judged).decode()),
        ]
        if self.traced and run.trace is not None and outcome != "passed":
            setattr(report, TRACE, trace_text(run.trace))
        if outcome == "passed":
            report.outcome, report.longrepr = "passed", None
        elif judged.outcome in (Verdict.UNSUPPORTED, Verdict.NOT_RUN):
            file, _, line = run.task.where.rpartition(":")
            # A property has no line of its own.
            place = (file, int(line)) if line.isdigit() else (run.task.where, 0)
            report.outcome, report.longrepr = "skipped", (*place, _short(judged))
        else:
            stderr = stderr_of(run.driver) if run.driver is not None else ""
            report.longrepr = block.representation(
                run.task,
                self.plan.catalogue.by_id,
                judged,
                error,
                run.trace,
                stderr,
                again=self._seen_before(run, judged),
            )
            report.outcome = "failed"
            if outcome == "xfailed" and run.task.deviation is not None:
                report.outcome = "skipped"
                report.wasxfail = run.task.deviation.reason

    def _seen_before(self, run: Run, judged: Judged) -> bool:
        """Whether this process has printed a failure of the same kind: seventy blocks hide what one shows."""
        kind = (run.bridge.label, judged.rule, str(judged.outcome), *(each.invariant for each in judged.broken))
        before = kind in self._printed
        self._printed.add(kind)
        return before and judged.verdict is not Verdict.HARNESS_ERROR and self.config.get_verbosity() < 1

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        """Leave no adapter behind, and hand what they wrote to the controller."""
        self.pool.close()
        output = getattr(self.config, "workeroutput", None)
        if output is not None:
            output["bridge_conformance_stderr"] = {label: "".join(parts) for label, parts in self.pool.stderr.items()}

    def pytest_unconfigure(self) -> None:
        """The same when the session never finished."""
        self.pool.close()


def _short(judged: Judged) -> str:
    return f"{judged.outcome}: {printable(judged.message)}"


def trace_text(trace: Trace) -> str:
    """The trace in its file form, one event a line; lone surrogates are replaced."""
    return "".join(f"{_line(event)}\n" for event in trace.events)


def _line(event: Event) -> str:
    try:
        return msgspec.json.encode(event).decode()
    except UnicodeEncodeError:
        return json.dumps(msgspec.to_builtins(event), ensure_ascii=False).encode(errors="replace").decode()


def _label(item: pytest.Item) -> str | None:
    callspec = getattr(item, "callspec", None)
    return callspec.params.get("bridge") if callspec is not None else None


def _miscount(module: str, made: list[str], wanted: list[str]) -> str:
    missing = sorted(set(wanted) - set(made))
    extra = sorted(set(made) - set(wanted))
    parts = [f"{module} made {len(made)} tests, and the catalogue has {len(wanted)} for it."]
    parts += [f"missing: {', '.join(missing[:5])}{' …' if len(missing) > 5 else ''}"] if missing else []
    parts += [f"not known: {', '.join(extra[:5])}{' …' if len(extra) > 5 else ''}"] if extra else []
    parts.append(
        "Mend: an ini of this folder may hide tests (python_functions); `bridge-conformance run` uses its own."
    )
    return "\n".join(parts)


def told(broken: invariants.Broken) -> Broken:
    """What broke, as it travels to the controller: a sentence may quote half a surrogate pair, which JSON cannot."""
    return Broken(invariant=broken.invariant, rules=list(broken.rules), sentence=printable(broken.sentence))
