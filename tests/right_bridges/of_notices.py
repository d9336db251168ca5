"""Right bridges that report in another way: other words, other grouping, another moment, another channel."""

from __future__ import annotations

import asyncio
from typing import Any, cast

from conformance.drivers.backend import Suite
from conformance.drivers.protocol import TraceNote
from conformance.drivers.reference.backend import ReferenceBackend
from reference_bridge.bridge.active_tools import ActiveTools
from reference_bridge.bridge.bridge import Bridge
from reference_bridge.bridge.calls import Call
from reference_bridge.bridge.execution_events import Outcome
from reference_bridge.bridge.gate import ToolCallGate, Verdict
from reference_bridge.bridge.notices import Notices
from reference_bridge.bridge.packages import Instance
from reference_bridge.bridge.patches import ResultPatches
from reference_bridge.bridge.registrations import Registrations
from reference_bridge.bridge.tools import PiTool, ToolRuns
from reference_bridge.bridge.values import thrown_text
from reference_bridge.host import Agent, Execution
from tests.right_bridges.table import right

REPORTS = ("*reported*", "*announced*", "setActiveTools.own-tools-go-or-are-named", "*first-loaded*", "*a-name-of*")


@right(*REPORTS, "setActiveTools.*")
class ANoticeForEachTool(ActiveTools):
    """Reports each tool that a list could not switch off in a notice of its own.

    Free: `setActiveTools.what-cannot-be-switched-off-is-reported-once` counts the notices that name a tool; one for
    all of a call or one for each are both right.
    """

    def report(self, instance: Instance, agent: Agent, wanted: frozenset[str], remaining: frozenset[str]) -> None:
        told = (wanted, remaining)
        if self._reported.get((instance, agent)) != told:
            for name in sorted(remaining):
                self._notices.warn(f"{name} stays active for {agent.id}")
        self._reported[instance, agent] = told


class _GermanNotices(Notices):
    def warn(self, text: str) -> None:
        self._logger.warn(f"Brücke: {text}")

    def handler_failed(self, package: str, event: str, text: str) -> None:
        self.warn(f"Ein Beobachter ist gescheitert ({text})")


class _GermanPatches(ResultPatches):
    def details_ignored(self, call: Call, who: str) -> None:
        self._notices.warn_once(("details", who, call.name), f"Einzelheiten von {call.name} bleiben, wie sie waren")

    def details_lost(self, call: Call, outcome: Outcome) -> None:
        if outcome.result.get("details"):
            self._notices.warn_once(("lost", call.name), f"Einzelheiten von {call.name} gehen verloren")

    def recovery_ignored(self, call: Call, package: str) -> None:
        self._notices.warn_once(("recovery", package, call.name), f"{call.name} bleibt ein Fehler")


class _GermanLists(ActiveTools):
    def report(self, instance: Instance, agent: Agent, wanted: frozenset[str], remaining: frozenset[str]) -> None:
        told = (wanted, remaining)
        if remaining and self._reported.get((instance, agent)) != told:
            self._notices.warn(f"Nicht abzuschalten: {'; '.join(sorted(remaining, reverse=True))}")
        self._reported[instance, agent] = told


@right(*REPORTS)
class NoticesInGerman(Bridge):
    """Words its notices in another language and as short as can be: only the tool's name or what was thrown is in them.

    Free: no rule speaks of the wording; `tool_result.a-vain-recovery-is-reported` asks for the package or the tool, the
    reports of handlers that throw for the message.
    """

    notices_type = _GermanNotices
    patches_type = _GermanPatches
    active_tools_type = _GermanLists


@right(*REPORTS)
class NoticesWithAStory(Notices):
    """Puts each notice into a paragraph with a heading, advice and what looks like a trace of its own code.

    Free: no rule speaks of the wording or the length of a notice.
    """

    def warn(self, text: str) -> None:
        super().warn(
            "something did not go as a package wants it\n"
            f"  what: {text}\n"
            "  advice: see the manual, chapter 4: errors, tools, results and how they are blocked\n"
            "  at Bridge.warn (bridge.js:17:4)\n  at async Promise.all (index 0)"
        )


class _Later(Notices):
    pending = 0

    def warn(self, text: str) -> None:
        self.pending += 1
        asyncio.get_running_loop().call_later(0.001, self._write, text)

    def _write(self, text: str) -> None:
        self.pending -= 1
        super().warn(text)


