"""The outbox: order per lane, one row per key, nothing lost while it is being sent (OB-1 to OB-9)."""

from typing import Any

import pytest
from sqlalchemy import Connection, select

from app.ledger import outbox, pace, repos
from app.ledger.rows import Row
from app.ledger.schema import outbox as rows
from app.ledger.words import OutboxKind, OutboxState
from tests.unit.ledger.world import ACME, NOW, OTHER

COMMENT, CHECK, REPLY = OutboxKind.UPSERT_COMMENT, OutboxKind.UPSERT_CHECK, OutboxKind.REPLY
KINDS = pytest.mark.parametrize("kind", [COMMENT, REPLY])


@pytest.fixture(autouse=True)
def installed(conn: Connection) -> None:
    repos.upsert_installation(conn, ACME, "acme")
    repos.upsert_installation(conn, OTHER, "other")


def test_the_oldest_due_row_goes_first_over_all_lanes(conn: Connection) -> None:
    """OB-2."""
    for key, lane in (("b1", "b"), ("a1", "a"), ("a2", "a")):
        put(conn, key, lane)
    assert sent(conn) == ["b1", "a1", "a2"]


def test_a_row_that_waits_holds_its_own_lane_only(conn: Connection) -> None:
    """OB-2."""
    for key, lane in (("a1", "a"), ("a2", "a"), ("b1", "b")):
        put(conn, key, lane)
    outbox.later(conn, due(conn).id, NOW + 100, "limit")
    assert sent(conn) == ["b1"]
    assert outbox.due(conn, ACME, NOW + 99) is None
    assert sent(conn, NOW + 100) == ["a1", "a2"]


def test_a_finished_row_frees_its_lane_however_it_ended(conn: Connection) -> None:
    """OB-7, OB-8: refused by GitHub, or about an old head."""
    for key in ("1", "2", "3"):
        put(conn, key)
    outbox.failed(conn, due(conn).id, "422 Validation Failed", NOW)
    outbox.dropped(conn, due(conn).id, "about an old head", NOW)
    assert sent(conn) == ["3"]
    states = [(row.state, row.error) for row in conn.execute(select(rows).order_by(rows.c.seq))]
    assert states == [("FAILED", "422 Validation Failed"), ("DROPPED", "about an old head"), ("DONE", "")]


@KINDS
def test_an_unsent_row_gets_the_newer_text_and_keeps_its_place(conn: Connection, kind: OutboxKind) -> None:
    """OB-3."""
    put(conn, "1", kind=kind, text="old")
    put(conn, "2", kind=CHECK)
    put(conn, "1", kind=kind, text="new")
    assert due(conn).payload == {"text": "new"}
    assert sent(conn) == ["1", "2"]


def test_a_projection_that_was_sent_waits_again_at_the_end(conn: Connection) -> None:
    put(conn, "1", kind=COMMENT, text="old")
    assert sent(conn) == ["1"]
    put(conn, "2")
    put(conn, "1", kind=COMMENT, text="new")
    row = one(conn, "1")
    assert (row.state, row.payload, row.tries, row.remote_id) == ("PENDING", {"text": "new"}, 0, "id of 1")
    assert sent(conn) == ["2", "1"]


@pytest.mark.parametrize("end", [outbox.failed, outbox.dropped])
def test_a_projection_that_was_not_sent_gets_another_chance(conn: Connection, end: Any) -> None:
    put(conn, "1", kind=CHECK)
    end(conn, due(conn).id, "why", NOW)
    put(conn, "1", kind=CHECK)
    assert sent(conn) == ["1"]


def test_what_is_created_once_is_left_alone(conn: Connection) -> None:
    """OB-5: neither a sent one nor one that was tried is changed."""
    put(conn, "1", kind=REPLY, text="first")
    outbox.later(conn, outbox.sending(conn, due(conn).id, NOW).id, NOW, "reset")  # type: ignore[union-attr]
    put(conn, "1", kind=REPLY, text="second")
    assert due(conn).payload == {"text": "first"}
    assert sent(conn) == ["1"]
    put(conn, "1", kind=REPLY, text="third")
    assert outbox.due(conn, ACME, NOW) is None
    assert one(conn, "1").payload == {"text": "first"}


