"""What a run can use up."""

import asyncio
from dataclasses import replace

import pytest

from app.workspace.sandbox import model
from app.workspace.sandbox.model import MIB, Result, Spec
from tests.contracts.sandbox.app import IS_ROOT, LIMITS, PYTHON, App, an_app, any_program

# One after the other: the kernel counts processes by uid, and each test's rooms begin with the same one.
pytestmark = pytest.mark.slow


def test_a_fork_bomb_stops_at_its_limit(one_app: App) -> None:
    """SB-24."""
    code = """
import os, time
made = 0
try:
    while made < 600:
        if os.fork() == 0: time.sleep(60); os._exit(0)
        made += 1
except OSError: pass
print(made, flush=True)
time.sleep(60)
"""
    result = one_app.python(code, replace(LIMITS, procs=60, wall_s=2))
    made = int(result.stdout_tail or b"0")
    # The kernel counts tasks of a uid of its own; for an ordinary user the watchdog looks ten times a second.
    assert result.reason == "wall" if one_app.who == "root" else result.reason == "procs"
    assert one_app.who == "user" or made <= 60


@pytest.mark.skipif(not IS_ROOT, reason="two uids need a root app")
def test_a_parallel_run_keeps_its_own_limit_and_its_privacy() -> None:
    """SB-24, SB-45, SX-3: two rooms have two uids."""
    for first in an_app("root", any_program()):
        with first.rooms.enter("run-2") as room:
            second = replace(first, room=room)
            room.folder("tree")
            (first.room.path / "tree" / "secret").write_text("x")
            assert first.room.uid != second.room.uid
            code = f"""
import os, time
children = []
for _ in range(40):
    pid = os.fork()
    if pid == 0: time.sleep(3); os._exit(0)
    children.append(pid)
for path in ('{first.room.path}/tree/secret', '{room.path}/tree'):
    try: os.listdir(path) if path.endswith('tree') else open(path); print('OPEN', path)
    except OSError: pass
print(len(children))
"""
            both = asyncio.run(both_of(first, second, code))
            assert [result.stdout_tail.strip() for result in both] == [b"40", b"40"]


async def both_of(first: App, second: App, code: str) -> list[Result]:
    limits = replace(LIMITS, procs=50)
    specs = [Spec("r", (PYTHON, "-I", "-S", "-c", code), app.workspace, limits) for app in (first, second)]
    return await asyncio.gather(*(model.run(first.backend, spec) for spec in specs))


MEMORY = {
    "one process": "x = bytearray(900 << 20); time.sleep(60)",
    "ten processes": "[os.fork() for _ in range(3)]; x = bytearray(100 << 20); time.sleep(60)",
    "memfd": "fd = os.memfd_create('x')\nfor _ in range(600): os.write(fd, bytes(1 << 20))\ntime.sleep(60)",
}


@pytest.mark.parametrize("code", MEMORY.values(), ids=MEMORY)
def test_memory_of_a_whole_run_is_limited(code: str, one_app: App) -> None:
    """SB-25. The sizes of the temporary file systems count from the start."""
    limits = replace(LIMITS, mem_bytes=(848 + 400) * MIB, data_bytes=None)
    result = one_app.python(f"import os, time\n{code}", limits)
    assert result.reason == "memory"
    assert result.wall_s < 10
    assert result.peak_bytes < 1400 * MIB


def test_memory_of_one_process_is_the_kernels(one_app: App) -> None:
    """SB-25."""
    code = "try: bytearray(600 << 20); print('OPEN')\nexcept MemoryError: print('refused')"
    assert one_app.python(code, replace(LIMITS, data_bytes=300 * MIB)).stdout_tail == b"refused\n"


def test_temporary_file_systems_have_their_size(one_app: App) -> None:
    """SB-25: ENOSPC at the size; `/dev` cannot be written at all."""
    code = """
def fill(path):
    total = 0
    try:
        with open(path, 'wb') as file:
            while total < 900: file.write(bytes(1 << 20)); file.flush(); total += 1
    except OSError as error: return total
    return 'OPEN'
for folder in ('/dev/shm', '/run', '/tmp', '/home/agent', '/dev', '', '/etc', '/usr/local'): print(fill(folder + '/x'))
"""
    sizes = [int(size) for size in one_app.says(code).split()]
    assert sizes == [64, 16, 256, 512, 0, 0, 0, 0]


DISK = {
    "one large file": "f = open('x', 'wb')\nwhile True: f.write(bytes(1 << 20)); f.flush()",
    "many files": "import time\nfor n in range(8000): open(f'f{n}', 'w')\ntime.sleep(60)",
    "deep folders": "import os\nfor _ in range(300): os.mkdir('d'); os.chdir('d')\nimport time; time.sleep(60)",
}


@pytest.mark.parametrize("code", DISK.values(), ids=DISK)
def test_the_workspace_cannot_fill_the_disk(code: str, one_app: App) -> None:
    """SB-26."""
    limits = replace(LIMITS, disk_bytes=100 * MIB, files=5000, file_bytes=4096 * MIB)
    result = one_app.python(code, limits)
    assert result.reason == "disk"
    one_app.do(lambda: one_app.room.remove("tree"))
    assert not (one_app.tree).exists()


def test_a_sparse_file_is_no_full_disk_and_a_large_one_is_refused(one_app: App) -> None:
    """SB-26: RLIMIT_FSIZE counts lengths, the watchdog counts blocks."""
    code = "import os\nf = open('x', 'wb')\ntry: f.truncate(1 << 40); print('OPEN')\nexcept OSError: print('refused')"
    result = one_app.python("import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n" + code)
    assert result.stdout_tail == b"refused\n"


def test_a_run_that_ignores_signals_and_spins_ends_at_its_time(app: App) -> None:
    """SB-27."""
    code = """
import signal, threading
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP): signal.signal(number, signal.SIG_IGN)
def spin():
    while True: pass
threading.Thread(target=spin, daemon=True).start(); spin()
"""
    result = app.python(code, replace(LIMITS, wall_s=1))
    assert (result.rc, result.reason) == (None, "wall")
    assert result.wall_s < 2


def test_a_silent_run_ends_when_it_was_idle_too_long(one_app: App) -> None:
    result = one_app.python("import time; print('x', flush=True); time.sleep(60)", replace(LIMITS, idle_s=0.5))
    assert result.reason == "idle"
    assert result.wall_s < 3


def test_cpu_time_is_the_kernels_limit(one_app: App) -> None:
    result = one_app.python("while True: pass", replace(LIMITS, cpu_s=1))
    assert result.reason == "signal"


def test_much_output_is_drained_and_its_tail_kept(one_app: App) -> None:
    """SB-28: one endless line, invalid UTF-8, control characters; the kept part is capped."""
    code = (
        "import sys\nfor _ in range(200): sys.stdout.buffer.write(b'\\xff\\x1b[31m' * (1 << 17))\nprint(end='the end')"
    )
    result = one_app.python(code, replace(LIMITS, out_bytes=100_000))
    assert (result.rc, result.truncated, len(result.stdout_tail)) == (0, True, 100_000)
    assert result.stdout_tail.endswith(b"the end")
    few = one_app.python("print('x')")
    assert (few.stdout_tail, few.truncated) == (b"x\n", False)
