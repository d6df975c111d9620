"""Let go of what is old: payloads, prompts, events of turns, files of evidence; a chain says what it lost (EV-2)."""

from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection, Engine, and_, delete, exists, func, or_, select, update
from sqlalchemy.sql.dml import Update

from app.ledger.engine import read, write
from app.ledger.evidence import PRUNED, Store
from app.ledger.rows import Row
from app.ledger.schema import deliveries, diagnoses, evidence, leases, runs, turn_events, turns
from app.ledger.schema.diagnosis import ENDED
from app.ledger.schema.run import ACTIVE
from app.ledger.words import DeliveryState, EvidenceKind

DAY_MS = 24 * 60 * 60 * 1000
NEW_FILES_S = 3600
HANDLED = (DeliveryState.HANDLED, DeliveryState.IGNORED)


class _OnlyShown(Exception):
    """Ends the transaction of a dry run without a change."""


@dataclass(frozen=True)
class Removed:
    """How much of each was let go."""

    payloads: int
    prompts: int
    turn_events: int
    evidence: int
    leases: int
    files: int = 0


def let_go(engine: Engine, store: Store, days: int, now: int, *, dry_run: bool = False) -> Removed:
    """Prune what ended more than `days` ago, then the files that no row names; a dry run only counts rows."""
    try:
        with write(engine) as conn:
            removed = prune(conn, store, now - days * DAY_MS, now)
            if dry_run:
                raise _OnlyShown
    except _OnlyShown:
        return removed
    with read(engine) as conn:
        return replace(removed, files=store.sweep(conn, older_than_s=NEW_FILES_S))


def prune(conn: Connection, store: Store, before: int, now: int) -> Removed:
    """Everything of deliveries, runs and diagnoses that ended before a time (UTC milliseconds).

    Rows stay: what was decided, by whom and on which evidence. The files go with `Store.sweep` after the commit.
    """
    over = select(runs.c.id).where(runs.c.status.not_in(ACTIVE), runs.c.finished_at < before)
    old = select(turns.c.id).where(turns.c.run_id.in_(over))
    payloads = update(deliveries).where(
        deliveries.c.state.in_(HANDLED), deliveries.c.received_at < before, func.length(deliveries.c.payload) > 0
    )
    prompts = update(turns).where(turns.c.run_id.in_(over), turns.c.prompt != "")
    free = or_(*(leases.c.resource.startswith(f"{kind}:") for kind in ("delivery", "turn", "proof", "publication")))
    return Removed(
        payloads=_count(conn, payloads.values(payload=b"")),
        prompts=_count(conn, prompts.values(prompt="")),
        turn_events=conn.execute(delete(turn_events).where(turn_events.c.turn_id.in_(old))).rowcount,
        evidence=_evidence(conn, store, before, now),
        leases=conn.execute(delete(leases).where(leases.c.owner == "", free)).rowcount,
    )


def _count(conn: Connection, statement: Update) -> int:
    return int(conn.execute(statement).rowcount)


def _evidence(conn: Connection, store: Store, before: int, now: int) -> int:
    """Each chain that loses files gets one link more, which names them: nothing is lost in silence."""
    lost: dict[str, list[Row]] = {}
    for row in conn.execute(_old_evidence(before)).all():
        lost.setdefault(row.chain, []).append(row)
    for chain, rows in lost.items():
        ids = [row.id for row in rows]
        owner: dict[str, Any] = {"run_id": rows[0].run_id, "diagnosis_id": rows[0].diagnosis_id}
        what = f"{len(ids)} file{'s' if len(ids) != 1 else ''} of evidence removed, as the retention time is over"
        meta = {"what": what, "removed": ids}
        store.put(conn, **owner, kind=EvidenceKind.ANSWER, data=b"", origin=PRUNED, meta=meta, now=now)
        here = (evidence.c.chain == chain, evidence.c.id.in_(ids))
        conn.execute(update(evidence).where(*here).values(path=""))
    return sum(len(rows) for rows in lost.values())


def _old_evidence(before: int) -> Any:
    """Evidence of runs that are over, and of diagnoses that are over and have no run that needs them."""
    of_run = exists().where(runs.c.id == evidence.c.run_id, runs.c.status.not_in(ACTIVE), runs.c.finished_at < before)
    needed = exists().where(
        runs.c.diagnosis_id == evidence.c.diagnosis_id,
        or_(runs.c.status.in_(ACTIVE), runs.c.finished_at >= before),
    )
    ended = exists().where(
        diagnoses.c.id == evidence.c.diagnosis_id, diagnoses.c.state.in_(ENDED), diagnoses.c.finished_at < before
    )
    kept = (evidence.c.path != "", evidence.c.origin != PRUNED)
    return select(evidence).where(*kept, or_(of_run, and_(ended, ~needed))).order_by(evidence.c.chain, evidence.c.seq)
