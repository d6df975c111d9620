"""What a run can see and change."""

import asyncio
import hashlib
import os
import platform
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.settings import Settings
from app.workspace.sandbox.choose import measure
from app.workspace.sandbox.model import Spec, Tier
from app.workspace.sandbox.programs import system_bwrap
from tests.contracts.sandbox.app import IS_ROOT, LIMITS, PROGRAMS, PYTHON, App, missing
from tests.unit.workspace.ordinary import NOBODY, as_ordinary_user, reachable_folder


@pytest.mark.parametrize("program", PROGRAMS)
def test_every_promise_of_the_probe_holds(who: str, program: str) -> None:
    """SB-1 to SB-5, SB-9, SB-10, SB-14 to SB-16, SB-23, SB-31, SB-32, SB-35 to SB-37, SX-2, SX-9."""
    with reachable_folder(NOBODY if who == "user" else None) as data:
        path = os.environ["PATH"] if program == "system" else "/nonexistent"
        if program == "system" and system_bwrap(path) is None:
            missing("no system bwrap here")
        work = lambda: asyncio.run(reports(Settings(data=data), path))  # noqa: E731
        found = as_ordinary_user(work) if who == "user" and IS_ROOT else work()
    strict = [report for report in found if report.backend == "bwrap"]
    assert [(report.tier, report.problem) for report in strict] == [(Tier.STRONG, "")] * len(strict)
    assert set(strict[0].answers.values()) == {"blocked"}
    weaker = [report for report in found if report.backend != "bwrap"]
    assert {report.tier for report in weaker} == {Tier.DEGRADED}


async def reports(settings: Settings, path: str) -> list[Any]:
    os.environ["PATH"], before = path, os.environ["PATH"]
    try:
        return [report async for _, report in measure(settings)]
    finally:
        os.environ["PATH"] = before