@pytest.mark.parametrize("end", ["done", "later", "failed"])
def test_a_newer_text_that_comes_while_the_old_one_is_sent_is_not_lost(conn: Connection, end: str) -> None:
    """OB-3: terminal states are always sent."""
    put(conn, "1", kind=COMMENT, text="old")
    row = due(conn)
    begun = outbox.sending(conn, row.id, NOW)
    assert begun is not None
    assert begun.payload == {"text": "old"}
    put(conn, "1", kind=COMMENT, text="new")
    if end == "done":
        outbox.done(conn, row.id, 5, NOW)
    elif end == "later":
        outbox.later(conn, row.id, NOW, "time-out")
    else:
        outbox.failed(conn, row.id, "422", NOW)
    assert due(conn).payload == {"text": "new"}
    assert sent(conn) == ["1"]
    assert outbox.due(conn, ACME, NOW) is None


def test_what_is_sent_is_what_the_row_said_when_it_was_begun(conn: Connection) -> None:
    """A text that came between `due` and `sending` is sent, and not sent twice."""
    put(conn, "1", kind=COMMENT, text="old")
    row = due(conn)
    put(conn, "1", kind=COMMENT, text="new")
    begun = outbox.sending(conn, row.id, NOW)
    assert begun is not None
    assert begun.payload == {"text": "new"}
    outbox.done(conn, row.id, 5, NOW)
    assert outbox.due(conn, ACME, NOW) is None


def test_a_row_found_in_sending_was_begun_by_a_dead_sender(conn: Connection) -> None:
    """OB-4, CR-14: it is due at once, and says that its outcome is unknown."""
    put(conn, "1")
    outbox.sending(conn, due(conn).id, NOW)
    row = due(conn)
    assert (row.state, row.started_at, row.tries) == (OutboxState.SENDING, NOW, 1)
    again = outbox.sending(conn, row.id, NOW + 1)
    assert again is not None
    assert again.tries == 2
    outbox.done(conn, row.id, None, NOW)
    assert outbox.sending(conn, row.id, NOW) is None, "finished"


def test_a_simulated_row_is_kept_and_never_sent(conn: Connection) -> None:
    """OB-9: dry run. The real one under the same key is sent."""
    put(conn, "1", kind=REPLY, simulated=True)
    assert (one(conn, "1").state, one(conn, "1").simulated) == (OutboxState.DROPPED, True)
    assert outbox.due(conn, ACME, NOW) is None
    put(conn, "1", kind=REPLY)
    put(conn, "1", kind=REPLY, simulated=True)
    assert sent(conn) == ["1"]


def test_one_installation_never_waits_for_another(conn: Connection) -> None:
    """OB-2, GH-10."""
    put(conn, "1", installation=ACME)
    put(conn, "2", installation=OTHER)
    pace.set_next_write(conn, ACME, NOW + 10)
    assert pace.next_write(conn, ACME) == NOW + 10
    assert pace.next_write(conn, OTHER) == 0
    assert outbox.installations_due(conn, NOW, NOW) == [OTHER]
    assert outbox.installations_due(conn, NOW + 10, NOW + 10) == [ACME, OTHER]


def test_nothing_is_sent_to_an_installation_that_is_gone_or_suspended(conn: Connection) -> None:
    put(conn, "1", installation=ACME)
    put(conn, "2", installation=OTHER)
    repos.suspend_installation(conn, ACME, NOW)
    repos.remove_installation(conn, OTHER, NOW)
    assert outbox.installations_due(conn, NOW, NOW) == []
    repos.suspend_installation(conn, ACME, None)
    assert outbox.installations_due(conn, NOW, NOW) == [ACME]


def test_an_unknown_kind_is_refused(conn: Connection) -> None:
    with pytest.raises(ValueError, match="merge_pull"):
        outbox.put(conn, key="1", lane="a", kind="merge_pull", payload={}, installation_id=ACME, now=NOW)


def put(
    conn: Connection,
    key: str,
    lane: str = "a",
    *,
    kind: OutboxKind = REPLY,
    text: str = "",
    installation: int = ACME,
    simulated: bool = False,
) -> None:
    outbox.put(
        conn,
        key=key,
        lane=lane,
        kind=kind,
        payload={"text": text},
        installation_id=installation,
        now=NOW,
        simulated=simulated,
    )


def due(conn: Connection, now: int = NOW) -> Row:
    row = outbox.due(conn, ACME, now)
    assert row is not None
    return row


def sent(conn: Connection, now: int = NOW) -> list[str]:
    """Send all that is due, like `jobs/deliver`; the keys in the order in which they went out."""
    keys = []
    while (row := outbox.due(conn, ACME, now)) is not None:
        begun = outbox.sending(conn, row.id, now)
        assert begun is not None
        outbox.done(conn, row.id, f"id of {begun.key}", now)
        keys.append(str(begun.key))
    return keys


def one(conn: Connection, key: str) -> Row:
    return conn.execute(select(rows).where(rows.c.key == key)).one()
