"""Proofs: what the named tests did in which tree; finished cells are reused (PF-4, CR-6)."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from sqlalchemy import Connection, select

from app.ledger import work
from app.ledger.leases import Holder
from app.ledger.rows import Row, upsert
from app.ledger.schema import proof_cells, proofs
from app.ledger.words import ProofKind, TreeName
from app.runs.model import ItemKind, ItemStatus, ProofOutcome


@dataclass(frozen=True)
class NewProof:
    """A proof to be made about one tree; `key` is `<run id>-<version>`, of a baseline one of ours."""

    key: str
    kind: ProofKind
    run_id: str | None = None
    diagnosis_id: str | None = None
    step_id: str | None = None
    attempt: int = 0
    tree: str = ""
    commit_sha: str = ""
    head_sha: str = ""
    base_sha: str = ""


@dataclass(frozen=True)
class ProofEnd:
    """How a proof ended: DONE with an outcome, or FAILED with a code; `failing_key` is the hash that T29 compares."""

    status: ItemStatus
    outcome: ProofOutcome | None = None
    reason: str = ""
    failing_key: str = ""
    grid_evidence_id: str | None = None
    gate_evidence_id: str | None = None
    tier: str = ""
    error_code: str = ""
    error: str = ""


@dataclass(frozen=True)
class Cell:
    """One test in one tree: counts, never only pass or fail (PF-4). `env` is the digest of the environment."""

    tree_name: TreeName
    test_id: str
    tree: str
    env: str
    runs: int
    passes: int
    fails: int
    not_run: int
    expected: str = ""
    evidence_id: str | None = None


def create(conn: Connection, proof: NewProof, now: int) -> str:
    """Queue a proof; its id, which is its key."""
    values = asdict(proof)
    conn.execute(proofs.insert().values(id=values.pop("key"), created_at=now, **values))
    return proof.key


def get(conn: Connection, proof_id: str) -> Row:
    """The whole row; raises sqlalchemy.exc.NoResultFound for an unknown id."""
    return work.get(conn, ItemKind.PROOF, proof_id)


def of_run(conn: Connection, run_id: str, step_id: str | None = None) -> Sequence[Row]:
    """All proofs of a run, or of one of its steps, oldest first."""
    rows = select(proofs).where(proofs.c.run_id == run_id)
    if step_id is not None:
        rows = rows.where(proofs.c.step_id == step_id)
    return conn.execute(rows.order_by(proofs.c.created_at, proofs.c.id)).all()


def accepted(conn: Connection, run_id: str) -> Row | None:
    """The newest proof that passed, or that a person accepted: what PUBLISH may push (IV-10)."""
    good = (ProofOutcome.PASSED, ProofOutcome.NEEDS_HUMAN)
    done = [proof for proof in of_run(conn, run_id) if proof.outcome in good]
    return done[-1] if done else None


def of_diagnosis(conn: Connection, diagnosis_id: str) -> Sequence[Row]:
    """The baseline proofs of a diagnosis, oldest first (decisions.md, 59)."""
    rows = select(proofs).where(proofs.c.diagnosis_id == diagnosis_id)
    return conn.execute(rows.order_by(proofs.c.created_at, proofs.c.id)).all()


def start(conn: Connection, proof_id: str, holder: Holder, now: int, **columns: object) -> bool:
    """QUEUED to RUNNING by the holder of `proof:<id>`; False if it is not mine to start."""
    return work.start(conn, ItemKind.PROOF, proof_id, holder, now, **columns)


def finish(conn: Connection, proof_id: str, holder: Holder, end: ProofEnd, now: int) -> bool:
    """RUNNING to DONE or FAILED by the holder of `proof:<id>`; False, and nothing is written, if it is not mine."""
    return work.end(conn, ItemKind.PROOF, proof_id, holder, now, **asdict(end))


def store_cell(conn: Connection, proof_id: str, cell: Cell) -> None:
    """Keep what one test did in one tree; storing it again replaces it."""
    values = asdict(cell)
    keys = {"proof_id": proof_id, "tree_name": values.pop("tree_name"), "test_id": values.pop("test_id")}
    upsert(conn, proof_cells, keys, values)


def cells_of(conn: Connection, proof_id: str) -> Sequence[Row]:
    """The cells of a proof, by tree and test."""
    rows = select(proof_cells).where(proof_cells.c.proof_id == proof_id)
    return conn.execute(rows.order_by(proof_cells.c.tree_name, proof_cells.c.test_id)).all()
