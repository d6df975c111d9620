"""Plain processes, tier NONE: another uid if we are root, own group, clean environment, limits; no isolation at all."""

import asyncio
import logging
import os
import secrets
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from app.workspace.sandbox.bubblewrap import environment, refuse_secrets
from app.workspace.sandbox.chain import limited
from app.workspace.sandbox.cleanup import remove_tree
from app.workspace.sandbox.endpoints import Channel, wrap
from app.workspace.sandbox.model import HOME, WORKSPACE, Spec, Tier, Workspace
from app.workspace.sandbox.pipes import Pipes
from app.workspace.sandbox.process import SandboxProcess, Started
from app.workspace.sandbox.programs import program
from app.workspace.sandbox.uids import reap, tasks_of
from app.workspace.sandbox.watchdog import Watch

MARK = "REMEDY_RUN_MARK"
ROUNDS = 20
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Plain:
    """Used only for repositories that the operator listed in `sandbox.i_accept_no_isolation` (sandbox.md, 13.1)."""

    repository: str
    secrets: Sequence[str] = field(default=(), repr=False)
    tier: Tier = Tier.NONE
    name: str = "none"
    own_loopback: bool = False

    def seen(self, workspace: Workspace, inside: str) -> str:
        """The host's path of what `inside` names: nothing is mounted here."""
        known = {**workspace.binds, **workspace.writable, WORKSPACE: workspace.path, HOME: _home(workspace)}
        for folder in sorted(known, key=len, reverse=True):
            if inside == folder or inside.startswith(folder + "/"):
                return str(known[folder]) + inside[len(folder) :]
        if inside.startswith(("/tmp", "/run")):
            return str(_scratch(workspace)) + inside
        return inside

    async def start(self, spec: Spec) -> SandboxProcess:
        """Raises OSError when the command cannot be started, ValueError for a Spec that holds a secret."""
        refuse_secrets(spec, self.secrets)
        log.warning("run %s of %s has no isolation (sandbox.i_accept_no_isolation)", spec.run_id, self.repository)
        place = spec.workspace
        self._prepare(place)
        mark = secrets.token_hex(16)
        env = environment(spec.env, self.seen(place, HOME))
        env |= {"TMPDIR": self.seen(place, "/tmp"), MARK: mark}
        pipes, channel = await self._spawn(spec, env)
        folders = (place.path, *place.writable.values(), _scratch(place), _home(place))

        async def survivors() -> None:
            await asyncio.to_thread(end_all, pipes.pid, mark, place.uid)

        watched = Watch(spec.limits, folders)
        started = Started(pipes, spec.limits, self.tier, self.name, watched, None, survivors, spec.stream, channel)
        return SandboxProcess(started)

    async def _spawn(self, spec: Spec, env: Mapping[str, str]) -> tuple[Pipes, Channel | None]:
        descriptors: list[int] = []
        spec, channel = wrap(spec, descriptors)
        place = spec.workspace
        argv = [*limited(place.uid, spec.limits), *_dies_with_us(), *spec.argv]
        try:
            return await Pipes.spawn(argv, env, str(place.path / spec.cwd), descriptors, spec.stdin), channel
        except BaseException:
            if channel is not None:
                channel.close()
            raise
        finally:
            for descriptor in descriptors:
                os.close(descriptor)

    def _prepare(self, place: Workspace) -> None:
        """Fresh folders for /tmp, /run and HOME, and the files of the run, all owned by its uid."""
        scratch = _scratch(place)
        remove_tree(scratch, place.uid)
        scratch.mkdir(mode=0o755)
        for folder in (scratch / "tmp", scratch / "run", scratch / "home"):
            folder.mkdir(mode=0o700)
        for inside, content in place.files.items():
            path = Path(self.seen(place, inside))
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.write_bytes(content)
        if place.uid is not None:
            for folder_name, folders, names in os.walk(scratch):
                for name in (*folders, *names):
                    os.lchown(os.path.join(folder_name, name), place.uid, place.uid)


def _scratch(place: Workspace) -> Path:
    return Path(f"{place.path}.plain")


def _home(place: Workspace) -> Path:
    return place.home or _scratch(place) / "home"


def _dies_with_us() -> list[str]:
    """Set after the change of uid: a change of uid clears it."""
    return [program("setpriv"), "--no-new-privs", "--pdeathsig", "KILL"]


def end_all(group: int, mark: str, uid: int | None) -> None:
    """Kill the process group, then by uid (a root app) or by the mark in the environment, until nobody is left."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)
    for _ in range(ROUNDS):
        if uid is not None:
            if not tasks_of(uid):
                return
            reap(uid)
            continue
        alive = marked(mark)
        if not alive:
            return
        for pid in alive:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)


def marked(mark: str) -> list[int]:
    """Processes of ours whose environment carries the mark; one that wiped it is not found (tier NONE)."""
    wanted = f"{MARK}={mark}".encode()
    found = []
    for name in os.listdir("/proc"):
        with suppress(OSError):
            if name.isdigit() and wanted in Path(f"/proc/{name}/environ").read_bytes().split(b"\0"):
                found.append(int(name))
    return found
