"""Sessions: one conversation with an agent or a supervisor; its row is never replaced (IV-4)."""

from sqlalchemy import Connection, select, update

from app.ledger.ids import new_id
from app.ledger.rows import Row, insert_new
from app.ledger.schema import sessions
from app.ledger.words import SessionState
from app.runs.model import Role


def create(
    conn: Connection, run_id: str, role: Role, runner_id: str, now: int, *, dedupe_key: str | None = None
) -> str | None:
    """A new open session; its id. None if an open one of this runner has the same dedupe key (decisions.md, 17)."""
    session_id = new_id(now)
    row = {"id": session_id, "run_id": run_id, "role": role, "runner_id": runner_id, "dedupe_key": dedupe_key}
    return session_id if insert_new(conn, sessions, **row, created_at=now) else None


def get(conn: Connection, session_id: str) -> Row:
    """The whole row; raises sqlalchemy.exc.NoResultFound for an unknown id."""
    return conn.execute(select(sessions).where(sessions.c.id == session_id)).one()


def opened(conn: Connection, session_id: str, agent_session_id: str, *, model: str, workspace: str) -> bool:
    """The agent's own id of the conversation; True if it replaces another one (write `session.replaced` then)."""
    before = get(conn, session_id).agent_session_id
    values = {"agent_session_id": agent_session_id, "model": model, "workspace": workspace, "state": SessionState.OPEN}
    conn.execute(update(sessions).where(sessions.c.id == session_id).values(**values))
    return before is not None and before != agent_session_id


def name(conn: Connection, session_id: str, dedupe_key: str) -> None:
    """The tag by which a remote session is found again; stored before anything is called (G18)."""
    conn.execute(update(sessions).where(sessions.c.id == session_id).values(dedupe_key=dedupe_key))


def open_ids(conn: Connection) -> list[str]:
    """Sessions whose run is not over; their rooms are kept."""
    rows = select(sessions.c.id).where(sessions.c.state != SessionState.CLOSED)
    return list(conn.execute(rows.order_by(sessions.c.id)).scalars())


def lost(conn: Connection, session_id: str) -> None:
    """The agent cannot load it any more (CR-13)."""
    conn.execute(update(sessions).where(sessions.c.id == session_id).values(state=SessionState.LOST))


def close_of_run(conn: Connection, run_id: str) -> None:
    """The run ended: its sessions are closed and their dedupe keys free."""
    conn.execute(update(sessions).where(sessions.c.run_id == run_id).values(state=SessionState.CLOSED))
