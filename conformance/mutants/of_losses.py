"""Defects of bridges that lose a little on the way, or keep a little too much from one call to the next."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

from conformance.mutants.registry import mutant
from reference_bridge.bridge.active_tools import ActiveTools
from reference_bridge.bridge.bridge import Bridge
from reference_bridge.bridge.calls import Call
from reference_bridge.bridge.contents import Contents, Pictures
from reference_bridge.bridge.dispatch import Dispatch, Event, Subscription
from reference_bridge.bridge.execution_events import ExecutionEvents, Outcome
from reference_bridge.bridge.packages import Instance
from reference_bridge.bridge.patches import ResultPatches
from reference_bridge.bridge.registrations import Registrations
from reference_bridge.bridge.tools import PiTool, ToolRuns
from reference_bridge.bridge.values import UNDEFINED, as_object
from reference_bridge.host import Agent, Execution
from reference_bridge.host.decisions import Decision
from reference_bridge.host.json_values import Json, clone, freeze

# --- arguments --------------------------------------------------------------------------------------------------------


@mutant()
class DeletedArgumentsComeBack(ToolRuns):
    """Lays the arguments that handlers left over the model's, so that what was taken out is there again."""

    async def execute(self, call: Call, tool: PiTool, execution: Execution) -> Any:
        if isinstance(call.input, dict):
            for key, value in as_object(clone(execution.arguments)).items():
                call.input.setdefault(key, value)
        return await super().execute(call, tool, execution)


@mutant()
class AddedArgumentsAreLost(ToolRuns):
    """Takes from what handlers left only the members that the model's arguments have."""

    async def execute(self, call: Call, tool: PiTool, execution: Execution) -> Any:
        before = as_object(self.validated(tool, clone(execution.arguments)))
        if isinstance(call.input, dict):
            call.input = {key: value for key, value in call.input.items() if key in before}
        return await super().execute(call, tool, execution)


