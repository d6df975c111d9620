"""Our commits of a run as packs that every machine sees: what one machine committed, another can prove or push.

A commit that nobody pushed yet is nowhere but in the store of the machine that made it.
"""

import os
import shutil
import time
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from app.workspace.checkout import Mirror

DAY_S = 24 * 3600


@dataclass(frozen=True)
class Packs:
    """One folder for each run, in the folder of the evidence: that one is shared by all machines."""

    folder: Path

    def keep(self, mirror: Mirror, sha: str, parent: str) -> None:
        """What `sha` adds to `parent`, whole or not at all; nothing where it is kept already."""
        path = self.folder / f"{sha}.pack"
        if path.exists():
            return
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        fresh = path.with_suffix(f".{os.getpid()}")
        with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(mirror.pack(sha, parent))
        fresh.replace(path)

    def bring(self, mirror: Mirror) -> None:
        """Put into the store what another machine committed; raises GitFailed for a file that is no pack."""
        for path in sorted(self.folder.glob("*.pack")):
            if not mirror.has(path.stem):
                mirror.unpack(path.read_bytes())


def packs_of(data: Path, run_id: str) -> Packs:
    return Packs(_all(data) / run_id)


def sweep_packs(data: Path, open_runs: Collection[str], older_than_s: float = DAY_S) -> int:
    """Remove what belongs to runs that have ended, a day after it was written; how many."""
    old = time.time() - older_than_s
    gone = 0
    for folder in _all(data).glob("*"):
        with suppress(FileNotFoundError):  # another machine's sweep was first
            if folder.name not in open_runs and folder.stat().st_mtime < old:
                shutil.rmtree(folder)
                gone += 1
    return gone


def _all(data: Path) -> Path:
    return data / "evidence" / "commits"
