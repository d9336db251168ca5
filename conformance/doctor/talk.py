"""Checks over a connection that works: what was said at the handshake, and how the implementation takes messages."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from typing import Any

from conformance.catalogue.problems import did_you_mean, near
from conformance.doctor.findings import Finding, left_out, ok, trouble, warning
from conformance.doctor.patience import Patience, Unknown
from conformance.drivers.capabilities import CAPABILITIES, unknown
from conformance.drivers.driver import Driver, RequestFailed, Unsupported
from conformance.drivers.envelope import UNKNOWN_METHOD, quote
from conformance.drivers.protocol import (
    PROTOCOL_VERSION,
    AgentCreate,
    AgentPrompt,
    AgentSettle,
    InitializeResult,
    Message,
    ModelAnswer,
    ModelRespond,
    Ping,
    Record,
    Reply,
    StageClose,
    StageOpen,
)
from conformance.trace import text_of

MIB = 1024 * 1024
BIG = 32 * MIB
"""Bytes of the big message."""
TEXT = "Grüße, 漢字, ‮עברית‬, 👩‍🚀, a line\u2028separator, e\u0301"
"""What must come back unchanged: several scripts, direction marks, a joined picture, a separator JSON text may hold."""


def said(hello: InitializeResult) -> list[Finding]:
    """What the handshake itself tells."""
    return [_versions(hello), _declared(hello), _limits(hello)]


def _versions(hello: InitializeResult) -> Finding:
    check = "versions"
    lacks = [field for field in ("name", "version") if not getattr(hello, field).strip()]
    if lacks:
        return warning(
            check,
            f"the answer to initialize has an empty {' and '.join(lacks)}",
            "fill it in: reports are told apart by it",
        )
    rest = "".join(f", {name} {version}" for name, version in sorted(hello.versions.items()))
    text = f"{hello.name} {hello.version}, protocol {PROTOCOL_VERSION}, role {hello.role}{rest}"
    if hello.issues_url and not re.match(r"https?://", hello.issues_url):
        return warning(
            check, f"issuesUrl is {quote(hello.issues_url)}, which is no web address", "let it begin with https://"
        )
    return ok(check, text)


def _declared(hello: InitializeResult) -> Finding:
    check = "declared capabilities"
    strange = unknown(hello.capabilities)
    if strange:
        hint = did_you_mean(near(strange[0], CAPABILITIES))
        return warning(
            check,
            f"it declares {', '.join(strange)}, which is no capability of this suite{hint}",
            "take the names from conformance/drivers/capabilities.py",
        )
    twice = sorted({name for name in hello.capabilities if hello.capabilities.count(name) > 1})
    if twice:
        return warning(check, f"it declares {', '.join(twice)} more than once", "name each once")
    return ok(check, f"{len(hello.capabilities)} of {len(CAPABILITIES)}")


def _limits(hello: InitializeResult) -> Finding:
    check = "limits"
    limits = hello.limits
    if limits.line_bytes < BIG + MIB:
        return warning(
            check,
            f"limits.lineBytes is {limits.line_bytes}: rules with values bigger than that cannot be run",
            "read longer lines and raise it, or leave it out for 64 MiB",
        )
    if hello.settle.mode == "quiet" and hello.settle.quiet_ms <= 0:
        return warning(
            check, "settle is quiet for no time at all", "say in settle.quietMs how long nothing must happen"
        )
    return ok(check, f"lines of {limits.line_bytes // MIB} MiB, {limits.kill_grace_ms} ms of grace before a kill")


# --- single messages --------------------------------------------------------------------------------------------------


def answers_at_once(driver: Driver, patience: Patience) -> Finding:
    """A request that stands alone is answered while nothing follows it."""
    patience.wait(driver.request(Ping()), "ping")
    return ok("ping and flush", "an answer comes at once, not with the next one")


def answers_unknown(driver: Driver, patience: Patience) -> Finding:
    """A method of a newer suite is refused, and nothing breaks."""
    return _refused(driver, patience, "unknown method", Unknown(), 1.0)


def takes_big(driver: Driver, patience: Patience, limit: int) -> Finding:
    """A message of 32 MiB is read whole, where lines of ``limit`` bytes leave room for it."""
    if limit < BIG + MIB:
        return left_out("a message of 32 MiB", f"it takes lines of {limit} bytes only")
    filling = "Aé漢"
    times = BIG // len(filling.encode())
    found = _refused(driver, patience, "a message of 32 MiB", Unknown(filling=filling * times), 6.0)
    return ok(found.check, "it was read and answered") if found.state == "ok" else found


def _refused(driver: Driver, patience: Patience, check: str, message: Message, times: float) -> Finding:
    mend = f"answer a method you do not know with the JSON-RPC error {UNKNOWN_METHOD}"
    try:
        patience.wait(driver.request(message), check, times)
    except RequestFailed as failure:
        if failure.code != UNKNOWN_METHOD:
            return warning(check, f"it was answered with the error {failure.code}", mend)
    except Unsupported:
        return warning(check, "it was answered as a capability that is lacking", mend)
    else:
        return warning(check, "it was answered as if it had been done", mend)
    patience.wait(driver.request(Ping()), f"ping after {check}")
    return ok(check, f"it was refused with {UNKNOWN_METHOD}")


# --- a turn -----------------------------------------------------------------------------------------------------------


class _Model:
    """Answers the model's requests, after doing ``meanwhile``; keeps the requests."""

    def __init__(self, meanwhile: Callable[[], Any]) -> None:
        self.meanwhile = meanwhile
        self.requests: list[ModelRespond] = []
        self.failed: BaseException | None = None

    async def answer(self, message: Message, seq: int) -> Record:
        if not isinstance(message, ModelRespond):
            return message.Result() if message.Result is not Reply else Reply()
        self.requests.append(message)
        try:
            await self.meanwhile()
        except Exception as error:
            self.failed = error
        return ModelAnswer(text="done")

    def note(self, message: Message, seq: int) -> None: ...