def _through_utf8(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode(errors="replace").decode()
    if isinstance(value, dict):
        return {key: _through_utf8(each) for key, each in value.items()}
    return [_through_utf8(each) for each in value] if isinstance(value, list) else value


@mutant()
class HalfPairsOfArgumentsReplaced(ToolRuns):
    """Sends arguments through UTF-8, so that half a surrogate pair becomes a question mark."""

    def validated(self, tool: PiTool, arguments: Any) -> Any:
        return super().validated(tool, _through_utf8(arguments))


@mutant()
class PreparedTwice(ToolRuns):
    """Hands arguments that were prepared and checked to prepareArguments once more."""

    def validated(self, tool: PiTool, arguments: Any) -> Any:
        return super().validated(tool, super().validated(tool, arguments))


@mutant()
class PreparedTwiceBesideOthers(ToolRuns):
    """Prepares the arguments of a tool that may run beside others when it looks whether it may, and then once more."""

    def validated(self, tool: PiTool, arguments: Any) -> Any:
        prepared = super().validated(tool, arguments)
        return super().validated(tool, prepared) if tool.is_parallel else prepared


@mutant()
class ArgumentsFrozen(ToolRuns):
    """Hands the tool arguments that it cannot change."""

    async def execute(self, call: Call, tool: PiTool, execution: Execution) -> Any:
        call.input = freeze(call.input)
        return await super().execute(call, tool, execution)


@mutant()
class BodiesChangeACopy(ToolRuns):
    """Hands the tool a copy of the arguments that result handlers are shown."""

    async def execute(self, call: Call, tool: PiTool, execution: Execution) -> Any:
        shown, call.input = call.input, deepcopy(call.input)
        try:
            return await super().execute(call, tool, execution)
        finally:
            call.input = shown


@mutant()
class BodyGetsAnotherId(ToolRuns):
    """Hands a tool another call id than the events have."""

    async def execute(self, call: Call, tool: PiTool, execution: Execution) -> Any:
        real, call.call_id = call.call_id, f"pi-{call.call_id}"
        try:
            return await super().execute(call, tool, execution)
        finally:
            call.call_id = real


# --- results ----------------------------------------------------------------------------------------------------------


@mutant()
class TextsJoinedInAPatch(ResultPatches):
    """Makes one text of the texts in a patched result."""

    async def decide(
        self, call: Call, outcome: Outcome, decision: Decision, content: Any, fails: bool
    ) -> tuple[Outcome, Decision]:
        if isinstance(content, list) and content != outcome.result["content"]:
            texts = [block["text"] for block in content if isinstance(block, dict) and block.get("type") == "text"]
            others = [block for block in content if not (isinstance(block, dict) and block.get("type") == "text")]
            content = [{"type": "text", "text": "".join(texts)}, *others] if texts else others
        return await super().decide(call, outcome, decision, content, fails)


@mutant()
class ResultHandlersInReverse(ResultPatches):
    """Asks the tool_result handlers of the packages loaded last first."""

    async def ask(self, subscriptions: Sequence[Subscription], call: Call, event: Event, execution: Execution) -> bool:
        return await super().ask(list(reversed(subscriptions)), call, event, execution)


@mutant()
class PackagesSortedByName(Dispatch):
    """Tells packages in the order of their names."""

    def subscriptions(self, agent: Agent | None, event: str) -> list[Subscription]:
        return sorted(super().subscriptions(agent, event), key=lambda each: each.instance.package.name)


@mutant()
class PatchesKeptByTool(ResultPatches):
    """Gives the content that handlers gave one call of a tool to all its later calls."""

    async def decide(
        self, call: Call, outcome: Outcome, decision: Decision, content: Any, fails: bool
    ) -> tuple[Outcome, Decision]:
        kept: dict[str, Any] = self.__dict__.setdefault("_kept", {})
        if content != outcome.result["content"]:
            kept.setdefault(call.name, content)
        return await super().decide(call, outcome, decision, kept.get(call.name, content), fails)


@mutant()
class LongTextCut(Contents):
    """Cuts texts after fifty thousand characters."""

    async def to_host(self, content: Any, pictures: Pictures) -> list[dict[str, Any]]:
        made = await super().to_host(content, pictures)
        return [{**block, "text": block["text"][:50_000]} if "text" in block else block for block in made]


@mutant()
class HalfPairsReplaced(Contents):
    """Sends texts through UTF-8, so that half a surrogate pair becomes a question mark."""

    async def to_host(self, content: Any, pictures: Pictures) -> list[dict[str, Any]]:
        made = await super().to_host(content, pictures)
        return [{**block, "text": _through_utf8(block["text"])} if "text" in block else block for block in made]


@mutant()
class EmptyTextsDropped(Contents):
    """Drops texts without a character."""

    async def to_host(self, content: Any, pictures: Pictures) -> list[dict[str, Any]]:
        return [block for block in await super().to_host(content, pictures) if block.get("text") != ""]


@mutant()
class DetailsOnlyIfObject(ToolRuns):
    """Keeps details only where they are an object."""

    async def run(self, call: Call, tool: PiTool, execution: Execution) -> Json:
        value = await super().run(call, tool, execution)
        if not isinstance(as_object(call.returned).get("details", UNDEFINED), dict) and isinstance(call.returned, dict):
            call.returned = {**call.returned, "details": {}}
        return value


@mutant()
class EndOfAFailureWithoutItsFlag(ExecutionEvents):
    """Tells the end of a call that was blocked or did not pass as a success."""

    def end_event(self, call: Call, outcome: Outcome) -> Event:
        return {**super().end_event(call, outcome), "isError": outcome.is_error and call.executed}


@mutant()
class TerminateOfAThrownValueCounts(ToolRuns):
    """Takes the terminate of a thrown value for a wish to stop."""

    async def execute(self, call: Call, tool: PiTool, execution: Execution) -> Any:
        try:
            return await super().execute(call, tool, execution)
        except Exception as error:
            call.asked_to_stop = as_object(getattr(error, "value", None)).get("terminate") is True
            raise


# --- tools ------------------------------------------------------------------------------------------------------------


@mutant()
class LongDescriptionCut(Registrations):
    """Cuts descriptions after a thousand characters."""

    def description(self, definition: dict[str, Any]) -> str:
        return super().description(definition)[:1000]


@mutant()
class SetInResultIsLost(Bridge):
    """Forgets a list that is set while a result is patched."""

    class _Deaf(ActiveTools):
        deaf = False

        def apply(self, instance: Instance, agent: Agent, wanted: Any) -> None:
            if not self.deaf:
                super().apply(instance, agent, wanted)

    class _Deafening(ResultPatches):
        tools: Any = None

        async def ask(
            self, subscriptions: Sequence[Subscription], call: Call, event: Event, execution: Execution
        ) -> bool:
            self.tools.deaf = True
            try:
                return await super().ask(subscriptions, call, event, execution)
            finally:
                self.tools.deaf = False

    active_tools_type = _Deaf
    patches_type = _Deafening

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.patches.tools = self.active_tools  # type: ignore[attr-defined]
