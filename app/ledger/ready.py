"""Which doorbells to ring: rows that are ready and were not rung lately, and work that lost its holder (ST-Q6)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from sqlalchemy import (
    BigInteger,
    BindParameter,
    ColumnElement,
    Connection,
    Select,
    Table,
    and_,
    bindparam,
    exists,
    func,
    literal,
    or_,
    select,
    update,
)

from app.ledger import events
from app.ledger import outbox as letters
from app.ledger.leases import drop
from app.ledger.schema import (
    commands,
    deliveries,
    diagnoses,
    leases,
    outbox,
    proofs,
    publications,
    runners,
    runs,
    self_repairs,
    turns,
)
from app.ledger.schema.diagnosis import ENDED
from app.ledger.schema.engine import UNFINISHED
from app.ledger.schema.work import BEGUN
from app.ledger.words import DeliveryState, EventKind, RunnerState, SelfRepairStatus
from app.ledger.work import TABLES, resource
from app.runs.model import ItemKind, ItemStatus, Stage, Status

COMMAND = "command-"
"""Prefix of an id of `intake` that names a waiting command instead of a delivery."""
_AT_A_TIME = 200  # rows per job and sweep: a flood is rung in portions, oldest first

Time = int | BindParameter[int]
Condition = Callable[[Time], ColumnElement[bool]]


@dataclass(frozen=True)
class Interrupted:
    """A work item that lost its holder and is FAILED(interrupted) now; a baseline proof has a diagnosis, no run."""

    kind: ItemKind
    item_id: str
    run_id: str | None
    diagnosis_id: str | None = None


@dataclass(frozen=True, eq=False)
class _Bell:
    """`age` sorts its rows, oldest first."""

    table: Table
    id: ColumnElement[str]
    is_ready: Condition
    age: ColumnElement[Any]


def due(conn: Connection, now: int, rering_ms: int) -> list[tuple[str, str]]:
    """Every (job, id) to ring: ready, not held by a live lease, not rung within `rering_ms` (decisions.md, 61).

    What people said comes first (CM-12), then each job's rows, oldest first.
    """
    before = now - rering_ms
    found = [("intake", f"{COMMAND}{row_id}") for row_id in _rows(conn, _COMMANDS, now, before)]
    for job, bell in _BELLS.items():
        found += [(job, row_id) for row_id in _rows(conn, bell, now, before)]
    found += [("deliver", str(i)) for i in letters.installations_due(conn, now, before)]
    return found


def _rows(conn: Connection, bell: _Bell, now: int, before: int) -> Sequence[str]:
    return conn.execute(_unrung(bell), {"now": now, "before": before}).scalars().all()


@cache
def _unrung(bell: _Bell) -> Select[str]:
    """Built once: the sweep asks it again and again."""
    now, before = bindparam("now", type_=BigInteger), bindparam("before", type_=BigInteger)
    unrung = or_(bell.table.c.rung_at.is_(None), bell.table.c.rung_at <= before)
    return select(bell.id).where(bell.is_ready(now), unrung).order_by(bell.age, bell.id).limit(_AT_A_TIME)


@dataclass(frozen=True)
class Waiting:
    """How many rows some worker should take, and for how long the oldest was left."""

    count: int = 0
    age_ms: int = 0


def depth(conn: Connection, now: int) -> dict[str, Waiting]:
    """What waits for each job now; no lease holds it and its time has come."""
    found = {"command": _waiting(conn, _COMMANDS.table, _COMMANDS.is_ready(now), commands.c.at, now)}
    for job, bell in _BELLS.items():
        found[job] = _waiting(conn, bell.table, bell.is_ready(now), _SINCE.get(job, bell.age), now)
    return {**found, "deliver": _waiting(conn, outbox, letters.is_ready(now), outbox.c.created_at, now)}


def _waiting(conn: Connection, table: Table, is_ready: ColumnElement[bool], since: Any, now: int) -> Waiting:
    row = conn.execute(select(func.count(), func.min(since)).select_from(table).where(is_ready)).one()
    return Waiting(row[0], max(0, now - int(row[1])) if row[0] else 0)


def rang(conn: Connection, job: str, row_id: str, now: int) -> None:
    """Note that the doorbell of this job and id rang."""
    if job == "deliver":
        mine = (outbox.c.installation_id == int(row_id), outbox.c.state.in_(UNFINISHED))
        conn.execute(update(outbox).where(*mine).values(rung_at=now))
        return
    bell = _COMMANDS if row_id.startswith(COMMAND) else _BELLS[job]
    row_id = row_id.removeprefix(COMMAND)
    conn.execute(update(bell.table).where(bell.id == row_id).values(rung_at=now))


def interrupt_expired(conn: Connection, now: int) -> list[Interrupted]:
    """Turn RUNNING work without a live lease into FAILED(interrupted), and say which (domain.md, 13).

    A turn that is followed has no holder most of the time; its row says where it stands.
    """
    lost = []
    for kind, table in TABLES.items():
        alone = [table.c.status == ItemStatus.RUNNING, ~_is_held(f"{kind}:", table.c.id, now)]
        if table is turns:
            alone.append(turns.c.follow_json.is_(None))
        gone = update(table).where(*alone)
        failed = gone.values(
            status=ItemStatus.FAILED,
            error_code="interrupted",
            error="the worker that did this was lost",
            finished_at=now,
            rung_at=None,
        )
        diagnosis_id = table.c.diagnosis_id if kind == ItemKind.PROOF else literal(None)
        named = failed.returning(table.c.id, table.c.run_id, diagnosis_id.label("diagnosis_id"))
        for row in conn.execute(named).all():
            drop(conn, resource(kind, row.id))
            if row.run_id is not None:
                events.append(conn, row.run_id, EventKind.LEASE_TAKEN_OVER, {kind.value: row.id}, None, now)
            lost.append(Interrupted(kind, row.id, row.run_id, row.diagnosis_id))
    return lost


def _is_held(prefix: str, row_id: ColumnElement[str], now: Time) -> ColumnElement[bool]:
    return exists().where(leases.c.resource == literal(prefix) + row_id, leases.c.until_at > now)


def _its_time(table: Table, now: Time) -> ColumnElement[bool]:
    return or_(table.c.next_at.is_(None), table.c.next_at <= now)


def _delivery_is_ready(now: Time) -> ColumnElement[bool]:
    received = deliveries.c.state == DeliveryState.RECEIVED
    return and_(received, _its_time(deliveries, now), ~_is_held("delivery:", deliveries.c.guid, now))


def _command_is_ready(now: Time) -> ColumnElement[bool]:
    """Stored, not yet answered, and the first of its comment that is not (CM-2)."""
    earlier = commands.alias()
    first = ~exists().where(
        earlier.c.source == commands.c.source,
        earlier.c.source_id == commands.c.source_id,
        earlier.c.ordinal < commands.c.ordinal,
        earlier.c.outcome.is_(None),
    )
    return and_(commands.c.outcome.is_(None), first, ~_is_held("command:", commands.c.id, now))


def _diagnosis_is_ready(now: Time) -> ColumnElement[bool]:
    open_ = diagnoses.c.state.not_in(ENDED)
    return and_(open_, diagnoses.c.due_at <= now, ~_is_held("diagnosis:", diagnoses.c.id, now))


def _item_is_ready(kind: ItemKind) -> Condition:
    table = TABLES[kind]

    def is_ready(now: Time) -> ColumnElement[bool]:
        waits = table.c.status == ItemStatus.QUEUED
        if table is turns:
            waits = or_(waits, _is_followed())
        return and_(waits, _its_time(table, now), ~_is_held(f"{kind}:", table.c.id, now))

    return is_ready


def _is_followed() -> ColumnElement[bool]:
    """A remote agent's turn that is to be looked at, or was cancelled while the agent still works."""
    return and_(turns.c.follow_json.is_not(None), turns.c.status.in_((ItemStatus.RUNNING, ItemStatus.CANCELLED)))


