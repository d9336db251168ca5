"""One tool call from its arguments to its final result.

    snapshot → tools/pre-execute → guards → tools/execute around the body → tools/post-execute → finalize → tools/result

Which stages a call meets depends on where it fails. What raises inside the body (unknown tools included) is a result
like any other and goes on to post-execute. What raises *around* it — a pre-execute listener, a guard, an execute
wrapper, a post-execute listener — is final at once and skips everything up to the last emit.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias

from reference_bridge.host.definitions import ToolDefinition
from reference_bridge.host.errors import ToolNotFoundError, ToolOutputError, error_message
from reference_bridge.host.json_schema import violations
from reference_bridge.host.json_values import UNDEFINED, Json, NotLosslessError, freeze, js_string, member
from reference_bridge.host.registry import RUN_CODE, Registry
from reference_bridge.host.results import (
    CallRequest,
    Execution,
    ToolResult,
    aborted_result,
    thrown_result,
)
from reference_bridge.host.signals import FusedSignal
from reference_bridge.host.waterfall import Events, settle

Stage: TypeAlias = Literal["dispatch", "post-execute", "final"]


@dataclass(frozen=True, slots=True)
class Step:
    """Where a call stands: the stage it goes to next, with the result it has so far."""

    stage: Stage
    execution: Execution
    result: ToolResult | None = None


class AskResolver(Protocol):
    """Turns an `ask` into an allow or a deny."""

    async def __call__(self, execution: Execution, ask: Json) -> tuple[Json, bool]:
        """The decision, and whether it is a denial because the approval was cancelled."""
        ...


class Pipeline:
    """Runs calls. The loop drives the four steps itself, so that bodies may overlap; `execute` drives them in a row."""

    def __init__(self, registry: Registry, events: Events, resolve_ask: AskResolver) -> None:
        self._registry = registry
        self._events = events
        self._resolve_ask = resolve_ask

    async def execute(self, request: CallRequest) -> ToolResult:
        """The whole pipeline for one call. Nothing is logged; nothing raises but a cancelled task."""
        step = await self.prepare(request)
        if step.stage == "dispatch":
            step = await self.dispatch(step.execution)
        return await self.commit(step)

    def is_parallel(self, request: CallRequest) -> bool:
        """Whether this call may overlap its neighbours: only if the tool answers `True`, and nothing else."""
        try:
            tool = self._registry.resolve(request.name, request.target, nested=request.parent is not None)
            answer = tool.is_concurrency_safe is not None and tool.is_concurrency_safe(request.arguments)
        except Exception:
            return False
        if inspect.iscoroutine(answer):
            answer.close()
        return answer is True

    async def prepare(self, request: CallRequest) -> Step:
        """Snapshot, policy, guards. No body has run yet."""
        step = self._snapshot(request)
        if step.stage == "final":
            return step
        execution = step.execution
        if request.signal.aborted:
            return Step("final", execution, aborted_result(started=False))
        try:
            return await self._decide(execution)
        except Exception as error:
            return Step("final", execution, thrown_result(error))

    async def dispatch(self, execution: Execution) -> Step:
        """The execute wrappers and inside of them the body."""
        state = execution._state
        try:
            answer = await self._events.waterfall(
                "tools/execute", state.scope, execution, innermost=lambda: self._run_body(execution)
            )
            result = self._normalized(execution, answer)
            if state.deferred:
                contexts = [*state.deferred, *result.additional_contexts]
                result = _canonical(execution, result.with_changes(additional_contexts=contexts))
        except Exception as error:
            return Step("final", execution, thrown_result(error))
        if state.caller_signal.aborted and not result.is_error:
            result = aborted_result(started=state.body_started, prior=result)
        return Step("post-execute", execution, result)

    async def commit(self, step: Step) -> ToolResult:
        """Post-execute where the call still needs it, then the final word and the `tools/result` emit."""
        execution, result = step.execution, step.result
        if result is None:
            raise ValueError("a call has no result to commit before its body ran")
        if step.stage == "post-execute":
            try:
                result = await self._post_execute(execution, result)
                state = execution._state
                if state.caller_signal.aborted and not result.is_error:
                    result = aborted_result(started=state.body_started, prior=result)
            except Exception as error:
                result = thrown_result(error)
        result = self._finished(execution, result)
        self._tell(execution, result)
        return result

    def _snapshot(self, request: CallRequest) -> Step:
        registry, target, nested = self._registry, request.target, request.parent is not None
        # Both are settled now: the tool may be gone, or its mode another, when the call ends.
        tool = registry.get(request.name, target)
        collapsed = tool is not None and registry.collapses(request.name, target, nested=nested)
        try:
            execution = Execution(request, freeze(request.arguments))
        except NotLosslessError:
            execution = Execution(request, UNDEFINED)
            error = TypeError("tool execution arguments must be losslessly JSON-serializable")
            step = Step("final", execution, thrown_result(error))
        else:
            step = Step("dispatch", execution)
            if collapsed and not request.signal.aborted:
                hint = (
                    f"only `{RUN_CODE}` is callable directly — "
                    f"call `{request.name}` from inside a `{RUN_CODE}` program instead"
                )
                return Step("final", execution, thrown_result(ToolNotFoundError(request.name, hint)))
        if tool is not None:
            execution._state.finalize = tool.finalize_content
        return step

    async def _decide(self, execution: Execution) -> Step:
        state = execution._state
        decision = await self._events.waterfall(
            "tools/pre-execute", state.scope, execution, innermost=_allowed_by_default
        )
        approval_cancelled = False
        if member(decision, "kind") == "ask":
            decision, approval_cancelled = await self._resolve_ask(execution, decision)
        if approval_cancelled and state.caller_signal.aborted:
            return Step("post-execute", execution, aborted_result(started=False))
        # Not `deny` denies, but a reason: a decision of any other kind without one goes on, past the guards.
        allowed = member(decision, "kind") == "allow"
        reason = self._registry.guard_reason(execution) if allowed else member(decision, "reason")
        if reason is not UNDEFINED:
            return Step("post-execute", execution, ToolResult.failure(reason).finalized())
        if state.caller_signal.aborted:
            return Step("post-execute", execution, aborted_result(started=False))
        return Step("dispatch", execution)

    async def _run_body(self, execution: Execution) -> ToolResult:
        """The innermost `tools/execute`: the body, awaited to its end however the signal stands."""
        state, wrapper_signal = execution._state, execution.signal
        fused = FusedSignal(state.caller_signal, wrapper_signal)
        if fused.signal.aborted:
            return aborted_result(started=False)
        execution.signal = fused.signal
        try:
            tool = self._registry.resolve(execution.name, state.scope, nested=execution.parent is not None)
            state.body_started = True
            value = await settle(tool.execute(execution.arguments, execution))
            result = self._success(execution, tool, value)
            return aborted_result(started=True, prior=result) if fused.signal.aborted else result
        except Exception as error:
            return thrown_result(error)
        finally:
            fused.dispose()
            execution.signal = wrapper_signal

    def _success(self, execution: Execution, tool: ToolDefinition, value: Json) -> ToolResult:
        """Check `value` against the tool's output contract and render it."""
        try:
            value = freeze(value)
        except NotLosslessError:
            raise ToolOutputError(tool.name, ["value is not lossless JSON"]) from None
        found = violations(tool.output_schema, value)
        if found:
            raise ToolOutputError(tool.name, found)
        content = _projected(tool, "render", tool.render, execution.arguments, value)
        meta: Json = UNDEFINED
        if execution.parent is None and tool.presentation_meta is not None:
            meta = _projected(tool, "presentationMeta", tool.presentation_meta, execution.arguments, value)
        result = ToolResult(
            is_error=False, content=content, value=value, meta=meta, concludes_turn=execution._state.concludes
        )
        return _canonical(execution, result.finalized())

    def _normalized(self, execution: Execution, answer: object) -> ToolResult:
        """What the wrappers answered: a result of this call stands, any other success goes through the tool anew."""
        if not isinstance(answer, ToolResult):
            member(answer, "isError")
            answer = ToolResult.success(UNDEFINED)
        if answer._owner is execution.token:
            return answer
        if answer.is_error:
            return _canonical(execution, answer.with_changes())
        tool = self._registry.resolve(execution.name, execution.scope, nested=execution.parent is not None)
        result = self._success(execution, tool, answer.value)
        if answer.additional_contexts:
            result = _canonical(execution, result.with_changes(additional_contexts=answer.additional_contexts))
        return result

    async def _post_execute(self, execution: Execution, result: ToolResult) -> ToolResult:
        """Every listener gets this result; of their decisions the outermost counts."""
        decision = await self._events.waterfall(
            "tools/post-execute", execution.scope, execution, result, innermost=_accepted_by_default
        )
        given = member(decision, "additionalContexts")
        contexts = [] if given is UNDEFINED or given is None else list(given)
        if member(decision, "kind") == "block":
            return _blocked(member(decision, "feedback"), contexts)
        replaces = [name for name in ("content", "value") if isinstance(decision, dict) and name in decision]
        if len(replaces) > 1:
            raise TypeError("tools/post-execute accept decision cannot replace both value and content")
        contexts = [*result.additional_contexts, *contexts]
        if "value" in replaces:
            if result.is_error:
                raise TypeError("tools/post-execute cannot replace the value of a failed result")
            tool = self._registry.resolve(execution.name, execution.scope, nested=execution.parent is not None)
            replaced = self._success(execution, tool, decision["value"])
            return replaced.with_changes(additional_contexts=contexts)
        content = member(decision, "content")
        return result.with_changes(
            content=result.content if content is UNDEFINED else content, additional_contexts=contexts
        )

    def _finished(self, execution: Execution, result: ToolResult) -> ToolResult:
        """Freeze the result, with the tool's last word on its content."""
        try:
            result = result.finalized()
        except TypeError as error:
            result = thrown_result(error).finalized()
        finalize = execution._state.finalize
        if finalize is None:
            return result
        try:
            content = finalize(execution, result)
            unchanged = content is None or content is UNDEFINED
            return result if unchanged else result.with_changes(content=content).finalized()
        except Exception as error:
            return thrown_result(error).finalized()

    def _tell(self, execution: Execution, result: ToolResult) -> None:
        """`tools/result`: observers can neither change nor fail what they are told."""
        execution._frozen = True
        about = f'tool "{execution.name}" ({execution.call_id})'
        self._events.emit("tools/result", execution.scope, execution, result, about=about)


async def _allowed_by_default() -> Json:
    return {"kind": "allow"}


async def _accepted_by_default() -> Json:
    return {"kind": "accept"}


def _canonical(execution: Execution, result: ToolResult) -> ToolResult:
    """Mark `result` as made by the pipeline for this very call, so that it is not rendered again."""
    result._owner = execution.token
    return result


def _projected(tool: ToolDefinition, projection: str, project: Any, arguments: Json, value: Json) -> Json:
    try:
        projected = project(arguments, value)
    except Exception as error:
        raise ToolOutputError(tool.name, [f"output.{projection} failed: {error_message(error)}"]) from error
    try:
        return freeze(projected)
    except NotLosslessError:
        raise ToolOutputError(tool.name, [f"output.{projection} returned non-lossless JSON"]) from None


def _blocked(feedback: Json, contexts: list[Json]) -> ToolResult:
    texts = [
        js_string(member(block, "text"))
        if member(block, "type") == "text"
        else f"[{js_string(member(block, 'type'))} content]"
        for block in feedback
    ]
    message = "\n".join(texts) or "tool result blocked by post-execute policy"
    result = ToolResult.failure(message, content=feedback)
    result.additional_contexts = contexts
    return result
