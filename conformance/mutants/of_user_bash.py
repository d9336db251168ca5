"""Defects of subscriptions to user_bash: refused, or fired by something else."""

from __future__ import annotations

from typing import Any

from conformance.mutants.registry import mutant
from reference_bridge.bridge.bridge import Bridge, Installed
from reference_bridge.bridge.packages import Package
from reference_bridge.host import Agent, Execution, Session, SessionEvent
from reference_bridge.host.decisions import Decision
from reference_bridge.host.waterfall import Next, settle


@mutant()
class UserBashEndsTheSubscriptions(Bridge):
    """Drops what a package subscribes to after user_bash while it loads."""

    async def run_factory(self, installed: Installed, agent: Agent | None) -> None:
        factory = installed.package.factory

        async def forgetful(pi: Any) -> None:
            real, asked = pi.on, list[str]()

            def on(event: str, handler: Any) -> None:
                if "user_bash" not in asked:
                    real(event, handler)
                asked.append(event)

            pi.on = on
            await settle(factory(pi))

        await super().run_factory(Installed(Package(installed.package.name, forgetful), installed.instances), agent)


class _RefusesSubscriptions(Bridge):
    late = False
    anything = True

    async def run_factory(self, installed: Installed, agent: Agent | None) -> None:
        factory, late, anything = installed.package.factory, self.late, self.anything

        async def refusing(pi: Any) -> None:
            real, loading = pi.on, [True]

            def on(event: str, handler: Any) -> None:
                if event == "user_bash" and (late or loading[0]) and (anything or not callable(handler)):
                    raise ValueError("there is no event user_bash here")
                real(event, handler)

            pi.on = on
            await settle(factory(pi))
            loading[0] = False

        await super().run_factory(Installed(Package(installed.package.name, refusing), installed.instances), agent)


@mutant()
class UserBashSubscriptionRefused(_RefusesSubscriptions):
    """Throws at a package that subscribes to user_bash while it loads."""


@mutant()
class LateUserBashRefused(_RefusesSubscriptions):
    """Throws at a package that subscribes to user_bash at any time."""

    late = True


@mutant()
class UserBashWantsAFunction(_RefusesSubscriptions):
    """Throws at a package that subscribes to user_bash with something that is no function."""

    late = True
    anything = False


class _Misfires(Bridge):
    async def fire(self, agent: Agent | None, command: str) -> None:
        event = {"type": "user_bash", "command": command, "excludeFromContext": False, "cwd": "/"}
        await self.dispatch.tell(agent, event)


@mutant()
class UserBashFiredBySteering(_Misfires):
    """Fires user_bash for an exclamation mark in input that joins the turn at hand."""

    def logged(self, session: Session, event: SessionEvent) -> None:
        super().logged(session, event)
        at_work: set[str] = self.__dict__.setdefault("_at_work", set())
        if event.type == "step/end":
            at_work.add(session.id)
        elif event.type == "turn/start":
            at_work.discard(session.id)
        elif event.type == "user/message" and session.id in at_work:
            text = "".join(block.get("text", "") for block in event.data["content"])
            if text.startswith("!"):
                self.events._beside(self.host.agents.get(session.id), self.fire(None, text))


@mutant()
class UserBashFiredByPrompt(_Misfires):
    """Fires user_bash for a prompt that begins with an exclamation mark."""

    def logged(self, session: Session, event: SessionEvent) -> None:
        super().logged(session, event)
        if event.type == "user/message":
            text = "".join(block.get("text", "") for block in event.data["content"])
            if text.startswith("!"):
                self.events._beside(self.host.agents.get(session.id), self.fire(None, text))


@mutant()
class UserBashFiredByBashTool(_Misfires):
    """Fires user_bash for a model's call of a tool named bash."""

    async def before_call(self, execution: Execution, following: Next) -> Decision:
        if execution.name == "bash":
            await self.fire(execution.agent, str(execution.arguments))
        return await super().before_call(execution, following)


@mutant()
class UserBashFiredByExec(_Misfires):
    """Fires user_bash for a program that a package runs."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        run = self.exec.run

        async def fired(agent: Any, command: Any, args: Any = None, options: Any = None) -> Any:
            await self.fire(agent, str(command))
            return await run(agent, command, args, options)

        self.exec.run = fired  # type: ignore[method-assign]