@right(*REPORTS)
class NoticesAMomentLater(Bridge):
    """Writes a notice a millisecond after the moment at which it knows what to say.

    Free: no rule says when the operator is told, but that it is before the agent has come to rest, or the bridge ends.
    """

    notices_type = _Later

    async def settled(self, agent: Agent) -> None:
        await super().settled(agent)
        await self._told()

    async def close(self) -> None:
        await self._told()
        await super().close()

    async def _told(self) -> None:
        assert isinstance(self.notices, _Later)
        while self.notices.pending:  # noqa: ASYNC110 - the operator's side has no event to wait for
            await asyncio.sleep(0.001)


class _Rewritten:
    """A suite that hears of notices as this bridge's adapter tells of them."""

    def __init__(self, suite: Suite, *channels: tuple[str, str]) -> None:
        self._suite = suite
        self._channels = channels

    def __getattr__(self, name: str) -> Any:
        return getattr(self._suite, name)

    def note(self, message: TraceNote) -> None:
        if message.kind != "notice":
            self._suite.note(message)
            return
        for channel, level in self._channels:
            data = {**message.data, "channel": channel, "level": level}
            self._suite.note(TraceNote(kind="notice", agent=message.agent, call_id=message.call_id, data=data))


@right(*REPORTS)
class NoticesOnTheConsole(ReferenceBackend):
    """Writes its notices to the console, as information.

    Free: no rule speaks of the channel or the level of a notice.
    """

    def __init__(self, suite: Suite, *more: Any) -> None:
        super().__init__(_Rewritten(suite, ("console", "info")), *more)  # type: ignore[arg-type]


@right(*REPORTS)
class NoticesOnTwoChannels(ReferenceBackend):
    """Shows each notice to the user and writes it to the host's log as well.

    Free: *once* is counted for each channel, `setActiveTools.what-cannot-be-switched-off-is-reported-once`.
    """

    def __init__(self, suite: Suite, *more: Any) -> None:
        super().__init__(_Rewritten(suite, ("ui", "error"), ("logger", "warn")), *more)  # type: ignore[arg-type]


class _LoudRegistrations(Registrations):
    def register(self, instance: Instance, definition: Any) -> None:
        name = definition.get("name") if isinstance(definition, dict) else definition
        self._notices._logger.info(f"package {instance.package.name} registers {name}")
        super().register(instance, definition)


@right("setActiveTools.*", "registerTool.*name*", "registerTool.*announced*", "registerTool.a-factory*", *REPORTS)
class TellsOfEachRegistration(_LoudRegistrations):
    """Tells the operator, as information, of each tool that a package registers.

    Free: no rule forbids a notice that is about something else, and those that
    `setActiveTools.what-cannot-be-switched-off-is-reported-once` counts are for a call of setActiveTools.
    """


class _Terse(Notices):
    def handler_failed(self, package: str, event: str, text: str) -> None:
        self._logger.error(text)


@right(*REPORTS)
class ReportsNothingButTheMessage(_Terse):
    """Reports what an observing handler threw by the message alone.

    Free: `tool_execution_end.a-throwing-handler-is-reported` asks for the message in a notice, each time.
    """


class _TellsOfTools(ToolRuns):
    def validated(self, tool: PiTool, arguments: Any) -> Any:
        try:
            return super().validated(tool, arguments)
        except Exception as error:
            self._notices.warn(f"{tool.name} could not be called: {thrown_text(error)}")
            raise

    async def execute(self, call: Call, tool: PiTool, execution: Execution) -> Any:
        try:
            return await super().execute(call, tool, execution)
        except Exception as error:
            self._notices._logger.error(thrown_text(error))
            raise


class _TellsOfJudges(ToolCallGate):
    notices: Notices

    def thrown(self, error: Exception) -> Verdict:
        self.notices._logger.error(thrown_text(error))
        return super().thrown(error)


@right("*reported*", "tool_call.*throws*", "registerTool.*thrown*", "registerTool.*prepare*")
class ReportsEveryThrow(Bridge):
    """Reports also what tools, judges and prepareArguments throw, by the message alone, and invalid arguments.

    Free: no rule forbids to report more than it asks for.
    """

    notices_type = _Terse
    runs_type = _TellsOfTools
    gate_type = _TellsOfJudges

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        cast(_TellsOfJudges, self.gate).notices = self.notices


class _TellsOfCalls(ToolRuns):
    async def run(self, call: Call, tool: PiTool, execution: Execution) -> Any:
        self._notices._logger.info(f"{tool.instance.package.name}/{tool.name} is called by the model")
        value = await super().run(call, tool, execution)
        self._notices._logger.info(f"{tool.instance.package.name}/{tool.name} is done")
        return value


@right("setActiveTools.*", "*reported*", "*announced*", "registerTool.*name*")
class TellsOfEachCall(_TellsOfCalls):
    """Tells the operator, as information, of each call of a package's tool.

    Free: no rule forbids a notice that is about something else.
    """