def _run_is_ready(now: Time) -> ColumnElement[bool]:
    """The active work item ended, CI has news or is to be looked at, or a self-repair answered."""
    ended = [
        and_(
            runs.c.active_kind == kind,
            runs.c.stage != Stage.AWAIT_CI,
            exists().where(table.c.id == runs.c.active_id, table.c.status.not_in(BEGUN)),
        )
        for kind, table in TABLES.items()
    ]
    news = or_(publications.c.ci.is_not(None), publications.c.next_at <= now, publications.c.ci_deadline_at <= now)
    ci = and_(runs.c.stage == Stage.AWAIT_CI, exists().where(publications.c.id == runs.c.active_id, news))
    answered = exists().where(
        self_repairs.c.run_id == runs.c.id,
        self_repairs.c.status == SelfRepairStatus.RUNNING,
        turns.c.id == self_repairs.c.turn_id,
        turns.c.status.not_in(BEGUN),
    )
    working = and_(runs.c.status == Status.RUNNING, or_(*ended, ci))
    repairing = and_(runs.c.status == Status.BLOCKED, answered)
    return and_(or_(working, repairing), ~_is_held("run:", runs.c.id, now))


def _runner_is_ready(now: Time) -> ColumnElement[bool]:
    installing = runners.c.state == RunnerState.INSTALLING
    return and_(installing, ~_is_held("install:", runners.c.digest, now))


_BELLS: Mapping[str, _Bell] = {
    "intake": _Bell(deliveries, deliveries.c.guid, _delivery_is_ready, deliveries.c.received_at),
    "diagnose": _Bell(diagnoses, diagnoses.c.id, _diagnosis_is_ready, diagnoses.c.id),
    "advance": _Bell(runs, runs.c.id, _run_is_ready, runs.c.id),
    "turn": _Bell(turns, turns.c.id, _item_is_ready(ItemKind.TURN), turns.c.created_at),
    "prove": _Bell(proofs, proofs.c.id, _item_is_ready(ItemKind.PROOF), proofs.c.created_at),
    "publish": _Bell(publications, publications.c.id, _item_is_ready(ItemKind.PUBLICATION), publications.c.created_at),
    "install": _Bell(runners, runners.c.digest, _runner_is_ready, runners.c.updated_at),
}
_SINCE: Mapping[str, ColumnElement[Any]] = {"diagnose": diagnoses.c.due_at, "advance": runs.c.updated_at}
_COMMANDS = _Bell(commands, commands.c.id, _command_is_ready, commands.c.at)
