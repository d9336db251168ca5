"""Defects that something else brings about: an earlier call, an option, an update, a child agent."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from conformance.mutants.registry import mutant
from reference_bridge.bridge.active_tools import ActiveTools
from reference_bridge.bridge.bridge import Bridge
from reference_bridge.bridge.calls import Call
from reference_bridge.bridge.exec import Exec, Options
from reference_bridge.bridge.execution_events import ExecutionEvents
from reference_bridge.bridge.packages import Instance
from reference_bridge.bridge.registrations import Registrations
from reference_bridge.bridge.tools import PiTool, ToolRuns
from reference_bridge.bridge.values import as_object, same_json
from reference_bridge.host import Agent, Assembly, Execution, Json, PromptContext
from reference_bridge.host.json_values import clone
from reference_bridge.host.subprocess import Child, Exit
from reference_bridge.host.waterfall import Next

# --- arguments --------------------------------------------------------------------------------------------------------


@mutant()
class ChangedArgumentsArePreparedAgain(ToolRuns):
    """Lets a tool prepare its arguments once more after a handler has changed them."""

    def prepare(self, call: Call, tool: PiTool, arguments: Json) -> None:
        if not call.prepared:
            super().prepare(call, tool, arguments)
            if call.invalid is None:
                self.__dict__.setdefault("prepared", {})[call] = clone(call.input)

    async def execute(self, call: Call, tool: PiTool, execution: Execution) -> Any:
        prepare = tool.definition.get("prepareArguments")
        if callable(prepare) and not same_json(self.__dict__["prepared"].pop(call), call.input):
            call.input = prepare(call.input)
        return await super().execute(call, tool, execution)


@mutant()
class PreparationsThatThrewAreDropped(ToolRuns):
    """Does not ask a tool's preparation any more after it has thrown."""

    def validated(self, tool: PiTool, arguments: Any) -> Any:
        prepare, threw = tool.definition.get("prepareArguments"), self.__dict__.setdefault("threw", set())

        def asked(given: Any) -> Any:
            try:
                return prepare(given) if callable(prepare) else given
            except Exception:
                threw.add(tool)
                raise

        return super().validated(
            PiTool(tool.instance, tool.name, {**tool.definition, "prepareArguments": None if tool in threw else asked}),
            arguments,
        )


@mutant()
class TextsOfUntypedArgumentsAreRead(ToolRuns):
    """Reads the text of an argument of any kind as JSON, where it is that of an object or a list."""

    def validated(self, tool: PiTool, arguments: Any) -> Any:
        found = super().validated(tool, arguments)
        known = as_object(as_object(tool.definition.get("parameters")).get("properties"))
        for key, value in list(as_object(found).items()):
            if isinstance(value, str) and key in known and not as_object(known[key]).keys() - {"description"}:
                with contextlib.suppress(ValueError):
                    read = json.loads(value)
                    found[key] = read if isinstance(read, dict | list) else value
        return found


@mutant()
class PatternsKeepFurtherArgumentsAsTheyAre(ToolRuns):
    """Converts further arguments only where the schema has no patterns for their names."""

    def validated(self, tool: PiTool, arguments: Any) -> Any:
        schema = as_object(tool.definition.get("parameters"))
        if "patternProperties" in schema and isinstance(schema.get("additionalProperties"), dict):
            # A reference is followed where arguments are checked, and not where they are converted.
            further = {**as_object(schema.get("$defs")), "further": schema["additionalProperties"]}
            schema = {**schema, "additionalProperties": {"$ref": "#/$defs/further"}, "$defs": further}
            tool = PiTool(tool.instance, tool.name, {**tool.definition, "parameters": schema})
        return super().validated(tool, arguments)


@mutant()
class NamesOfBuiltInsCountAsGiven(ToolRuns):
    """Takes a required argument that has the name of what every object has for one that is given."""

    def validated(self, tool: PiTool, arguments: Any) -> Any:
        schema = as_object(tool.definition.get("parameters"))
        if isinstance(schema.get("required"), list):
            needed = [name for name in schema["required"] if name not in ("constructor", "toString", "valueOf")]
            parameters = {**schema, "required": needed}
            tool = PiTool(tool.instance, tool.name, {**tool.definition, "parameters": parameters})
        return super().validated(tool, arguments)


