"""Remedy as it would run here: as root or as an ordinary user, with one backend and one room."""

import asyncio
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from app.settings import Settings
from app.workspace.rooms import Room, Rooms
from app.workspace.sandbox import model
from app.workspace.sandbox.bubblewrap import Bubblewrap, Variant
from app.workspace.sandbox.model import MIB, Limits, Result, Spec, Tier, Workspace
from app.workspace.sandbox.programs import bundled_bwrap, system_bwrap
from app.workspace.sandbox.uids import tasks_of
from tests.unit.workspace.ordinary import NOBODY, as_ordinary_user, reachable_folder

PYTHON = "/usr/bin/python3"
LIMITS = Limits(wall_s=20, cpu_s=20, data_bytes=1024 * MIB)
IS_ROOT = os.geteuid() == 0
APPS = ("root", "user") if IS_ROOT else ("user",)
PROGRAMS = ("system", "wheel")

# Leaves three daemons: two that hold the pipes, one that closed them.
LEFT = """
import os, signal, sys, time
def daemon(keep):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
            if not keep: [os.close(fd) for fd in (0, 1, 2)]
            time.sleep(600)
        os._exit(0)
    os.wait()
daemon(True); daemon(False); daemon(True)
print('started', flush=True)
"""


@dataclass(frozen=True)
class App:
    """Who Remedy is, the backend it uses, the room of one workspace."""

    who: str
    backend: Bubblewrap
    rooms: Rooms
    room: Room

    @property
    def tree(self) -> Path:
        return self.room.path / "tree"

    @property
    def workspace(self) -> Workspace:
        return Workspace(self.tree, self.room.uid)

    @property
    def leaves(self) -> str:
        """The script LEFT with a mark by which its processes are known."""
        return f"# {self.room.path}\n{LEFT}"

    def do(self, work: Callable[[], Any]) -> Any:
        """Something done with the app's own rights."""
        return as_ordinary_user(work) if self.who == "user" and IS_ROOT else work()

    def run(self, *argv: str, limits: Limits = LIMITS, workspace: Workspace | None = None, **env: str) -> Result:
        spec = Spec("test", argv, workspace or self.workspace, limits, env)
        return self.do(lambda: asyncio.run(model.run(self.backend, spec)))

    def python(self, code: str, limits: Limits = LIMITS, workspace: Workspace | None = None) -> Result:
        return self.run(PYTHON, "-I", "-S", "-c", code, limits=limits, workspace=workspace)

    def says(self, code: str) -> str:
        """What a hostile script prints; it must end well."""
        result = self.python(code)
        assert result.rc == 0, result.stderr_tail.decode()
        assert result.tier is Tier.STRONG
        return result.stdout_tail.decode().strip()

    def left_over(self) -> int:
        """Living processes of the run: by uid for a root app, by the mark of the script for an ordinary user."""
        if self.room.uid is not None:
            return tasks_of(self.room.uid)
        return sum(f"# {self.room.path}\n".encode() in line for line in _command_lines())


def _command_lines() -> Iterator[bytes]:
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            yield Path(f"/proc/{name}/cmdline").read_bytes()
        except OSError:
            continue


def an_app(who: str, program: str) -> Iterator[App]:
    """An app with its folders, gone afterwards."""
    if not Path(PYTHON).exists():
        missing("no /usr/bin/python3 here")
    with reachable_folder(NOBODY if who == "user" else None) as data:
        settings = Settings(data=data)
        backend = Bubblewrap(program_of(program, data), Variant.STRICT, Tier.STRONG)
        if who == "user" and IS_ROOT:
            room = as_ordinary_user(lambda: _room(Rooms.of(settings)))
            yield App(who, backend, Rooms(data, None), room)
        else:
            rooms = Rooms.of(settings)
            yield App(who, backend, rooms, _room(rooms))


def program_of(program: str, data: Path) -> Path:
    found = system_bwrap(os.environ["PATH"]) if program == "system" else bundled_bwrap(data)
    return found or missing(f"no {program} bwrap here")


def any_program() -> str:
    """For rows that depend on the kernel and not on the version of bwrap."""
    return "system" if system_bwrap(os.environ["PATH"]) else "wheel"


def missing(what: str) -> Any:
    """SX-34: where a tier is demanded a missing part is a failure, never a silent skip."""
    if os.environ.get("REMEDY_TEST_TIER") == "strong":
        pytest.fail(what)
    pytest.skip(what)


def _room(rooms: Rooms) -> Room:
    with rooms.enter("run-1") as room:
        room.folder("tree")
        return room
