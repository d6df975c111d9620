"""EV-2, IV-16: a run is checked again from what is stored, the first broken link is named; prune says what it took."""

from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import Connection, delete, update

from app.ledger import deliveries, diagnoses, evidence, leases, runs, turns
from app.ledger.audit import audit
from app.ledger.deliveries import Delivery
from app.ledger.events import append
from app.ledger.evidence import Store
from app.ledger.listing import newest, whole
from app.ledger.retention import Removed, prune
from app.ledger.schema import deliveries as deliveries_table
from app.ledger.schema import evidence as evidence_table
from app.ledger.schema import proofs as proofs_table
from app.ledger.schema import run_events
from app.ledger.schema import turns as turns_table
from app.ledger.schema import verdicts as verdicts_table
from app.ledger.words import EventKind, EvidenceKind, VerdictSource
from app.runs.model import Decision, ItemStatus, Outcome, Purpose, Run, Stage, Status
from tests.unit.ledger.world import NOW, a_proof, a_run, a_turn

pytestmark = pytest.mark.slow

NONCE = "ABCDEFGHIJKLMNOP"
DAY = 24 * 60 * 60 * 1000


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


def a_judged_run(conn: Connection, store: Store) -> tuple[Run, str]:
    """A run with one proof and the approve that cites its grid; and the turn of it."""
    run = a_run(conn)
    append(conn, run.run_id, EventKind.RUN_STARTED, {}, None, NOW)
    append(conn, run.run_id, EventKind.PROOF_PASSED, {}, None, NOW)
    grid = put(conn, store, run, EvidenceKind.GRID, b"grid")
    proof = a_proof(conn, run)
    done = {"status": ItemStatus.DONE, "grid_evidence_id": grid}
    conn.execute(update(proofs_table).where(proofs_table.c.id == proof).values(**done))
    turn = a_turn(conn, run, step_id="s1", purpose=Purpose.REVIEW, nonce=NONCE)
    said = f'Good.\nREMEDY_VERDICT:{NONCE} {{"decision": "approve", "feedback": "holds", "evidence": ["{grid}"]}}'
    conn.execute(
        update(turns_table).where(turns_table.c.id == turn).values(text=said, status=ItemStatus.DONE, prompt="asked")
    )
    turns.store_verdict(conn, turn, turns.Verdict(Decision.APPROVE, "holds", [grid], VerdictSource.MARKER), NOW)
    return run, turn


def put(conn: Connection, store: Store, run: Run, kind: EvidenceKind, data: bytes) -> str:
    return store.put(conn, run_id=run.run_id, kind=kind, data=data, origin="host", meta={"what": "x"}, now=NOW)


def broken(conn: Connection, store: Store, run: Run) -> str:
    return audit(conn, store, run.run_id).broken


def test_what_was_not_touched_holds(conn: Connection, store: Store) -> None:
    run, _ = a_judged_run(conn, store)
    found = audit(conn, store, run.run_id)
    assert (found.broken, found.evidence, found.verdicts, found.events) == ("", 1, 1, 2)


def test_a_verdict_is_read_again_in_its_own_answer_VF_4(conn: Connection, store: Store) -> None:
    run, turn = a_judged_run(conn, store)
    conn.execute(update(verdicts_table).values(decision=Decision.CORRECT))
    assert broken(conn, store, run) == f"the verdict of turn {turn} is not what its answer says"
    conn.execute(update(verdicts_table).values(decision=Decision.APPROVE))
    conn.execute(update(turns_table).where(turns_table.c.id == turn).values(nonce="B" * 16))
    assert "cannot be read in its answer" in broken(conn, store, run)


def test_an_approve_that_cites_another_proof_is_found_EV_6(conn: Connection, store: Store) -> None:
    run, turn = a_judged_run(conn, store)
    other = put(conn, store, run, EvidenceKind.GRID, b"another grid")
    conn.execute(update(proofs_table).values(grid_evidence_id=other))
    assert broken(conn, store, run) == f"the approve of turn {turn} does not cite the proof before it"


def test_a_verdict_of_no_supervisor_is_found_IV_16(conn: Connection, store: Store) -> None:
    run, turn = a_judged_run(conn, store)
    conn.execute(update(turns_table).where(turns_table.c.id == turn).values(status=ItemStatus.FAILED))
    assert "not of a finished supervisor turn" in broken(conn, store, run)


