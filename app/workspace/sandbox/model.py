"""The words of a sandbox: what is asked of it, what it answers, how strong it is."""

from asyncio import StreamWriter
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from socket import socket
from typing import Literal, Protocol

from app.errors import UserError

WORKSPACE = "/workspace"
HOME = "/home/agent"
MIB = 1 << 20

REASONS = ("exit", "signal", "wall", "idle", "memory", "disk", "procs", "output", "killed", "start-failed")
Stream = Literal["stdout", "stderr"]


class Tier(IntEnum):
    """How much a backend protects; the sentences are in sandbox.md, section 12."""

    NONE = 0
    WEAK = 1
    DEGRADED = 2
    STRONG = 3


class SandboxUnavailable(UserError):
    """No backend of the wanted tier works here, so nothing was run (SX-7); the text says why."""


@dataclass(frozen=True)
class Limits:
    """What one run may use. `mem_bytes` is for all processes together, `data_bytes` and `address_bytes` for each."""

    wall_s: float
    cpu_s: int
    mem_bytes: int = 4096 * MIB
    data_bytes: int | None = None
    address_bytes: int | None = None
    procs: int = 256
    file_bytes: int = 1024 * MIB
    disk_bytes: int = 4096 * MIB
    files: int = 200_000
    out_bytes: int = MIB
    idle_s: float | None = None

    @staticmethod
    def for_tests(wall_s: float) -> "Limits":
        """Of a test command; the figures are those of sandbox.md, section 8."""
        return Limits(wall_s=wall_s, cpu_s=max(1, int(wall_s)), data_bytes=4096 * MIB)

    @staticmethod
    def for_agents(wall_s: float) -> "Limits":
        """Of an agent's turn: address space instead of data, which makes big runtimes slow (RN-47)."""
        return Limits(wall_s=wall_s, cpu_s=1800, address_bytes=8192 * MIB)


@dataclass(frozen=True)
class Workspace:
    """What a run sees of the disk.

    `path` is bound at /workspace, its last part is an opaque id. `uid` owns it: of the pool if we are root, else None.
    `frozen` binds it read-only; `read_only` are parts of it that are. `binds` are host paths shown read-only at inside
    paths, `writable` are folders of the run shown writable. `files` (inside path -> content) are put there read-only.
    `home` is a folder kept for the next turn; None means a fresh HOME that is gone afterwards.
    """

    path: Path
    uid: int | None
    frozen: bool = False
    read_only: tuple[str, ...] = ()
    binds: Mapping[str, Path] = field(default_factory=dict)
    writable: Mapping[str, Path] = field(default_factory=dict)
    files: Mapping[str, bytes] = field(default_factory=dict)
    home: Path | None = None
    home_bytes: int = 512 * MIB


@dataclass(frozen=True)
class Network:
    """Loopback ports inside: `listen` are served by the app, `dial` is the one that the app may reach."""

    listen: tuple[int, ...] = ()
    dial: int | None = None


@dataclass(frozen=True)
class Spec:
    """One command. `argv` is a list, never a shell string (SX-13); `env` is built from nothing (SX-11).

    `cwd` is a folder of the workspace. `stdin` opens a pipe to it. With `stream` every byte of output goes to
    `Proc.events`, which then must be read.
    """

    run_id: str
    argv: tuple[str, ...]
    workspace: Workspace
    limits: Limits
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str = ""
    stdin: bool = False
    stream: bool = False
    network: Network = Network()


@dataclass(frozen=True)
class Output:
    stream: Stream
    data: bytes


@dataclass(frozen=True)
class Result:
    """How a run ended. `rc` is None when it never started; the tails hold the last `out_bytes` of each stream.

    `reason` is one of REASONS, or the word that was given to `kill`.
    """

    rc: int | None
    reason: str
    stdout_tail: bytes
    stderr_tail: bytes
    truncated: bool
    wall_s: float
    peak_bytes: int
    tier: Tier
    backend: str


class Proc(Protocol):
    """A running command. `events` gives its output once, with back-pressure; what nobody reads is kept as a tail.

    `kill` is idempotent and returns when no process of the run is left. `listeners` gives, once, the sockets of
    `Network.listen` by port; `dial` connects to `Network.dial`. Both raise OSError.
    """

    @property
    def stdin(self) -> StreamWriter | None: ...
    @property
    def events(self) -> AsyncIterator[Output]: ...
    async def wait(self) -> Result: ...
    async def kill(self, reason: str = "killed") -> None: ...
    async def listeners(self) -> Mapping[int, socket]: ...
    async def dial(self) -> socket: ...


class Sandbox(Protocol):
    """A backend that was measured. `seen` says under which path the code inside sees what `inside` names.

    `own_loopback`: every run has all ports of 127.0.0.1 for itself.
    """

    @property
    def name(self) -> str: ...
    @property
    def tier(self) -> Tier: ...
    @property
    def own_loopback(self) -> bool: ...
    async def start(self, spec: Spec) -> Proc: ...
    def seen(self, workspace: Workspace, inside: str) -> str: ...


async def run(sandbox: Sandbox, spec: Spec) -> Result:
    """Start, wait, and leave no process behind, whatever happens; raises SandboxUnavailable."""
    proc = await sandbox.start(spec)
    try:
        return await proc.wait()
    finally:
        await proc.kill()
