"""`remedy deliveries` and `remedy outbox`: what waits for an operator, and one more try of it (IT-4, OB-7)."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine

from app.errors import UserError
from app.ledger import deliveries, outbox
from app.ledger.deliveries import Delivery
from app.ledger.engine import read, write
from app.ledger.listing import whole
from app.ledger.words import DeliveryState, OutboxKind, OutboxState
from tests.databases import a_ledger
from tests.unit.ledger.world import ACME, NOW, a_run
from tests.unit.test_cli_runs import said

SCOPE_LANE = {"kind": OutboxKind.UPSERT_CHECK, "installation_id": ACME, "now": NOW}


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    monkeypatch.setenv("REMEDY_DATA", str(tmp_path))
    monkeypatch.delenv("DATABASE_URL", raising=False)
    engine = a_ledger(f"sqlite:///{tmp_path / 'remedy.db'}")
    yield engine
    engine.dispose()


@pytest.fixture
def kept(engine: Engine) -> None:
    """One delivery of each kind: unread, failed, waiting."""
    with write(engine) as conn:
        for guid in ("g-unread", "g-failed", "g-waits"):
            deliveries.store(conn, Delivery(guid, "check_run", "completed", None, None, None, b"{}"), NOW)
        deliveries.unread(conn, "g-unread", "check_run.id: a \x1b[31m number", NOW)
        deliveries.failed(conn, "g-failed", "KeyError: x", NOW, None)


def state(engine: Engine, guid: str) -> DeliveryState:
    with read(engine) as conn:
        row = deliveries.get(conn, guid)
    assert row is not None
    found: DeliveryState = row.state
    return found


def test_what_failed_and_what_cannot_be_read_is_listed_and_counted_IT_4(kept: None) -> None:
    code, text = said("deliveries")
    assert code == 0 and "g-unread" in text and "g-failed" in text and "g-waits" not in text
    assert "2 failed, of which 1 cannot be read." in text and "\x1b" not in text
    told = json.loads(said("deliveries", "--unread", "--json")[1])
    assert [one["guid"] for one in told["deliveries"]] == ["g-unread"]
    assert (told["failed_deliveries"], told["unread_deliveries"]) == (2, 1)


def test_a_failed_delivery_is_tried_again_IT_2(engine: Engine, kept: None) -> None:
    assert "1 will be handled once more" in said("deliveries", "retry", "--unread")[1]
    assert (state(engine, "g-unread"), state(engine, "g-failed")) == (DeliveryState.RECEIVED, DeliveryState.FAILED)
    said("deliveries", "retry")
    assert state(engine, "g-failed") is DeliveryState.RECEIVED
    with pytest.raises(UserError, match="No failed delivery is called g-waits"):
        said("deliveries", "retry", "g-waits")


@pytest.fixture
def refused(engine: Engine) -> str:
    """A run with a refused check and a waiting comment; the run's id."""
    with write(engine) as conn:
        run = a_run(conn)
        found = whole(conn, run.run_id)
        assert found is not None and found["letters"] == []
        lane = conn.exec_driver_sql("SELECT scope_id FROM runs").scalar_one()
        outbox.put(conn, key="check", lane=lane, payload={"scope_id": lane}, **SCOPE_LANE)
        outbox.put(conn, key="other", lane="elsewhere", payload={"scope_id": lane}, **SCOPE_LANE)
        outbox.put(conn, key="dry", lane=lane, payload={}, simulated=True, **SCOPE_LANE)
        row = outbox.find(conn, "check")
        assert row is not None
        outbox.sending(conn, row.id, NOW)
        outbox.failed(conn, row.id, "422 Validation Failed", NOW)
    return run.run_id


def test_refused_letters_are_seen_alone_in_their_run_and_by_the_operator_OB_7(engine: Engine, refused: str) -> None:
    code, text = said("outbox", "--refused")
    assert code == 0 and "upsert_check" in text and "422 Validation Failed" in text and "PENDING" not in text
    told = json.loads(said("outbox", "--json")[1])
    assert (told["refused_letters"], len(told["letters"])) == (1, 2)
    assert "422 Validation Failed" in said("runs", "show", refused)[1]
    shown = json.loads(said("runs", "show", refused, "--json")[1])["letters"]
    assert [one["state"] for one in shown] == ["FAILED"], "letters of other scopes are not this run's"


def test_a_refused_letter_is_sent_again_and_its_lane_goes_on_OB_2(engine: Engine, refused: str) -> None:
    assert "1 will be sent once more" in said("outbox", "retry")[1]
    with read(engine) as conn:
        row = outbox.find(conn, "check")
        assert row is not None and (row.state, row.tries, row.error) == (OutboxState.PENDING, 0, "")
        other = outbox.find(conn, "other")
        assert other is not None and row.seq > other.seq, "at the end"
    with pytest.raises(UserError, match="No refused letter is called nobody"):
        said("outbox", "retry", "nobody")


def test_letters_of_dry_runs_are_shown_when_asked_for_OB_9(refused: str) -> None:
    told = json.loads(said("outbox", "--simulated", "--json")[1])
    assert [(one["kind"], one["state"]) for one in told["letters"]] == [("upsert_check", "DROPPED")]
