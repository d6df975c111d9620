"""Keep child processes running, and end all of them together."""

import asyncio
import os
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from app.cli.say import say

FIRST_PAUSE_S = 0.1
LONGEST_PAUSE_S = 10.0
# Who was killed from outside did nothing wrong: its work waits for it, and a lease is 8 s.
KILLED_PAUSE_S = 1.0
# A child that lived this long had started well; its next end begins with the short pause again.
STEADY_S = 10.0

_TETHER = str(Path(__file__).with_name("tether.py"))


@dataclass(frozen=True, eq=False)
class Child:
    """One program that has to run. `last` is for those that the others need until they have ended."""

    name: str
    argv: tuple[str, ...]
    env: Mapping[str, str]
    last: bool = False


@dataclass
class Tree:
    """The running children. They die with this process, even when it is killed with -9.

    Each has a process group of its own, so Ctrl-C reaches this process alone and the order of ending is ours.
    """

    grace_s: float
    _ending: asyncio.Event = field(default_factory=asyncio.Event)
    _keepers: dict[Child, "asyncio.Task[None]"] = field(default_factory=dict)
    _processes: dict[Child, asyncio.subprocess.Process] = field(default_factory=dict)

    async def start(self, child: Child) -> None:
        """Start the child and keep it running until `end`; returns when it was started once."""
        started = asyncio.Event()
        self._keepers[child] = asyncio.create_task(self._keep(child, started))
        await started.wait()

    async def run(self, child: Child) -> int:
        """Run the child to its end; its exit status, negative for a signal."""
        return await (await spawn(child)).wait()

    def is_running(self, child: Child) -> bool:
        """Is a process of the child alive now?"""
        process = self._processes.get(child)
        return process is not None and process.returncode is None

    async def end(self) -> None:
        """SIGTERM, then SIGKILL after `grace_s`; the children marked `last` after all others."""
        self._ending.set()
        for last in (False, True):
            keepers = [keeper for child, keeper in self._keepers.items() if child.last is last]
            for child, process in self._processes.items():
                if child.last is last:
                    _signal(process, signal.SIGTERM)
            if not keepers:
                continue
            await asyncio.wait(keepers, timeout=self.grace_s)
            self.kill(last)
            await asyncio.gather(*keepers)

    def kill(self, last: bool | None = None) -> None:
        """SIGKILL for what is left, of one kind or of both."""
        self._ending.set()
        for child, process in self._processes.items():
            if last is None or child.last is last:
                _signal(process, signal.SIGKILL)

    async def _keep(self, child: Child, started: asyncio.Event) -> None:
        loop = asyncio.get_running_loop()
        pause_s = FIRST_PAUSE_S
        while not self._ending.is_set():
            process = self._processes[child] = await spawn(child)
            born = loop.time()
            started.set()
            if self._ending.is_set():
                _signal(process, signal.SIGTERM)
            status = await process.wait()
            if self._ending.is_set():
                return
            if loop.time() - born > STEADY_S:
                pause_s = FIRST_PAUSE_S
            if status < 0:
                pause_s = min(pause_s, KILLED_PAUSE_S)
            say("hold", child.name, f"{_how(status)}, starts again in {pause_s:g} s")
            with suppress(TimeoutError):
                await asyncio.wait_for(self._ending.wait(), pause_s)
            pause_s = min(pause_s * 2, LONGEST_PAUSE_S)


async def spawn(child: Child) -> asyncio.subprocess.Process:
    """Start the child tied to this process; call it from the main thread, whose end is what the kernel watches."""
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-I",
        "-S",
        _TETHER,
        str(os.getpid()),
        *child.argv,
        env=child.env,
        stdin=asyncio.subprocess.DEVNULL,
        process_group=0,
    )


def _signal(process: asyncio.subprocess.Process, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        process.send_signal(number)


def _how(status: int) -> str:
    if status >= 0:
        return f"ended with {status}"
    return f"was ended by {signal.Signals(-status).name}"
