"""What an agent does right now: the events of a turn as steps for a page, while the turn runs and after it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, or_, select

from app.ledger.rows import Row
from app.ledger.schema import turn_events, turns
from app.ledger.words import TurnEventKind as Kind
from app.ledger.words import TurnEventSource

AT_A_TIME = 500

KINDS: Mapping[Kind, str] = {
    Kind.SESSION_BOUND: "session",
    Kind.MESSAGE_COMPLETED: "message",
    Kind.PLAN_UPDATED: "plan",
    Kind.TOOL_CALL_STARTED: "tool",
    Kind.TOOL_CALL_COMPLETED: "tool",
    Kind.TOOL_DENIED: "tool",
    Kind.PERMISSION_DECIDED: "permission",
    Kind.USAGE_UPDATED: "usage",
    Kind.STATE_UPDATED: "state",
    Kind.TURN_LOG: "log",
    Kind.TURN_CLEANUP_FAILED: "end",
    Kind.TURN_COMPLETED: "end",
    Kind.TURN_FAILED: "end",
}
ENDS: Mapping[Kind, str] = {
    Kind.TOOL_CALL_STARTED: "running",
    Kind.TOOL_DENIED: "denied",
    Kind.TURN_COMPLETED: "completed",
    Kind.TURN_FAILED: "failed",
    Kind.TURN_CLEANUP_FAILED: "cleanup failed",
}


@dataclass(frozen=True)
class Step:
    """One thing that happened. Texts are redacted and hostile all the same: whoever shows them makes them safe.

    `kind`: session, message, plan, tool, permission, usage, state, log or end. `call` ties the steps of one tool call
    together; `state` says how that stands: running, done, failed, denied; of a permission allow_once or reject_once.
    `plan` are (what, state) pairs. `by_host` marks calls of our own tools, which the host itself saw.
    """

    turn_id: str
    seq: int
    at: int
    kind: str
    title: str = ""
    text: str = ""
    call: str = ""
    state: str = ""
    plan: tuple[tuple[str, str], ...] = ()
    by_host: bool = False
    data: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def cursor(self) -> tuple[str, int]:
        """Hand this to `of_run` to read on behind this step."""
        return self.turn_id, self.seq


def of_turn(conn: Connection, turn_id: str, after: int = 0, limit: int = AT_A_TIME) -> list[Step]:
    """Steps of one turn behind the number `after`, in order."""
    rows = select(turn_events).where(turn_events.c.turn_id == turn_id, turn_events.c.seq > after)
    return _steps(conn.execute(rows.order_by(turn_events.c.seq).limit(limit)).all())


def of_run(conn: Connection, run_id: str, after: tuple[str, int] | None = None, limit: int = AT_A_TIME) -> list[Step]:
    """Steps of all turns of a run behind the cursor `after`, in order; an unknown cursor begins anew."""
    rows = select(turn_events).join(turns, turns.c.id == turn_events.c.turn_id).where(turns.c.run_id == run_id)
    if after is not None and (behind := _behind(conn, run_id, after)) is not None:
        rows = rows.where(behind)
    order = (turns.c.created_at, turns.c.id, turn_events.c.seq)
    return _steps(conn.execute(rows.order_by(*order).limit(limit)).all())


def _behind(conn: Connection, run_id: str, after: tuple[str, int]) -> ColumnElement[bool] | None:
    turn_id, seq = after
    known = select(turns.c.created_at).where(turns.c.id == turn_id, turns.c.run_id == run_id)
    created_at = conn.execute(known).scalar_one_or_none()
    if created_at is None:
        return None
    return or_(
        turns.c.created_at > created_at,
        and_(turns.c.created_at == created_at, turns.c.id > turn_id),
        and_(turns.c.id == turn_id, turn_events.c.seq > seq),
    )


def _steps(rows: Sequence[Row]) -> list[Step]:
    return [_step(row) for row in rows if row.type in KINDS]


def _step(row: Row) -> Step:
    data: Mapping[str, Any] = row.data_json or {}
    return Step(
        turn_id=row.turn_id,
        seq=row.seq,
        at=row.at,
        kind=KINDS[row.type],
        title=str(data.get("title") or data.get("key") or ""),
        text=str(data.get("text") or data.get("output") or data.get("message") or data.get("error") or ""),
        call=str(data.get("call") or ""),
        state=_state(row.type, data),
        plan=tuple((str(one.get("what", "")), str(one.get("status", ""))) for one in data.get("steps", ())),
        by_host=row.source is TurnEventSource.HOST,
        data=data,
    )


def _state(kind: Kind, data: Mapping[str, Any]) -> str:
    if kind is Kind.TOOL_CALL_COMPLETED:
        return "done" if data.get("ok") else "failed"
    return ENDS.get(kind) or str(data.get("decision") or "")