def test_the_environment_holds_what_was_given_and_nothing_else(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """SB-1, SX-11."""
    monkeypatch.setenv("REMEDY_WEBHOOK_SECRET", "canary-in-our-environment")
    result = app.run("/usr/bin/env", EXTRA="given")
    assert sorted(result.stdout_tail.decode().split()) == [
        "EXTRA=given",
        "HOME=/home/agent",
        "LANG=C.UTF-8",
        "PATH=/usr/local/bin:/usr/bin:/bin",
        "PWD=/workspace",
    ]


def test_a_spec_with_a_secret_is_our_bug_and_is_not_started(one_app: App) -> None:
    """SX-8, SX-12."""
    backend = replace(one_app.backend, secrets=("hunter2-hunter2",))
    place = one_app.workspace
    for spec in (
        Spec("r", ("echo", "x=hunter2-hunter2"), place, LIMITS),
        Spec("r", ("env",), place, LIMITS, {"TOKEN": "hunter2-hunter2"}),
        Spec("r", ("env",), replace(place, files={"/run/c.json": b'"hunter2-hunter2"'}), LIMITS),
    ):
        with pytest.raises(ValueError, match="a secret of the app"):
            asyncio.run(backend.start(spec))
    assert "hunter2" not in repr(backend)


def test_the_first_process_shows_no_host_path(app: App) -> None:
    """SB-3, SB-44: options go through a descriptor; the workspace's path is an opaque id."""
    said = app.says("print(open('/proc/1/cmdline').read().replace(chr(0), ' '), open('/proc/1/environ').read())")
    assert str(app.room.path) not in said
    assert "--setenv" not in said
    mounts = app.says("print(open('/proc/self/mountinfo').read())")
    assert app.room.path.name in mounts
    assert "run-1" not in mounts
    assert app.says("import socket, os; print(socket.gethostname(), os.getuid(), os.getgroups())") == "sandbox 1000 []"


def test_what_is_written_outside_the_workspace_is_gone(app: App) -> None:
    """SB-8, SX-31."""
    write = "import os\nfor f in ('/tmp', '/run', os.environ['HOME'], '/workspace'): open(f + '/left', 'w').write('x')"
    assert app.says(write) == ""
    look = "import os\nprint([f for f in ('/tmp', '/run', '/home/agent', '/workspace') if os.path.exists(f + '/left')])"
    assert app.says(look) == "['/workspace']"
    assert (app.tree / "left").read_text() == "x"


def test_a_kept_home_is_there_in_the_next_turn(app: App) -> None:
    """RN-51: session data lives with the room."""
    home = app.do(lambda: app.room.folder("home"))
    place = replace(app.workspace, home=home)
    assert app.python("open('/home/agent/s', 'w').write('session')", workspace=place).rc == 0
    assert app.python("print(open('/home/agent/s').read())", workspace=place).stdout_tail == b"session\n"


def test_a_frozen_workspace_cannot_be_written(app: App) -> None:
    """decisions.md row 15: the supervisor reads the whole workspace and changes nothing."""
    (app.tree / "a").write_text("x")
    code = """
import os
for change in (lambda: open('a', 'w'), lambda: open('b', 'w'), lambda: os.unlink('a'), lambda: os.mkdir('d')):
    try: change(); print('OPEN')
    except OSError as error: print(error.errno)
"""
    result = app.python(code, workspace=replace(app.workspace, frozen=True))
    assert set(result.stdout_tail.split()) <= {b"30", b"13"}
    assert os.listdir(app.tree) == ["a"]


def test_parts_binds_and_files_are_read_only(app: App, tmp_path: Path) -> None:
    """A bound folder below a shut one is seen at its own path, for a root app too (SX-35); nothing stays mounted."""
    app.do(lambda: (app.tree / ".git").mkdir())
    shown = app.room.path / "shown" if app.who == "user" else tmp_path / "runner"
    app.do(lambda: shown.mkdir(mode=0o755))
    app.do(lambda: (shown / "agent.py").write_text("print('agent')"))
    place = replace(app.workspace, read_only=(".git",), binds={str(shown): shown}, files={"/run/agent.json": b"{}"})
    code = f"""
import os
print(open('{shown}/agent.py').read(), open('/run/agent.json').read(), oct(os.stat('/run/agent.json').st_mode))
for path in ('{shown}/agent.py', '{shown}/new', '/run/agent.json', '.git/config'):
    try: open(path, 'w'); print('OPEN', path)
    except OSError as error: pass
for path in ('/run/agent.json', '{shown}/agent.py'):
    try: os.unlink(path); print('OPEN', path)
    except OSError as error: pass
"""
    result = app.python(code, workspace=place)
    assert result.stdout_tail.decode().split() == ["print('agent')", "{}", "0o100600"], result.stderr_tail
    assert str(app.room.path) not in Path("/proc/self/mounts").read_text()
    assert (shown / "agent.py").read_text() == "print('agent')"


def test_links_out_of_the_workspace_lead_nowhere(app: App) -> None:
    """SB-6, SB-38."""
    key = app.room.path.parent / "key.pem"
    app.do(lambda: key.write_text("private"))
    os.symlink(key, app.tree / "link")
    code = f"""
import os
for path in ('link', '../key.pem', '/proc/self/root{key}', '/proc/1/root{key}', '/proc/self/cwd/../key.pem'):
    try: print('OPEN', open(path).read())
    except OSError: pass
try: os.link('{key}', 'hard'); print('OPEN hard link')
except OSError: pass
"""
    assert app.says(code) == ""


def test_host_programs_cannot_be_changed_through_proc(app: App) -> None:
    """SB-38, CVE-2019-5736."""
    before = (
        hashlib.sha256(Path(PYTHON).read_bytes()).hexdigest(),
        hashlib.sha256(app.backend.program.read_bytes()).hexdigest(),
    )
    code = """
import os
for path in ('/proc/self/exe', '/proc/1/exe', '/usr/bin/env'):
    for flags in (os.O_WRONLY, os.O_RDWR | os.O_TRUNC):
        try: os.open(path, flags); print('OPEN', path)
        except OSError: pass
"""
    assert app.says(code) == ""
    after = (
        hashlib.sha256(Path(PYTHON).read_bytes()).hexdigest(),
        hashlib.sha256(app.backend.program.read_bytes()).hexdigest(),
    )
    assert before == after


def test_no_packet_leaves(one_app: App) -> None:
    """SB-11, SB-12, SX-4."""
    code = """
import socket
def tries(*make, send=None):
    try:
        with socket.socket(*make) as s:
            s.settimeout(1)
            s.sendto(b'x', ('8.8.8.8', 53)) if send else s.connect(('1.1.1.1', 443))
            print('OPEN', make)
    except OSError: pass
tries(socket.AF_INET, socket.SOCK_STREAM)
tries(socket.AF_INET, socket.SOCK_STREAM, 262)
tries(socket.AF_INET, socket.SOCK_DGRAM, send=True)
tries(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP, send=True)
tries(socket.AF_INET, socket.SOCK_SEQPACKET, 132)
try: socket.getaddrinfo('github.com', 443); print('OPEN dns')
except OSError: pass
"""
    assert one_app.says(code) == ""


def test_old_and_foreign_system_calls_are_refused(one_app: App) -> None:
    """SB-33, SB-34: i386 calls, x32 calls, clone3, new namespaces by clone, pushing into a terminal, large segments."""
    if platform.machine() != "x86_64":
        pytest.skip("machine code of x86_64")
    assert (
        one_app.says(
            """
import ctypes, errno, fcntl, os, pty
libc = ctypes.CDLL(None, use_errno=True)
def errno_of(*call):
    ctypes.set_errno(0)
    return libc.syscall(*call), ctypes.get_errno()
print(errno_of(0x40000000 + 39) == (-1, errno.ENOSYS), errno_of(435, 0, 0) == (-1, errno.ENOSYS))
print(errno_of(56, 0x10000000 | 17, 0, 0, 0, 0) == (-1, errno.EPERM))
for size in (65537, 1 << 40): print(errno_of(29, 0, ctypes.c_ulong(size), 0o1600) == (-1, errno.EPERM))
print(errno_of(29, 0, 4096, 0o1600)[0] >= 0)
_, slave = pty.openpty()
for request in (0x5412, 0x541C):
    try: fcntl.ioctl(slave, request, b'x'); print('OPEN')
    except OSError as error: print(error.errno == errno.EPERM)
"""
        ).split()
        == ["True"] * 8
    )
    code = """
import ctypes, mmap
page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
page.write(bytes([0xB8, 20, 0, 0, 0, 0xCD, 0x80, 0xC3]))
address = ctypes.addressof(ctypes.c_char.from_buffer(page))
print('OPEN', ctypes.CFUNCTYPE(ctypes.c_int)(address)())
"""
    result = one_app.python(code)
    assert (result.rc, result.reason) == (128 + signal.SIGSYS, "signal")


def test_set_uid_programs_gain_nothing(app: App) -> None:
    """SB-36."""
    code = """
import os, shutil, subprocess
shutil.copy('/usr/bin/id', 'id'); os.chmod('id', 0o6755)
print(subprocess.run(['./id', '-u'], capture_output=True, text=True).stdout.strip())
print(subprocess.run(['/usr/bin/su', '-c', 'id'], capture_output=True, stdin=subprocess.DEVNULL).returncode != 0)
"""
    assert app.says(code).split() == ["1000", "True"]
