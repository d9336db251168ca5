"""A driver that answers from a transcript, as long as the suite does what it did when the transcript was made."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
from msgspec import UNSET

from conformance.compare import same
from conformance.drivers import codec
from conformance.drivers.driver import AdapterGone, HarnessError, Peer, ProtocolBroken, RequestFailed, Unsupported
from conformance.drivers.protocol import (
    ADAPTER_ASKS,
    InitializeResult,
    Message,
    Nothing,
    Ping,
    Record,
    StageClose,
    StageClosed,
    TraceNote,
)
from conformance.transcripts import files
from conformance.transcripts.files import Entry, Failure, Head, Transcript
from conformance.verdicts import Inconclusive

PATIENCE = 1.0
"""Seconds without anything from the suite, while it waits itself, after which it counts as not doing what it did."""


class StimulusChanged(Inconclusive):
    """The suite does something else than when the transcript was made: what follows there proves nothing any more."""

    def __init__(self, sentence: str) -> None:
        super().__init__(f"stimulus changed: {sentence}")


class NotRecorded(Exception):
    """The recording has no stage of this item."""


class ReplayDriver:
    """Plays the recording of one label; :meth:`select` says of which item the next stage is.

    A request of the suite, and its answer to one of the implementation, must equal the recorded one by method and
    parameters; else the stage raises :class:`StimulusChanged` from then on. What the implementation said comes in the
    recorded order.
    """

    def __init__(self, label: str, folder: Path) -> None:
        self.label = label
        self.folder = folder
        self._head: Head | None = None
        self._peer: Peer | None = None
        self._play: _Play | None = None

    async def start(self) -> InitializeResult:
        """Say who was recorded. Raises ``HarnessError`` when the folder holds no recording, or that of several."""
        found = files.folders(self.folder)
        if len(found) > 1:
            raise HarnessError(
                f"{self.folder} holds recordings of {', '.join(path.name for path in found)}",
                f"name one, as in --bridge=replay:{found[0]}",
            )
        self.folder = found[0]
        head = self._head = self._whole()
        hello = head.hello
        recorded = {"recording": f"of {head.bridge}, by suite {head.suite} with spec version {head.spec}"}
        mounts = [head.mount] if head.mount else []
        mounts += [mount for mount in hello.mounts if mount != head.mount]
        return msgspec.structs.replace(hello, versions={**hello.versions, **recorded}, mounts=mounts)

    def _whole(self) -> Head:
        """The head of the first transcript that can be read: a damaged one spoils its own item only."""
        broken: HarnessError | None = None
        for path in files.transcripts(self.folder):
            try:
                return files.read_head(path)
            except HarnessError as error:
                broken = broken or error
        raise broken or HarnessError(f"the folder {self.folder} holds no transcript")

    def probed(self, item: str) -> dict[str, bool]:
        """What was found, when it was recorded, of the capabilities that an item needs; nothing where none was."""
        path = self.folder / files.name_of(item)
        return files.read_head(path).probed if path.is_file() else {}

    def select(self, item: str) -> Transcript:
        """Play the stage of this item next.

        Raises ``HarnessError`` for a damaged file, and :class:`NotRecorded` where there is none.
        """
        path = self.folder / files.name_of(item)
        if not path.is_file():
            raise NotRecorded(f"the recording in {self.folder} has no stage of this test")
        transcript = files.read(path)
        first = self._head
        if first is not None and (first.hello, first.mount) != (transcript.head.hello, transcript.head.mount):
            raise HarnessError(
                f"{path} was recorded on another implementation than the first file of {self.folder}",
                "keep the recordings of different versions and mounts in folders of their own, or under labels",
            )
        self._play = _Play(transcript)
        return transcript

    def bind(self, peer: Peer | None) -> None:
        """Name who answers from now on."""
        self._peer = peer
        if peer is None:
            self._play = None

    async def request(self, message: Message) -> Any:
        """Answer as the recording does. Raises :class:`StimulusChanged`."""
        play = self._play
        if play is None or self._peer is None:
            if isinstance(message, StageClose):
                return StageClosed()
            raise HarnessError(f"{self.label} is a recording, and {message.method} is asked outside of any item")
        return await play.request(message, self._peer)

    async def failed(self) -> HarnessError:
        """Return what broke when the recording was made, once the stage is there."""
        if self._play is None:
            await asyncio.Event().wait()
        assert self._play is not None
        return await self._play.failed()

    def seen(self, what: str, look: Callable[[], Any]) -> Any:
        """Return what was seen on the machine then; nothing is looked at now."""
        if self._play is None:
            raise HarnessError(f"{self.label} is a recording, and the machine is looked at outside of any item")
        return self._play.seen(what)

    def finish(self) -> None:
        """Raise :class:`StimulusChanged` when the item is over, and the stage that it had then was never opened."""
        play, self._play = self._play, None
        asked = play is not None and next((e for e in play.transcript.entries if e.wire == "suite asks"), None)
        if asked:
            raise StimulusChanged(f"then the suite asked {_named(asked)}, and now it asks nothing")

    async def close(self) -> None:
        """End what is still waiting."""
        play, self._play = self._play, None
        if play is not None:
            await play.close()


@dataclass(eq=False)
class _Asked:
    """A request the suite has sent; ``number`` is the recorded one it was matched with."""

    message: Message
    params: Any
    future: asyncio.Future[Any]
    number: int | None = None


@dataclass
class _Play:
    """One transcript while it is played."""

    transcript: Transcript
    at: int = 0
    changed: StimulusChanged | None = None
    _asked: list[_Asked] = field(default_factory=list)
    _answering: dict[int, asyncio.Task[Record]] = field(default_factory=dict)
    _pump: asyncio.Task[None] | None = None
    _news: asyncio.Event = field(default_factory=asyncio.Event)
    _lost: asyncio.Future[HarnessError] | None = None
    _taken: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        entries = self.transcript.entries
        self._pings = {entry.id for entry in entries if entry.wire == "suite asks" and entry.method == Ping.method}
        self._answered = {entry.id for entry in entries if entry.wire == "adapter answers"}
        self._closes = any(entry.wire == "suite asks" and entry.method == StageClose.method for entry in entries)

    # --- what the stage does ------------------------------------------------------------------------------------------

    async def request(self, message: Message, peer: Peer) -> Any:
        if isinstance(message, Ping):
            return await self._ping()
        if isinstance(message, StageClose):
            left = [entry for entry in self._left("suite asks") if entry.method != StageClose.method]
            if self.changed is not None or left:
                await self.close()
            if self.changed is None and left:
                raise StimulusChanged(f"then the suite went on with {_named(left[0])}, and now it does not")
            if self.changed is not None or not self._closes:
                return StageClosed()
        if self.changed is not None:
            raise self.changed
        asked = _Asked(message, _plain(message), asyncio.get_running_loop().create_future())
        self._asked.append(asked)
        self._news.set()
        if self._pump is None:
            self._pump = asyncio.get_running_loop().create_task(self._run(peer))
        try:
            return await asked.future
        finally:
            if asked in self._asked:
                self._asked.remove(asked)
            if isinstance(message, StageClose):
                await self.close()

    async def _ping(self) -> Nothing:
        """A ping is a sign of life and no stimulus: it is answered unless the recording says that it was not."""
        alive = not self._pings or bool(self._pings & self._answered)
        if not alive or not (self._pings or self._closes):
            await asyncio.Event().wait()
        return Nothing()

    async def failed(self) -> HarnessError:
        if self._lost is None:
            self._lost = asyncio.get_running_loop().create_future()
        return await asyncio.shield(self._lost)

    def seen(self, what: str) -> Any:
        """The next thing of that name that was seen."""
        for number, entry in enumerate(self.transcript.entries):
            if entry.wire == "seen" and entry.method == what and number not in self._taken:
                self._taken.add(number)
                return None if entry.result is UNSET else entry.result
        raise StimulusChanged(f"then nobody looked for {what}")

    async def close(self) -> None:
        tasks = [task for task in (self._pump, *self._answering.values()) if task is not None and not task.done()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for task in self._answering.values():
            if task.done() and not task.cancelled():
                task.exception()  # seen by the stage as its own fault; asyncio need not tell of it again

    # --- what the recording does --------------------------------------------------------------------------------------

    async def _run(self, peer: Peer) -> None:
        try:
            while self.at < len(self.transcript.entries):
                entry = self.transcript.entries[self.at]
                await self._step(entry, peer)
                self.at += 1
            while not self._unmatched():
                self._news.clear()
                await self._news.wait()
            raise StimulusChanged(f"the recording ends here, and the suite asks {_told(self._unmatched()[0])}")
        except StimulusChanged as changed:
            self._stop(changed)
        except msgspec.ValidationError as error:
            why = f"{self.transcript.path}: entry {self.at + 1} is no message of this protocol: {error}"
            self._stop(HarnessError(why, files.AGAIN))

    def _stop(self, error: Exception) -> None:
        if isinstance(error, StimulusChanged):
            self.changed = error
        for asked in self._asked:
            if not asked.future.done():
                asked.future.set_exception(error)

    async def _step(self, entry: Entry, peer: Peer) -> None:
        if entry.id in self._pings and entry.wire in ("suite asks", "adapter answers"):
            return
        if entry.wire == "suite asks":
            await self._match(entry)
        elif entry.wire == "adapter answers":
            await self._answer(entry, peer)
        elif entry.wire == "adapter asks":
            message = msgspec.convert(entry.params, ADAPTER_ASKS[entry.method or ""])
            self._answering[entry.id or 0] = asyncio.get_running_loop().create_task(self._tell(peer, message, entry))
            await asyncio.sleep(0)
        elif entry.wire == "adapter notes":
            peer.note(msgspec.convert(entry.params, TraceNote), entry.seq or 0)
        elif entry.wire == "suite answers":
            await self._compare(entry)
        elif entry.wire == "suite gives up":
            self._answering[entry.id or 0].cancel()
        elif entry.wire == "rest":
            await _turns()
        elif entry.wire == "lost" and entry.error is not None:
            if self._lost is None:
                self._lost = asyncio.get_running_loop().create_future()
            error = _error_of(entry.error)
            self._lost.set_result(error if isinstance(error, HarnessError) else HarnessError(str(error)))

    async def _tell(self, peer: Peer, message: Message, entry: Entry) -> Record:
        try:
            return await peer.answer(message, entry.seq or 0)
        finally:
            self._news.set()

    async def _match(self, entry: Entry) -> None:
        """Wait until the suite asks what it asked then."""
        while True:
            for asked in self._unmatched():
                if asked.message.method == entry.method and same(asked.params, entry.params):
                    asked.number = entry.id
                    return
            await self._more(f"then it asked {_named(entry)}")

    async def _answer(self, entry: Entry, peer: Peer) -> None:
        """Answer the suite; what it had taken then before its loop stood still, it is given first."""
        number, until = entry.id, self._rest_after(self.at)
        while self.at < until - 1:
            self.at += 1
            await self._step(self.transcript.entries[self.at], peer)
        asked = next((asked for asked in self._asked if asked.number == number), None)
        if asked is None or asked.future.done():
            return  # the suite has stopped waiting, at a deadline
        if entry.error is not None:
            asked.future.set_exception(_error_of(entry.error))
        else:
            asked.future.set_result(msgspec.convert(entry.result, codec.result_type(asked.message)))
        await _turns()

    def _rest_after(self, at: int) -> int:
        """Where the loop stood still after an answer, if all that came between did not wait for this answer."""
        asked: set[int | None] = set()
        for number, entry in enumerate(self.transcript.entries[at + 1 :], at + 1):
            if entry.wire == "adapter asks":
                asked.add(entry.id)
            elif entry.wire == "rest":
                return number
            elif not entry.wire.startswith("adapter") and not (entry.wire == "suite answers" and entry.id in asked):
                break
        return at

    async def _compare(self, entry: Entry) -> None:
        """Wait until the suite has answered, and see that it answers what it answered then."""
        task = self._answering[entry.id or 0]
        what = next(e for e in self.transcript.entries if e.wire == "adapter asks" and e.id == entry.id)
        while not task.done():
            await self._more(f"then it answered {_named(what)}")
        if task.cancelled():
            return
        error = task.exception()
        if isinstance(error, StimulusChanged):
            raise error
        if error is not None:
            if entry.error is None:
                raise StimulusChanged(f"now the suite cannot answer {_named(what)}: {error}")
            return
        found = _plain(task.result())
        if entry.error is not None or not same(found, entry.result):
            then = entry.error.cause if entry.error is not None else _short(entry.result)
            raise StimulusChanged(f"{_named(what)} is answered with {_short(found)}, and then with {then}")

    async def _more(self, then: str) -> None:
        """Wait for the suite to do anything; at once, or after a while, say that it does something else than then."""
        coming = self._left("suite asks")
        for asked in self._unmatched():
            if not any(entry.method == asked.message.method and same(asked.params, entry.params) for entry in coming):
                raise StimulusChanged(f"{then}, and now {_told(asked)}")
        self._news.clear()
        silent = [a for a in self._asked if not a.future.done() and (a.number is None or a.number in self._answered)]
        # Between two steps the loop stands still, and that is not the suite's silence.
        limit = PATIENCE if silent else None
        try:
            await asyncio.wait_for(self._news.wait(), limit)
        except TimeoutError:
            await _turns()
            if not self._news.is_set():
                raise StimulusChanged(f"{then}, and now it does not") from None

    def _unmatched(self) -> list[_Asked]:
        return [asked for asked in self._asked if asked.number is None and not asked.future.done()]

    def _left(self, wire: str) -> list[Entry]:
        """The entries still to come, or just being waited for."""
        return [
            entry
            for entry in self.transcript.entries[self.at :]
            if entry.wire == wire and not (wire == "suite asks" and entry.id in self._pings)
        ]


async def _turns() -> None:
    """Let whoever waited for what has just come go on, and the loop stop, before anything later comes."""
    for _ in range(8):
        await asyncio.sleep(0)


def _plain(record: Record) -> Any:
    return msgspec.json.decode(codec.encode(record))


def _error_of(failure: Failure) -> Exception:
    if failure.kind == "Unsupported":
        return Unsupported(failure.cause, failure.mend)
    kinds: dict[str, type[HarnessError]] = {
        kind.__name__: kind for kind in (AdapterGone, ProtocolBroken, RequestFailed, HarnessError)
    }
    return kinds.get(failure.kind, HarnessError)(failure.cause, failure.mend)


def _named(entry: Entry) -> str:
    return f"{entry.method} {_short(entry.params)}"


def _told(asked: _Asked) -> str:
    return f"{asked.message.method} {_short(asked.params)}"


def _short(value: Any) -> str:
    text = msgspec.json.encode(None if value is UNSET else value).decode()
    return text if len(text) <= 200 else f"{text[:150]} … {text[-40:]}"
