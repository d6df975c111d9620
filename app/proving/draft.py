"""What a proof has run so far, on this machine: a proof whose worker died goes on from there (PT-9, CR-6)."""

import json
import os
import time
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from app.workspace.grid.cells import Runs
from app.workspace.grid.known import as_json, from_json

DAY_S = 24 * 3600


@dataclass(frozen=True)
class Draft:
    """One file for each run. It counts for an equal environment and equal named tests, and ends with the proof."""

    path: Path
    environment: str = ""
    named: tuple[str, ...] = ()

    def read(self, trees: Collection[str]) -> dict[str, Runs]:
        """By tree; nothing where there is no such file, or one that was not written to its end."""
        try:
            said = json.loads(self.path.read_bytes())
            if (said["environment"], said["named"]) != (self.environment, sorted(self.named)):
                return {}
            return {tree: from_json(runs) for tree, runs in said["trees"].items() if tree in trees}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return {}

    def write(self, runs: Mapping[str, Runs]) -> None:
        """Take the place of what was there, whole or not at all."""
        said = {"environment": self.environment, "named": sorted(self.named)}
        trees = {tree: as_json(one) for tree, one in runs.items()}
        self.path.parent.mkdir(mode=0o700, exist_ok=True)
        fresh = self.path.with_suffix(".new")
        with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            json.dump({**said, "trees": trees}, file)
        fresh.replace(self.path)

    def drop(self) -> None:
        """The proof has ended, its runs are evidence now."""
        self.path.unlink(missing_ok=True)


def sweep_drafts(data: Path, older_than_s: float = DAY_S) -> int:
    """Remove what proofs left that were cancelled; how many."""
    old = time.time() - older_than_s
    gone = 0
    for path in (data / "drafts").glob("*"):
        with suppress(FileNotFoundError):  # another worker ended its proof meanwhile
            if path.stat().st_mtime < old:
                path.unlink()
                gone += 1
    return gone


def draft_of(data: Path, run_id: str, environment: str = "", named: tuple[str, ...] = ()) -> Draft:
    return Draft(data / "drafts" / f"{run_id}.json", environment, named)
