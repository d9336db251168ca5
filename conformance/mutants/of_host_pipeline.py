"""Defects of the host's pipeline: stages that are left out or added, arguments, results and their texts."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from conformance.mutants.registry import mutant
from reference_bridge.host import (
    UNDEFINED,
    FrozenDict,
    Scope,
    Session,
    SessionEvent,
    ToolDefinition,
    ToolNotFoundError,
    ToolResult,
    clone,
)
from reference_bridge.host.json_schema import violations
from reference_bridge.host.json_values import NotLosslessError, freeze
from reference_bridge.host.model import ToolCall
from reference_bridge.host.pipeline import Pipeline, Step
from reference_bridge.host.results import CallRequest, Execution, thrown_result
from reference_bridge.host.scheduler import Batch, BatchLog
from reference_bridge.host.tools import Tools
from reference_bridge.host.waterfall import Events, Next, settle

# --- arguments


@mutant()
class LoggedArgumentsAreRewritten(BatchLog):
    """Logs the arguments of a call as it would have written them itself."""

    def call(self, call: ToolCall) -> int:
        try:
            text = json.dumps(json.loads(call.arguments_text), sort_keys=True)
        except ValueError:
            text = ""
        return super().call(replace(call, arguments_text=text))


@mutant()
class ListenersMayChangeArguments(Pipeline):
    """Hands listeners arguments that they can change in place."""

    def _snapshot(self, request: CallRequest) -> Step:
        step = super()._snapshot(request)
        step.execution.arguments = clone(step.execution.arguments)
        return step


@mutant()
class LossyArgumentsRun(Pipeline):
    """Runs a call with the nearest JSON there is to its arguments, where JSON cannot carry them."""

    def _snapshot(self, request: CallRequest) -> Step:
        try:
            freeze(request.arguments)
        except NotLosslessError:
            nearest = json.dumps(request.arguments).replace("-0.0", "0").replace("Infinity", "1e308")
            return super()._snapshot(replace(request, arguments=json.loads(nearest)))
        return super()._snapshot(request)


class _KeepsTheFirst(Pipeline):
    member = ""

    async def dispatch(self, execution: Execution) -> Step:
        if execution.token in self._kept():
            setattr(execution, self.member, self._kept().pop(execution.token))
        return await super().dispatch(execution)

    def _snapshot(self, request: CallRequest) -> Step:
        step = super()._snapshot(request)
        self._kept()[step.execution.token] = getattr(step.execution, self.member)
        return step

    def _kept(self) -> dict[object, Any]:
        kept: dict[object, Any] = self.__dict__.setdefault("_first", {})
        return kept


@mutant()
class ReplacedArgumentsIgnored(_KeepsTheFirst):
    """Runs a body with the first arguments although a listener put others in their place."""

    member = "arguments"


@mutant()
class ReplacedNameIgnored(_KeepsTheFirst):
    """Runs the tool that was called although a listener put another name in its place."""

    member = "name"


@mutant()
class BrokenTextIsAnEmptyObject(Pipeline):
    """Hands a native tool an empty object where its arguments are no JSON."""

    def _snapshot(self, request: CallRequest) -> Step:
        return super()._snapshot(replace(request, arguments={}) if isinstance(request.arguments, str) else request)


@mutant()
class HostValidates(Pipeline):
    """Refuses arguments that do not fit a tool's parameters."""

    async def dispatch(self, execution: Execution) -> Step:
        tool = self._registry.get(execution.name, execution.scope)
        found = violations(tool.parameters, execution.arguments) if tool is not None else []
        if found:
            return Step("post-execute", execution, ToolResult.failure(f"invalid arguments: {found}").finalized())
        return await super().dispatch(execution)


