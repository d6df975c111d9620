"""What the integrity gate said about a proof, read back from its evidence."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from app.integrity.model import Finding
from app.ledger import evidence
from app.ledger.evidence import DamagedEvidence, Store
from app.ledger.rows import Row


@dataclass(frozen=True)
class Gate:
    """One judgement. `passed` counts tests of the whole suite that pass with the fix; None: the suite was not run.

    `lost` are tests that passed before and do not any more. `mutants` and `killed` are counts, `survivors` lines.
    """

    verdict: str
    claim: str
    findings: tuple[Finding, ...] = ()
    passed: int | None = None
    lost: tuple[str, ...] = ()
    mutants: int = 0
    killed: int = 0
    survivors: tuple[str, ...] = ()

    @property
    def weighty(self) -> tuple[Finding, ...]:
        """The findings that stop a fix or ask for a person, strictest first."""
        return tuple(one for one in self.findings if one.severity != "info")

    @property
    def told(self) -> tuple[Finding, ...]:
        """These, and what the fix can do without (DM-2)."""
        return (*self.weighty, *(one for one in self.findings if one.rule == "DM-2"))


def gate_of(conn: Connection, store: Store, proof: Row | None) -> Gate | None:
    """The gate of a proof; None where it was not asked, or where its file was removed as too old."""
    if proof is None or proof.gate_evidence_id is None or proof.run_id is None:
        return None
    return read_gate(store, evidence.get(conn, proof.gate_evidence_id, run_id=proof.run_id))


def read_gate(store: Store, row: Row | None) -> Gate | None:
    """The same from its evidence row."""
    if row is None or not row.path:
        return None
    try:
        said: dict[str, Any] = json.loads(store.read(row))
    except (DamagedEvidence, ValueError):
        return None
    suite, mutation = said.get("suite") or {}, said.get("mutation") or {}
    return Gate(
        verdict=said["verdict"],
        claim=said["claim"] or "",
        findings=tuple(_finding(one) for one in said["findings"]),
        passed=suite["passed"] if suite.get("complete") else None,
        lost=tuple(suite.get("lost", ())),
        mutants=mutation.get("mutants", 0),
        killed=mutation.get("killed", 0),
        survivors=tuple(mutation.get("survivors", ())),
    )


def _finding(said: Mapping[str, Any]) -> Finding:
    fields = {name: value for name, value in said.items() if name != "evidence"}
    shown = said["evidence"]
    return Finding(**fields, before=tuple(shown["before"]), after=tuple(shown["after"]))
