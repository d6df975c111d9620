"""JSON-RPC lines over a process in a sandbox; everything an agent writes is hostile input."""

import asyncio
import json
import logging
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from app.runners.codes import DETAIL_CHARS, Code, RunnerError, text_of
from app.runners.runner import EVENT_BYTES, Process

logger = logging.getLogger(__name__)

Message = dict[str, Any]
Log = Callable[[str, bytes], None]
"""Gets the stream's name and raw bytes, for the turn's log file."""

METHOD_NOT_FOUND = -32601

Given = TypeVar("Given")


@dataclass(frozen=True)
class Caps:
    """What ends a connection: the size of a line, lines that are not JSON-RPC, replies that the agent does not read."""

    line_bytes: int = 16 * 1024 * 1024
    junk_lines: int = 100
    open_replies: int = 64


@dataclass(frozen=True)
class Handlers:
    """What an agent may send us: updates, and one kind of request. Both answer at once and never wait."""

    update: Callable[[Message], None]
    permission: Callable[[Message], Message]
    log: Log


class Wire:
    """The transport below the protocol library: one agent's stdin and stdout as messages, its stderr as a tail.

    `fault` is set when the agent broke the rules of the line; `bug` when a handler of ours raised. Both end the stream.
    """

    def __init__(self, process: Process, handlers: Handlers, caps: Caps) -> None:
        if process.stdin is None:
            raise OSError("the process has no stdin")
        self._stdin = process.stdin
        self._events = process.events
        self._handlers = handlers
        self._caps = caps
        self._partial = bytearray()
        self._lines: deque[bytes] = deque()
        self._stderr = bytearray()
        self._junk = 0
        self._replies: set[asyncio.Task[None]] = set()
        self._writing = asyncio.Lock()
        self.fault: RunnerError | None = None
        self.bug: Exception | None = None
        self.ended = False
        self.last_at = asyncio.get_running_loop().time()

    @property
    def stderr_tail(self) -> str:
        return self._stderr.decode("utf-8", "replace")[-DETAIL_CHARS:]

    async def send(self, message: Message) -> None:
        """Writes one line; raises ConnectionError when the agent is gone."""
        line = json.dumps(message, separators=(",", ":")).encode() + b"\n"
        async with self._writing:
            self._stdin.write(line)
            await self._stdin.drain()

    async def receive(self) -> Message | None:
        """The next answer to one of our requests, or None at the end. Updates and requests are handled on the way."""
        while True:
            while self._lines and self._is_sound():
                answer = self._handle(self._lines.popleft())
                if answer is not None:
                    return answer
            output = await anext(self._events, None) if self._is_sound() else None
            if output is None:
                self.ended = True
                return None
            self._take(output.stream, output.data)
            await asyncio.sleep(0)  # a flood must not keep deadlines from being seen

    async def close(self) -> None:
        for task in self._replies:
            task.cancel()

    async def close_stdin(self) -> None:
        """Tells the agent that nothing more comes; a dead agent is no error."""
        self._stdin.close()
        try:
            await self._stdin.wait_closed()
        except OSError as error:
            logger.debug("stdin was closed by the agent: %s", text_of(error))

    def _take(self, stream: str, data: bytes) -> None:
        self._handlers.log(stream, data)
        if stream == "stderr":
            self._stderr += data
            del self._stderr[: -4 * DETAIL_CHARS]
            return
        first, *rest = data.split(b"\n")
        self._partial += first
        for piece in rest:
            self._lines.append(bytes(self._partial))
            self._partial = bytearray(piece)
        if len(self._partial) > self._caps.line_bytes:
            self._break(f"a line is longer than {self._caps.line_bytes} bytes")

    def _is_sound(self) -> bool:
        return self.fault is None and self.bug is None

    def _break(self, why: str) -> None:
        self.fault = RunnerError(Code.PROTOCOL, why, self.stderr_tail)

    def _handle(self, line: bytes) -> Message | None:
        """One line. An answer to a request of ours is handed on, all else ends here."""
        if not line.strip():
            return None
        message = _parse(line)
        if message is None:
            self._count_junk()
            return None
        method, params = message.get("method"), message.get("params")
        params = params if isinstance(params, dict) else {}
        if method is not None and "id" not in message:
            self._notified(method, params, len(line))
            return None
        self._beat()
        if method is None:
            return message
        self._reply(message["id"], method, params)
        return None

    def _count_junk(self) -> None:
        """RN-69."""
        self._junk += 1
        if self._junk > self._caps.junk_lines:
            self._break(f"more than {self._caps.junk_lines} lines on stdout are no protocol messages")

    def _notified(self, method: str, params: Message, size: int) -> None:
        """RN-12: an unknown notification is ignored, an update above the cap is dropped."""
        if method != "session/update":
            logger.debug("an unknown notification was ignored")
        elif size > EVENT_BYTES:
            logger.warning("an event of %d bytes was dropped", size)
        else:
            self._beat()
            self._guarded(self._handlers.update, params)

    def _beat(self) -> None:
        self.last_at = asyncio.get_running_loop().time()

    def _reply(self, request_id: int | str | None, method: str, params: Message) -> None:
        """RN-83: what we do not offer is refused in words, never with silence."""
        reply: Message = {"jsonrpc": "2.0", "id": request_id}
        if method == "session/request_permission":
            reply["result"] = self._guarded(self._handlers.permission, params) or {"outcome": {"outcome": "cancelled"}}
        else:
            reply["error"] = {"code": METHOD_NOT_FOUND, "message": "Method not found"}
        if len(self._replies) >= self._caps.open_replies:
            self._break(f"more than {self._caps.open_replies} answers wait to be read")
            return
        task = asyncio.create_task(self._send_quietly(reply))
        self._replies.add(task)
        task.add_done_callback(self._replies.discard)

    async def _send_quietly(self, reply: Message) -> None:
        try:
            await self.send(reply)
        except OSError as error:
            logger.debug("a reply could not be sent: %s", text_of(error))

    def _guarded(self, handler: Callable[[Message], Given], params: Message) -> Given | None:
        try:
            return handler(params)
        except Exception as error:  # the protocol library would log and swallow it: carried to `send` instead
            self.bug = error
            return None


def _parse(line: bytes) -> Message | None:
    """A JSON-RPC message whose parts have the types that the protocol library takes for granted, or None."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or not isinstance(value.get("id"), int | str | None):
        return None
    if "method" in value:
        return value if isinstance(value["method"], str) else None
    answered = "id" in value and ("result" in value or isinstance(value.get("error"), dict))
    return value if answered else None
