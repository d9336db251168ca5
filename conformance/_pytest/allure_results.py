"""Completes what allure-pytest writes: Gherkin steps, the rule's words as labels, verdicts, traces and pictures.

It is imported only when ``--alluredir`` is given. allure-pytest makes a result for each test and writes it; here the
result is filled in before it is written, so that nothing depends on the order in which plugins see a test.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import allure_commons
import msgspec
import pytest
from allure_commons.logger import AllureFileLogger
from allure_commons.model2 import Attachment, Label, Link, Parameter, StatusDetails, TestResult, TestStepResult
from allure_commons.types import AttachmentType
from allure_commons.utils import md5, now, uuid4
from pluggy import HookimplMarker

from conformance import __version__
from conformance._pytest import allure_words as words
from conformance._pytest import block
from conformance._pytest.bridges import stderr_of
from conformance._pytest.controller import key_of
from conformance._pytest.judge import Judged, NotRun
from conformance._pytest.plan import Plan, Task
from conformance._pytest.tally import CRASHED
from conformance._pytest.worker import JUDGED, RUN
from conformance.catalogue.fingerprint import spec_digest
from conformance.reporting import allure
from conformance.reporting.files import write_atomically
from conformance.reporting.sequence_svg import sequence_svg
from conformance.reporting.sequence_text import sequence_text
from conformance.trace import Trace
from conformance.verdicts import TABLE, Verdict, of_rule

hookimpl = HookimplMarker("allure")
MOST_ROWS = 150
"""Rows of a picture: the end of a trace is what explains a failure."""
MOST_EVENTS = 1500
"""Events of a trace that are attached as text."""


@dataclass
class Told:
    """What is known of the test that runs; ``task`` is None for a test of the user's own."""

    task: Task | None
    scenario: Any = None
    steps: list[TestStepResult] = field(default_factory=list)
    open: str = ""
    judged: list[Judged] = field(default_factory=list)
    blocks: list[str] = field(default_factory=list)
    trace: Trace | None = None


