"""Spawn a process with pipes for its stdio, learn of its end by descriptor, kill it without leaving a child."""

import asyncio
import os
import signal
import subprocess
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import IO

from app.workspace.sandbox.watchdog import children

GRACE_S = 1.0


class Pipes:
    """One spawned process. Its exit is seen through a pidfd, so no thread and no child watcher is needed.

    asyncio's own subprocess tells of an exit only after all pipes are closed, and a survivor may hold them for ever.
    """

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._transports: list[asyncio.BaseTransport] = []
        self.pid = process.pid
        self.stdin: asyncio.StreamWriter | None = None

    @staticmethod
    async def spawn(
        argv: Sequence[str], env: Mapping[str, str], cwd: str, descriptors: Sequence[int], stdin: bool
    ) -> "Pipes":
        """Pipes only: the path of a file that is somebody's stdout can be read and opened again from inside.

        Raises OSError. Must be called on the thread that lives as long as the run: bwrap dies with it.
        """
        pipes = Pipes(
            subprocess.Popen(
                argv,
                env=dict(env),
                cwd=cwd,
                pass_fds=descriptors,
                stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        )
        await pipes._connect()
        return pipes

    async def _connect(self) -> None:
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self.stdout, out = await reader_of(self._process.stdout)
        self.stderr, err = await reader_of(self._process.stderr)
        self._transports += [out, err]
        if self._process.stdin is not None:
            loop = asyncio.get_running_loop()
            protocol = asyncio.StreamReaderProtocol(asyncio.StreamReader())
            transport, _ = await loop.connect_write_pipe(lambda: protocol, self._process.stdin)
            self.stdin = asyncio.StreamWriter(transport, protocol, None, loop)
            self._transports.append(transport)

    async def exited(self) -> int:
        """The return code, as subprocess has it; the process is reaped."""
        await _gone(os.pidfd_open(self.pid))
        return self._process.wait()

    def kill(self) -> None:
        """Kill the process and its direct children, none of which can be missed: it is stopped meanwhile.

        bwrap's child asks to die with its parent some time after it was made; killed in between, bwrap would leave it.
        """
        if self._process.returncode is not None:
            return
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGSTOP)
            os.waitid(os.P_PID, self.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
            for child in children(self.pid):
                with suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
            os.kill(self.pid, signal.SIGKILL)

    def close(self) -> None:
        for transport in self._transports:
            transport.close()


async def reader_of(pipe: IO[bytes]) -> tuple[asyncio.StreamReader, asyncio.ReadTransport]:
    """A stream over the read end of a pipe, and what closes it."""
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
    return reader, transport


async def is_dead(pid: int) -> bool:
    """Within a second `pid` is gone or a zombie; the first process dies last, so its namespace is empty then."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        await asyncio.wait_for(_gone(descriptor), GRACE_S)
    except TimeoutError:
        return False
    return True


async def _gone(descriptor: int) -> None:
    """A pidfd becomes readable when its process ends; closes it."""
    loop, gone = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(descriptor, gone.set)
    try:
        await gone.wait()
    finally:
        loop.remove_reader(descriptor)
        os.close(descriptor)


class Tail:
    """The last `cap` bytes of a stream."""

    def __init__(self, cap: int) -> None:
        self._cap = cap
        self._chunks: deque[bytes] = deque()
        self._size = 0
        self.cut = False

    def add(self, data: bytes) -> None:
        self._chunks.append(data)
        self._size += len(data)
        while self._size - len(self._chunks[0]) >= self._cap:
            self._size -= len(self._chunks.popleft())
            self.cut = True

    def bytes(self) -> bytes:
        whole = b"".join(self._chunks)
        self.cut = self.cut or len(whole) > self._cap
        return whole[-self._cap :]
