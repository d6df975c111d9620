"""Self-repairs: one row per block of a run, with the turn that looks at it or why nobody was asked (domain.md, 10)."""

from collections.abc import Sequence

from sqlalchemy import Connection, exists, func, select, update

from app.ledger import work
from app.ledger.rows import Row
from app.ledger.schema import runs, scopes, self_repairs, turns
from app.ledger.words import SelfRepairStatus
from app.runs.model import ItemKind, ItemStatus, Role, Run, Stage, Status

OPEN = (SelfRepairStatus.RUNNING, SelfRepairStatus.NEEDS_USER, SelfRepairStatus.FAILED)


def of_run(conn: Connection, run_id: str) -> Sequence[Row]:
    """All self-repairs of a run, oldest first; those without a turn were not asked."""
    rows = select(self_repairs).where(self_repairs.c.run_id == run_id)
    return conn.execute(rows.order_by(self_repairs.c.n)).all()


def running(conn: Connection, run_id: str) -> Row | None:
    """The self-repair that is looked at now; a run has at most one, and only while it is BLOCKED (IV-3)."""
    mine = (self_repairs.c.run_id == run_id, self_repairs.c.status == SelfRepairStatus.RUNNING)
    return conn.execute(select(self_repairs).where(*mine).order_by(self_repairs.c.n.desc()).limit(1)).one_or_none()


def of_turn(conn: Connection, turn_id: str) -> Row | None:
    """The self-repair that asked for this turn last."""
    return conn.execute(select(self_repairs).where(self_repairs.c.turn_id == turn_id)).one_or_none()


def started(conn: Connection, run: Run, session_id: str, turn_id: str, now: int) -> None:
    """A turn looks at the block that `run` is in now."""
    _insert(conn, run, SelfRepairStatus.RUNNING, now, session_id=session_id, turn_id=turn_id)


def not_asked(conn: Connection, run: Run, now: int) -> None:
    """A person is needed at once; the row keeps the sweep from asking later (domain.md, 5.3)."""
    _insert(conn, run, SelfRepairStatus.NEEDS_USER, now)


def asked_again(conn: Connection, row: Row, turn_id: str) -> None:
    """One turn more, in the same session (SR-10)."""
    _set(conn, row, turn_id=turn_id, reasks=row.reasks + 1)


def ended(conn: Connection, row: Row, status: SelfRepairStatus, feedback: str, addendum: str = "") -> None:
    _set(conn, row, status=status, feedback=feedback, prompt_addendum=addendum)


def supersede(conn: Connection, run_id: str, now: int) -> bool:
    """A person or the end of the scope decided (SR-11); True if a self-repair was being looked at, whose turn ends."""
    looked_at = running(conn, run_id)
    mine = (self_repairs.c.run_id == run_id, self_repairs.c.status.in_(OPEN))
    conn.execute(update(self_repairs).where(*mine).values(status=SelfRepairStatus.SUPERSEDED))
    if looked_at is not None and looked_at.turn_id is not None:
        work.cancel(conn, ItemKind.TURN, looked_at.turn_id, now)
    return looked_at is not None


def unasked(conn: Connection) -> list[str]:
    """Blocked runs whose block has no self-repair, oldest first, where nobody switched Remedy off (T23)."""
    asked = exists().where(self_repairs.c.run_id == runs.c.id, self_repairs.c.created_at >= runs.c.stage_since_at)
    blocked = select(runs.c.id).join(scopes, scopes.c.id == runs.c.scope_id)
    blocked = blocked.where(runs.c.status == Status.BLOCKED, ~asked, scopes.c.off_at.is_(None))
    return list(conn.execute(blocked.order_by(runs.c.created_at)).scalars())


def stage_of_old(conn: Connection, run_id: str) -> Stage:
    """Where a blocked row of an old version stopped, by its last turn that was no self-repair (BS-6)."""
    mine = (turns.c.run_id == run_id, turns.c.role != Role.SELF_REPAIR)
    newest = select(turns).where(*mine).order_by(turns.c.created_at.desc(), turns.c.id.desc()).limit(1)
    last = conn.execute(newest).one_or_none()
    if last is None:
        return Stage.PLAN_REVIEW
    if last.role is Role.AGENT or last.status is ItemStatus.DONE:
        return Stage.AGENT
    return Stage.PLAN_REVIEW if last.step_id is None else Stage.SUPERVISOR


def _insert(conn: Connection, run: Run, status: SelfRepairStatus, now: int, **more: object) -> None:
    last = select(func.coalesce(func.max(self_repairs.c.n), 0)).where(self_repairs.c.run_id == run.run_id)
    row = {
        "run_id": run.run_id,
        "n": int(conn.execute(last).scalar_one()) + 1,
        "block_version": run.version,
        "status": status,
        "blocked_stage": run.blocked_stage,
        "created_at": now,
    }
    conn.execute(self_repairs.insert().values(**row, **more))


def _set(conn: Connection, row: Row, **values: object) -> None:
    mine = (self_repairs.c.run_id == row.run_id, self_repairs.c.n == row.n)
    conn.execute(update(self_repairs).where(*mine).values(**values))
