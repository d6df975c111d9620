"""Runs as they are kept and used again: by tree and by the environment that they were made in (proof.md, PT-9)."""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from app.workspace.grid.cells import Runs
from app.workspace.sandbox.model import Sandbox
from app.workspace.tests.frameworks.model import Row
from app.workspace.tests.model import OwnCommand
from app.workspace.tests.suite import SuiteRun


def environment_of(sandbox: Sandbox, tools: str, framework: str, own: Sequence[OwnCommand]) -> str:
    """Digest of all that a run depends on beside its tree: sandbox, commands, and the state of the tools."""
    path = os.environ.get("PATH", "")
    facts = [
        sandbox.name,
        sandbox.tier.name,
        framework,
        [asdict(one) for one in own],
        tools,
        path,
        *_stamps(tools, path),
    ]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:16]


def _stamps(*paths: str) -> Iterator[tuple[str, int]]:
    """Folders of tools with the time of their last change: an installed or removed package moves it."""
    for folder in (Path(one) for path in paths for one in path.split(":") if os.path.isabs(one)):
        for place in (folder, folder / "bin", folder / "node_modules", *folder.glob("lib/python*/site-packages")):
            if place.is_dir():
                yield str(place), place.stat().st_mtime_ns


def as_json(runs: Runs) -> dict[str, Any]:
    """What was started and what each report said; outputs are kept beside it."""
    return {"named": [_run(run) for run in runs.named], "whole": [_run(run) for run in runs.whole]}


def _run(run: SuiteRun) -> dict[str, Any]:
    return {
        "argv": list(run.argv),
        "exit_code": run.rc,
        "ended": run.ended,
        "seconds": run.wall_s,
        "complete": run.complete,
        "rows": [[row.id, row.outcome, row.detail, row.retried] for row in run.rows],
        "broken": dict(run.broken),
        "forged": sorted(run.forged),
    }


def from_json(said: Mapping[str, Any]) -> Runs:
    """The other way; raises ValueError, KeyError or TypeError for anything else."""
    return Runs(*(tuple(_from_json(run) for run in said[part]) for part in ("named", "whole")))


def _from_json(said: Mapping[str, Any]) -> SuiteRun:
    return SuiteRun(
        rows=tuple(Row(*row) for row in said["rows"]),
        broken=said["broken"],
        complete=said["complete"],
        argv=tuple(said["argv"]),
        rc=said["exit_code"],
        ended=said["ended"],
        wall_s=said["seconds"],
        forged=frozenset(said["forged"]),
    )
