"""A proof with its rows: the change it is about, the tests of its step, those of the steps before it (PF-3)."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from app.ledger import diagnoses, evidence, proofs, repos, runs
from app.ledger.rows import Row
from app.ledger.words import EvidenceKind
from app.policy import Policy
from app.runs.model import ItemStatus
from app.services import Hold, Services


@dataclass(frozen=True)
class Case:
    """Everything that is read before a proof begins."""

    s: Services
    held: Hold
    proof: Row
    run: Row
    scope: Row
    repository: Row
    named: Sequence[Row]
    earlier: Sequence[Row]
    cells: Sequence[Row]
    """Outputs of cells of this run as evidence: those of earlier proofs may be used again (PT-9)."""

    @property
    def framework(self) -> str:
        return str(self.named[0].framework) if self.named else ""

    @property
    def policy(self) -> Policy:
        """What the base branch says."""
        return Policy.model_validate(self.repository.policy_json or {})


def open_case(s: Services, held: Hold, conn: Connection, proof_id: str) -> Case | None:
    """The case of a queued proof of a run; None when there is nothing to do."""
    proof = proofs.get(conn, proof_id)
    if proof.status is not ItemStatus.QUEUED or proof.run_id is None:
        return None
    run = runs.get(conn, proof.run_id)
    scope, repository = repos.get_scope(conn, run.scope_id), repos.get_repository(conn, run.repository_id)
    if scope is None or repository is None:
        return None
    steps = list(runs.steps_of(conn, run.id))
    place = next((n for n, step in enumerate(steps) if step.step_id == proof.step_id), None)
    mine = steps if place is None else steps[place : place + 1]
    before = [] if place is None else steps[:place]
    cells = [row for row in evidence.of_run(conn, run.id) if row.kind is EvidenceKind.CELL and row.path]
    return Case(s, held, proof, run, scope, repository, _tests(conn, mine), _tests(conn, before), cells)


def _tests(conn: Connection, steps: Sequence[Row]) -> list[Row]:
    return [failure for step in steps for failure in diagnoses.failures_of_group(conn, step.group_id)]
