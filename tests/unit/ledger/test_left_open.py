"""A check that was left open is found, one that has a reason to be open is not (PJ-13)."""

import pytest
from sqlalchemy import Connection, update

from app.ledger import diagnoses, outbox, repos
from app.ledger.left_open import left_open
from app.ledger.schema import runs as runs_table
from app.ledger.words import OutboxKind
from app.runs.model import Outcome, Status
from tests.unit.ledger.world import ACME, NOW, a_diagnosis, a_run, a_scope


@pytest.fixture
def scope_id(conn: Connection) -> str:
    """A scope whose check says in progress, and whose work is over."""
    scope_id = a_scope(conn)
    repos.set_check(conn, scope_id, 800, "headsha", NOW)
    diagnoses.end(conn, a_diagnosis(conn, scope_id), Outcome.NOT_OURS, NOW)
    return scope_id


def test_an_open_check_without_work_is_found_after_a_while_PJ_13(conn: Connection, scope_id: str) -> None:
    assert left_open(conn, NOW) == []
    assert left_open(conn, NOW + 1) == [scope_id]
    repos.set_check(conn, scope_id, 800, "headsha", None)
    assert left_open(conn, NOW + 1) == [], "it was closed"


def test_work_is_a_reason_to_be_open(conn: Connection, scope_id: str) -> None:
    run = a_run(conn, scope_id)
    diagnoses.end(conn, a_diagnosis(conn, scope_id), Outcome.RUN_STARTED, NOW)
    assert left_open(conn, NOW + 1) == []
    ended = {"status": Status.BLOCKED, "blocked_stage": "AGENT", "block_cause": "command"}
    conn.execute(update(runs_table).where(runs_table.c.id == run.run_id).values(**ended))
    assert left_open(conn, NOW + 1) == [scope_id], "it waits for a person, and the check says something else"


def test_an_open_diagnosis_and_a_letter_on_its_way_are_reasons(conn: Connection, scope_id: str) -> None:
    kind = OutboxKind.UPSERT_CHECK
    outbox.put(conn, key="c", lane=scope_id, kind=kind, payload={}, installation_id=ACME, now=NOW)
    assert left_open(conn, NOW + 1) == []
    row = outbox.find(conn, "c")
    assert row is not None
    outbox.failed(conn, row.id, "422", NOW)
    assert left_open(conn, NOW + 1) == [scope_id], "a refused letter is tried once more"
    diagnoses.open(conn, scope_id, "other", NOW, NOW)
    assert left_open(conn, NOW + 1) == []
