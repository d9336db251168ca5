"""JSON-RPC 2.0 in both directions, one JSON object a line, with many requests open at once either way.

Two sides speak it. The *suite* trusts nothing: whatever the protocol does not allow ends the connection with a
:class:`ProtocolBroken` that says and quotes what came. The *adapter* side (``serve``) only answers an unknown method or
wrong parameters with a JSON-RPC error, so that an older adapter can be used with a newer suite.

Decisions where JSON-RPC leaves room:

* every message of the adapter carries an integer ``seq`` greater than the one before; gaps are allowed;
* a request id is an integer or a string, and is not used again while its request is open;
* an unknown method, or parameters of the wrong shape, are answered with an error (−32601, −32602) *and* end the
  connection: the adapter speaks another protocol, and no verdict taken over it would mean anything;
* a request that comes while no stage is open is answered with −32600 and a notification then is dropped;
* an answer to a request the suite has given up is dropped, once; blank lines and ``\\r\\n`` are no fault; batches are.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Literal

import msgspec
from msgspec import UNSET

from conformance.drivers import codec, mends
from conformance.drivers.driver import AdapterGone, HarnessError, Peer, ProtocolBroken, RequestFailed, Unsupported
from conformance.drivers.envelope import (
    INTERNAL,
    INVALID_PARAMS,
    INVALID_REQUEST,
    UNKNOWN_METHOD,
    Envelope,
    ErrorObject,
    quote,
)
from conformance.drivers.lines import LineChannel
from conformance.drivers.protocol import UNSUPPORTED, Limits, Message, Record

MESSAGES_PER_STAGE = 100_000
BYTES_PER_STAGE = 128 * 1024 * 1024
"""How many requests and notifications of one stage are taken, and how many bytes of them: all are kept in the trace."""

_HALF_A_PAIR = re.compile(rb"\\u[dD][89abAB]..(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB]..)\\u[dD][c-fC-F]")
"""An escape of JSON that stands for half a character: the decoder only says that something is missing."""

_envelopes = msgspec.json.Decoder(Envelope)


class Connection:
    """One end of a conversation. ``lost`` resolves to the reason why it can no longer be used.

    ``side`` is who we are. ``theirs`` are the requests and ``notes`` the notifications the other side may send.
    ``line_limit`` is the longest line we read and ``send_limit`` the longest we write, in bytes. ``gone`` is told when
    the other side closed its output (with the line it began and never ended) or input, and says by :meth:`fail` what
    that means; without it the words alone are the reason.
    """

    def __init__(
        self,
        name: str,
        side: Literal["suite", "adapter"],
        theirs: Mapping[str, type[Message]],
        notes: Mapping[str, type[Message]],
        line_limit: int = Limits().line_bytes,
        gone: Callable[[str, bytes], None] | None = None,
    ) -> None:
        self.name = name
        self.send_limit = Limits().line_bytes
        self.lost: asyncio.Future[HarnessError] = asyncio.get_running_loop().create_future()
        self._line_limit = line_limit
        self._loop = asyncio.get_running_loop()
        self._strict = side == "suite"
        self._theirs = theirs
        self._notes = notes
        self._gone = gone or (lambda how, rest: self.fail(AdapterGone(f"{name} {how}")))
        self._channel: LineChannel | None = None
        self._peer: Peer | None = None
        self._last_id = 0
        self._pending: dict[int, tuple[Message, asyncio.Future[Record]]] = {}
        self._given_up: set[int] = set()
        self._answering: dict[int | str, asyncio.Task[None]] = {}
        self._sent_seq = 0
        self._seen_seq = -1
        self._count = 0
        self._bytes = 0

    # --- ours ---------------------------------------------------------------------------------------------------------

    def connect(self, read_fd: int, write_fd: int) -> None:
        """Take over both descriptors and start reading. Raises ``OSError`` where they cannot be waited for."""
        self._channel = LineChannel(read_fd, write_fd, self, self._line_limit)
        self._channel.start()

    def bind(self, peer: Peer | None) -> None:
        """Name who answers from now on, and count its messages from zero."""
        self._peer = peer
        self._count = self._bytes = 0

    def request(self, message: Message) -> Coroutine[Any, Any, Any]:
        """Ask, and return what awaits the ``Result``. The message is on its way, with its number, when this returns.

        What is awaited raises ``Unsupported``, ``RequestFailed``, or what lost the connection.
        """
        self._last_id = id_ = self._last_id + 1
        future: asyncio.Future[Record] = self._loop.create_future()
        self._pending[id_] = message, future
        try:
            if self.lost.done():
                raise self.lost.result()
            self._send(b'"id":%d,"method":"%b","params":%b' % (id_, message.method.encode(), codec.encode(message)))
        except Exception as error:  # whatever cannot be encoded or sent is told to whoever awaits the answer
            future.set_exception(error)
            future.exception()
        return self._answered(id_, future)

    async def _answered(self, id_: int, future: asyncio.Future[Record]) -> Record:
        try:
            return await future
        finally:
            if self._pending.pop(id_, None) is not None:
                self._given_up.add(id_)

    def notify(self, message: Message) -> None:
        """Tell, and expect no answer. Never blocks."""
        self._send(b'"method":"%b","params":%b' % (message.method.encode(), codec.encode(message)))

    @property
    def awaited(self) -> list[str]:
        """The methods of our open requests, oldest first."""
        return [message.method for message, _ in self._pending.values()]

    @property
    def unfinished(self) -> bytes:
        """The beginning of a line whose end has not come yet."""
        return b"" if self._channel is None else self._channel.unfinished

    def fail(self, error: HarnessError) -> None:
        """End the connection for this reason; the first one stays."""
        if self.lost.done():
            return
        self.lost.set_result(error)
        if self._channel is not None:
            self._channel.close_read()
        for _, future in self._pending.values():
            if not future.done():
                future.set_exception(error)
                future.exception()  # asyncio complains of an error that nobody heard: here the waiter may have left
        for task in self._answering.values():
            task.cancel()

    def finish(self) -> None:
        """Let the other side read end of input, and throw away what it still says."""
        if self._channel is not None:
            self._channel.finish()
        self.fail(AdapterGone(f"the connection to {self.name} was closed"))

    async def close(self) -> None:
        """Close both descriptors and wait for the answers that were being worked out to be cancelled."""
        self.finish()
        if self._channel is not None:
            self._channel.close()
        tasks = [task for task in self._answering.values() if task is not asyncio.current_task()]
        await asyncio.gather(*tasks, return_exceptions=True)

    def _send(self, members: bytes) -> None:
        if self._channel is None:
            raise HarnessError(f"{self.name} is not connected", "call start() first")
        if self._strict:
            if len(members) > self.send_limit:
                raise HarnessError(
                    f"a message of {len(members)} bytes is more than {self.name} takes ({self.send_limit})",
                    "make the value of the rule smaller, or raise limits.lineBytes in the adapter's initialize answer",
                )
            self._channel.send(b'{"jsonrpc":"2.0",%b}\n' % members)
        else:
            self._sent_seq += 1
            self._channel.send(b'{"jsonrpc":"2.0","seq":%d,%b}\n' % (self._sent_seq, members))

    def _send_error(self, id_: int | str | None, error: ErrorObject) -> None:
        self._send(b'"id":%b,"error":%b' % (msgspec.json.encode(id_), msgspec.json.encode(error)))

    # --- theirs: LineHandler ------------------------------------------------------------------------------------------

    def line(self, line: bytes) -> None:
        """Take one line; see the module's text for what is and is not a fault."""
        if not line or line.isspace():
            return
        try:
            if not line.isascii():
                str(line, "utf-8")
            envelope = _envelopes.decode(line)
        except UnicodeDecodeError as error:
            self._broken(f"wrote a line that is not UTF-8 (byte {error.start}: {error.reason})", line, mends.NOT_UTF8)
        except RecursionError:
            self._broken("wrote a message that is nested too deeply", line, mends.TOO_DEEP)
        except msgspec.ValidationError as error:
            self._broken(f"wrote a line that is not a JSON-RPC message ({error})", line, mends.NOT_A_MESSAGE)
        except msgspec.DecodeError as error:
            literal = any(word in line for word in (b"NaN", b"Infinity")) and line.lstrip().startswith(b"{")
            reason, mend = _reason(error, line, mends.NOT_A_LITERAL if literal else mends.NOT_JSON)
            self._broken(f"wrote a line that is not JSON ({reason})", line, mend)
        else:
            self._take(envelope, line)

    def ended(self, rest: bytes) -> None:
        """The other side closed its output."""
        self._gone("closed its standard output", rest)

    def too_long(self, size: int, exact: bool, head: bytes) -> None:
        """A line over the limit ends the connection."""
        about = "" if exact else "at least "
        sentence = f"wrote a line of {about}{size} bytes, more than the {self._line_limit} allowed"
        self._broken(sentence, head[:60], mends.TOO_LONG)

    def unwritable(self, error: OSError | None, backlog: int) -> None:
        """The other side closed its input or does not read it."""
        if error is None:
            self._broken(f"does not read its standard input: {backlog} bytes wait to be read", b"", mends.NOT_READ)
        else:
            self._gone("closed its standard input", b"")

    def _broken(self, what: str, line: bytes, mend: str) -> None:
        self.fail(ProtocolBroken(f"{self.name} {what}" + (f": {quote(line)}" if line else ""), mend))
        if self._channel is not None:
            self._channel.close_read()

    def _take(self, envelope: Envelope, line: bytes) -> None:
        if self._strict:
            seq = envelope.seq
            if seq is UNSET:
                return self._broken("sent a message without seq", line, mends.SEQ)
            if seq <= self._seen_seq:
                return self._broken(f"sent a message with seq {seq} after seq {self._seen_seq}", line, mends.SEQ)
            self._seen_seq = seq
        answers = (len(envelope.result) > 0) + (envelope.error is not UNSET)
        if envelope.method is not UNSET:
            if answers:
                return self._broken("sent a message that is request and answer at once", line, mends.EITHER)
            if envelope.id is UNSET:
                return self._take_note(envelope.method, envelope, line)
            if envelope.id is None:
                return self._broken(f"sent a request {envelope.method} whose id is null", line, mends.ID)
            return self._take_request(envelope.id, envelope.method, envelope, line)
        if envelope.id is UNSET:
            return self._broken("sent a message with neither id nor method", line, mends.EITHER)
        if len(envelope.params):
            return self._broken("sent an answer with params", line, mends.EITHER)
        if answers != 1:
            both = "both result and error" if answers else "neither result nor error"
            return self._broken(f"sent an answer with {both}", line, mends.EITHER)
        return self._take_answer(envelope.id, envelope, line)

    def _take_answer(self, id_: int | str | None, envelope: Envelope, line: bytes) -> None:
        error = envelope.error
        if id_ is None and error is not UNSET:
            sentence = f"could not read a message of the suite and reported error {error.code}"
            return self._broken(sentence, line, mends.UNREADABLE)
        if not isinstance(id_, int) or not 0 < id_ <= self._last_id:
            return self._broken(
                f"answered a request that was never made (id {quote(str(id_))})", line, mends.ANSWER_ONCE
            )
        if id_ in self._given_up:
            self._given_up.discard(id_)
            return None
        if id_ not in self._pending:
            return self._broken(f"answered request {id_} twice", line, mends.ANSWER_ONCE)
        message, future = self._pending[id_]
        if error is not UNSET:
            failure = self._failure(message, error)
            if failure is None:
                sentence = f"answered {message.method} with error {UNSUPPORTED} without data.capability"
                return self._broken(sentence, line, mends.CAPABILITY)
            self._settle(id_, future, failure)
            return None
        try:
            result = codec.decode(envelope.result, type(message).Result)
        except (msgspec.DecodeError, RecursionError) as problem:
            reason, mend = _reason(problem, line, mends.SHAPE)
            return self._broken(f"answered {message.method} in the wrong shape ({reason})", line, mend)
        self._settle(id_, future, result)
        return None

    def _settle(self, id_: int, future: asyncio.Future[Record], outcome: Record | Exception) -> None:
        del self._pending[id_]
        if future.done():
            return  # given up in this very turn of the loop
        if isinstance(outcome, Exception):
            future.set_exception(outcome)
            future.exception()
        else:
            future.set_result(outcome)

    def _failure(self, message: Message, error: ErrorObject) -> Exception | None:
        if error.code == UNSUPPORTED:
            capability = error.data.get("capability") if isinstance(error.data, dict) else None
            return Unsupported(capability, error.message) if isinstance(capability, str) and capability else None
        return RequestFailed(
            f"{self.name} answered {message.method} with error {error.code}: {quote(error.message, 600)}",
            mends.LACK if error.code == UNKNOWN_METHOD else mends.OUTCOME,
            error.code,
        )

    def _take_note(self, method: str, envelope: Envelope, line: bytes) -> None:
        message = self._read(method, self._notes, "notification", envelope, line)
        if isinstance(message, Message) and self._counted(line):
            # Later than at once, so that it cannot overtake a request that came before it: tasks start in call order.
            self._loop.call_soon(self._note, message, self._order(envelope))

    def _take_request(self, id_: int | str, method: str, envelope: Envelope, line: bytes) -> None:
        if id_ in self._answering:
            sentence = f"sent request {method} with id {quote(str(id_))}, which is still open"
            return self._broken(sentence, line, mends.ID)
        message = self._read(method, self._theirs, "request", envelope, line)
        if isinstance(message, ErrorObject):
            self._send_error(id_, message)
        elif self._counted(line):
            self._answering[id_] = self._loop.create_task(self._answer(id_, message, self._order(envelope)))
        return None

    def _read(
        self, method: str, known: Mapping[str, type[Message]], what: str, envelope: Envelope, line: bytes
    ) -> Message | ErrorObject:
        kind = known.get(method)
        if kind is None:
            self._refuse(f"sent a {what} with the unknown method {quote(method)}", line, mends.METHOD)
            return ErrorObject(UNKNOWN_METHOD, f"unknown method {quote(method)}")
        try:
            return codec.decode(envelope.params if len(envelope.params) else b"{}", kind)
        except (msgspec.DecodeError, RecursionError) as problem:
            reason, mend = _reason(problem, line, mends.SHAPE)
            self._refuse(f"sent {method} in the wrong shape ({reason})", line, mend)
            return ErrorObject(INVALID_PARAMS, f"{method}: {reason}")

    def _refuse(self, what: str, line: bytes, mend: str) -> None:
        if self._strict:
            self._broken(what, line, mend)

    def _counted(self, line: bytes) -> bool:
        self._count += 1
        self._bytes += len(line)
        if self._strict and (self._count > MESSAGES_PER_STAGE or self._bytes > BYTES_PER_STAGE):
            taken = f"{self._count} messages of {self._bytes} bytes in one stage"
            sentence = f"flooded the suite with {taken} (at most {MESSAGES_PER_STAGE} and {BYTES_PER_STAGE})"
            self._broken(sentence, line, mends.FLOOD)
            return False
        return True

    def _order(self, envelope: Envelope) -> int:
        return 0 if envelope.seq is UNSET else envelope.seq

    def _note(self, message: Message, seq: int) -> None:
        if self._peer is None:
            return
        try:
            self._peer.note(message, seq)
        except Exception as error:
            self.fail(HarnessError(f"the suite failed to keep a {message.method}: {type(error).__name__}: {error}"))

    async def _answer(self, id_: int | str, message: Message, seq: int) -> None:
        peer = self._peer
        try:
            if peer is None:
                raise HarnessError(f"{self.name} asked {message.method} while no stage was open")
            answer = await peer.answer(message, seq)
        except Unsupported as error:
            self._reply_error(id_, ErrorObject(UNSUPPORTED, str(error), {"capability": error.capability}))
        except Exception as error:
            code = INVALID_REQUEST if peer is None else INTERNAL
            self._reply_error(id_, ErrorObject(code, f"{type(error).__name__}: {error}"))
        else:
            self._reply(id_, message, answer)
        finally:
            self._answering.pop(id_, None)

    def _reply(self, id_: int | str, message: Message, answer: Record) -> None:
        self._answering.pop(id_, None)  # before it can be read: from then on the id may be used again
        try:
            self._send(b'"id":%b,"result":%b' % (msgspec.json.encode(id_), codec.encode(answer)))
        except (HarnessError, msgspec.MsgspecError, TypeError, ValueError, RecursionError) as error:
            if self._strict:
                self.fail(HarnessError(f"the suite's answer to {message.method} cannot be sent: {error}"))
            self._reply_error(id_, ErrorObject(INTERNAL, f"the answer cannot be sent: {error}"))

    def _reply_error(self, id_: int | str, error: ErrorObject) -> None:
        self._answering.pop(id_, None)
        self._send_error(id_, error)


def _reason(problem: Exception, line: bytes, mend: str) -> tuple[str, str]:
    """Why a message could not be read, and what its author does; ``mend`` unless something else is the matter."""
    if isinstance(problem, RecursionError):
        return "nested too deeply", mend
    if not isinstance(problem, msgspec.ValidationError) and _HALF_A_PAIR.search(line):
        return "a text holds half a surrogate pair", mends.HALF_A_PAIR
    return str(problem), mend