@mutant()
class FirstOfEqualKeysCounts(Batch):
    """Takes the first of equal keys in a call's arguments."""

    def __init__(self, pipeline: Pipeline, log: BatchLog, calls: Any, *rest: Any) -> None:
        def first(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
            return dict(reversed(pairs))

        def parsed(call: ToolCall, request: CallRequest) -> CallRequest:
            try:
                return replace(request, arguments=json.loads(call.arguments_text, object_pairs_hook=first))
            except ValueError:
                return request

        super().__init__(pipeline, log, [(call, parsed(call, request)) for call, request in calls], *rest)


# --- stages


@mutant()
class WrappersSkipped(Events):
    """Runs bodies without asking the listeners around them."""

    async def waterfall(self, event: str, target: Scope | None, *args: Any, innermost: Next) -> Any:
        if event == "tools/execute":
            return await settle(innermost())
        return await super().waterfall(event, target, *args, innermost=innermost)


@mutant()
class BodyRunsBesideAnAnswer(Events):
    """Runs the body also where a listener around it answered in its place."""

    async def waterfall(self, event: str, target: Scope | None, *args: Any, innermost: Next) -> Any:
        ran: list[bool] = []

        async def marked() -> Any:
            ran.append(True)
            return await settle(innermost())

        answer = await super().waterfall(event, target, *args, innermost=marked)
        if event == "tools/execute" and not ran:
            await marked()
        return answer


@mutant()
class DeniedCallsSkipPostExecute(Pipeline):
    """Ends a denied call without asking the listeners after the body."""

    async def prepare(self, request: CallRequest) -> Step:
        step = await super().prepare(request)
        return replace(step, stage="final") if step.stage == "post-execute" else step


@mutant()
class ThrowsReachPostExecute(Pipeline):
    """Asks the listeners after the body also where one before or around it threw."""

    async def prepare(self, request: CallRequest) -> Step:
        step = await super().prepare(request)
        refused = step.stage == "final" and step.execution.arguments is not UNDEFINED
        return replace(step, stage="post-execute") if refused else step

    async def dispatch(self, execution: Execution) -> Step:
        return replace(await super().dispatch(execution), stage="post-execute")


@mutant()
class FailedBodiesSkipPostExecute(Pipeline):
    """Ends a call whose body failed without asking the listeners after it."""

    async def dispatch(self, execution: Execution) -> Step:
        step = await super().dispatch(execution)
        return replace(step, stage="final") if step.result is not None and step.result.is_error else step


@mutant()
class UnknownToolsEndAtOnce(Pipeline):
    """Ends a call of a name that no tool has before anybody is asked."""

    async def prepare(self, request: CallRequest) -> Step:
        if self._registry.get(request.name, request.target) is None:
            step = self._snapshot(request)
            return Step("final", step.execution, thrown_result(ToolNotFoundError(request.name)))
        return await super().prepare(request)


@mutant()
class LossyArgumentsMeetPolicy(Pipeline):
    """Asks listeners about calls whose arguments JSON cannot carry."""

    def _snapshot(self, request: CallRequest) -> Step:
        step = super()._snapshot(request)
        if step.execution.arguments is not UNDEFINED:
            return step
        return Step("dispatch", Execution(request, FrozenDict()))


@mutant()
class DirectExecutionsLogged(Tools):
    """Logs calls that were made past the loop."""

    async def execute(self, call_id: str, name: str, arguments: Any, **named: Any) -> ToolResult:
        for agent in [named["agent"]] if named.get("agent") is not None else []:
            data = {"turn": 0, "step": 0, "callId": call_id, "name": name, "arguments": "{}"}
            agent.session.append("tool/call", data)
        return await super().execute(call_id, name, arguments, **named)


@mutant()
class QuestionsNotLogged(Session):
    """Logs neither a question to the user nor its answer."""

    def append(self, type: str, data: Any, **named: Any) -> SessionEvent:
        return self.events[-1] if type.startswith("approval/") else super().append(type, data, **named)


# --- results


@mutant()
class ThrownTextsHidden(Pipeline):
    """Says only that a tool failed."""

    async def _run_body(self, execution: Execution) -> ToolResult:
        result = await super()._run_body(execution)
        return ToolResult.failure("the tool failed") if result.error and not result.error.info else result


@mutant()
class EveryErrorHasACode(Pipeline):
    """Gives every error a code."""

    async def commit(self, step: Step) -> ToolResult:
        result = await super().commit(step)
        if result.error is None or result.error.info:
            return result
        return result.with_changes(error=replace(result.error, info={"name": "Error", "code": "UNKNOWN"}))


@mutant()
class LossyOutputPasses(Pipeline):
    """Takes a value that JSON cannot carry for null."""

    def _success(self, execution: Execution, tool: ToolDefinition, value: Any) -> ToolResult:
        try:
            freeze(value)
        except NotLosslessError:
            value = None
        return super()._success(execution, tool, value)


@mutant()
class OddContentRefused(Pipeline):
    """Refuses content that is no list of texts and pictures."""

    def _finished(self, execution: Execution, result: ToolResult) -> ToolResult:
        content = result.content
        sound = isinstance(content, list) and all(
            isinstance(block, dict) and block.get("type") in ("text", "image") for block in content
        )
        return super()._finished(execution, result if sound else thrown_result(TypeError("odd content")))


@mutant()
class ReplacedTextMakesASuccess(Pipeline):
    """Takes a failure whose text a listener replaced for a success."""

    async def _post_execute(self, execution: Execution, result: ToolResult) -> ToolResult:
        made = await super()._post_execute(execution, result)
        replaced = result.is_error and made.content != result.content
        return made.with_changes(is_error=False, error=None) if replaced else made


@mutant()
class BlockedResultsConclude(Pipeline):
    """Lets a call conclude the turn whose result was blocked."""

    async def _post_execute(self, execution: Execution, result: ToolResult) -> ToolResult:
        made = await super()._post_execute(execution, result)
        return made.with_changes(concludes_turn=result.concludes_turn)
