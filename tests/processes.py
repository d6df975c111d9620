"""Processes as the kernel sees them, for tests that kill some and count what is left."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")


def wait_for(what: Callable[[], T], within_s: float = 30, why: str = "it did not happen") -> T:
    """The first true answer of `what`; fails when there is none in time."""
    until = time.monotonic() + within_s
    while not (seen := what()):
        assert time.monotonic() < until, why
        time.sleep(0.02)
    return seen


def is_running(pid: int) -> bool:
    """Alive, and no zombie that waits for its parent."""
    state = _stat(pid)
    return bool(state) and state[0] not in {"Z", "X"}


def children_of(pid: int) -> list[int]:
    """The living children, in the order of their pids."""
    pids = sorted(int(path.name) for path in Path("/proc").glob("[0-9]*"))
    return [child for child in pids if is_running(child) and _stat(child)[1:2] == [str(pid)]]


def tree_of(pid: int) -> list[int]:
    """Children and theirs, without the process itself."""
    return [one for child in children_of(pid) for one in (child, *tree_of(child))]


def command_of(pid: int) -> str:
    """The command line, words joined by blanks; empty when the process is gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode().strip()
    except OSError:
        return ""


def _stat(pid: int) -> list[str]:
    """State, parent and what follows in /proc/PID/stat; empty when the process is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []
