"""The reference bridge on hosts that do otherwise what is theirs to decide."""

from __future__ import annotations

from typing import Any

from reference_bridge.bridge.batches import BatchVotes
from reference_bridge.bridge.bridge import Bridge
from reference_bridge.bridge.packages import Instance
from reference_bridge.bridge.registrations import Registrations
from reference_bridge.host import Execution, Host, Json, Session
from reference_bridge.host.agents import Agents
from reference_bridge.host.decisions import Decision
from reference_bridge.host.loop import Agent, PreStep
from reference_bridge.host.results import ToolResult
from reference_bridge.host.scheduler import BatchLog
from reference_bridge.host.steps import Assembly
from reference_bridge.host.waterfall import Next
from tests.right_bridges.table import right

CANCELS = ("*cancel*", "tool_result.one-durable*", "tool_execution_end.*")


class _LeavesOut(BatchLog):
    def skipped(self, call: Any) -> None:
        """A call that never started leaves nothing."""


class _LeavingAgent(Agent):
    log_type = _LeavesOut


@right(*CANCELS)
class NothingOfCallsThatNeverBegan(_LeavingAgent):
    """Leaves no record of calls that a cancel kept from starting, as Pi does.

    Free: of such a call packages are told both or neither, and no rule asks for a record.
    """


class _CutCallsLogged(Agent):
    """Logs the calls of a message that was cut by length as errors, and goes on, as Pi does."""

    async def _run_step(self, activity: Any, assembly: Assembly, messages: Any, signal: Any) -> Any:
        found = await super()._run_step(activity, assembly, messages, signal)
        if not found or found.get("kind") != "max-tokens":
            return found
        blocks = self.session.latest("assistant/message").get("message", {}).get("content", [])
        calls = [block for block in blocks if block.get("type") == "tool-call"]
        if not calls:
            return found
        from reference_bridge.host.model import ToolCall

        log = self.log_type(self.session, activity.turn, activity.step)
        for block in calls:
            call = ToolCall(block["id"], block["name"], block["arguments"])
            failed = ToolResult.failure(f'tool call "{call.name}" was cut off and not run').finalized()
            log.result(call, failed, log.call(call))
        return None


@right("*cut*", "tool_execution_end.*", "tool_result.one-durable*")
class CutCallsAreErrors(_CutCallsLogged):
    """Ends each call of a message that was cut by length as an error, and goes on, as Pi does.

    Free: such calls do not run; the rest is the host's.
    """


class _MoreInTheLog(Session):
    def append(self, type: str, data: Json, **more: Any) -> Any:
        event = super().append(type, data, **more)
        if type in ("tool/call", "tool/result", "turn/start", "step/end"):
            super().append("metrics/sample", {"about": type, "memory": 123}, ignorable=True)
        return event


class _LoggingAgents(Agents):
    session_type = _MoreInTheLog


@right("tool_execution_*", "tool_result.*", "registerTool.the-log*", "registerTool.calls-and-results*")
class MoreInTheLog(Host):
    """Writes records of other kinds between those of calls and results.

    Free: no rule speaks of what else is in the log.
    """

    agents_type = _LoggingAgents


class _StopsByCancel(BatchVotes):
    async def enter(self, pre_step: PreStep, following: Next) -> Decision:
        stops = self.stops(pre_step.agent, pre_step.turn, pre_step.step - 1)
        decision = await super().enter(pre_step, following)
        if stops and decision.get("kind") == "reject":
            pre_step.agent.cancel({"kind": "hook", "reason": "every call asked to stop"}, keep_inbox=True)
            return await self.pass_on(following)
        return decision


@right("tool_call.*loop*", "tool_call.*")
class StopsByCancelling(_StopsByCancel):
    """Ends a turn whose calls all asked to stop by cancelling it before the next request.

    Free: `tool_call.the-loop-stops-only-when-every-call-asked` asks for no further request; how the host names the end
    of the turn is never compared.
    """


class _PiMarks(Registrations):
    def entry(self, instance: Instance, name: Any, definition: dict[str, Any]) -> Any:
        entry = super().entry(instance, name, definition)
        from dataclasses import replace

        entry.definition = replace(
            entry.definition, is_concurrency_safe=lambda arguments: definition.get("executionMode") != "sequential"
        )
        return entry


@right(
    "registerTool.*overlap*", "registerTool.*one-after*", "registerTool.sequential*", "registerTool.a-batch*", "tool_*"
)
class UnmarkedToolsBesideEachOther(_PiMarks):
    """Lets unmarked tools run beside each other, as Pi does.

    Free: what becomes of unmarked tools of a batch is the host's; the must is that the batch ends, and
    `registerTool.unmarked-tools-run-one-after-another` is a may.
    """


class _AllExclusive(Registrations):
    def entry(self, instance: Instance, name: Any, definition: dict[str, Any]) -> Any:
        entry = super().entry(instance, name, definition)
        from dataclasses import replace

        entry.definition = replace(entry.definition, is_concurrency_safe=None)
        return entry


@right(
    "registerTool.*overlap*",
    "registerTool.sequential*",
    "tool_*",
    departs=("registerTool.parallel-tools-overlap", "registerTool.a-cancel-reaches-every-running-tool"),
)
class EveryToolAlone(_AllExclusive):
    """Runs one call of packages' tools at a time, whatever they say.

    Free: `registerTool.parallel-tools-overlap` is a should, and so is
    `registerTool.a-cancel-reaches-every-running-tool`.
    """


class _AsOfTheRequest(Bridge):
    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._requested: dict[Agent, dict[str, Any]] = {}

    async def assemble(self, assembly: Any, context: Any, following: Any) -> Any:
        assembly = await super().assemble(assembly, context, following)
        self._requested[context.agent] = dict(self.host.tools.view(context.agent.scope).visible)
        return assembly

    async def before_call(self, execution: Execution, following: Next) -> Decision:
        agent = execution.agent
        if agent is not None and execution.parent is None and agent in self._requested:
            asked, now = self._requested[agent].get(execution.name), self.visible(execution)
            own = self.registrations.tool_of(now) is not None
            if own and asked is None:
                call = self.calls.of(execution)
                await self.events.started(call)
                return {"kind": "deny", "reason": f'unknown tool "{execution.name}"'}
        return await super().before_call(execution, following)


@right(
    "registerTool.a-later-call*",
    "registerTool.registered*",
    "registerTool.registering*",
    "registerTool.only-visible*",
    departs=("registerTool.a-later-call-of-the-batch",),
)
class NewToolsFromTheNextRequestOn(_AsOfTheRequest):
    """Does not run a tool in the batch in which it was registered, as Pi does not.

    Free: register inside a batch may be live or not; `registerTool.a-later-call-of-the-batch` is a may.
    """
