"""One running command: its pipes drained, its limits watched, its end certain."""

import asyncio
import json
import logging
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from socket import socket

from app.workspace.sandbox.endpoints import Channel
from app.workspace.sandbox.model import Limits, Output, Result, Stream, Tier
from app.workspace.sandbox.pipes import Pipes, Tail, is_dead, reader_of
from app.workspace.sandbox.watchdog import Watch, watch

log = logging.getLogger(__name__)

CHUNK = 65536
QUEUED = 16
TOTAL_BYTES = 2 << 30
EOF_S = 5.0


@dataclass(frozen=True)
class Started:
    """What a backend knows of the process that it spawned.

    `status` reads bwrap's --json-status-fd, or is None for a backend without one. `survivors` ends what may still live
    when the end of the spawned process does not prove that nothing does. With `stream`, `events` has all output.
    `channel` speaks with the shim of a run that has a network.
    """

    pipes: Pipes
    limits: Limits
    tier: Tier
    backend: str
    watch: Watch
    status: int | None
    survivors: Callable[[], Awaitable[None]]
    stream: bool = False
    channel: Channel | None = None


class SandboxProcess:
    """The Proc of every backend (sandbox.md, 3)."""

    def __init__(self, started: Started) -> None:
        self._started = started
        self._pipes = started.pipes
        self._began = self._last_output = time.monotonic()
        self._cause = ""
        self._tails = {"stdout": Tail(started.limits.out_bytes), "stderr": Tail(started.limits.out_bytes)}
        self._queue: asyncio.Queue[Output | None] = asyncio.Queue(QUEUED)
        self._listening = started.stream
        self._status = _Status(started.status)
        self._run = asyncio.create_task(self._supervise())

    @property
    def stdin(self) -> asyncio.StreamWriter | None:
        return self._pipes.stdin

    @property
    def events(self) -> AsyncIterator[Output]:
        """Both streams in the order of arrival, until both end; empty unless the run was started with `stream`."""
        return self._events()

    async def wait(self) -> Result:
        """Returns when the command and every process that it left are gone."""
        return await asyncio.shield(self._run)

    async def listeners(self) -> Mapping[int, socket]:
        """The sockets of `Network.listen` by port; empty without a network. Raises OSError."""
        return {} if self._started.channel is None else await self._started.channel.listeners()

    async def dial(self) -> socket:
        """A connection to `Network.dial` inside; raises OSError."""
        if self._started.channel is None:
            raise ConnectionRefusedError("this run has no network")
        return await self._started.channel.dial()

    async def kill(self, reason: str = "killed") -> None:
        """End the run and its processes; `reason` is kept if the run had not ended before."""
        if not self._run.done():
            self._end(reason)
        self._stop_listening()
        await self.wait()

    async def _events(self) -> AsyncIterator[Output]:
        while (item := await self._queue.get()) is not None:
            yield item

    async def _supervise(self) -> Result:
        drains = (self._drain("stdout", self._pipes.stdout), self._drain("stderr", self._pipes.stderr))
        reading = asyncio.gather(*drains, self._status.read())
        guards = [asyncio.create_task(guard) for guard in (self._timer(), self._guard())]
        try:
            rc = await self._pipes.exited()
            await self._all_gone()
            with suppress(TimeoutError):
                await asyncio.wait_for(asyncio.shield(reading), EOF_S)
        finally:
            reading.cancel()
            for guard in guards:
                guard.cancel()
            await asyncio.gather(*guards, reading, return_exceptions=True)
            await self._tell_end()
            self._pipes.close()
            if self._started.channel is not None:
                self._started.channel.close()
        return self._result(rc)

    async def _drain(self, stream: Stream, reader: asyncio.StreamReader) -> None:
        total = 0
        while data := await reader.read(CHUNK):
            total += len(data)
            self._last_output = time.monotonic()
            self._tails[stream].add(data)
            if self._listening:
                await self._queue.put(Output(stream, data))
            if total > TOTAL_BYTES:
                self._end("output")

    async def _timer(self) -> None:
        limits = self._started.limits
        while True:
            now = time.monotonic()
            left = self._began + limits.wall_s - now
            idle = left if limits.idle_s is None else self._last_output + limits.idle_s - now
            if min(left, idle) <= 0:
                self._end("wall" if left <= 0 else "idle")
                return
            await asyncio.sleep(min(left, idle))

    async def _guard(self) -> None:
        """A run whose watchdog fails ends: going on would be going on without limits."""
        try:
            cause: str = await watch(self._pipes.pid, self._started.watch)
        except Exception:
            log.exception("the watchdog failed; the run ends")
            cause = "killed"
        self._end(cause)

    def _end(self, cause: str) -> None:
        self._cause = self._cause or cause
        self._pipes.kill()

    async def _all_gone(self) -> None:
        """Nothing of the run lives (sandbox.md, 9): its namespace's first process is dead, else the rest is ended."""
        if self._status.child is None or not await is_dead(self._status.child):
            await self._started.survivors()

    def _stop_listening(self) -> None:
        """Room in the queue, so that a reader of pipes that waits for it goes on."""
        self._listening = False
        while not self._queue.empty():
            self._queue.get_nowait()

    async def _tell_end(self) -> None:
        if self._listening:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._queue.put(None), EOF_S)
                return
        self._stop_listening()
        self._queue.put_nowait(None)

    def _result(self, rc: int) -> Result:
        code = self._status.exit_code if self._started.status is not None else rc
        reason = self._cause or ("start-failed" if code is None else "signal" if code < 0 or code > 128 else "exit")
        out, err = self._tails["stdout"], self._tails["stderr"]
        return Result(
            rc=code,
            reason=reason,
            stdout_tail=out.bytes(),
            stderr_tail=err.bytes(),
            truncated=out.cut or err.cut,
            wall_s=round(time.monotonic() - self._began, 3),
            peak_bytes=self._started.watch.peak_bytes,
            tier=self._started.tier,
            backend=self._started.backend,
        )


class _Status:
    """bwrap's own words: the pid of the namespace's first process, then the exit code of the command."""

    def __init__(self, descriptor: int | None) -> None:
        self._descriptor = descriptor
        self.child: int | None = None
        self.exit_code: int | None = None

    async def read(self) -> None:
        if self._descriptor is None:
            return
        reader, transport = await reader_of(os.fdopen(self._descriptor, "rb", buffering=0))
        try:
            while line := await reader.readline():
                said = json.loads(line)
                self.child = said.get("child-pid", self.child)
                self.exit_code = said.get("exit-code", self.exit_code)
        finally:
            transport.close()
