"""A package's tool as the host runs it: prepared and checked arguments in, content blocks out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from reference_bridge.bridge.arguments import validate_arguments
from reference_bridge.bridge.calls import Call
from reference_bridge.bridge.contents import Contents
from reference_bridge.bridge.context import Context
from reference_bridge.bridge.execution_events import ExecutionEvents
from reference_bridge.bridge.notices import Notices
from reference_bridge.bridge.packages import Instance, working_for
from reference_bridge.bridge.values import UNDEFINED, as_object, copy_json, same_json
from reference_bridge.host.json_values import Json, NotLosslessError, clone
from reference_bridge.host.results import Execution
from reference_bridge.host.waterfall import settle


@dataclass(frozen=True, slots=True, eq=False)
class PiTool:
    """A tool as a package registered it."""

    instance: Instance
    name: str
    definition: dict[str, Any]
    """What was handed to `registerTool`, as it was."""

    @property
    def is_parallel(self) -> bool:
        """Whether its calls may overlap their neighbours. The host runs one call at a time unless told."""
        return self.definition.get("executionMode") == "parallel"


class ToolRuns:
    """Runs the tools of packages."""

    def __init__(self, events: ExecutionEvents, contents: Contents, notices: Notices) -> None:
        self._events = events
        self._contents = contents
        self._notices = notices

    def prepare(self, call: Call, tool: PiTool, arguments: Json) -> None:
        """Make `call.input` from the arguments, or find out why they do not pass; once a call."""
        if call.prepared:
            return
        call.prepared = True
        try:
            call.input = self.validated(tool, clone(arguments))
        except Exception as error:
            call.invalid = error

    def copy(self, call: Call, arguments: Json) -> None:
        """Make `call.input` for a native tool: a copy to look at, since the host's own cannot be changed."""
        if call.input is UNDEFINED:
            call.input = clone(arguments)

    def show_what_runs(self, call: Call, arguments: Json) -> None:
        """Forget what handlers changed for a native tool: it runs after all, by an outer listener's word."""
        if call.tool is None and not same_json(call.input, arguments):
            call.input = clone(arguments)

    def validated(self, tool: PiTool, arguments: Any) -> Any:
        """The arguments as handlers and tool get them. Raises what the tool's `prepareArguments` throws."""
        prepare = tool.definition.get("prepareArguments")
        return validate_arguments(
            tool.name,
            tool.definition.get("parameters"),
            arguments,
            prepare=prepare if callable(prepare) else None,
        )

    async def run(self, call: Call, tool: PiTool, execution: Execution) -> Json:
        """The body: `{content, details?}` with the content in the host's form. What it raises is the call's result."""
        self.prepare(call, tool, execution.arguments)
        if call.invalid is not None:
            raise call.invalid
        call.executed = True
        try:
            answer = await self.execute(call, tool, execution)
        finally:
            await self._events.settle(call)
        call.returned = answer
        call.asked_to_stop = self.asks_to_stop(answer)
        return await self.value(call, answer)

    async def execute(self, call: Call, tool: PiTool, execution: Execution) -> Any:
        """Run the package's own code, for the agent of the call."""
        execute = tool.definition.get("execute")
        if not callable(execute):
            raise TypeError("definition.execute is not a function")

        def on_update(partial: Any = UNDEFINED) -> None:
            self._events.update(call, partial, execution.signal)

        context = Context(call.agent, execution.signal)
        with working_for(call.agent):
            return await settle(execute(call.call_id, call.input, execution.signal, on_update, context))

    def asks_to_stop(self, answer: Any) -> bool:
        """Whether a result votes for the end of the loop: only the literal true does."""
        return as_object(answer).get("terminate") is True

    async def value(self, call: Call, answer: Any) -> Json:
        """What the host keeps of an answer. Content is all the model reads; `isError` in it means nothing."""
        if answer is None or answer is UNDEFINED:
            raise TypeError(f"tool {call.name!r} answered nothing: a result with content was expected")
        members = as_object(answer)
        content = members.get("content") if isinstance(answer, dict) else answer
        value: dict[str, Json] = {"content": await self._contents.to_host(content, call.pictures)}
        details = members.get("details", UNDEFINED)
        if details is not UNDEFINED:
            try:
                value["details"] = copy_json(details)
            except NotLosslessError as error:
                self._notices.warn_once(
                    ("lossy details", call.name),
                    f"the details of a result of {call.name!r} are not kept: {error}",
                )
        return value


def render(arguments: Json, value: Json) -> Json:
    """The content blocks of a body's answer."""
    return value["content"]


def presentation(arguments: Json, value: Json) -> Json:
    """What the log keeps beside the content: the details, where the tool gave any."""
    return {"details": value["details"]} if "details" in value else {}
