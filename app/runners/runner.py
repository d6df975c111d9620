"""What a runner is, what it is handed and what it hands back; no input or output (runners.md, 1 and 2)."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from socket import socket
from typing import Literal, Protocol

from pydantic import BaseModel

from app.runners.codes import RunnerError
from app.runners.permissions import Bounds, PermissionRequest, Ruling

TEXT_BYTES = 64 * 1024
EVENT_BYTES = 1024 * 1024


@dataclass(frozen=True)
class Ports:
    """Loopback ports wanted inside the sandbox: endpoints by kind, and the one port the app may dial."""

    endpoints: tuple[Literal["model", "proxy", "tools"], ...] = ()
    dial_port: int | None = None


class Output(Protocol):
    """Some bytes of a process; `stream` is `stdout` or `stderr`."""

    @property
    def stream(self) -> str: ...
    @property
    def data(self) -> bytes: ...


class Exit(Protocol):
    """How a process ended: its exit code where there is one, and one word (`exit`, `signal`, `memory`, `killed`)."""

    @property
    def rc(self) -> int | None: ...
    @property
    def reason(self) -> str: ...


class Stdin(Protocol):
    """The part of an asyncio StreamWriter that is used."""

    def write(self, data: bytes) -> None: ...
    async def drain(self) -> None: ...
    def close(self) -> None: ...
    async def wait_closed(self) -> None: ...


class Process(Protocol):
    """One process tree of a turn. `events` gives stdout and stderr until both end.

    `dial` connects to `Ports.dial_port` inside the sandbox and raises OSError when nothing answers there.
    """

    @property
    def stdin(self) -> Stdin | None: ...
    @property
    def events(self) -> AsyncIterator[Output]: ...
    async def dial(self) -> socket: ...
    async def wait(self) -> Exit: ...
    async def kill(self, reason: str = "killed") -> None: ...


class Launcher(Protocol):
    """Starts processes in the turn's sandbox; workspace, uid, limits and run id are bound in already (RN-1).

    `spawn` gets only what the runner needs in `env` and `files` (inside path -> content); the launcher adds PATH, HOME
    and LANG. It raises UserError when no sandbox may be used, OSError when the command cannot be started. `port` is the
    loopback port of an endpoint inside, or `dial`, one for a server of the agent. `cwd` is the workspace as the agent
    sees it.
    """

    @property
    def tier(self) -> int: ...
    @property
    def cwd(self) -> str: ...
    def port(self, name: str) -> int: ...
    async def spawn(
        self, argv: Sequence[str], env: Mapping[str, str], files: Mapping[str, bytes], network: Ports
    ) -> Process: ...


class EventType(StrEnum):
    """Normalised events (runners.md, 2.3)."""

    SESSION_BOUND = "session.bound"
    MESSAGE_DELTA = "message.delta"
    MESSAGE_COMPLETED = "message.completed"
    THOUGHT_DELTA = "thought.delta"
    PLAN_UPDATED = "plan.updated"
    TOOL_STARTED = "tool.call.started"
    TOOL_COMPLETED = "tool.call.completed"
    PERMISSION_DECIDED = "permission.decided"
    TOOL_DENIED = "tool.denied"
    STATE_UPDATED = "state.updated"
    LOG = "turn.log"
    PROVIDER_RETRY = "provider.retry"
    USAGE_UPDATED = "usage.updated"
    CLEANUP_FAILED = "turn.cleanup_failed"
    COMPLETED = "turn.completed"
    FAILED = "turn.failed"
    STATE = "state.updated"


@dataclass(frozen=True)
class RunnerEvent:
    """One thing that happened, in order; the caller numbers, redacts and stores it. `data` is JSON."""

    type: EventType
    data: Mapping[str, object] = field(default_factory=dict)


Sink = Callable[[RunnerEvent], None]
Decide = Callable[[PermissionRequest], Ruling]
Reask = Callable[[Sequence[str]], str]
"""The text that asks for the result once more; gets at most 10 reasons (RN-28)."""


@dataclass(frozen=True)
class Capabilities:
    """What a runner claims; `structured` is the best way a result comes back."""

    resume: bool
    structured: Literal["meta", "tool", "marker", "native", "poll"]
    cancel: bool
    attached: bool = True


@dataclass(frozen=True)
class Readiness:
    """Usable now or not; `problems` are words for people, `said` is the end of what the runner itself said."""

    ok: bool
    version: str | None = None
    problems: tuple[str, ...] = ()
    said: str = ""


@dataclass(frozen=True)
class HostTools:
    """Where a session reaches our tools over MCP, as the agent sees it; `token` is worth nothing after the turn."""

    url: str
    token: str = field(repr=False)


@dataclass(frozen=True)
class SessionSpec:
    """One conversation of one role: `workspace` is the folder on the host, `cwd` the same as the agent sees it."""

    workspace: Path
    cwd: str
    bounds: Bounds
    model: str | None = None
    effort: str | None = None
    config: Mapping[str, object] = field(default_factory=dict)
    tools: HostTools | None = None


@dataclass(frozen=True)
class SessionRef:
    """An agent's own name for a session; stored before the first prompt."""

    agent_session_id: str


