"""Doorbells: what is ready, what was rung, what lost its holder (ST-Q6; domain.md, 13)."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from sqlalchemy import Connection, insert, update

from app.ledger import deliveries, diagnoses, leases, outbox, pace, publications, ready, runs, turns, work
from app.ledger.deliveries import Delivery
from app.ledger.leases import Holder
from app.ledger.publications import PublicationEnd
from app.ledger.ready import Interrupted
from app.ledger.schema import self_repairs
from app.ledger.words import OutboxKind, SelfRepairStatus
from app.runs.model import Ci, ItemKind, ItemStatus, Outcome, PublicationStatus, Purpose, Role, Run, Stage, Status
from tests.unit.ledger.world import ACME, NOW, OTHER, a_diagnosis, a_publication, a_run, a_scope, a_turn, an_item

RERING, LEASE = 10_000, 8000
ITEMS = pytest.mark.parametrize(
    ("kind", "job"), [(ItemKind.TURN, "turn"), (ItemKind.PROOF, "prove"), (ItemKind.PUBLICATION, "publish")]
)


def a_delivery(conn: Connection) -> tuple[str, str, str]:
    deliveries.store(conn, Delivery("g1", "push", "", ACME, None, None, b"{}"), NOW)
    return "intake", "g1", "delivery:g1"


def an_open_diagnosis(conn: Connection) -> tuple[str, str, str]:
    diagnosis_id = a_diagnosis(conn, a_scope(conn))
    return "diagnose", diagnosis_id, f"diagnosis:{diagnosis_id}"


def a_queued_turn(conn: Connection) -> tuple[str, str, str]:
    run = a_run(conn)
    diagnoses.end(conn, runs.get(conn, run.run_id).diagnosis_id, Outcome.RUN_STARTED, NOW)
    turn_id = a_turn(conn, run)
    return "turn", turn_id, f"turn:{turn_id}"


BELLS = pytest.mark.parametrize("make", [a_delivery, an_open_diagnosis, a_queued_turn])
Make = Callable[[Connection], tuple[str, str, str]]


@BELLS
def test_a_ready_row_is_rung_again_after_a_while(conn: Connection, make: Make) -> None:
    """decisions.md, 61; CR-15, CR-16: a lost ring costs ten seconds."""
    job, row_id, _ = make(conn)
    assert due(conn) == [(job, row_id)]
    ready.rang(conn, job, row_id, NOW)
    assert due(conn) == []
    assert due(conn, NOW + RERING - 1) == []
    assert due(conn, NOW + RERING) == [(job, row_id)]


@BELLS
def test_what_somebody_works_on_is_not_rung(conn: Connection, make: Make) -> None:
    job, row_id, resource = make(conn)
    leases.take(conn, resource, "me", NOW, LEASE)
    assert due(conn) == []
    assert due(conn, NOW + LEASE) == [(job, row_id)], "its holder is gone (CR-2, CR-3)"


def test_a_delivery_is_rung_until_it_ends(conn: Connection) -> None:
    """CR-2."""
    a_delivery(conn)
    deliveries.failed(conn, "g1", "later", NOW, NOW + 5)
    assert due(conn) == []
    assert due(conn, NOW + 5) == [("intake", "g1")]
    deliveries.handled(conn, "g1", NOW)
    assert due(conn, NOW + 5) == []


def test_a_diagnosis_is_rung_when_it_is_due(conn: Connection) -> None:
    """IT-12: the quiet window is its due time."""
    _, diagnosis_id, _ = an_open_diagnosis(conn)
    ready.rang(conn, "diagnose", diagnosis_id, NOW)
    diagnoses.update_open(conn, diagnosis_id, NOW, due_at=NOW + 20)
    assert due(conn, NOW + 19) == []
    assert due(conn, NOW + 20) == [("diagnose", diagnosis_id)], "a new time asks for a new ring"
    diagnoses.end(conn, diagnosis_id, Outcome.NOT_OURS, NOW)
    assert due(conn, NOW + 20) == []


@ITEMS
def test_queued_work_is_rung_at_its_time(conn: Connection, kind: ItemKind, job: str) -> None:
    """T50, T51: a next try has a time."""
    item = an_item(conn, kind, quiet_run(conn))
    assert due(conn) == [(job, item)]
    me = begin(conn, kind, item)
    assert due(conn) == []
    work.put_off(conn, kind, item, me, NOW, next_at=NOW + 50)
    leases.release(conn, work.resource(kind, item), me.owner, me.epoch)
    assert due(conn, NOW + 49) == []
    assert due(conn, NOW + 50) == [(job, item)]


@ITEMS
def test_a_run_is_rung_when_its_work_has_ended(conn: Connection, kind: ItemKind, job: str) -> None:
    """CR-15: the state was committed, the ring was lost."""
    run = quiet_run(conn)
    item = an_item(conn, kind, run)
    run = working_on(conn, run, kind, item)
    ready.rang(conn, job, item, NOW)
    me = begin(conn, kind, item)
    assert due(conn) == []
    work.end(conn, kind, item, me, NOW, status=ItemStatus.FAILED)
    assert due(conn) == [("advance", run.run_id)]
    blocked = replace(run, version=run.version + 1, status=Status.BLOCKED, active_kind=None, active_id=None)
    runs.save(conn, run, blocked, NOW)
    assert due(conn) == []


def test_a_run_that_waits_for_ci_is_rung_for_news_and_deadlines(conn: Connection) -> None:
    """CR-10: no process is attached; T42, T43."""
    run = quiet_run(conn)
    item = a_publication(conn, run)
    me = begin(conn, ItemKind.PUBLICATION, item)
    pushed = PublicationEnd(PublicationStatus.PUSHED, "sha", next_at=NOW + 60, ci_deadline_at=NOW + 600)
    publications.finish(conn, item, me, pushed, NOW)
    run = working_on(conn, run, ItemKind.PUBLICATION, item)
    assert due(conn) == [("advance", run.run_id)], "it is pushed: T36"
    after = replace(run, version=run.version + 1, stage=Stage.AWAIT_CI)
    runs.save(conn, run, after, NOW)
    assert due(conn) == []
    assert due(conn, NOW + 60) == [("advance", run.run_id)]
    publications.look_again(conn, item, NOW + 700, NOW + 600)
    assert due(conn, NOW + 599) == []
    assert due(conn, NOW + 600) == [("advance", run.run_id)]
    assert publications.ci_seen(conn, item, Ci.GREEN, (), NOW)
    assert not publications.ci_seen(conn, item, Ci.NONE, (), NOW), "known already"
    assert due(conn) == [("advance", run.run_id)]


def test_a_blocked_run_is_rung_when_its_self_repair_answered(conn: Connection) -> None:
    """T19, T20."""
    run = quiet_run(conn)
    turn_id = a_turn(conn, run, role=Role.SELF_REPAIR, purpose=Purpose.REPAIR)
    row = {"run_id": run.run_id, "n": 1, "status": SelfRepairStatus.RUNNING, "turn_id": turn_id, "created_at": NOW}
    conn.execute(insert(self_repairs).values(row))
    runs.save(conn, run, replace(run, version=1, status=Status.BLOCKED, stage=Stage.IDLE), NOW)
    me = begin(conn, ItemKind.TURN, turn_id)
    assert due(conn) == []
    work.end(conn, ItemKind.TURN, turn_id, me, NOW, status=ItemStatus.DONE)
    assert due(conn) == [("advance", run.run_id)]
    conn.execute(update(self_repairs).values(status=SelfRepairStatus.SUPERSEDED))
    assert due(conn) == []


def test_deliver_is_rung_per_installation(conn: Connection) -> None:
    """decisions.md, 62: one sender per installation, at its pace."""
    a_scope(conn)
    a_scope(conn, installation=OTHER, repository=9)
    for key, installation in (("1", ACME), ("2", ACME), ("3", OTHER)):
        letter(conn, key, installation)
    assert due(conn) == [("deliver", str(ACME)), ("deliver", str(OTHER))]
    ready.rang(conn, "deliver", str(ACME), NOW)
    pace.set_next_write(conn, OTHER, NOW + 5)
    assert due(conn) == []
    assert due(conn, NOW + 5) == [("deliver", str(OTHER))]
    letter(conn, "4", ACME, lane="new")
    assert due(conn) == [("deliver", str(ACME))], "a new letter is not held by an old ring"


@ITEMS
def test_work_that_lost_its_holder_is_interrupted(conn: Connection, kind: ItemKind, job: str) -> None:
    """domain.md, 13: FAILED(interrupted), once; the old holder writes nothing any more."""
    run = quiet_run(conn)
    item = an_item(conn, kind, run)
    run = working_on(conn, run, kind, item)
    me = begin(conn, kind, item)
    assert ready.interrupt_expired(conn, NOW + LEASE - 1) == []
    assert ready.interrupt_expired(conn, NOW + LEASE) == [Interrupted(kind, item, run.run_id)]
    assert ready.interrupt_expired(conn, NOW + LEASE) == []
    row = work.get(conn, kind, item)
    assert (row.status, row.error_code, row.finished_at) == (ItemStatus.FAILED, "interrupted", NOW + LEASE)
    assert not work.end(conn, kind, item, me, NOW, status=ItemStatus.DONE)
    assert not leases.renew(conn, work.resource(kind, item), me.owner, me.epoch, NOW, LEASE)
    assert leases.expired(conn, NOW + LEASE) == []
    assert due(conn, NOW + LEASE) == [("advance", run.run_id)]


def test_a_followed_turn_has_no_holder_and_is_rung_when_it_is_due(conn: Connection) -> None:
    """G23: between two looks nobody waits; a dead worker costs nothing but the next look."""
    run = quiet_run(conn)
    turn_id = a_turn(conn, run)
    me = begin(conn, ItemKind.TURN, turn_id)
    assert turns.follow(conn, turn_id, me, NOW, follow_json={"phase": "waiting"}, next_at=NOW + 15_000)
    leases.release(conn, f"turn:{turn_id}", me.owner, me.epoch)
    assert ready.interrupt_expired(conn, NOW + LEASE) == []
    assert due(conn, NOW + 14_999) == [] and due(conn, NOW + 15_000) == [("turn", turn_id)]

    leases.take(conn, f"turn:{turn_id}", "another", NOW + 15_000, LEASE)
    assert not turns.follow(conn, turn_id, me, NOW + 15_000, follow_json={}), "LE-2: it is another's now"
    assert work.cancel(conn, ItemKind.TURN, turn_id, NOW + 15_000)
    assert due(conn, NOW + 15_000) == [("turn", turn_id)], "what still runs elsewhere is to be ended"
    turns.followed_to_the_end(conn, turn_id)
    assert due(conn, NOW + 15_000) == []


def test_work_that_nobody_began_is_not_interrupted(conn: Connection) -> None:
    """A worker that died between taking the lease and starting: it is rung again, nothing is lost."""
    turn_id = a_turn(conn, quiet_run(conn))
    leases.take(conn, f"turn:{turn_id}", "me", NOW, LEASE)
    assert ready.interrupt_expired(conn, NOW + LEASE) == []
    assert due(conn, NOW + LEASE) == [("turn", turn_id)]


def test_a_flood_is_rung_in_portions(conn: Connection) -> None:
    for n in range(250):
        deliveries.store(conn, Delivery(f"g{n:03}", "push", "", ACME, None, None, b"{}"), NOW)
    first = due(conn)
    assert len(first) == 200
    for job, row_id in first:
        ready.rang(conn, job, row_id, NOW)
    assert len(due(conn)) == 50


def test_a_publication_that_failed_for_now_is_tried_again(conn: Connection) -> None:
    """T50: the same row, tries counted."""
    run = quiet_run(conn)
    item = a_publication(conn, run)
    me = begin(conn, ItemKind.PUBLICATION, item)
    failed = PublicationEnd(PublicationStatus.FAILED, error_code="interrupted", error="reset")
    assert publications.finish(conn, item, me, failed, NOW)
    assert publications.requeue(conn, item, NOW + 30)
    assert not publications.requeue(conn, item, NOW + 30), "it is queued"
    row = publications.get(conn, item)
    assert (row.status, row.tries, row.next_at, row.finished_at) == (PublicationStatus.QUEUED, 1, NOW + 30, None)


def due(conn: Connection, now: int = NOW) -> list[tuple[str, str]]:
    return ready.due(conn, now, RERING)


def quiet_run(conn: Connection) -> Run:
    """A run whose diagnosis has ended, so that nothing but the run can ring."""
    run = a_run(conn)
    diagnoses.end(conn, runs.get(conn, run.run_id).diagnosis_id, Outcome.RUN_STARTED, NOW)
    return run


def working_on(conn: Connection, run: Run, kind: ItemKind, item: str) -> Run:
    stage = {ItemKind.TURN: Stage.AGENT, ItemKind.PROOF: Stage.PROVE, ItemKind.PUBLICATION: Stage.PUBLISH}[kind]
    after = replace(run, version=run.version + 1, stage=stage, active_kind=kind, active_id=item)
    assert runs.save(conn, run, after, NOW)
    return after


def begin(conn: Connection, kind: ItemKind, item: str) -> Holder:
    epoch = leases.take(conn, work.resource(kind, item), "me", NOW, LEASE)
    assert epoch is not None
    holder = Holder("me", epoch)
    assert work.start(conn, kind, item, holder, NOW)
    return holder


def letter(conn: Connection, key: str, installation: int, lane: str = "a") -> None:
    kind = OutboxKind.REPLY
    outbox.put(conn, key=key, lane=lane, kind=kind, payload={}, installation_id=installation, now=NOW)
