"""Defects of bridges that shorten, flatten or translate texts: reasons, descriptions, names and ids."""

from __future__ import annotations

import re
import unicodedata
from typing import Any

from conformance.mutants.registry import mutant
from reference_bridge.bridge.calls import Call
from reference_bridge.bridge.dispatch import Event
from reference_bridge.bridge.execution_events import ExecutionEvents, Outcome
from reference_bridge.bridge.gate import ToolCallGate
from reference_bridge.bridge.packages import Instance
from reference_bridge.bridge.registrations import Entry, Registrations
from reference_bridge.host import AbortSignal, Json

# --- reasons ----------------------------------------------------------------------------------------------------------


@mutant()
class ReasonCutAtItsFirstLine(ToolCallGate):
    """Denies with the first line of a handler's reason."""

    def reason_text(self, reason: Any) -> str:
        return super().reason_text(reason).splitlines()[0]


@mutant()
class LongReasonCut(ToolCallGate):
    """Cuts a handler's reason after two hundred characters."""

    def reason_text(self, reason: Any) -> str:
        return super().reason_text(reason)[:200]


@mutant()
class ReasonInAscii(ToolCallGate):
    """Writes a question mark for each character of a reason that is not ASCII."""

    def reason_text(self, reason: Any) -> str:
        return super().reason_text(reason).encode("ascii", "replace").decode()


# --- what is registered -----------------------------------------------------------------------------------------------


@mutant()
class DescriptionsComposed(Registrations):
    """Shows the model descriptions with letters and marks composed."""

    def description(self, definition: dict[str, Any]) -> str:
        return unicodedata.normalize("NFC", super().description(definition))


@mutant()
class NamesComposed(Registrations):
    """Registers a tool under its name with letters and marks composed."""

    def entry(self, instance: Instance, name: Any, definition: dict[str, Any]) -> Entry:
        return super().entry(
            instance, unicodedata.normalize("NFC", name) if isinstance(name, str) else name, definition
        )


@mutant()
class LongNamesCut(Registrations):
    """Registers a tool under the first sixty-four characters of its name."""

    def entry(self, instance: Instance, name: Any, definition: dict[str, Any]) -> Entry:
        return super().entry(instance, name[:64] if isinstance(name, str) else name, definition)


@mutant()
class PropertiesCalledTitleLost(Registrations):
    """Takes a property called title for the keyword, and drops it without a word."""

    def parameters(self, definition: dict[str, Any]) -> Json:
        return self._without(super().parameters(definition))

    def _without(self, value: Json) -> Json:
        if isinstance(value, dict):
            return {key: self._without(item) for key, item in value.items() if key != "title"}
        return [self._without(item) for item in value] if isinstance(value, list) else value


# --- ids --------------------------------------------------------------------------------------------------------------


class _ChangesIds(ExecutionEvents):
    """Start and end have the call's id in another form."""

    def form(self, call_id: str) -> str:
        raise NotImplementedError

    def start_event(self, call: Call) -> Event:
        return {**super().start_event(call), "toolCallId": self.form(call.call_id)}

    def end_event(self, call: Call, outcome: Outcome) -> Event:
        return {**super().end_event(call, outcome), "toolCallId": self.form(call.call_id)}


@mutant()
class IdsMadePlain(_ChangesIds):
    """Gives start and end an id in which only letters, digits, hyphens and underscores are left as they were."""

    def form(self, call_id: str) -> str:
        return re.sub("[^A-Za-z0-9_-]", "_", call_id)


@mutant()
class IdsTrimmed(_ChangesIds):
    """Takes the blanks off the ends of the ids that start and end tell."""

    def form(self, call_id: str) -> str:
        return call_id.strip()


@mutant()
class StartsWithoutAnIdSkipped(ExecutionEvents):
    """Tells no start of a call whose id is empty, as of a call that has none."""

    def start(self, call: Call) -> None:
        if call.call_id:
            super().start(call)


@mutant()
class EndsWithoutAnIdSkipped(ExecutionEvents):
    """Tells no end of a call whose id is empty, as of a call that has none."""

    async def end(self, call: Call, outcome: Outcome) -> None:
        if call.call_id:
            await super().end(call, outcome)


@mutant()
class UpdatesWithoutAnIdSkipped(ExecutionEvents):
    """Tells no partial result of a call whose id is empty, as of a call that has none."""

    def update(self, call: Call, partial: Any, signal: AbortSignal | None = None) -> None:
        if call.call_id:
            super().update(call, partial, signal)


@mutant()
class CallsWithoutAnIdUnjudged(ToolCallGate):
    """Asks no judge about a call whose id is empty, as about a call that has none."""

    def is_asked(self, call: Call) -> bool:
        return bool(call.call_id) and super().is_asked(call)


@mutant()
class JudgesGetTrimmedIds(ToolCallGate):
    """Takes the blanks off the ends of the ids that judges get."""

    def event(self, call: Call) -> Event:
        return {**super().event(call), "toolCallId": call.call_id.strip()}


@mutant()
class LongIdsCut(_ChangesIds):
    """Gives start and end the first sixty-four characters of a call's id."""

    def form(self, call_id: str) -> str:
        return call_id[:64]
