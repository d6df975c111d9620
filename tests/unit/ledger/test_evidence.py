"""Evidence: kept by content, chained by hash, and nothing else may be cited (EV-1, EV-2, EV-5)."""

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, delete, update

from app.ledger import evidence, runs, turns
from app.ledger.evidence import DamagedEvidence, Store
from app.ledger.rows import Row
from app.ledger.schema import evidence as rows
from app.ledger.turns import Verdict
from app.ledger.words import EvidenceKind, VerdictSource
from app.runs.model import Decision, Run
from tests.unit.ledger.world import NOW, a_diagnosis, a_run, a_scope, a_turn


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "evidence")


@pytest.fixture
def run(conn: Connection) -> Run:
    return a_run(conn)


def test_evidence_is_a_file_named_by_its_content(conn: Connection, store: Store, run: Run, tmp_path: Path) -> None:
    """EV-1: `E-` and ten hex digits of its sha256; the same fact twice is one."""
    first = put(conn, store, run_id=run.run_id, data=b"grid")
    assert put(conn, store, run_id=run.run_id, data=b"grid") == first
    row = one(conn, run, first)
    assert row.id == f"E-{row.sha256[:10]}"
    assert (tmp_path / "evidence" / row.path).read_bytes() == b"grid"
    assert row.path == f"{row.sha256[:2]}/{row.sha256}"
    assert (row.bytes, row.kind, row.origin, row.meta_json) == (4, EvidenceKind.GRID, "proof", {"n": 1})
    assert store.read(row) == b"grid"


def test_the_same_bytes_as_another_fact_get_a_longer_id(conn: Connection, store: Store, run: Run) -> None:
    """EV-1: extended on a clash inside one run, never reused; a run and its diagnosis count as one."""
    diagnosis_id = runs.get(conn, run.run_id).diagnosis_id
    ids = [
        put(conn, store, diagnosis_id=diagnosis_id, data=b"1 passed"),
        put(conn, store, run_id=run.run_id, data=b"1 passed"),
        put(conn, store, run_id=run.run_id, data=b"1 passed", meta={"n": 2}),
        put(conn, store, diagnosis_id=diagnosis_id, data=b"1 passed", kind=EvidenceKind.CELL),
    ]
    assert [len(one) for one in ids] == [12, 13, 14, 15]
    assert all(longer.startswith(ids[0]) for longer in ids)


def test_another_run_may_have_the_same_id(conn: Connection, store: Store, run: Run) -> None:
    other = a_run(conn, a_scope(conn, "branch:main"))
    first = put(conn, store, run_id=run.run_id, data=b"x")
    assert put(conn, store, run_id=other.run_id, data=b"x") == first
    assert one(conn, run, first).run_id == run.run_id
    assert one(conn, other, first).run_id == other.run_id


def test_only_evidence_of_the_run_or_its_diagnosis_is_found(conn: Connection, store: Store, run: Run) -> None:
    """EV-5."""
    early = put(conn, store, diagnosis_id=runs.get(conn, run.run_id).diagnosis_id, data=b"log")
    late = put(conn, store, run_id=run.run_id, data=b"grid")
    other = a_run(conn, a_scope(conn, "branch:main"))
    foreign = put(conn, store, run_id=other.run_id, data=b"theirs")
    assert [row.id for row in evidence.of_run(conn, run.run_id)] == [early, late]
    assert evidence.get(conn, early, run_id=run.run_id) is not None
    assert evidence.get(conn, foreign, run_id=run.run_id) is None
    assert evidence.get(conn, "E-0000000000", run_id=run.run_id) is None


def test_a_runs_chain_starts_where_that_of_its_diagnosis_was(conn: Connection, store: Store, run: Run) -> None:
    """decisions.md, 92; a straggler of the diagnosis may come after the run's first."""
    diagnosis_id = runs.get(conn, run.run_id).diagnosis_id
    put(conn, store, diagnosis_id=diagnosis_id, data=b"log")
    first = one(conn, run, put(conn, store, run_id=run.run_id, data=b"plan"))
    assert first.prev_hash == evidence.of_diagnosis(conn, diagnosis_id)[0].hash
    put(conn, store, diagnosis_id=diagnosis_id, data=b"straggler")
    second = one(conn, run, put(conn, store, run_id=run.run_id, data=b"grid"))
    assert second.prev_hash == first.hash
    assert store.verify(conn, run.run_id) is None


def test_a_run_without_evidence_is_whole(conn: Connection, store: Store, run: Run) -> None:
    assert store.verify(conn, run.run_id) is None


