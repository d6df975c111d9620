"""Deliveries: kept once, whatever GitHub repeats (IT-1 to IT-4)."""

import zlib
from dataclasses import replace

from sqlalchemy import Connection

from app.ledger import deliveries
from app.ledger.deliveries import Delivery
from app.ledger.words import DeliveryState
from tests.unit.ledger.world import ACME, NOW, SHOP

RED = Delivery("g1", "check_run", "completed", ACME, SHOP, "check:77:2026:failure", b'{"action": "completed"}')


def test_a_delivery_is_kept_with_its_body(conn: Connection) -> None:
    assert deliveries.store(conn, RED, NOW) == "stored"
    row = deliveries.get(conn, "g1")
    assert row is not None
    assert (row.event, row.action, row.installation_id, row.repository_id) == ("check_run", "completed", ACME, SHOP)
    assert (row.state, row.received_at) == (DeliveryState.RECEIVED, NOW)
    assert deliveries.payload(row) == RED.payload
    assert zlib.decompress(row.payload) == RED.payload, "compressed (ST-W3)"
    assert deliveries.get(conn, "unknown") is None


def test_a_redelivery_of_what_is_known_is_a_no_op(conn: Connection) -> None:
    """IT-2: RECEIVED, HANDLED and IGNORED stay as they are."""
    for guid, end in (("a", None), ("b", deliveries.handled), ("c", None)):
        one = replace(RED, guid=guid, semantic_key=None)
        deliveries.store(conn, one, NOW)
        if end:
            end(conn, guid, NOW)
        if guid == "c":
            deliveries.ignored(conn, guid, "nothing for us", NOW)
        before = deliveries.get(conn, guid)
        assert deliveries.store(conn, replace(one, payload=b"other"), NOW + 9) == "duplicate"
        assert deliveries.get(conn, guid) == before


def test_a_redelivery_of_a_failed_one_is_received_again(conn: Connection) -> None:
    """IT-2."""
    deliveries.store(conn, RED, NOW)
    assert deliveries.failed(conn, "g1", "the model cannot read it", NOW, None)
    row = deliveries.get(conn, "g1")
    assert row is not None
    assert (row.state, row.error, row.tries) == (DeliveryState.FAILED, "the model cannot read it", 1)
    assert deliveries.unhandled(conn, NOW + 99, 9) == []
    assert deliveries.store(conn, RED, NOW + 1) == "again"
    assert [row.guid for row in deliveries.unhandled(conn, NOW + 1, 9)] == ["g1"]


def test_the_same_thing_under_a_new_guid_is_known_by_what_it_is_about(conn: Connection) -> None:
    """IT-3: kept as IGNORED, so it can be seen; another repository is another thing; a failed one does not count."""
    deliveries.store(conn, RED, NOW)
    assert deliveries.store(conn, replace(RED, guid="g2"), NOW) == "duplicate"
    twin = deliveries.get(conn, "g2")
    assert twin is not None
    assert (twin.state, twin.error) == (DeliveryState.IGNORED, "the same as g1")
    assert deliveries.store(conn, replace(RED, guid="g3", repository_id=SHOP + 1), NOW) == "stored"
    deliveries.failed(conn, "g1", "broken", NOW, None)
    assert deliveries.store(conn, replace(RED, guid="g4"), NOW) == "stored"


def test_without_a_semantic_key_only_the_guid_counts(conn: Connection) -> None:
    """IT-3: buttons have the guid only."""
    press = replace(RED, semantic_key=None)
    assert deliveries.store(conn, press, NOW) == "stored"
    assert deliveries.store(conn, replace(press, guid="g2"), NOW) == "stored"


def test_a_try_that_failed_for_now_waits_for_its_time(conn: Connection) -> None:
    deliveries.store(conn, RED, NOW)
    assert deliveries.failed(conn, "g1", "GitHub does not answer", NOW, NOW + 50)
    assert deliveries.unhandled(conn, NOW + 49, 9) == []
    (row,) = deliveries.unhandled(conn, NOW + 50, 9)
    assert (row.guid, row.tries, row.error) == ("g1", 1, "GitHub does not answer")
    assert "payload" not in row._mapping


def test_an_end_is_written_once(conn: Connection) -> None:
    """DB-3: somebody else was first."""
    deliveries.store(conn, RED, NOW)
    assert deliveries.handled(conn, "g1", NOW)
    assert not deliveries.handled(conn, "g1", NOW)
    assert not deliveries.ignored(conn, "g1", "late", NOW)
    assert not deliveries.failed(conn, "g1", "late", NOW, None)


def test_the_oldest_are_handled_first(conn: Connection) -> None:
    for n, guid in enumerate(("z", "m", "a")):
        deliveries.store(conn, replace(RED, guid=guid, semantic_key=None), NOW + n)
    assert [row.guid for row in deliveries.unhandled(conn, NOW + 9, 2)] == ["z", "m"]
