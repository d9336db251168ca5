"""The bridge: Pi's tools and tool events on the seams of the host.

session/event            tool/call → start · tool/result → an end where there was none, one vote of the batch
tools/pre-execute        start handlers awaited, arguments prepared, tool_call
tools/execute            what is executed, and what breaks around it
tools/post-execute       tool_result, then the end
system-prompt/assemble   wishes about active tools that came before the agent, lines in the system prompt
agent/pre-step           the batch rule
agent/start, agent/end   instances
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from reference_bridge.bridge.active_tools import ActiveTools
from reference_bridge.bridge.api import Pi
from reference_bridge.bridge.batches import BatchVotes
from reference_bridge.bridge.calls import Call, Calls
from reference_bridge.bridge.contents import Contents
from reference_bridge.bridge.dispatch import Dispatch
from reference_bridge.bridge.exec import Exec
from reference_bridge.bridge.execution_events import ExecutionEvents, Outcome
from reference_bridge.bridge.gate import ToolCallGate
from reference_bridge.bridge.notices import Notices
from reference_bridge.bridge.packages import Instance, Package, working_for
from reference_bridge.bridge.patches import ResultPatches
from reference_bridge.bridge.prompts import PromptLines
from reference_bridge.bridge.registrations import Registrations
from reference_bridge.bridge.tools import PiTool, ToolRuns
from reference_bridge.bridge.values import UNDEFINED, as_object, thrown_text
from reference_bridge.host import (
    Agent,
    Assembly,
    Disposer,
    Execution,
    Host,
    Json,
    PreStep,
    PromptContext,
    Session,
    SessionEvent,
    ToolDefinition,
    ToolResult,
    deny,
    error_message,
)
from reference_bridge.host.decisions import Decision
from reference_bridge.host.messages import text_block
from reference_bridge.host.waterfall import Next, settle

Mount: TypeAlias = Literal["root", "engine"]
"""`root`: one instance of a package serves every agent, and its tools are registered globally. `engine`: each agent
has an instance of its own, whose tools are registered in the agent's scope."""


@dataclass(eq=False, slots=True)
class Installed:
    """A package and its instances."""

    package: Package
    instances: list[Instance] = field(default_factory=list)