class AllureResults:
    """The plugin, of pytest and of Allure's own hooks at once."""

    def __init__(self, config: pytest.Config, plan: Plan) -> None:
        self.config = config
        self.plan = plan
        self.pickles = {pickle.item: pickle for pickle in plan.features.pickles}
        self.told: Told | None = None
        self.ours: set[str] = set()
        self._logger: Any = None

    # --- beside allure-pytest -----------------------------------------------------------------------------------------

    @property
    def reporter(self) -> Any:
        """What holds the results that are not written yet; None where allure-pytest is switched off."""
        return getattr(self.config.pluginmanager.get_plugin("allure_listener"), "allure_logger", None)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self) -> None:
        """Listen to what is written, and stand before the one that writes."""
        hooks = allure_commons.plugin_manager
        self._logger = next((each for each in hooks.get_plugins() if isinstance(each, AllureFileLogger)), None)
        if self._logger is not None:
            hooks.unregister(self._logger)
            hooks.register(_Writer(self._logger, self.ours), "bridge_conformance_writer")
        hooks.register(self, "bridge_conformance_allure")

    @pytest.hookimpl(tryfirst=True)
    def pytest_unconfigure(self) -> None:
        """Leave Allure's hooks as they were: allure-pytest takes its own out by name."""
        hooks = allure_commons.plugin_manager
        for name in ("bridge_conformance_allure", "bridge_conformance_writer"):
            if hooks.has_plugin(name):
                hooks.unregister(name=name)
        if self._logger is not None:
            hooks.register(self._logger)
            self._logger = None

    # --- while a test runs --------------------------------------------------------------------------------------------

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Generator[None, object, object]:
        """Begin to take notes."""
        run = item.stash.get(RUN, None)
        self.told = Told(run.task if run is not None else None)
        result = self.reporter.get_test(None) if self.reporter is not None else None
        if run is not None and result is not None:
            self.ours.add(result.uuid)
        return (yield)

    def pytest_bdd_before_scenario(self, scenario: Any) -> None:
        """Note what is told, so that the steps that are never reached can be shown too."""
        if self.told is not None:
            self.told.scenario = scenario

    @pytest.hookimpl(tryfirst=True)
    def pytest_bdd_before_step(self, step: Any) -> None:
        """Open a step, with its table and doc string."""
        told = self.told
        if told is None or self.reporter is None:
            return
        result = _step(step)
        told.steps.append(result)
        told.open = uuid4()
        self.reporter.start_step(None, told.open, result)
        for attachment, body in _given(step):
            result.attachments.append(attachment)
            allure_commons.plugin_manager.hook.report_attached_data(body=body, file_name=attachment.source)

    def pytest_bdd_after_step(self) -> None:
        """Close a step that went well."""
        self._close("passed")

    def pytest_bdd_step_error(self, exception: BaseException) -> None:
        """Close a step that did not."""
        failed = isinstance(exception, AssertionError | pytest.fail.Exception)
        self._close("failed" if failed else "broken", str(exception) or type(exception).__name__)

    def pytest_bdd_step_func_lookup_error(self, step: Any, exception: Exception) -> None:
        """Show a step that nothing defines."""
        self.pytest_bdd_before_step(step)
        self._close("broken", str(exception))

    def pytest_bdd_after_scenario(self) -> None:
        """Close a step that was skipped or interrupted in the middle: pytest-bdd tells nobody of it."""
        self._close("skipped")

    def _close(self, status: str, message: str = "") -> None:
        told = self.told
        if told is not None and told.open:
            details = StatusDetails(message=message) if message else None
            self.reporter.stop_step(told.open, stop=now(), status=status, statusDetails=details)
            told.open = ""

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Note the verdict of a phase."""
        report = yield
        told, run = self.told, item.stash.get(RUN, None)
        text = dict(report.user_properties).get(JUDGED)
        if told is None or run is None or not isinstance(text, str):
            return report
        judged = msgspec.json.decode(text, type=Judged)
        told.judged.append(judged)
        told.trace = run.trace
        error = call.excinfo.value if call.excinfo is not None else None
        if judged.outcome is not Verdict.PASS and not isinstance(error, NotRun):
            # Whole for each, also where the terminal only says that another failed alike.
            stderr = stderr_of(run.driver) if run.driver is not None else ""
            told.blocks += block.lines(run.task, self.plan.catalogue.by_id, judged, error, run.trace, stderr)
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Write a result for a test whose process died: that process cannot."""
        task = self.plan.tasks.get(key_of(report.nodeid))
        if report.when in ("setup", "call", "teardown") or task is None or self.reporter is None:
            return
        label, broke = task.bridge.label, Verdict.HARNESS_ERROR
        message = f"{CRASHED}: {report.longreprtext}"
        self.told = Told(task, judged=[Judged(label, task.item, task.rule.id, broke, broke, message=message)])
        result = TestResult(uuid=uuid4(), name=task.item, start=now(), stop=now())
        allure_commons.plugin_manager.hook.report_result(result=result)

    # --- before a result is written -----------------------------------------------------------------------------------

    @hookimpl(tryfirst=True)
    def report_result(self, result: TestResult) -> None:
        """Fill the result in."""
        told, self.told = self.told, None
        if told is None:
            return
        if told.scenario is not None:
            result.name = told.scenario.name
            result.steps.extend(_unreached(told.scenario.steps[len(told.steps) :]))
        if told.task is not None:
            self._complete(result, told, told.task)
        result.labels.sort(key=lambda label: (str(label.name), str(label.value)))
        _make_writable(result)

    def _complete(self, result: TestResult, told: Told, task: Task) -> None:
        pickle = self.pickles.get(task.item)
        outcome = of_rule(judged.outcome for judged in told.judged) if told.judged else Verdict.HARNESS_ERROR
        result.name = words.title(task, pickle)
        # The same whatever folder pytest was started in: history hangs on it.
        result.fullName = f"{task.kind} {task.item.removeprefix('test_')}"
        result.testCaseId = md5(result.fullName)
        result.historyId = md5(result.fullName, task.bridge.label)
        result.titlePath = [task.rule.surface, task.rule.id] if len(task.rules) == 1 else [words.MANY]
        result.description = "\n\n".join(words.description(task))
        result.descriptionHtml = None
        result.parameters = [
            Parameter(name=allure.BRIDGE, value=task.bridge.label),
            *(Parameter(name=name, value=value) for name, value in (pickle.values if pickle else {}).items()),
        ]
        result.labels = [
            *(label for label in result.labels if label.name in ("host", "thread", "framework", "language", "tag")),
            *(Label(name=name, value=value) for name, value in words.labels(task, outcome)),
        ]
        result.links.extend(self._links(task))
        self._judge(result, told, task, outcome)
        if pickle is not None and told.scenario is None:
            result.steps.extend(_unreached(pickle.steps))
        for broken in (broken for judged in told.judged for broken in judged.broken):
            name = f"In every run: {broken.invariant} ({', '.join(broken.rules)})"
            details = StatusDetails(message=broken.sentence)
            result.steps.append(
                TestStepResult(name=name, status="failed", statusDetails=details, start=now(), stop=now())
            )
        if outcome is not Verdict.PASS and told.trace is not None and len(told.trace):
            for attachment, body in _pictures(told.trace, task):
                result.attachments.append(attachment)
                allure_commons.plugin_manager.hook.report_attached_data(body=body, file_name=attachment.source)

    def _judge(self, result: TestResult, told: Told, task: Task, outcome: Verdict) -> None:
        result.status = TABLE[outcome].allure if TABLE[outcome].allure != "none" else "skipped"
        if outcome is Verdict.PASS:
            result.statusDetails = None
            return
        worst = next((judged for judged in told.judged if judged.outcome is outcome), None)
        said = [worst.message] if worst is not None and worst.message else []
        said += [broken.sentence for broken in worst.broken] if worst is not None and not said else []
        known = outcome is Verdict.DEVIATION and task.deviation is not None
        if known and task.deviation is not None:
            said.insert(0, f"{task.deviation.reason} ({task.deviation.where}, until {task.deviation.expires})")
        result.statusDetails = StatusDetails(
            message=f"{outcome}: {chr(10).join(said)}".rstrip(), trace="\n".join(told.blocks), known=known or None
        )

    def _links(self, task: Task) -> Iterator[Link]:
        patterns: dict[str, str] = dict(self.config.getoption("allure_link_pattern", None) or [])
        for rule in task.rules:
            url = patterns.get(allure.RULE, allure.BESIDE).format(rule.id)
            yield Link(type=allure.RULE, url=url, name=rule.id)
        if task.deviation is not None and task.deviation.link:
            yield Link(type="issue", url=task.deviation.link, name="deviation")

    # --- beside the results -------------------------------------------------------------------------------------------

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        """Write the environment and the categories, once."""
        if hasattr(self.config, "workerinput") or self.config.option.collectonly or self.reporter is None:
            return
        folder = Path(self.config.getoption("allure_report_dir")).absolute()
        environment = folder / allure.ENVIRONMENT_FILE
        before = environment.read_text(encoding="utf-8") if environment.is_file() else ""
        write_atomically(environment, allure.environment_text(self._facts(), before).encode())
        write_atomically(folder / allure.CATEGORIES_FILE, allure.categories_text().encode())

    def _facts(self) -> dict[str, str]:
        facts = {
            "suite": f"pi-bridge-conformance {__version__}",
            "spec": f"version {self.plan.catalogue.version}, digest "
            f"{spec_digest(self.plan.catalogue, self.plan.features)[:12]}",
        }
        for bridge in self.plan.bridges:
            hello = bridge.hello
            mount = f", mount {bridge.mount}" if bridge.mount else ""
            spec = "" if bridge.spec == bridge.label else f" ({bridge.spec})"
            facts[f"bridge.{bridge.label}"] = f"{hello.name} {hello.version}, role {hello.role}{mount}{spec}"
        return facts


