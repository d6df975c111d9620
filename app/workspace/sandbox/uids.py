"""A pool of uids for a root app: one for each live workspace, so that no two runs share one (SX-3, SX-16)."""

import fcntl
import os
import pwd
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from app.errors import TransientError, UserError
from app.workspace.sandbox.programs import CHAIN_ENV, dropped_to, program

# Two apps of one machine may have the same pool; whoever has a number says so here until the next boot.
CLAIMS = Path("/run/remedy-uids")


@dataclass(frozen=True)
class Uids:
    """Numbers `first` to `last`, held by files below `folder`; each file holds the id of its workspace.

    A number is held on the whole machine: its processes may be killed when its workspace is entered.
    """

    folder: Path
    first: int
    last: int
    claims: Path = CLAIMS

    @staticmethod
    def of(folder: Path, pool: str) -> "Uids":
        """From a setting such as `70000-70255`; raises UserError when it is no range or meets real users."""
        first, _, last = pool.partition("-")
        if not (first.isdigit() and last.isdigit() and 1000 <= int(first) <= int(last) < 2**31):
            raise UserError(f"REMEDY_SANDBOX__UID_POOL must be a range such as 70000-70255, not {pool!r}.")
        found = Uids(folder, int(first), int(last))
        if taken := found.taken_by():
            raise UserError(f"REMEDY_SANDBOX__UID_POOL {pool} meets {taken}; choose numbers that nobody has.")
        return found

    def taken_by(self) -> str | None:
        """A user or a range of subordinate ids that lies in the pool, in words."""
        for user in pwd.getpwall():
            if self.first <= user.pw_uid <= self.last:
                return f"the user {user.pw_name} of /etc/passwd"
        for name in ("/etc/subuid", "/etc/subgid"):
            for line in Path(name).read_text().splitlines() if os.path.exists(name) else ():
                owner, start, count = [*line.split(":"), "", ""][:3]
                if start.isdigit() and count.isdigit():
                    low, high = int(start), int(start) + int(count) - 1
                    if low <= self.last and self.first <= high:
                        return f"the range of {owner} in {name}"
        return None

    def take(self, workspace_id: str) -> int:
        """A free number for this workspace, or the one it has; raises TransientError when all are in use."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.claims.mkdir(mode=0o700, parents=True, exist_ok=True)
        numbers = range(self.first, self.last + 1)
        with open(self.claims / "lock", "ab") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            own = next((uid for uid in numbers if self.holder(uid) == workspace_id), None)
            if own is not None and not self._is_ours(own):
                raise TransientError(f"uid {own} is used by another Remedy of this machine; give each its own uid pool")
            uid = own or next((uid for uid in numbers if self.holder(uid) is None and self._is_ours(uid)), None)
            if uid is None:
                raise TransientError(f"all uids of the pool {self.first}-{self.last} are in use")
            self._file(uid).write_text(workspace_id)
            (self.claims / str(uid)).write_text(str(self._file(uid)))
        return uid

    def give_back(self, uid: int) -> None:
        """The workspace is deleted; its number may serve another one."""
        if self._is_ours(uid):
            (self.claims / str(uid)).unlink(missing_ok=True)
        self._file(uid).unlink(missing_ok=True)

    def _is_ours(self, uid: int) -> bool:
        """No other app of this machine has a workspace with this number."""
        try:
            claimed = Path((self.claims / str(uid)).read_text())
        except OSError:
            return True
        return claimed == self._file(uid) or not claimed.exists()

    def holder(self, uid: int) -> str | None:
        """Id of the workspace that has this number."""
        try:
            return self._file(uid).read_text()
        except OSError:
            return None

    def _file(self, uid: int) -> Path:
        return self.folder.absolute() / str(uid)


def reap(uid: int) -> None:
    """Kill every process of a pool uid, as that uid: it cannot reach anything else."""
    argv = [*dropped_to(uid), program("kill"), "-KILL", "--", "-1"]
    subprocess.run(argv, env=CHAIN_ENV, cwd="/", capture_output=True, check=False)


def tasks_of(uid: int) -> int:
    """Threads that a uid has now. Zombies do not count: a dead first process waits for the host's own to reap it."""
    count = 0
    for name in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError, IndexError):
            if os.stat(f"/proc/{name}").st_uid == uid:
                state = Path(f"/proc/{name}/stat").read_bytes().rpartition(b")")[2].split()[0]
                count += 0 if state in (b"Z", b"X") else len(os.listdir(f"/proc/{name}/task"))
    return count
