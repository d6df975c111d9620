"""Watch what the kernel does not count for us: memory, tasks and disk of a whole run (sandbox.md, 8)."""

import asyncio
import os
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from app.workspace.sandbox.cleanup import measure
from app.workspace.sandbox.model import MIB, Limits

SCAN_S = 0.1
HIDDEN_S = 1.0
DISK_S = 2.0
FREE_MEMORY = 128 * MIB
FREE_DISK = 256 * MIB
_PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass
class Watch:
    """What to look at, and the highest memory seen. `tmpfs_bytes` counts as used from the start."""

    limits: Limits
    folders: Sequence[Path]
    tmpfs_bytes: int = 0
    peak_bytes: int = 0
    _seen_hidden: int = field(default=0, repr=False)


async def watch(pid: int, on: Watch) -> Literal["memory", "procs", "disk"]:
    """Returns when the tree below `pid` uses more than it may; runs until then."""
    next_hidden = next_disk = 0.0
    while True:
        now = time.monotonic()
        pids = tree(pid)
        if now >= next_hidden:
            on._seen_hidden = sum(hidden(pids).values())
            next_hidden = now + HIDDEN_S
        used = sum(rss(one) for one in pids) + on._seen_hidden
        on.peak_bytes = max(on.peak_bytes, used)
        if used > on.limits.mem_bytes - on.tmpfs_bytes or available() < FREE_MEMORY:
            return "memory"
        if sum(threads(one) for one in pids) > on.limits.procs:
            return "procs"
        if now >= next_disk:
            began = time.monotonic()
            if await asyncio.to_thread(disk_is_over, on):
                return "disk"
            next_disk = time.monotonic() + max(DISK_S, 10 * (time.monotonic() - began))
        await asyncio.sleep(SCAN_S)


def tree(pid: int) -> list[int]:
    """`pid` and all its descendants; orphans of a pid namespace belong to its first process, so they are among them."""
    found, waiting = [], [pid]
    while waiting:
        one = waiting.pop()
        found.append(one)
        waiting += children(one)
    return found


def children(pid: int) -> list[int]:
    """Direct children of all threads of `pid`."""
    found: list[int] = []
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            found += map(int, Path(f"/proc/{pid}/task/{task}/children").read_bytes().split())
    except OSError:
        # The process has ended, or the kernel was built without CONFIG_PROC_CHILDREN.
        return found if _KERNEL_LISTS_CHILDREN else _by_parent(pid)
    return found


_KERNEL_LISTS_CHILDREN = os.path.exists("/proc/thread-self/children")


def _by_parent(pid: int) -> list[int]:
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError, IndexError):
            parent = Path(f"/proc/{name}/stat").read_bytes().rpartition(b")")[2].split()[1]
            found += [int(name)] if int(parent) == pid else []
    return found


def rss(pid: int) -> int:
    """Resident bytes, shared pages included; 0 for a process that is gone."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_bytes().split()[1]) * _PAGE
    except (OSError, IndexError):
        return 0


def threads(pid: int) -> int:
    try:
        return len(os.listdir(f"/proc/{pid}/task"))
    except OSError:
        return 0


def hidden(pids: Sequence[int]) -> dict[tuple[int, int], int]:
    """Bytes of memfds and deleted files that stay open, once per file: they are in nobody's resident size."""
    found = {}
    for pid in pids:
        with suppress(OSError):
            for number in os.listdir(f"/proc/{pid}/fd"):
                path = f"/proc/{pid}/fd/{number}"
                with suppress(OSError):
                    name = os.readlink(path)
                    if name.startswith("/memfd:") or name.endswith(" (deleted)"):
                        file = os.stat(path)
                        found[file.st_dev, file.st_ino] = file.st_blocks * 512
    return found


def available() -> int:
    """Bytes of memory that the host can still give."""
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return FREE_MEMORY


def disk_is_over(on: Watch) -> bool:
    """The folders of the run hold more than they may, or the disk below them is nearly full."""
    sizes = [measure(folder, on.limits.files) for folder in on.folders]
    if any(size.over for size in sizes) or sum(size.bytes for size in sizes) > on.limits.disk_bytes:
        return True
    for folder in on.folders:
        with suppress(OSError):
            free = os.statvfs(folder)
            if free.f_bavail * free.f_frsize < FREE_DISK:
                return True
    return False