class Bridge:
    """Pi packages on one host.

    What each surface does is in a part of its own; a bridge that does something else there names another part.
    Agents that work for another agent are not served: they are no business of the packages.
    """

    notices_type = Notices
    calls_type = Calls
    dispatch_type = Dispatch
    contents_type = Contents
    events_type = ExecutionEvents
    gate_type = ToolCallGate
    patches_type = ResultPatches
    votes_type = BatchVotes
    runs_type = ToolRuns
    registrations_type = Registrations
    active_tools_type = ActiveTools
    prompts_type = PromptLines
    exec_type = Exec

    def __init__(self, host: Host, mount: Mount = "root") -> None:
        self.host = host
        self.mount: Mount = mount
        self.installed: list[Installed] = []
        self.notices = self.notices_type(host.logger)
        self.calls = self.calls_type()
        self.dispatch = self.dispatch_type(self.instances, self.notices)
        self.contents = self.contents_type(lambda: host.attachments)
        self.events = self.events_type(self.dispatch)
        self.gate = self.gate_type(self.dispatch)
        self.patches = self.patches_type(self.dispatch, self.contents, self.notices)
        self.votes = self.votes_type()
        self.runs = self.runs_type(self.events, self.contents, self.notices)
        self.registrations = self.registrations_type(host, self.run_tool, self.load_order, self.notices)
        self.active_tools = self.active_tools_type(host, self.registrations.tool_of, self.notices)
        self.prompts = self.prompts_type()
        self.exec = self.exec_type(lambda: host.subprocess)
        self._starting: dict[Agent, asyncio.Task[None]] = {}
        self._opening: set[Agent] = set()
        """Agents whose turn has begun and has not been told to packages."""
        self._disposers: list[Disposer] = []

    def attach(self) -> None:
        """Listen to the host from now on."""
        listeners: dict[str, Callable[..., Any]] = {
            "session/event": self.logged,
            "tools/pre-execute": self.before_call,
            "tools/execute": self.around_body,
            "tools/post-execute": self.after_body,
            "tools/result": self.left_pipeline,
            "system-prompt/assemble": self.assemble,
            "agent/pre-step": self.before_step,
            "agent/start": self.agent_started,
            "agent/end": self.agent_ended,
        }
        self._disposers = [self.host.on(event, listener) for event, listener in listeners.items()]

    def detach(self) -> None:
        """Unload every package and listen no more."""
        for installed in list(self.installed):
            self.unload(installed.package.name)
        for dispose in self._disposers:
            dispose()

    async def close(self) -> None:
        """Detach, and end what is still being told."""
        self.detach()
        for starting in self._starting.values():
            starting.cancel()
        await asyncio.gather(*self._starting.values(), return_exceptions=True)
        await self.events.cancel()

    # --- packages and their instances ---------------------------------------------------------------------------------

    async def load(self, package: Package) -> None:
        """Install a package behind those that are there, and run its factory for everybody who is there.

        Raises what the factory throws, and then nothing of the package is left; `ValueError` for a name that is taken.
        """
        if any(installed.package.name == package.name for installed in self.installed):
            raise ValueError(f"a package {package.name!r} is loaded already")
        await self.install(Installed(package), len(self.installed))

    async def reload(self, name: str, replacement: Package | None = None) -> None:
        """Run a package's factory anew, of its replacement if given, in its old place of the load order.

        Raises `LookupError` for a package that is not there, else as `load`.
        """
        installed = self.find(name)
        at = self.installed.index(installed)
        self.unload(name)
        await self.install(Installed(replacement or installed.package), at)

    def unload(self, name: str) -> None:
        """Remove a package and everything it registered. Raises `LookupError` for one that is not there."""
        installed = self.find(name)
        self.installed.remove(installed)
        for instance in installed.instances:
            self.retire(instance)

    def find(self, name: str) -> Installed:
        """The package of that name."""
        for installed in self.installed:
            if installed.package.name == name:
                return installed
        raise LookupError(f"no package {name!r} is loaded")

    async def install(self, installed: Installed, at: int) -> None:
        """Put a package in its place of the load order, and run its factory."""
        self.installed.insert(at, installed)
        served = [None] if self.mount == "root" else [agent for agent in self.host.agents if agent.owner is None]
        try:
            for agent in served:
                await self.run_factory(installed, agent)
        except Exception:
            self.unload(installed.package.name)
            raise

    async def run_factory(self, installed: Installed, agent: Agent | None) -> None:
        """Make one instance. A factory that throws leaves nothing of it behind."""
        instance = Instance(installed.package, agent)
        installed.instances.append(instance)
        try:
            with working_for(agent):
                await settle(installed.package.factory(Pi(self, instance)))
        except Exception as error:
            installed.instances.remove(instance)
            self.retire(instance)
            self.notices.warn(f"package {installed.package.name!r} failed to load: {thrown_text(error)}")
            raise

    def retire(self, instance: Instance) -> None:
        """End an instance: it hears of nothing any more, and what it registered is gone."""
        self.registrations.drop(instance)
        self.active_tools.drop(instance)
        instance.active = False

    def instances(self, agent: Agent | None) -> Iterator[Instance]:
        """The instances that serve an agent, in the order in which their packages were loaded."""
        if agent is not None and agent.owner is not None:
            return
        for installed in list(self.installed):
            for instance in installed.instances:
                if instance.serves(agent):
                    yield instance

    def load_order(self, package: Package) -> int:
        """The place of a package; earlier ones win."""
        return next(at for at, installed in enumerate(self.installed) if installed.package is package)

    # --- agents -------------------------------------------------------------------------------------------------------

    def agent_started(self, agent: Agent) -> None:
        """Let packages serve a new agent."""
        self.registrations.agent_started(agent)
        if self.mount == "engine" and self.installed and agent.owner is None:
            self._starting[agent] = asyncio.create_task(self.serve(agent))

    async def serve(self, agent: Agent) -> None:
        """Make an instance of every package for one agent. A package that fails is reported and left out."""
        for installed in list(self.installed):
            try:
                await self.run_factory(installed, agent)
            except Exception:
                continue

    async def ready(self, agent: Agent) -> None:
        """Wait until every package serves this agent."""
        starting = self._starting.get(agent)
        if starting is not None:
            await asyncio.wait({starting})
            self._starting.pop(agent, None)

    def agent_ended(self, agent: Agent) -> None:
        """Let go of an agent that is about to be gone."""
        for installed in self.installed:
            for instance in [each for each in installed.instances if each.agent is agent]:
                installed.instances.remove(instance)
                self.retire(instance)
        self._opening.discard(agent)
        self.registrations.agent_ended(agent)
        self.active_tools.forget(agent)
        self.votes.forget(agent)
        self.calls.drop(agent)

    async def settled(self, agent: Agent) -> None:
        """Wait until nothing that packages do for this agent is still going on beside its turns."""
        await self.ready(agent)
        await self.events.drain(agent)

    # --- one call -----------------------------------------------------------------------------------------------------

    def logged(self, session: Session, event: SessionEvent) -> None:
        """Follow the log: each call in it starts, and has ended once its result is in it."""
        agent = self.host.agents.get(session.id)
        if agent is None:
            return
        if event.type == "turn/start":
            self._opening.add(agent)
        elif event.type == "tool/call":
            self.events.start(self.calls.open(agent, event))
        elif event.type == "tool/result":
            call = self.calls.close(agent, event)
            if call is not None:
                self.votes.finalized(call)
                self.events.end_beside(call, self.logged_outcome(event))

    async def before_call(self, execution: Execution, following: Next) -> Decision:
        """Deny what packages block; in every other case the host decides as it would without them."""
        call = self.calls.of(execution)
        await self.events.started(call)
        self.look_up(call, execution)
        verdict = await self.gate.judge(call, execution)
        if verdict is not None:
            call.asked_to_stop = verdict.terminate
            return deny(verdict.reason)
        decision: Decision = await self.guarded(call, following)
        return decision

    async def around_body(self, execution: Execution, following: Next) -> Any:
        """Note that the call is executed. A tool that was registered meanwhile makes it one to judge after all."""
        call = self.calls.of(execution)
        await self.events.started(call)
        self.look_up(call, execution)
        self.runs.show_what_runs(call, execution.arguments)
        verdict = await self.gate.judge(call, execution) if call.passed_over else None
        if verdict is not None:
            call.asked_to_stop = verdict.terminate
            return ToolResult.failure(verdict.reason).finalized()
        call.executed, call.asked_to_stop = call.known and call.tool is None, False
        return await self.guarded(call, following)

    async def guarded(self, call: Call, following: Next) -> Any:
        """Hand on; where a listener of the host throws, the pipeline ends here, and so does the call."""
        try:
            return await following()
        except Exception as error:
            await self.events.end(call, self.thrown_outcome(error))
            raise

    async def after_body(self, execution: Execution, result: ToolResult, following: Next) -> Decision:
        """Patch the result after the host's own listeners, then tell the end."""
        call = self.calls.of(execution)
        decision: Decision = await self.guarded(call, following)
        outcome = await self.outcome(call, execution, result, decision)
        if isinstance(decision, dict):
            outcome, decision = await self.patches.apply(call, execution, outcome, decision)
        await self.events.end(call, outcome)
        return decision

    def left_pipeline(self, execution: Execution, result: ToolResult) -> None:
        """Let go of what only the pipeline needs; the log knows the rest of the call by its place."""
        self.calls.forget(execution)

    def look_up(self, call: Call, execution: Execution) -> None:
        """Find out whose tool the agent sees under the name, and make the arguments that handlers are shown."""
        definition = self.visible(execution)
        call.known, call.tool = definition is not None, self.registrations.tool_of(definition)
        if call.tool is None:
            self.runs.copy(call, execution.arguments)
        else:
            self.runs.prepare(call, call.tool, execution.arguments)

    def visible(self, execution: Execution) -> ToolDefinition | None:
        """What the call runs, as its agent sees it now."""
        return self.host.tools.get(execution.name, None if execution.agent is None else execution.agent.scope)

    async def run_tool(self, tool: PiTool, execution: Execution) -> Json:
        """The body of every package's tool."""
        return await self.runs.run(self.calls.of(execution), tool, execution)

    # --- results in Pi's form -----------------------------------------------------------------------------------------

    async def outcome(self, call: Call, execution: Execution, result: ToolResult, decision: Decision) -> Outcome:
        """What the call comes to as the host's own listeners left it."""
        members = as_object(decision)
        content, is_error = result.content, result.is_error
        if members.get("kind") == "block":
            content, is_error = members.get("feedback"), True
        elif "content" in members:
            content = members["content"]
        elif "value" in members and not is_error:
            definition = self.visible(execution)
            content = definition.render(execution.arguments, members["value"]) if definition else content
        shown = await self.contents.to_pi(content, call.pictures)
        return Outcome({**self.own_members(call, result, is_error), "content": shown}, is_error)

    def own_members(self, call: Call, result: ToolResult, is_error: bool) -> dict[str, Any]:
        """What belongs to a result beside its content: what a package's tool gave, the native's own meta."""
        if is_error:
            return {"details": {}}
        if call.tool is not None:
            return as_object(call.returned)
        return {} if result.meta is UNDEFINED else {"details": result.meta}

    def logged_outcome(self, event: SessionEvent) -> Outcome:
        """The outcome of a call as the log has it."""
        block = event.data["message"]["content"][0]
        return Outcome({"content": self.contents.blocks(block["content"]), "details": {}}, block["isError"])

    def thrown_outcome(self, error: Exception) -> Outcome:
        """The outcome of a call that a listener of the host ends by throwing."""
        return Outcome({"content": [text_block(f"Error: {error_message(error)}")], "details": {}}, True)

    # --- steps --------------------------------------------------------------------------------------------------------

    async def assemble(self, assembly: Assembly, context: PromptContext, following: Next) -> Assembly:
        """Let packages have their say about the tools of this request before its prompt is made."""
        agent = context.agent
        listed = self.host.tools.view(agent.scope).visible
        await self.ready(agent)
        self.active_tools.fulfil_intents(agent)
        if agent in self._opening:
            self._opening.discard(agent)
            await self.dispatch.tell(agent, {"type": "before_agent_start"}, context.signal)
        assembly = await following()
        if self.host.tools.view(agent.scope).visible != listed:
            # The host took the catalogue before anybody was asked.
            assembly.tools = self.host.tools.catalogue(agent.scope)
        assembly.sections += self.prompts.sections(self.active_of(agent))
        return assembly

    def active_of(self, agent: Agent) -> list[PiTool]:
        """The packages' tools that an agent sees."""
        visible = self.host.tools.view(agent.scope).visible.values()
        return [tool for definition in visible if (tool := self.registrations.tool_of(definition)) is not None]

    async def before_step(self, pre_step: PreStep, following: Next) -> Decision:
        """Stop where the batch rule says so; what is still to be told of the last batch is told first."""
        await self.events.drain(pre_step.agent)
        return await self.votes.enter(pre_step, following)
