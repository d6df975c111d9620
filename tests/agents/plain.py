"""A launcher without a sandbox: plain processes in a group of their own, for tests of the runners."""

import asyncio
import os
import signal
import socket
import sys
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Output:
    stream: str
    data: bytes


@dataclass(frozen=True)
class Exit:
    rc: int | None
    reason: str


class PlainProcess:
    """One process with both outputs read all the time; `kill` ends its process group."""

    def __init__(self, process: asyncio.subprocess.Process, dial_port: int | None = None) -> None:
        assert process.stdin and process.stdout and process.stderr
        self.pid = process.pid
        self.stdin = process.stdin
        self._process = process
        self._dial_port = dial_port
        self._killed = ""
        self._queue: asyncio.Queue[Output | None] = asyncio.Queue(maxsize=64)
        pipes = (("stdout", process.stdout), ("stderr", process.stderr))
        self._readers = [asyncio.create_task(self._read(name, pipe)) for name, pipe in pipes]
        self.events = self._events()

    async def _read(self, name: str, pipe: asyncio.StreamReader) -> None:
        while data := await pipe.read(1 << 16):
            await self._queue.put(Output(name, data))
        await self._queue.put(None)

    async def _events(self) -> AsyncIterator[Output]:
        for _ in self._readers:
            while (output := await self._queue.get()) is not None:
                yield output

    async def dial(self) -> socket.socket:
        found = socket.create_connection(("127.0.0.1", self._dial_port), timeout=5)
        found.setblocking(False)
        return found

    async def wait(self) -> Exit:
        rc = await self._process.wait()
        return Exit(rc, self._killed or ("signal" if rc < 0 else "exit"))

    async def kill(self, reason: str = "killed") -> None:
        if self._process.returncode is None:
            self._killed = reason
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        for reader in self._readers:
            reader.cancel()
        await asyncio.gather(*self._readers, return_exceptions=True)
        await self._process.wait()
        self._process._transport.close()  # type: ignore[attr-defined]  # pipes that a daemon keeps open


@dataclass
class PlainLauncher:
    """Starts in `workspace` with HOME `home`; remembers what it was asked to start."""

    workspace: Path
    home: Path
    tier: int = 0
    spawned: list[tuple[tuple[str, ...], dict[str, str]]] = field(default_factory=list)
    processes: list[PlainProcess] = field(default_factory=list)
    ports: dict[str, int] = field(default_factory=dict)

    @property
    def cwd(self) -> str:
        return str(self.workspace)

    def port(self, name: str) -> int:
        if name not in self.ports:
            with socket.create_server(("127.0.0.1", 0)) as free:
                self.ports[name] = free.getsockname()[1]
        return self.ports[name]

    async def spawn(
        self, argv: Sequence[str], env: Mapping[str, str], files: Mapping[str, bytes], network: Any
    ) -> PlainProcess:
        path = f"{Path(sys.executable).parent}:/usr/bin:/bin"
        whole = {"PATH": path, "HOME": str(self.home), "LANG": "C.UTF-8", **env}
        self.spawned.append((tuple(argv), whole))
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            *argv, env=whole, cwd=self.workspace, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True
        )
        self.processes.append(PlainProcess(process, network.dial_port))
        return self.processes[-1]

    def running(self, within_s: float = 2.0) -> list[int]:
        """Processes that are left of those started here, and of what they started; zombies do not count.

        A killed process dies a moment after the signal is sent, so there is a moment to look again.
        """
        groups = {process.pid for process in self.processes}
        until = time.monotonic() + within_s
        while (left := [pid for pid, group in _living() if group in groups]) and time.monotonic() < until:
            time.sleep(0.01)
        return left


def _living() -> Iterator[tuple[int, int]]:
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, _, group, *_ = stat.read_text().rsplit(")", 1)[1].split()
            if state not in "ZX":
                yield int(stat.parent.name), int(group)
