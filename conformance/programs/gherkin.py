"""Writes a program as a scenario in the suite's own steps, ready to paste into ``features/``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
import yaml
from msgspec import UNSET

from conformance.drivers.protocol import ModelAnswer, ToolSpec
from conformance.plan import MAIN
from conformance.programs.operations import (
    AddAgent,
    AddNative,
    AddPackage,
    AddPolicy,
    AddServices,
    AnyOperation,
    CallApi,
    CancelTurn,
    DropAgent,
    DropNative,
    Handler,
    LoadAgain,
    Program,
    Prompt,
    ReloadPackage,
    Tell,
    UnloadPackage,
)
from conformance.scripts import Behaviour
from conformance.steps.packages import tool_spec


class Unspeakable(ValueError):
    """The program does something that no step says; the sentence names it."""


@dataclass(frozen=True)
class Line:
    """A step: its keyword and text, and the doc string or the table below it."""

    keyword: str
    text: str
    document: str | None = None
    table: list[list[str]] = field(default_factory=list)


def scenario(program: Program, rule: str, title: str, then: Sequence[str]) -> str:
    """Return the text of a scenario that proves ``rule`` by the steps ``then``, indented as in a feature file.

    Raises :class:`Unspeakable` for what the steps cannot say; the strategy draws nothing of that kind.
    """
    lines = [*_Writer().write(program), *(Line("Then", text) for text in then)]
    return "".join(f"{line}\n" for line in _laid_out(lines, rule, title))


class _Writer:
    """Says one operation after the other, as long as the plan is gathered in ``Given`` and afterwards in ``When``."""

    def __init__(self) -> None:
        self.opened = False
        self.packages: list[str] = []
        self.removed: set[str] = set()
        self.ended: set[str] = set()
        self.agents = [MAIN]
        self.natives: list[str] = []
        self.timed = False

    def write(self, program: Program) -> Iterator[Line]:
        gathered = (operation for operation in _before_opening(program) if isinstance(operation, AddAgent))
        agents = [operation.agent for operation in gathered if operation.parent is None]
        if agents:
            yield Line("Given", f'an agent "{MAIN}"')
        for operation in program:
            yield from _SAY[type(operation)](self, operation)
        if not self.opened:
            # Nothing has opened the stage yet: a program settles its agents in the end.
            yield Line("When", f'the user cancels the turn of agent "{MAIN}"')

    def services(self, operation: AddServices) -> Iterator[Line]:
        if not self.opened:
            for name, value in msgspec.structs.asdict(operation.services).items():
                if value != getattr(type(operation.services)(), name):
                    word = "missing" if value in (False, "none") else "there" if value is True else value
                    yield Line("Given", f"the host's {name} service is {word}")

    def package(self, operation: AddPackage) -> Iterator[Line]:
        name = quoted(operation.name)
        if operation.name in self.packages:
            return
        self.packages.append(operation.name)
        yield Line("Given", f"a package {name}")
        for tool in operation.tools:
            tool_name = quoted(tool.spec.name)
            fields = _tool_fields(tool.spec)
            text = f"package {name} registers the tool {tool_name}"
            yield Line("Given", f"{text} with", document(fields)) if fields else Line("Given", text)
            for behaviour in tool.does:
                said = _behaviour(behaviour) | ({"tag": tool.spec.tag} if tool.spec.tag else {})
                yield Line("Given", f"the tool {tool_name} does", document(said))
        heard: list[str] = []
        for handler in operation.handlers:
            yield from self.handler(name, handler, handler.event in heard)
            heard.append(handler.event)
        for call in operation.calls:
            yield Line("Given", f"package {name} calls {call.call} with {inline(call.args)} while loading")
        if operation.throws is not UNSET:
            thrown = operation.throws
            if not isinstance(thrown, dict) or thrown != {"$": "error", "name": "Error", "message": thrown["message"]}:
                raise Unspeakable(f"the factory of {operation.name} throws {thrown!r}, which is no Error")
            yield Line("Given", f"the factory of package {name} throws {quoted(thrown['message'])}")
        if self.opened:
            yield Line("When", f"package {name} is loaded")

    def handler(self, name: str, handler: Handler, further: bool) -> Iterator[Line]:
        which = f"a further handler of package {name}" if further else f"package {name}"
        if handler.sync is not UNSET:
            said = {"sync": True, **_builtins(handler.sync)}
            yield Line("Given", f"{which} answers {handler.event} with", document(said))
            return
        if not handler.does:
            yield Line("Given", f"{which} listens to {handler.event}")
        for behaviour in handler.does:
            yield Line("Given", f"{which} answers {handler.event} with", document(_behaviour(behaviour)))
            which = f"package {name}"

    def native(self, operation: AddNative) -> Iterator[Line]:
        name = operation.native.name
        if (name in self.natives and not self.opened) or operation.native.agent not in (None, *self.agents):
            return
        self.natives.append(name)
        # Without a description it has none, and a step would give it one.
        fields = {"description": ""} | {
            key: value for key, value in _builtins(operation.native).items() if key != "name"
        }
        for behaviour in operation.does:
            said = _builtins(behaviour.answer) | _when_and_acts(behaviour)
            yield Line("Given", f"the body of {quoted(name)} does", document(said))
        if self.opened:
            yield Line("When", f"the native tool {quoted(name)} is registered with", document(fields))
        elif fields and fields != {"description": f"the native tool {name}"}:
            yield Line("Given", f"a native tool {quoted(name)} with", document(fields))
        else:
            yield Line("Given", f"a native tool {quoted(name)}")

    def drop_native(self, operation: DropNative) -> Iterator[Line]:
        self.opened = True
        yield Line("When", f"the native tool {quoted(operation.name)} is removed")

    def policy(self, operation: AddPolicy) -> Iterator[Line]:
        said = document(_builtins(operation.policy))
        yield (
            Line("When", "the host's policy becomes", said)
            if self.opened
            else Line("Given", "the host has the policy", said)
        )

    def agent(self, operation: AddAgent) -> Iterator[Line]:
        name = quoted(operation.agent)
        self.opened = self.opened or operation.parent is not None or operation.resumes is not None
        if operation.agent in self.agents or operation.parent not in (None, *self.agents):
            return
        if operation.resumes is not None and operation.resumes not in self.ended:
            return
        self.agents.append(operation.agent)
        if operation.parent is not None:
            yield Line("When", f"an agent {name} is created as a child of {quoted(operation.parent)}")
            return
        if operation.resumes is not None:
            yield Line("When", f"agent {name} is created from the session of {quoted(operation.resumes)}")
            return
        yield Line("When", f"an agent {name} is created") if self.opened else Line("Given", f"an agent {name}")

    def drop_agent(self, operation: DropAgent) -> Iterator[Line]:
        self.opened = True
        if operation.agent in self.agents:
            self.agents.remove(operation.agent)
            self.ended.add(operation.agent)
            yield Line("When", f"agent {quoted(operation.agent)} is ended")

    def pi(self, operation: CallApi) -> Iterator[Line]:
        self.opened = True
        if operation.package in self.packages and operation.agent in self.agents:
            text = f"package {quoted(operation.package)} calls {operation.call} with {inline(operation.args)}"
            whose = "" if operation.agent == MAIN else f" for agent {quoted(operation.agent)}"
            yield Line("When", text + whose)

    def prompt(self, operation: Prompt) -> Iterator[Line]:
        turns = [turn for turn in operation.turns if turn.agent in self.agents]
        if operation.meanwhile or self.timed:
            yield Line("Given", "meanwhile", document(_builtins(operation.meanwhile)))
        self.timed = bool(operation.meanwhile)
        self.opened = True
        if len(turns) == 1 and turns[0].agent == MAIN and turns[0].text == "go" and turns[0].messages:
            *first, last = turns[0].messages
            for message in first:
                yield self.message(MAIN, message)
            yield Line("When", "the model calls in one message", table=_table(last))
            return
        for turn in turns:
            for message in turn.messages:
                yield self.message(turn.agent, message)
        if len({turn.text for turn in turns}) > 1:
            raise Unspeakable("agents are told different things at the same time")
        if turns:
            yield Line("When", f"the user says {quoted(turns[0].text)} to {inline([turn.agent for turn in turns])}")

    def message(self, agent: str, message: ModelAnswer) -> Line:
        return Line("Given", f"the model of agent {quoted(agent)} first calls in one message", table=_table(message))

    def say(self, operation: Tell) -> Iterator[Line]:
        self.opened = True
        if operation.agent in self.agents:
            for message in operation.messages:
                yield self.message(operation.agent, message)
            whom = f"agent {quoted(operation.agent)} as a {operation.how}"
            yield Line("When", f"the user says {quoted(operation.text)} to {whom}")

    def cancel(self, operation: CancelTurn) -> Iterator[Line]:
        self.opened = True
        if operation.agent in self.agents:
            yield Line("When", f"the user cancels the turn of agent {quoted(operation.agent)}")

    def unload(self, operation: UnloadPackage) -> Iterator[Line]:
        self.opened = True
        if operation.package in self.packages:
            self.removed.add(operation.package)
            yield Line("When", f"package {quoted(operation.package)} is unloaded")

    def load_again(self, operation: LoadAgain) -> Iterator[Line]:
        self.opened = True
        if operation.package in self.removed:
            self.removed.discard(operation.package)
            yield Line("When", f"package {quoted(operation.package)} is loaded")

    def reload(self, operation: ReloadPackage) -> Iterator[Line]:
        self.opened = True
        if operation.package in self.packages:
            yield Line("When", f"package {quoted(operation.package)} is reloaded")


_SAY: dict[type[AnyOperation], Any] = {
    AddServices: _Writer.services,
    AddPackage: _Writer.package,
    AddNative: _Writer.native,
    DropNative: _Writer.drop_native,
    AddPolicy: _Writer.policy,
    AddAgent: _Writer.agent,
    DropAgent: _Writer.drop_agent,
    CallApi: _Writer.pi,
    Prompt: _Writer.prompt,
    Tell: _Writer.say,
    CancelTurn: _Writer.cancel,
    UnloadPackage: _Writer.unload,
    LoadAgain: _Writer.load_again,
    ReloadPackage: _Writer.reload,
}
_GATHERED = (AddServices, AddPackage, AddNative, AddPolicy, AddAgent)


def _before_opening(program: Program) -> Iterator[AnyOperation]:
    for operation in program:
        if not isinstance(operation, _GATHERED):
            return
        yield operation


# --- values -----------------------------------------------------------------------------------------------------------


def quoted(text: Any) -> str:
    """Return a text in the quotes of a phrase. Raises :class:`Unspeakable` for one that holds quotes itself."""
    if not isinstance(text, str) or '"' in text or "\n" in text:
        raise Unspeakable(f"{text!r} cannot stand in quotes")
    return f'"{text}"'


def inline(value: Any) -> str:
    """Return a value as JSON on one line."""
    return json.dumps(value, ensure_ascii=False)


def document(value: Any) -> str:
    """Return a value as the doc string of a step: YAML that reads back as the same."""
    if isinstance(value, dict) and value:
        text = "\n".join(f"{_flow(key)}: {_flow(part)}" for key, part in value.items())
    elif isinstance(value, list) and value:
        text = "\n".join(f"- {_flow(part)}" for part in value)
    else:
        text = _flow(value)
    return inline(value) if '"""' in text or yaml.safe_load(text) != value else text


