"""What happens where verdicts are put together: exit status, report, header and summary; never on a worker."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from conformance._pytest import summary
from conformance._pytest.bridges import handed_over
from conformance._pytest.judge import Judged
from conformance._pytest.plan import Plan
from conformance._pytest.tally import Tally
from conformance._pytest.worker import JUDGED, MODULES, SUITE, TRACE
from conformance.reporting import files
from conformance.reporting.model import Selection
from conformance.verdicts import TABLE, Exit, Verdict, exit_status

INPUT = "bridge_conformance_bridges"
"""The key under which workers are handed the bridges."""


class Controller:
    """The plugin of the process that the user started."""

    def __init__(self, config: pytest.Config, plan: Plan, folder: Path | None) -> None:
        self.config = config
        self.plan = plan
        self.folder = folder
        self.tally = Tally(plan)
        self.written: Path | None = None
        self.others_failed = False
        self.others_ran = False
        self.broken_collection = False
        self.status: Exit | None = None

    # --- xdist --------------------------------------------------------------------------------------------------------

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Hand a worker what the handshakes said, so that every worker knows the same bridges."""
        node.workerinput[INPUT] = handed_over(self.plan.bridges)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take what the adapters of a worker wrote to their standard error."""
        output = getattr(node, "workeroutput", None) or {}
        for label, text in output.get("bridge_conformance_stderr", {}).items():
            self.tally.stderr.setdefault(label, []).append(text)

    # --- verdicts -----------------------------------------------------------------------------------------------------

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note that the suite could not be collected."""
        if report.failed and _in_suite(self.config, report.nodeid):
            self.broken_collection = True

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take one report, wherever it was made."""
        text = dict(report.user_properties).get(JUDGED)
        if isinstance(text, str):
            judged = msgspec.json.decode(text, type=Judged)
            self.tally.add(judged, report.nodeid, getattr(report, TRACE, None))
            return
        task = self.plan.tasks.get(key_of(report.nodeid))
        if task is not None and _in_suite(self.config, report.nodeid):
            if report.failed:
                self.tally.crashed(task, report.nodeid, str(report.longrepr))
            return
        self.others_ran = self.others_ran or report.when == "call"
        self.others_failed = self.others_failed or (report.failed and not hasattr(report, "wasxfail"))

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, str] | None:
        """pytest's category, letter and word for a verdict."""
        word = dict(getattr(report, "user_properties", ())).get("verdict")
        if not isinstance(word, str):
            return None
        row = TABLE[Verdict(word)]
        category = "skipped" if row.outcome == "none" else row.outcome
        # pytest's own words where something went wrong, since tools look for them; the message begins with ours.
        loud = {"failed": "FAILED", "error": "ERROR"}.get(category)
        return category, row.mark, loud or ("PASSED" if row.verdict is Verdict.PASS else word.upper())

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Set the exit status and write the report, however the session ended."""
        status = self._status(session, exitstatus)
        if status is not None:
            session.exitstatus = status
            self.status = status
        if self.tally.seen and self.folder is not None:
            report = self.tally.report(self._selection(session, exitstatus), int(session.exitstatus))
            self.written = files.write(self.folder, report, self.tally.traces(), self.tally.stderr)

    def _status(self, session: pytest.Session, exitstatus: int) -> Exit | None:
        if self.broken_collection:
            return Exit.WRONG_USE
        if self.config.option.collectonly:
            return None
        if exitstatus not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.NO_TESTS_COLLECTED):
            return None
        if not self.tally.seen:
            return None if self.others_ran else Exit.NOTHING_RAN
        selected = self._selected() or bool(session.shouldfail) or bool(session.shouldstop)
        status = exit_status(
            self.tally.judged(selected),
            selected=selected,
            stale=any(self.tally.stale(bridge) for bridge in self.plan.bridges),
        )
        return Exit.NOT_CONFORMANT if self.others_failed and status is Exit.CONFORMANT else status

    def _selection(self, session: pytest.Session, exitstatus: int) -> Selection:
        if not self.tally.unfinished():
            return "complete"
        stopped = bool(session.shouldfail) or bool(session.shouldstop)
        return "interrupted" if stopped or exitstatus == pytest.ExitCode.INTERRUPTED else "partial"

    def _selected(self) -> bool:
        """Whether the command line asks for a part: then what did not run is nobody's fault."""
        option = self.config.option
        names = ("keyword", "markexpr", "lf", "deselect", "stepwise", "ignore", "ignore_glob", "maxfail")
        inside = any("::" in argument or Path(argument).suffix == ".py" for argument in self.config.args)
        return bool(self.plan.selection) or inside or any(getattr(option, name, None) for name in names)

    # --- what is shown ------------------------------------------------------------------------------------------------

    def pytest_report_header(self) -> list[str]:
        """Who is judged, and by what."""
        count = len(self.plan.catalogue.rules)
        return [
            f"conformance: {count} rules, spec version {self.plan.catalogue.version}",
            *(f"  {bridge.title}" for bridge in self.plan.bridges),
        ]

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """The table by surface and bridge, and the lists nobody may overlook."""
        if self.tally.seen:
            where = f"report: {files.shown(self.written)}" if self.written is not None else ""
            summary.write(terminalreporter, self.tally, where)
        elif self.status is Exit.NOTHING_RAN:
            terminalreporter.write_line(
                "nothing ran: no test of this run judges a bridge.\n"
                "Mend: name the suite (pytest --pyargs conformance --bridge=…), or widen the selection; where "
                "an ini of this folder hides it, use `bridge-conformance run`."
            )


def key_of(node: str) -> tuple[str, str]:
    """Label and test of a node id, for reports of tests whose process died."""
    name = node.rpartition("::")[2]
    item, _, rest = name.partition("[")
    return rest.removesuffix("]"), item


def _in_suite(config: pytest.Config, node: str) -> bool:
    """Whether a node id is the suite's; outside the root folder pytest shortens the path to the file's name."""
    name = node.split("::")[0]
    path = config.rootpath / name
    return path.resolve().is_relative_to(SUITE) or (Path(name).name in MODULES and not path.exists())