def has_turns(driver: Driver, patience: Patience) -> list[Finding]:
    """Whatever is asked while a turn waits for its model is answered, and a prompt's text arrives as it was sent."""

    async def both() -> None:
        async with asyncio.timeout(patience.seconds):
            await asyncio.gather(driver.request(Ping()), driver.request(Ping()))

    model = _Model(both)
    driver.bind(model)
    try:
        patience.wait(_turn(driver), "a turn of one prompt", 3.0)
    except Unsupported as lack:
        patience.wait(both(), "two requests at once")
        none = f"there is no turn to try it in: it lacks {lack.capability}"
        return [ok("overlapping requests", f"two at once are answered; {none}"), left_out("non-ASCII", none)]
    finally:
        driver.bind(None)
    return [_overlap(model), _text(model)]


async def _turn(driver: Driver) -> None:
    await driver.request(StageOpen())
    try:
        await driver.request(AgentCreate(agent="main"))
        await driver.request(AgentPrompt(agent="main", text=TEXT))
        await driver.request(AgentSettle(agent="main"))
    finally:
        await driver.request(StageClose())


def _overlap(model: _Model) -> Finding:
    check = "overlapping requests"
    if not model.requests:
        return warning(
            check,
            "a prompt caused no request to the model",
            "ask model.respond for each assistant message, and answer agent.settle when the turn is over",
        )
    if model.failed is not None:
        return trouble(
            check,
            "a ping that was sent while it waited for the model was not answered",
            "read and answer requests in tasks of their own: many are open at once, in both directions",
        )
    return ok(check, "two pings were answered while it waited for the model")


def _text(model: _Model) -> Finding:
    check = "non-ASCII"
    messages = [message for request in model.requests for message in request.messages if message.role == "user"]
    texts = [text_of(message.content) for message in messages]
    if not texts:
        return left_out(check, "no request to the model holds a user's message")
    if not any(TEXT in text for text in texts):
        return trouble(
            check,
            f"a prompt reached the model as {quote(texts[-1])} instead of {quote(TEXT)}",
            "read and write UTF-8 whatever the locale says, and change no character",
        )
    return ok(check, "a prompt in several scripts reached the model unchanged")
