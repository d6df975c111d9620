"""Checks of ours that say "in progress" while nothing is: each opened check is closed, by the sweep at last (PJ-13)."""

from collections.abc import Sequence

from sqlalchemy import Connection, and_, exists, or_, select

from app.ledger.schema import diagnoses, outbox, runs, scopes, self_repairs
from app.ledger.schema.diagnosis import ENDED
from app.ledger.schema.engine import UNFINISHED
from app.ledger.words import SelfRepairStatus
from app.runs.model import Status


def left_open(conn: Connection, before: int) -> Sequence[str]:
    """Scopes whose check is open since `before` (UTC milliseconds) without a live diagnosis, run or letter."""
    repairing = exists().where(self_repairs.c.run_id == runs.c.id, self_repairs.c.status == SelfRepairStatus.RUNNING)
    working = or_(runs.c.status == Status.RUNNING, and_(runs.c.status == Status.BLOCKED, repairing))
    live = (
        exists().where(runs.c.scope_id == scopes.c.id, working),
        exists().where(diagnoses.c.scope_id == scopes.c.id, diagnoses.c.state.not_in(ENDED)),
        exists().where(outbox.c.lane == scopes.c.id, outbox.c.state.in_(UNFINISHED)),
    )
    stale = select(scopes.c.id).where(scopes.c.check_open_at < before, *(~one for one in live))
    return conn.execute(stale.order_by(scopes.c.check_open_at)).scalars().all()