class _Writer:
    """Writes as allure-pytest would, without the set-up of the suite's own tests: it only says how pytest-bdd works."""

    def __init__(self, logger: AllureFileLogger, ours: set[str]) -> None:
        self.logger = logger
        self.ours = ours

    @hookimpl
    def report_result(self, result: TestResult) -> None:
        """Write a result."""
        self.logger.report_result(result)

    @hookimpl
    def report_container(self, container: Any) -> None:
        """Write what belongs to tests of others, or went wrong."""
        broke = any(each.status in ("failed", "broken") for each in (*container.befores, *container.afters))
        if broke or not self.ours.issuperset(container.children):
            self.logger.report_container(container)

    @hookimpl
    def report_attached_file(self, source: Any, file_name: str) -> None:
        """Write an attachment."""
        self.logger.report_attached_file(source, file_name)

    @hookimpl
    def report_attached_data(self, body: Any, file_name: str) -> None:
        """Write an attachment."""
        self.logger.report_attached_data(body, file_name)

    @hookimpl
    def report_globals(self, globals_item: Any) -> None:
        """Write what belongs to no test."""
        self.logger.report_globals(globals_item)


def _make_writable(item: Any) -> None:
    """Replace lone surrogates wherever an implementation's words may be: a file in UTF-8 cannot hold them."""
    for owner in (item, *([item.statusDetails] if item.statusDetails is not None else [])):
        for name in ("name", "message", "trace", "description"):
            text = getattr(owner, name, None)
            if isinstance(text, str):
                setattr(owner, name, text.encode(errors="replace").decode())
    for step in item.steps:
        _make_writable(step)