def test_a_hole_in_the_history_is_found_IV_15(conn: Connection, store: Store) -> None:
    run, _ = a_judged_run(conn, store)
    conn.execute(delete(run_events).where(run_events.c.seq == 1))
    assert broken(conn, store, run) == "event 1 of the run is missing"


def test_prune_names_what_it_takes_and_the_chain_holds_EV_2(conn: Connection, store: Store) -> None:
    run, turn = a_judged_run(conn, store)
    log = store.put(
        conn, diagnosis_id=diagnosis_of(conn, run), kind=EvidenceKind.LOG, data=b"log", origin="ci", meta={}, now=NOW
    )
    deliveries.store(conn, Delivery("g", "ping", "", None, None, None, b"{}"), NOW)
    deliveries.handled(conn, "g", NOW)
    assert prune(conn, store, NOW + DAY, NOW) == Removed(1, 0, 0, 0, 0), "the run is not over"

    over = replace(run, version=1, status=Status.CANCELLED, stage=Stage.IDLE, cancel_reason="closed")
    assert runs.save(conn, run, over, NOW)
    diagnoses.end(conn, diagnosis_of(conn, run), Outcome.RUN_STARTED, NOW, run_id=run.run_id)
    assert prune(conn, store, NOW, NOW) == Removed(0, 0, 0, 0, 0), "it ended just now"
    removed = prune(conn, store, NOW + DAY, NOW + DAY)
    assert (removed.prompts, removed.evidence) == (1, 2)

    found = audit(conn, store, run.run_id)
    assert (found.broken, found.removed) == ("", 2)
    assert turns.get(conn, turn).prompt == "" and turns.get(conn, turn).text
    links = [row for row in evidence.of_run(conn, run.run_id) if row.origin == "remedy prune"]
    assert links[0].meta_json["removed"] == [log]
    assert prune(conn, store, NOW + DAY, NOW + 2 * DAY).evidence == 0, "again is harmless"


def test_a_file_that_went_without_a_word_is_a_broken_link_EV_2(conn: Connection, store: Store) -> None:
    run, _ = a_judged_run(conn, store)
    conn.execute(update(evidence_table).values(path=""))
    assert "the file was removed" in broken(conn, store, run)


def test_files_go_after_their_rows_and_shared_ones_stay_EV_1(conn: Connection, store: Store, tmp_path: Path) -> None:
    run, _ = a_judged_run(conn, store)
    put(conn, store, run, EvidenceKind.CELL, b"cell")
    files = set(tmp_path.glob("??/*"))
    conn.execute(update(evidence_table).where(evidence_table.c.kind == EvidenceKind.CELL).values(path=""))

    assert store.sweep(conn, older_than_s=3600) == 0, "its row may still come"
    assert store.sweep(conn, older_than_s=-5) == 1
    assert len(set(tmp_path.glob("??/*"))) == len(files) - 1


def test_a_payload_that_is_at_work_stays_and_a_free_lease_goes_LE_6(conn: Connection, store: Store) -> None:
    deliveries.store(conn, Delivery("g", "ping", "", None, None, None, b"{}"), NOW)
    epoch = leases.take(conn, "turn:x", "me", NOW, 8000)
    assert prune(conn, store, NOW + DAY, NOW) == Removed(0, 0, 0, 0, 0)
    leases.release(conn, "turn:x", "me", epoch or 0)
    assert prune(conn, store, NOW + DAY, NOW).leases == 1
    assert conn.execute(update(deliveries_table).values(payload=b"x")).rowcount == 1


def test_listing_a_run_with_everything_in_it(conn: Connection, store: Store) -> None:
    run, turn = a_judged_run(conn, store)
    assert [row["run_id"] for row in newest(conn, 5)] == [run.run_id]
    found = whole(conn, run.run_id)
    assert found is not None
    assert (found["run"]["repository"], found["run"]["scope"]) == ("acme/r101", "pr:318")
    assert [row["turn_id"] for row in found["verdicts"]] == [turn]
    assert [row["kind"] for row in found["events"]] == ["run.started", "proof.passed"]
    assert found["evidence"][0]["file"] == "kept"
    assert whole(conn, "nobody") is None


def diagnosis_of(conn: Connection, run: Run) -> str:
    return str(runs.get(conn, run.run_id).diagnosis_id)
