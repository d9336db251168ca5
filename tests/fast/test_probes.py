"""Each capability is looked for by what it does: what is not there is not found, and what is there is."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator

import pytest

from conformance.deadlines import Deadlines
from conformance.drivers.backend import Backend, InProcessDriver, Suite
from conformance.drivers.capabilities import CAPABILITIES
from conformance.drivers.driver import HarnessError, Unsupported
from conformance.drivers.protocol import (
    AgentCancel,
    AgentDispose,
    AgentFollowUp,
    AgentSteer,
    HostCall,
    Initialize,
    InitializeResult,
    Message,
    NativeRegister,
    NativeUnregister,
    Nothing,
    OperatorBash,
    Outcome,
    PackageReload,
    PackageUnload,
    Ping,
    Record,
    StageClose,
    StageOpen,
)
from conformance.drivers.reference import make_backend
from conformance.probes import OF_PACKAGES, PROBES, Found, look
from conformance.stage import Stage

Look = Callable[[str], Found]


@pytest.fixture
def runner() -> Iterator[asyncio.Runner]:
    """A loop on which nothing is left."""
    with asyncio.Runner() as made:
        yield made
        made.run(asyncio.sleep(0))  # what was cancelled at the end of a stage ends with the next turn
        assert asyncio.all_tasks(made.get_loop()) == set()


def looking(runner: asyncio.Runner, factory: Callable[[Suite], Backend], mount: str | None = None) -> Look:
    """What looks for capabilities of an implementation."""
    driver = InProcessDriver("it", factory, mount)
    hello = runner.run(driver.start())
    return lambda name: look(name, lambda: Stage(runner, driver, hello, mount, Deadlines(request=2.0)))


class Forgetful:
    """The reference, but it says that it did what ``ignored`` asks, and does not do it."""

    def __init__(self, suite: Suite, ignored: tuple[type[Message], ...] = ()) -> None:
        self.inner = make_backend(suite)
        self.ignored = ignored

    async def handle(self, message: Message) -> Record:
        if isinstance(message, self.ignored):
            return Nothing() if message.Result is Nothing else Outcome()
        return await self.inner.handle(message)

    async def close(self) -> None:
        await self.inner.close()


class Plain(Forgetful):
    """The reference, but its stages have none of the operator's things, which it does not say."""

    async def handle(self, message: Message) -> Record:
        if isinstance(message, StageOpen):
            return await self.inner.handle(StageOpen(mount=message.mount, cwd=message.cwd))
        return await self.inner.handle(message)


class Empty:
    """Has nothing, and says so."""

    role = "bridge"

    def __init__(self, suite: Suite) -> None: ...

    async def handle(self, message: Message) -> Record:
        if isinstance(message, Initialize):
            return InitializeResult(protocol=1, name="empty", version="1", role=self.role)  # type: ignore[arg-type]
        if isinstance(message, Ping | StageClose):
            return message.Result()
        raise Unsupported(message.method)

    async def close(self) -> None: ...


class Broken(Empty):
    """Breaks at the first stage."""

    async def handle(self, message: Message) -> Record:
        if isinstance(message, StageOpen):
            raise ZeroDivisionError
        return await super().handle(message)


class LoneHost(Empty):
    """A host by itself that would take anything."""

    role = "host"

    async def handle(self, message: Message) -> Record:
        if isinstance(message, Initialize):
            return await super().handle(message)
        return Outcome(returned=[]) if isinstance(message, HostCall) else message.Result()


def test_every_capability_has_a_probe() -> None:
    assert list(PROBES) == list(CAPABILITIES)


@pytest.mark.parametrize("mount", ["root", "engine"])
def test_the_reference_declares_what_is_found_and_nothing_else(runner: asyncio.Runner, mount: str) -> None:
    driver = InProcessDriver("it", make_backend, mount)
    declared = set(runner.run(driver.start()).capabilities)
    found = looking(runner, make_backend, mount)

    assert {name for name in PROBES if found(name) is Found.THERE} == declared


@pytest.mark.parametrize(
    ("capability", "ignored"),
    [
        ("steer", AgentSteer),
        ("follow-up", AgentFollowUp),
        ("cancel", AgentCancel),
        ("agent-dispose", AgentDispose),
        ("late-natives", NativeRegister),
        ("late-natives", NativeUnregister),
        ("unload", PackageUnload),
        ("reload", PackageReload),
        ("operator-bash", OperatorBash),
    ],
)
def test_what_is_only_said_to_be_done_is_not_found(
    runner: asyncio.Runner, capability: str, ignored: type[Message]
) -> None:
    found = looking(runner, lambda suite: Forgetful(suite, (ignored,)))

    assert found(capability) is Found.UNCLEAR


@pytest.mark.parametrize(
    "capability",
    [
        "native-tools",
        "parallel-natives",
        "host-policy",
        "host-ask",
        "attachments-optional",
        "subprocess-scripted",
        "subprocess-optional",
    ],
)
def test_what_a_stage_does_not_get_is_not_found(runner: asyncio.Runner, capability: str) -> None:
    assert looking(runner, Plain)(capability) is Found.UNCLEAR


def test_who_says_that_it_has_nothing_is_believed(runner: asyncio.Runner) -> None:
    found = looking(runner, Empty)

    assert {found(name) for name in PROBES} == {Found.LACKING}


def test_a_host_by_itself_has_nothing_of_packages(runner: asyncio.Runner) -> None:
    found = looking(runner, LoneHost)

    assert {found(name) for name in OF_PACKAGES} == {Found.LACKING}
    assert found("host-seams") is Found.THERE


def test_a_member_that_is_not_there_is_told_from_one_that_fails(runner: asyncio.Runner) -> None:
    class NoMember(Forgetful):
        async def handle(self, message: Message) -> Record:
            if getattr(message, "call", "") in ("exec", "unregisterTool"):
                text = f"pi.{message.call} is not a function"  # type: ignore[attr-defined]
                return Outcome(threw={"$": "error", "name": "TypeError", "message": text})
            return await super().handle(message)

    found = looking(runner, NoMember)

    assert found("exec") is found("unregister-tool") is Found.LACKING


def test_an_implementation_that_breaks_says_nothing(runner: asyncio.Runner) -> None:
    found = looking(runner, Broken)

    with pytest.raises(HarnessError, match="ZeroDivisionError"):
        found("steer")


def test_a_log_that_is_declared_and_never_noted_is_lacking(runner: asyncio.Runner) -> None:
    class Mute(Forgetful):
        def __init__(self, suite: Suite) -> None:
            super().__init__(_Muted(suite))

    assert looking(runner, Mute)("durable-log") is Found.LACKING


class _Muted:
    """A suite that hears of no log entry."""

    def __init__(self, suite: Suite) -> None:
        self.ask = suite.ask
        self._note = suite.note

    def note(self, message: object) -> None:
        if not getattr(message, "kind", "").startswith("log."):
            self._note(message)  # type: ignore[arg-type]


def test_a_seam_of_the_host_that_throws_is_not_there(runner: asyncio.Runner) -> None:
    class NoSeams(Forgetful):
        async def handle(self, message: Message) -> Record:
            return Outcome(threw="no") if isinstance(message, HostCall) else await super().handle(message)

    assert looking(runner, NoSeams)("host-seams") is Found.UNCLEAR
