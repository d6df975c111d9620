"""How a run ends, and that it does."""

import asyncio
import os
import signal
import time
from dataclasses import replace

import pytest

from app.workspace.sandbox import model
from app.workspace.sandbox.model import Result, Spec
from tests.contracts.sandbox.app import LIMITS, PYTHON, App

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("then", ["", "time.sleep(600)", "os.kill(os.getpid(), 9)", "os.kill(-1, 9)"])
def test_daemons_do_not_outlive_the_run(then: str, app: App) -> None:
    """SB-22, SB-29, S64: with and without the pipe; at exit, at the time limit, after a suicide, after `kill -9 -1`."""
    result = app.python(app.leaves + then, replace(LIMITS, wall_s=2))
    assert result.stdout_tail == b"started\n"
    assert result.wall_s < 4
    assert app.left_over() == 0


def test_kill_is_idempotent_and_keeps_its_reason(app: App) -> None:
    async def scenario() -> Result:
        proc = await app.backend.start(
            Spec("r", (PYTHON, "-c", app.leaves + "time.sleep(600)"), app.workspace, LIMITS, stream=True)
        )
        async for output in proc.events:
            if b"started" in output.data:
                break
        await asyncio.gather(proc.kill("stopped"), proc.kill("again"))
        await proc.kill()
        return await proc.wait()

    result = app.do(lambda: asyncio.run(scenario()))
    assert (result.rc, result.reason) == (None, "stopped")
    assert app.left_over() == 0


def test_a_kill_right_after_the_start_leaves_nothing(app: App) -> None:
    async def scenario() -> Result:
        proc = await app.backend.start(Spec("r", (PYTHON, "-c", app.leaves + "time.sleep(600)"), app.workspace, LIMITS))
        await proc.kill()
        return await proc.wait()

    result = app.do(lambda: asyncio.run(scenario()))
    assert result.reason == "killed"
    assert app.left_over() == 0


def test_a_cancelled_wait_ends_the_run(app: App) -> None:
    """LE-5: a worker that lost its lease leaves nothing behind."""

    async def scenario() -> None:
        spec = Spec("r", (PYTHON, "-c", app.leaves + "time.sleep(600)"), app.workspace, LIMITS)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(model.run(app.backend, spec), 0.5)

    app.do(lambda: asyncio.run(scenario()))
    assert app.left_over() == 0


def test_a_killed_app_leaves_no_process(app: App) -> None:
    """SB-30, S64."""
    pid = os.fork()
    if pid == 0:
        try:
            app.do(lambda: die_while_running(app))
        finally:
            os._exit(1)
    os.waitpid(pid, 0)
    deadline = time.monotonic() + 3
    while app.left_over() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert app.left_over() == 0


def die_while_running(app: App) -> None:
    async def scenario() -> None:
        proc = await app.backend.start(
            Spec("r", (PYTHON, "-c", app.leaves + "time.sleep(600)"), app.workspace, LIMITS, stream=True)
        )
        async for output in proc.events:
            if b"started" in output.data:
                os.kill(os.getpid(), signal.SIGKILL)

    asyncio.run(scenario())


def test_a_program_that_is_not_there_did_not_start(app: App) -> None:
    result = app.run("/no/such/program")
    assert (result.rc, result.reason) == (None, "start-failed")
    assert b"/no/such/program" in result.stderr_tail


def test_exit_codes_and_signals_are_told_apart(app: App) -> None:
    assert (app.python("raise SystemExit(7)").rc, app.python("raise SystemExit(7)").reason) == (7, "exit")
    killed = app.python("import os; os.kill(os.getpid(), 11)")
    assert (killed.rc, killed.reason) == (139, "signal")


def test_a_conversation_goes_both_ways_and_is_not_lost(app: App) -> None:
    """The agent's stdio: JSON lines in and out, stderr apart, more output than a pipe holds."""
    code = """
import sys
for line in sys.stdin:
    print(line.strip() * 20000, flush=True)
    print('log', file=sys.stderr, flush=True)
"""

    async def scenario() -> tuple[int, bytes, Result]:
        proc = await app.backend.start(
            Spec("r", (PYTHON, "-u", "-c", code), app.workspace, LIMITS, stdin=True, stream=True)
        )
        assert proc.stdin is not None
        for _ in range(10):
            proc.stdin.write(b"0123456789\n")
        await proc.stdin.drain()
        proc.stdin.close()
        out, err = b"", b""
        async for output in proc.events:
            out, err = (out + output.data, err) if output.stream == "stdout" else (out, err + output.data)
        return len(out), err, await proc.wait()

    length, err, result = app.do(lambda: asyncio.run(scenario()))
    assert length == 10 * (10 * 20000 + 1)
    assert err == b"log\n" * 10
    assert result.rc == 0
