"""Tier NONE: no isolation, but clean and limited, and it leaves nobody behind; what a refusal says."""

import asyncio
import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from app.settings import Settings
from app.workspace.rooms import Room, Rooms
from app.workspace.sandbox import model, watchdog
from app.workspace.sandbox.bubblewrap import Bubblewrap, Variant
from app.workspace.sandbox.interpreters import system_python
from app.workspace.sandbox.model import MIB, Limits, Result, Spec, Tier, Workspace
from app.workspace.sandbox.plain import Plain
from app.workspace.sandbox.probe import probe
from tests.contracts.sandbox.app import LEFT
from tests.unit.workspace.ordinary import reachable_folder

PYTHON = "/usr/bin/python3"
LIMITS = Limits(wall_s=20, cpu_s=20)
IS_ROOT = os.geteuid() == 0


@dataclass(frozen=True)
class Place:
    room: Room

    def run(self, code: str, limits: Limits = LIMITS, **more: object) -> Result:
        place = Workspace(self.room.folder("tree"), self.room.uid)
        spec = Spec("r", (PYTHON, "-I", "-c", code), replace(place, **more), limits)
        return asyncio.run(model.run(Plain("acme/shop"), spec))


@pytest.fixture
def place() -> Iterator[Place]:
    with reachable_folder() as data, Rooms.of(Settings(data=data)).scratch() as room:
        yield Place(room)


def test_it_is_another_uid_with_a_clean_environment(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REMEDY_SECRET", "canary")
    result = place.run(
        "import os; print(os.getuid(), sorted(os.environ), os.getcwd(), open('/proc/self/status').read())"
    )
    said = result.stdout_tail.decode()
    assert said.startswith(f"{place.room.uid if IS_ROOT else os.getuid()} [")
    assert "REMEDY_SECRET" not in said
    assert str(place.room.path / "tree") in said
    assert "NoNewPrivs:\t1" in said
    assert (result.tier, result.backend) == (Tier.NONE, "none")


def test_inside_paths_have_their_place_on_the_host(place: Place) -> None:
    tree = place.room.path / "tree"
    work = Workspace(tree, place.room.uid, binds={"/base.git": Path("/b")}, writable={"/report": Path("/r")})
    seen = Plain("acme/shop").seen
    assert seen(work, "/workspace/a") == f"{tree}/a"
    assert seen(work, "/base.git/objects") == "/b/objects"
    assert seen(work, "/report/x") == "/r/x"
    assert seen(work, "/run/a.json") == f"{tree}.plain/run/a.json"
    assert seen(work, "/tmp/index") == f"{tree}.plain/tmp/index"
    assert seen(work, "/home/agent/.x") == f"{tree}.plain/home/.x"
    assert seen(replace(work, home=Path("/h")), "/home/agent") == "/h"
    assert seen(work, "/workspaces") == "/workspaces"


def test_daemons_are_ended_with_the_run(place: Place) -> None:
    """By uid for a root app, by the mark in their environment for an ordinary user."""
    mark = f"# {place.room.path}\n"
    result = place.run(mark + LEFT)
    assert result.stdout_tail == b"started\n"
    assert result.wall_s < 4
    lines = [Path(f"/proc/{name}/cmdline") for name in os.listdir("/proc") if name.isdigit()]
    assert not [line for line in lines if line.exists() and mark.encode() in line.read_bytes()]


def test_limits_hold_here_too(place: Place) -> None:
    assert place.run("while True: pass", replace(LIMITS, wall_s=0.5)).reason == "wall"
    refused = "try: bytearray(600 << 20); print('OPEN')\nexcept MemoryError: print('refused')"
    assert place.run(refused, replace(LIMITS, data_bytes=300 * MIB)).stdout_tail == b"refused\n"
    killed = place.run("import os; os.kill(os.getpid(), 9)")
    assert (killed.rc, killed.reason) == (-signal.SIGKILL, "signal")


def test_a_missing_program_is_an_end_not_a_crash(place: Place) -> None:
    spec = Spec("r", ("/no/such/program",), Workspace(place.room.folder("tree"), place.room.uid), LIMITS)
    result = asyncio.run(model.run(Plain("acme/shop"), spec))
    assert result.rc not in (0, None)
    assert b"/no/such/program" in result.stderr_tail


def test_children_are_found_without_the_help_of_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel without CONFIG_PROC_CHILDREN must not switch the watchdog off."""
    pid = os.fork()
    if pid == 0:
        signal.pause()
    try:
        assert pid in watchdog.children(os.getpid())
        assert sorted(watchdog._by_parent(os.getpid())) == sorted(watchdog.children(os.getpid()))
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def test_a_run_ends_when_its_watchdog_fails(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    async def blind(pid: int, on: watchdog.Watch) -> str:
        raise OSError("cannot look")

    monkeypatch.setattr("app.workspace.sandbox.process.watch", blind)
    result = place.run("import time; time.sleep(60)")
    assert result.reason == "killed"
    assert result.wall_s < 20


REFUSALS = [
    ("bwrap: setting up uid map: Permission denied", "user namespaces are restricted"),
    ("bwrap: Creating new namespace failed: No space left on device", "user namespaces are switched off"),
    ("bwrap: No permissions to create new namespace", "user namespaces are not allowed here"),
    ("bwrap: Can't mount proc on /newroot/proc: Operation not permitted", "/proc is masked"),
    ("bwrap: Unknown option --disable-userns", "too old"),
]


@pytest.mark.parametrize(("said", "cure"), REFUSALS, ids=[cure for _, cure in REFUSALS])
def test_a_backend_that_fails_is_not_used_and_its_words_get_a_cure(
    said: str, cure: str, place: Place, tmp_path: Path
) -> None:
    """SB-46, S69: nothing runs, and a person reads what to change."""
    with reachable_folder() as folder:
        fake = folder / "bwrap"
        fake.write_text(f'#!/bin/sh\necho "{said}" >&2\nexit 1\n')
        fake.chmod(0o755)
        python = system_python()
        assert python is not None
        backend = Bubblewrap(fake, Variant.STRICT, Tier.NONE)
        report = asyncio.run(probe(backend, place.room.folder("probe"), place.room.uid, python))
    assert report.tier is None
    assert said in report.problem
    assert cure in report.problem


def test_a_backend_that_only_pretends_is_found_out(place: Place) -> None:
    """SX-9: a bwrap that just runs the command keeps no promise."""
    with reachable_folder() as folder:
        fake = folder / "bwrap"
        fake.write_text('#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done; shift; exec "$@"\n')
        fake.chmod(0o755)
        python = system_python()
        assert python is not None
        backend = Bubblewrap(fake, Variant.STRICT, Tier.NONE)
        report = asyncio.run(probe(backend, place.room.folder("probe"), place.room.uid, python))
    assert report.tier is None
    assert report.problem