TAMPERED: list[tuple[str, dict[str, Any], str]] = [
    ("other kind", {"kind": EvidenceKind.GATE}, "was changed"),
    ("other meta", {"meta_json": {"n": 2}}, "was changed"),
    ("other origin", {"origin": "agent"}, "was changed"),
    ("other time", {"at": NOW + 1}, "was changed"),
    ("other bytes", {"sha256": "0" * 64}, "was changed"),
    ("other hash", {"hash": "0" * 64}, "was changed"),
    ("other past", {"prev_hash": "0" * 64}, "does not follow"),
]


@pytest.mark.parametrize(("columns", "sentence"), [t[1:] for t in TAMPERED], ids=[t[0] for t in TAMPERED])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_changed_row_breaks_the_chain(
    conn: Connection, store: Store, run: Run, place: int, columns: dict[str, Any], sentence: str
) -> None:
    """EV-2: also the first and the last one."""
    ids = [put(conn, store, run_id=run.run_id, data=data) for data in (b"a", b"b", b"c")]
    assert store.verify(conn, run.run_id) is None
    conn.execute(update(rows).where(rows.c.id == ids[place]).values(**columns))
    broken = store.verify(conn, run.run_id)
    assert broken is not None
    assert broken.startswith(ids[place])
    assert sentence in broken


@pytest.mark.parametrize("place", [0, 1])
def test_a_removed_row_breaks_the_chain(conn: Connection, store: Store, run: Run, place: int) -> None:
    """EV-2."""
    ids = [put(conn, store, run_id=run.run_id, data=data) for data in (b"a", b"b", b"c")]
    conn.execute(delete(rows).where(rows.c.id == ids[place]))
    assert "does not follow" in str(store.verify(conn, run.run_id))


def test_a_changed_or_missing_file_breaks_the_chain(conn: Connection, store: Store, run: Run, tmp_path: Path) -> None:
    """EV-2: the bytes are checked, not only the rows."""
    row = one(conn, run, put(conn, store, run_id=run.run_id, data=b"test_a failed"))
    file = tmp_path / "evidence" / row.path
    file.write_bytes(b"test_a passed")
    with pytest.raises(DamagedEvidence, match="not what was stored"):
        store.read(row)
    assert store.verify(conn, run.run_id) == f"{row.id}: the file is not what was stored"
    file.unlink()
    assert "cannot be read" in str(store.verify(conn, run.run_id))


def test_a_broken_diagnosis_breaks_its_run(conn: Connection, store: Store, run: Run) -> None:
    """EV-2, decisions.md 92."""
    log = put(conn, store, diagnosis_id=runs.get(conn, run.run_id).diagnosis_id, data=b"log")
    put(conn, store, run_id=run.run_id, data=b"grid")
    conn.execute(update(rows).where(rows.c.id == log).values(at=0))
    assert str(store.verify(conn, run.run_id)).startswith(log)


def test_a_citation_of_nothing_is_found(conn: Connection, store: Store, run: Run) -> None:
    """EV-2: verify resolves every citation."""
    grid = put(conn, store, run_id=run.run_id, data=b"grid")
    good, bad = a_turn(conn, run), a_turn(conn, run)
    cites(conn, good, grid)
    assert store.verify(conn, run.run_id) is None
    cites(conn, bad, "E-ffffffffff")
    assert f"turn {bad} cites E-ffffffffff" in str(store.verify(conn, run.run_id))


def test_evidence_has_one_owner(conn: Connection, store: Store, run: Run) -> None:
    with pytest.raises(ValueError, match="belongs to"):
        put(conn, store, data=b"x")
    with pytest.raises(ValueError, match="belongs to"):
        put(conn, store, run_id=run.run_id, diagnosis_id=a_diagnosis(conn, a_scope(conn)), data=b"x")


def test_numbers_survive_both_databases(conn: Connection, store: Store, run: Run) -> None:
    """JSONB writes 1e+20 as an integer; the hash is of what the database gives back."""
    put(conn, store, run_id=run.run_id, data=b"x", meta={"p": 1e20, "q": 0.1, "r": [None, True], "s": "\0"})
    assert store.verify(conn, run.run_id) is None


def put(
    conn: Connection,
    store: Store,
    *,
    run_id: str | None = None,
    diagnosis_id: str | None = None,
    data: bytes,
    kind: EvidenceKind = EvidenceKind.GRID,
    meta: dict[str, Any] | None = None,
) -> str:
    return store.put(
        conn,
        run_id=run_id,
        diagnosis_id=diagnosis_id,
        kind=kind,
        data=data,
        origin="proof",
        meta={"n": 1} if meta is None else meta,
        now=NOW,
    )


def one(conn: Connection, run: Run, evidence_id: str) -> Row:
    row = evidence.get(conn, evidence_id, run_id=run.run_id)
    assert row is not None
    return row


def cites(conn: Connection, turn_id: str, evidence_id: str) -> None:
    verdict = Verdict(Decision.APPROVE, "good", (evidence_id,), VerdictSource.MARKER)
    turns.store_verdict(conn, turn_id, verdict, NOW)