# --- results ----------------------------------------------------------------------------------------------------------


@mutant()
class UnderscoredDetailsAreLost(ToolRuns):
    """Takes members whose names begin with an underscore for its own and out of the details."""

    async def run(self, call: Call, tool: PiTool, execution: Execution) -> Json:
        value = await super().run(call, tool, execution)
        details = as_object(call.returned).get("details")
        if isinstance(details, dict):
            kept = {name: member for name, member in details.items() if not name.startswith("_")}
            call.returned = {**call.returned, "details": kept}
        return value


@mutant()
class DetailsLeftOutAreTheLastUpdates(Bridge):
    """Logs the details of a call's last update with a result that gives none."""

    class events_type(ExecutionEvents):
        def update(self, call: Call, partial: Any, signal: Any = None) -> None:
            self.__dict__.setdefault("last", {})[call] = partial
            super().update(call, partial, signal)

    class runs_type(ToolRuns):
        async def value(self, call: Call, answer: Any) -> Json:
            last = as_object(self._events.__dict__.get("last", {}).get(call))
            if isinstance(answer, dict) and "details" in last:
                answer = {"details": last["details"], **answer}
            return await super().value(call, answer)


@mutant()
class EmptyResultsAreTheLastUpdate(Bridge):
    """Answers with the content of a call's last update where the tool's own has none."""

    class events_type(ExecutionEvents):
        def update(self, call: Call, partial: Any, signal: Any = None) -> None:
            self.__dict__.setdefault("last", {})[call] = partial
            super().update(call, partial, signal)

    class runs_type(ToolRuns):
        async def value(self, call: Call, answer: Any) -> Json:
            last = as_object(self._events.__dict__.get("last", {}).get(call)).get("content")
            said = [block for block in as_object(answer).get("content") or () if block.get("text") != ""]
            if isinstance(answer, dict) and not said and isinstance(last, list):
                answer = {**answer, "content": last}
            return await super().value(call, answer)


@mutant()
class DollarsOfThrownTextsMeanSomething(ToolRuns):
    """Puts a thrown text in its place as a replacement pattern: two dollars of it become one."""

    async def execute(self, call: Call, tool: PiTool, execution: Execution) -> Any:
        try:
            return await super().execute(call, tool, execution)
        except Exception as error:
            if "$$" not in str(error):
                raise
            raise RuntimeError(str(error).replace("$$", "$")) from None


# --- lists ------------------------------------------------------------------------------------------------------------


@mutant()
class WishesAddUp(ActiveTools):
    """Adds a list that waits for its agent to the one before it."""

    def set(self, instance: Instance, names: Any) -> None:
        before = self._intents.get(instance, [])
        super().set(instance, names)
        if instance in self._intents:
            self._intents[instance] = [*before, *self._intents[instance]]


@mutant()
class WishesEndWithAQuestion(ActiveTools):
    """Drops a list that waits for its agent when its package asks which tools are active."""

    def names(self, instance: Instance) -> list[str]:
        found = super().names(instance)
        self._intents.pop(instance, None)
        return found


@mutant()
class SecondListsHideWhatComesLater(ActiveTools):
    """Hides also what is registered later, from an agent's second list on."""

    def apply(self, instance: Instance, agent: Agent, wanted: Iterable[str]) -> None:
        again = agent in self.__dict__.setdefault("narrowed", set())
        self.__dict__["narrowed"].add(agent)
        super().apply(instance, agent, wanted)
        if again and agent in self._masks:
            owner, lift = self._masks[agent]
            view = self._host.tools.view(agent.scope)
            allowed = sorted(view.visible.keys() & view.restrictable_names)
            self._masks[agent] = (owner, self._host.tools.restrict(agent.scope, allow=allowed))
            lift()


@mutant()
class EmptyNamesOfListsAreSkipped(ActiveTools):
    """Skips an empty name in a list."""

    def wanted(self, names: Any) -> list[str]:
        return [name for name in super().wanted(names) if name]


