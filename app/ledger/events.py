"""What happened in a run and in a turn: two append-only histories (domain.md, 16)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, func, select

from app.ledger.rows import Row, insert_new, lock
from app.ledger.schema import run_events, runs, turn_events, turns
from app.ledger.schema.work import BEGUN
from app.ledger.words import EventKind, TurnEventKind, TurnEventSource


def append(conn: Connection, run_id: str, kind: str, details: Mapping[str, Any], actor: str | None, now: int) -> int:
    """Write one event of a run, in the transaction of its transition; its number, from 1 (IV-15).

    Raises ValueError for a kind that is not an `EventKind`.
    """
    lock(conn, runs, run_id)
    last = select(func.coalesce(func.max(run_events.c.seq), 0)).where(run_events.c.run_id == run_id)
    seq = int(conn.execute(last).scalar_one()) + 1
    row = {"run_id": run_id, "seq": seq, "kind": EventKind(kind), "details": dict(details), "actor": actor, "at": now}
    conn.execute(run_events.insert().values(**row))
    return seq


def of_run(conn: Connection, run_id: str) -> Sequence[Row]:
    """The whole history of a run, in order."""
    return conn.execute(select(run_events).where(run_events.c.run_id == run_id).order_by(run_events.c.seq)).all()


def append_once(conn: Connection, run_id: str, kind: EventKind, details: Mapping[str, Any], now: int) -> None:
    """Write an event unless the run has one of this kind with the same details."""
    lock(conn, runs, run_id)
    told = select(run_events.c.details).where(run_events.c.run_id == run_id, run_events.c.kind == kind)
    if dict(details) not in conn.execute(told).scalars().all():
        append(conn, run_id, kind, details, None, now)


@dataclass(frozen=True)
class TurnEvent:
    """One thing that happened in a turn; `seq` is the writer's own count: the same one twice is kept once."""

    seq: int
    type: TurnEventKind
    data: Mapping[str, Any]
    source: TurnEventSource = TurnEventSource.HOST


def append_to_turn(conn: Connection, turn_id: str, event: TurnEvent, now: int) -> bool:
    """Write one event of a turn; False if that number is written already or the turn has ended (RN-13, D13)."""
    running = select(turns.c.id).where(turns.c.id == turn_id, turns.c.status.in_(BEGUN))
    if conn.execute(running).first() is None:
        return False
    row = {"seq": event.seq, "type": event.type, "data_json": dict(event.data), "source": event.source, "at": now}
    return insert_new(conn, turn_events, turn_id=turn_id, **row)


def last_of_run(conn: Connection, run_id: str) -> int:
    """The number of the newest event of a run; 0 before the first."""
    newest = select(func.coalesce(func.max(run_events.c.seq), 0)).where(run_events.c.run_id == run_id)
    return int(conn.execute(newest).scalar_one())


def last_of_turn(conn: Connection, turn_id: str) -> int:
    """The number of the newest event of a turn; 0 before the first."""
    newest = select(func.coalesce(func.max(turn_events.c.seq), 0)).where(turn_events.c.turn_id == turn_id)
    return int(conn.execute(newest).scalar_one())


def of_turn(conn: Connection, turn_id: str) -> Sequence[Row]:
    """The whole history of a turn, in order."""
    return conn.execute(select(turn_events).where(turn_events.c.turn_id == turn_id).order_by(turn_events.c.seq)).all()