def _step(step: Any) -> TestStepResult:
    return TestStepResult(name=f"{step.keyword.strip()} {step.name}", start=now())


def _unreached(steps: Any) -> Iterator[TestStepResult]:
    """Steps that did not run, of pytest-bdd or of the catalogue."""
    for step in steps:
        name = f"{step.keyword.strip()} {step.name}" if hasattr(step, "keyword") else step.text
        yield TestStepResult(name=name, status="skipped", start=now(), stop=now())


def _given(step: Any) -> Iterator[tuple[Attachment, str]]:
    if step.datatable is not None:
        rows = step.datatable.raw()
        yield _attachment("table", AttachmentType.CSV), "".join(f"{','.join(map(_quoted, row))}\n" for row in rows)
    if step.docstring is not None:
        yield _attachment("doc string", AttachmentType.TEXT), step.docstring


def _quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"' if set(cell) & set(',"\n') else cell


def _attachment(name: str, kind: AttachmentType) -> Attachment:
    return Attachment(name=name, source=f"{uuid4()}-attachment.{kind.extension}", type=kind.mime_type)


def _pictures(trace: Trace, task: Task) -> Iterator[tuple[Attachment, str]]:
    title = f"What happened in {task.item.removeprefix('test_')} on {task.bridge.label}"
    picture = sequence_svg(trace, most=MOST_ROWS, tooltips=False, title=title)
    yield _attachment("sequence diagram", AttachmentType.SVG), picture
    shown = trace.events[-MOST_EVENTS:]
    head = f"the last {len(shown)} of {len(trace)} events\n" if len(shown) < len(trace) else ""
    lines = "".join(f"{block.event_line(event)}\n" for event in shown)
    text = f"{sequence_text(trace, most=MOST_ROWS)}\n{head}{lines}"
    yield _attachment("trace", AttachmentType.TEXT), text.encode(errors="replace").decode()