@mutant()
class ListsKnowWhatEveryObjectKnows(ActiveTools):
    """Looks a name up in a list as in an object: what every object has is in each list."""

    def wanted(self, names: Any) -> list[str]:
        return [*super().wanted(names), "constructor", "toString", "__proto__", "valueOf", "hasOwnProperty"]


@mutant()
class RemovedPackagesGoOn(Bridge):
    """Lets the code of a removed package that still runs register tools and set lists."""

    def retire(self, instance: Instance) -> None:
        super().retire(instance)
        instance.active = True


@mutant()
class ChildrenSpeakForTheirOwners(ActiveTools):
    """Takes what a tool asks for while it runs for a child agent for a wish about the agent that one works for."""

    def agent_of(self, instance: Instance) -> Agent | None:
        agent = super().agent_of(instance)
        return agent.owner if agent is not None and isinstance(agent.owner, Agent) else agent


@mutant()
class TakingAHiddenToolAwayLiftsTheList(Bridge):
    """Shows again what a list hides when one of the hidden tools is taken away."""

    class registrations_type(Registrations):
        def unregister(self, instance: Instance, name: Any) -> bool:
            agents = [agent for agent in self._host.agents if self.owned(instance, name) is not None]
            hidden = [agent for agent in agents if name not in self._host.tools.view(agent.scope).visible]
            self.__dict__.setdefault("lifted", []).extend(hidden)
            return super().unregister(instance, name)

    async def assemble(self, assembly: Assembly, context: PromptContext, following: Next) -> Assembly:
        for agent in self.registrations.__dict__.pop("lifted", ()):
            if agent in self.active_tools._masks:
                self.active_tools._masks.pop(agent)[1]()
        return await super().assemble(assembly, context, following)


@mutant()
class HostsToolsAsOfTheRequest(Bridge):
    """Answers which of the host's tools are active as of the last request."""

    class active_tools_type(ActiveTools):
        def names(self, instance: Instance) -> list[str]:
            found, visible = super().names(instance), self.visible(instance)
            natives, masks = self.__dict__.get("seen", {}).get(self.agent_of(instance), (None, None))
            if natives is None or masks is not self._masks.get(self.agent_of(instance)):  # type: ignore[arg-type]
                return found
            return [*natives, *(name for name in found if self._tool_of(visible[name]) is not None)]

    async def assemble(self, assembly: Assembly, context: PromptContext, following: Next) -> Assembly:
        made = await super().assemble(assembly, context, following)
        visible = self.host.tools.view(context.agent.scope).visible
        natives = [name for name, each in visible.items() if self.registrations.tool_of(each) is None]
        mask = self.active_tools._masks.get(context.agent)
        self.active_tools.__dict__.setdefault("seen", {})[context.agent] = (natives, mask)
        return made


# --- exec -------------------------------------------------------------------------------------------------------------


@mutant()
class ExecTimeoutIgnoredBesideASignal(Exec):
    """Has no time limit where there is a signal."""

    def options(self, agent: Agent | None, given: dict[str, Any]) -> Options:
        asked = super().options(agent, given)
        return asked if asked.signal is None else replace(asked, timeout=None)


@mutant()
class ExecTimeoutIgnoredBesideAFolder(Exec):
    """Has no time limit where there is a folder."""

    def options(self, agent: Agent | None, given: dict[str, Any]) -> Options:
        asked = super().options(agent, given)
        return replace(asked, timeout=None) if given.get("cwd") else asked


@mutant()
class ExecHasOneTimer(Exec):
    """Has one timer: a program that starts while another one runs has no time limit."""

    async def run(self, agent: Agent | None, command: Any, args: Any = None, options: Any = None) -> dict[str, Any]:
        running = self.__dict__.setdefault("running", [])
        if running:
            options = {name: option for name, option in as_object(options).items() if name != "timeout"}
        running.append(command)
        try:
            return await super().run(agent, command, args, options)
        finally:
            running.pop()


@mutant()
class ExecDropsBadBytesOfErrors(Exec):
    """Leaves out of the error stream what is no text."""

    def answer(self, child: Child, ended: Exit, killed: bool) -> dict[str, Any]:
        answer = super().answer(child, ended, killed)
        return {**answer, "stderr": answer["stderr"].replace("\ufffd", "")}
