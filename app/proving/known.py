"""Runs of earlier proofs of this run that are evidence: an equal tree in an equal environment is not run again."""

import json
from collections.abc import Collection

from app.ledger.evidence import DamagedEvidence
from app.ledger.rows import Row
from app.proving.case import Case
from app.workspace.grid.cells import Runs
from app.workspace.grid.known import from_json


def known_runs(case: Case, trees: Collection[str], environment: str) -> dict[str, Runs]:
    """By tree, the newest of each; only of the same named tests (PT-9). Damaged evidence is run again."""
    named = sorted(row.test_id for row in case.named)
    found: dict[str, Runs] = {}
    for row in case.cells:
        meta = row.meta_json or {}
        if meta.get("tree") not in trees or meta.get("environment") != environment:
            continue
        if (runs := _read(case, row, named)) is not None:
            found[meta["tree"]] = runs
    return found


def _read(case: Case, row: Row, named: list[str]) -> Runs | None:
    try:
        said = json.loads(case.s.store.read(row))
        return from_json(said["runs"]) if said["tests"] == named else None
    except (DamagedEvidence, ValueError, KeyError, TypeError):
        return None