def _flow(part: Any) -> str:
    text: str = yaml.safe_dump(part, default_flow_style=True, width=10_000, allow_unicode=True, sort_keys=False)
    return text.removesuffix("\n").removesuffix("...").removesuffix("\n")


def _builtins(value: Any) -> Any:
    return msgspec.to_builtins(value)


def _tool_fields(spec: ToolSpec) -> dict[str, Any]:
    """The fields in which a registration differs from one that a step makes without any."""
    usual, found = _builtins(tool_spec(str(spec.name))), _builtins(spec)
    left_out = {key: {"$": "undefined"} for key in sorted(usual.keys() - found.keys())}
    return left_out | {key: value for key, value in found.items() if usual.get(key, UNSET) != value}


def _behaviour(behaviour: Behaviour) -> dict[str, Any]:
    reply: dict[str, Any] = _builtins(behaviour.reply)
    return _when_and_acts(behaviour) | reply


def _when_and_acts(behaviour: Any) -> dict[str, Any]:
    said = {}
    if match := _builtins(behaviour.match):
        said["when"] = match
    if acts := _builtins(behaviour.acts):
        said["acts"] = acts
    return said


def _table(message: ModelAnswer) -> list[list[str]]:
    if message.text is not None or not message.calls:
        raise Unspeakable("a message of the model has a text, or no calls")
    head = ["id", "tool", "arguments"]
    body = [[call.id, call.name, call.arguments] for call in message.calls]
    if message.finish is not None:
        head.append("finish")
        body = [[*row, str(message.finish) if number == 0 else ""] for number, row in enumerate(body)]
    if any(cell != cell.strip() for row in body for cell in row):
        raise Unspeakable("the text of a call begins or ends with a space")
    return [head, *body]


# --- layout -----------------------------------------------------------------------------------------------------------


def _laid_out(lines: Sequence[Line], rule: str, title: str) -> Iterator[str]:
    yield f"  @rule:{rule}"
    yield f"  Scenario: {title}"
    before = ""
    for line in lines:
        keyword = "And" if line.keyword == before else line.keyword
        before = line.keyword
        yield f"    {keyword} {line.text}"
        if line.document is not None:
            yield '      """'
            yield from (f"      {part}".rstrip() for part in line.document.splitlines())
            yield '      """'
        cells = [[_cell(cell) for cell in row] for row in line.table]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        for row in cells:
            yield "      | " + " | ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)) + " |"


def _cell(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("\n", "\\n")
