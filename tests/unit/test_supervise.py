"""A tree of processes that restarts its children and dies with them."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from app.cli import supervise
from app.cli.supervise import Child, Tree
from tests.processes import children_of, command_of, is_running, wait_for

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
TETHER = ROOT / "app" / "cli" / "tether.py"
STUBBORN = (
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(600)"
)


def python(program: str, *, name: str = "child", last: bool = False) -> Child:
    return Child(name, (sys.executable, "-c", program), dict(os.environ), last)


def sleeping(seconds: int, *, last: bool = False) -> Child:
    """`seconds` tells the children of a test apart."""
    return Child(f"sleep {seconds}", ("sleep", str(seconds)), dict(os.environ), last)


def pid_of(child: Child) -> int:
    """The one process of ours that runs the child's program, past the tether."""

    def found() -> list[int]:
        return [pid for pid in children_of(os.getpid()) if command_of(pid) == " ".join(child.argv)]

    (pid,) = wait_for(found, why=f"{child.name} does not run")
    return pid


def in_a_tree(act: Callable[[Tree], Awaitable[None]], grace_s: float = 5) -> None:
    async def main() -> None:
        tree = Tree(grace_s)
        try:
            await act(tree)
        finally:
            await tree.end()

    asyncio.run(main())


def test_who_is_killed_again_and_again_is_back_soon(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A lease is 8 s, and work is to be taken over within 10 s; a program that ends by itself waits longer."""
    monkeypatch.setattr(supervise, "FIRST_PAUSE_S", 0.001)
    monkeypatch.setattr(supervise, "KILLED_PAUSE_S", 0.002)
    said: list[str] = []

    async def act(tree: Tree) -> None:
        await tree.start(python("import os; os.kill(os.getpid(), 9)"))
        while len(said) < 5:
            await asyncio.sleep(0.01)
            said.extend(capsys.readouterr().out.splitlines())

    in_a_tree(act)
    assert [line.partition("again in ")[2] for line in said[:5]] == ["0.001 s", *["0.002 s"] * 4]


def test_a_killed_child_is_started_again(capsys: pytest.CaptureFixture[str]) -> None:
    async def act(tree: Tree) -> None:
        child = sleeping(601)
        await tree.start(child)
        first = await asyncio.to_thread(pid_of, child)
        os.kill(first, signal.SIGKILL)
        second = await asyncio.to_thread(wait_for, lambda: (pid := pid_of(child)) != first and pid)
        assert is_running(second)

    in_a_tree(act)
    assert "was ended by SIGKILL, starts again in 0.1 s" in capsys.readouterr().out


def test_a_child_that_always_fails_is_started_ever_less_often(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # The real pauses are 0.1 s to 10 s.
    monkeypatch.setattr(supervise, "FIRST_PAUSE_S", 0.001)
    monkeypatch.setattr(supervise, "LONGEST_PAUSE_S", 0.004)

    async def act(tree: Tree) -> None:
        await tree.start(Child("broken", ("false",), dict(os.environ)))
        lines = []
        while len(lines) < 4:
            await asyncio.sleep(0.01)
            lines += [line for line in capsys.readouterr().out.splitlines() if "broken" in line]
        assert [line.partition("again in ")[2] for line in lines[:4]] == ["0.001 s", "0.002 s", "0.004 s", "0.004 s"]

    in_a_tree(act)


def test_all_end_together_and_the_last_one_last() -> None:
    async def act(tree: Tree) -> None:
        early, late = sleeping(602), sleeping(603, last=True)
        await tree.start(late)
        await tree.start(early)
        early_pid, late_pid = await asyncio.to_thread(pid_of, early), await asyncio.to_thread(pid_of, late)
        ending = asyncio.create_task(tree.end())
        await asyncio.to_thread(wait_for, lambda: not is_running(early_pid))
        await ending
        assert not is_running(late_pid)

    in_a_tree(act)


def test_a_child_that_ignores_sigterm_is_killed() -> None:
    pids: list[int] = []

    async def act(tree: Tree) -> None:
        child = python(STUBBORN)
        await tree.start(child)
        pids.append(await asyncio.to_thread(pid_of, child))

    in_a_tree(act, grace_s=0.5)
    assert not is_running(pids[0])


def test_kill_9_of_the_supervisor_leaves_nothing() -> None:
    """PR_SET_PDEATHSIG: the kernel ends the children, also one that ignores SIGTERM."""
    program = f"""
import asyncio, os, sys
from app.cli.supervise import Child, Tree

async def main():
    tree = Tree(5)
    await tree.start(Child("a", (sys.executable, "-c", {STUBBORN!r}), dict(os.environ)))
    await tree.start(Child("b", ("sleep", "604"), dict(os.environ)))
    await asyncio.sleep(600)

asyncio.run(main())
"""
    parent = subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, stdout=subprocess.DEVNULL)

    def both() -> list[int] | None:
        pids = children_of(parent.pid)
        ready = [pid for pid in pids if "tether" not in command_of(pid)]
        return ready if len(ready) == 2 else None

    children = wait_for(both)
    parent.kill()
    parent.wait()
    wait_for(lambda: not any(map(is_running, children)), within_s=10)


class TestTether:
    """The small program between fork and exec."""

    def run(self, *args: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run([sys.executable, "-I", "-S", str(TETHER), *args], capture_output=True, text=True)

    def test_it_becomes_the_program(self) -> None:
        done = self.run(str(os.getpid()), "echo", "a b", "c")
        assert (done.returncode, done.stdout) == (0, "a b c\n")

    def test_a_parent_that_is_gone_already_stops_it(self) -> None:
        done = self.run("999999999", "echo", "alive")
        assert (done.returncode, done.stdout) == (1, "")

    def test_a_program_that_is_missing_is_named(self) -> None:
        done = self.run(str(os.getpid()), "no-such-program")
        assert done.returncode == 1
        assert "no-such-program: No such file or directory" in done.stderr