def nothing_submitted() -> object | None:
    return None


@dataclass(frozen=True)
class Ask:
    """One prompt. `deadline` is a time of the monotonic clock, `nonce` the one told in `text`.

    `reask` makes the second prompt; None means a missing result is not asked for again. `fresh_text` replaces `text`
    when a lost session had to be replaced; None means that a lost session ends the turn. `submitted` gives what the
    host tool `submit_result` accepted last.
    """

    turn_id: str
    text: str
    nonce: str
    deadline: float
    reask: Reask | None = None
    fresh_text: str | None = None
    submitted: Callable[[], object | None] = nothing_submitted
    schema: Mapping[str, object] | None = None
    number: int = 1

    def again(self, text: str) -> "Ask":
        """The same ask with another text, as the next prompt of the turn."""
        return replace(self, text=text, number=self.number + 1)


@dataclass(frozen=True)
class Answer:
    """What one prompt gave, not yet validated. `hidden_marker`: a marker line stood in text that the cap cut away."""

    state: Literal["done", "cancelled", "failed"]
    text: str = ""
    structured: object | None = None
    error: RunnerError | None = None
    stop: str = ""
    hidden_marker: bool = False


@dataclass(frozen=True)
class Usage:
    """Tokens and cost; `exact` is False where the agent does not tell all of it."""

    input: int = 0
    output: int = 0
    cached: int = 0
    usd: Decimal | None = None
    exact: bool = True
    acu: Decimal | None = None
    """Cost in the vendor's own unit, where it has one."""

    def since(self, before: "Usage") -> "Usage":
        """The part after `before`, taken from the same session (RN-5)."""
        return Usage(
            max(0, self.input - before.input),
            max(0, self.output - before.output),
            max(0, self.cached - before.cached),
            _less(self.usd, before.usd),
            self.exact and before.exact,
            _less(self.acu, before.acu),
        )


def _less(now: Decimal | None, before: Decimal | None) -> Decimal | None:
    return now if now is None or before is None else max(Decimal(0), now - before)


class Source(StrEnum):
    """Which rung gave the result (RN-24)."""

    STRUCTURED = "structured"
    TOOL = "tool"
    MARKER = "marker"


@dataclass(frozen=True)
class TurnResult:
    """The end of a turn: a valid `value`, or an `error`, or neither: sources disagree (VF-7), or text was asked."""

    value: BaseModel | None = None
    source: Source | None = None
    text: str = ""
    error: RunnerError | None = None
    usage: Usage = field(default_factory=Usage)
    asks: int = 0
    ref: SessionRef | None = None
    pulls: tuple[str, ...] = ()
    """Pull requests that a remote agent says it opened."""


class Runner(Protocol):
    """Takes one turn. Methods that speak to the agent raise RunnerFailure; `ready` never raises."""

    @property
    def id(self) -> str: ...
    def capabilities(self) -> Capabilities: ...
    async def ready(self) -> Readiness: ...
    async def create_session(self, spec: SessionSpec) -> SessionRef: ...
    async def resume_session(self, spec: SessionSpec, ref: SessionRef) -> SessionRef: ...
    async def send(self, ref: SessionRef, ask: Ask, sink: Sink, decide: Decide) -> Answer: ...
    async def abort(self, ref: SessionRef) -> None: ...
    async def usage(self, ref: SessionRef) -> Usage: ...
    async def close(self) -> None: ...
