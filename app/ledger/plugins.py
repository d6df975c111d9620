"""Installed runners: how far each install is, and why a broken one is broken; the files are found by their digest."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, delete, select, update

from app.ledger.rows import Row, upsert
from app.ledger.schema import runners, turns
from app.ledger.words import RunnerState
from app.runs.model import ItemStatus

LOG_CHARS = 20_000


@dataclass(frozen=True)
class NewRunner:
    """A runner whose files were received; `origin` says where from, for people."""

    id: str
    version: str
    label: str
    digest: str
    manifest: Mapping[str, Any]
    origin: str


def receive(conn: Connection, new: NewRunner, percent: int, progress: str, now: int) -> None:
    """A row that is being installed; another version of the same id is replaced by it."""
    values = {
        "version": new.version,
        "label": new.label,
        "digest": new.digest,
        "manifest_json": dict(new.manifest),
        "origin": new.origin,
        "state": RunnerState.INSTALLING,
        "percent": percent,
        "progress": progress,
        "error": "",
        "log_tail": "",
        "rung_at": None,
        "updated_at": now,
    }
    upsert(conn, runners, {"id": new.id}, values)


def step(conn: Connection, digest: str, percent: int, progress: str, now: int) -> None:
    """How far it is; only while it is being installed."""
    values = {"percent": percent, "progress": progress, "updated_at": now}
    conn.execute(_installing(digest).values(**values))


def ready(conn: Connection, runner_id: str, now: int) -> None:
    """Installed and probed (D5: exactly 100)."""
    values = {"state": RunnerState.READY, "percent": 100, "progress": "ready", "error": "", "updated_at": now}
    conn.execute(update(runners).where(runners.c.id == runner_id).values(**values))


def broken(conn: Connection, runner_id: str, error: str, log_tail: str, now: int) -> None:
    """It cannot be used, and why; with the end of what was said (D7)."""
    values = {"state": RunnerState.BROKEN, "error": error, "log_tail": log_tail[-LOG_CHARS:], "updated_at": now}
    conn.execute(update(runners).where(runners.c.id == runner_id).values(**values))


def disable(conn: Connection, runner_id: str, now: int) -> bool:
    """No further turn begins with it; False for an unknown id."""
    values = {"state": RunnerState.DISABLED, "updated_at": now}
    return conn.execute(update(runners).where(runners.c.id == runner_id).values(**values)).rowcount == 1


def forget(conn: Connection, runner_id: str) -> bool:
    """Remove the row of a disabled runner, unless a turn runs with its files; False then."""
    busy = select(turns.c.id).where(turns.c.status == ItemStatus.RUNNING, turns.c.runner_digest == runners.c.digest)
    gone = delete(runners).where(runners.c.id == runner_id, runners.c.state == RunnerState.DISABLED, ~busy.exists())
    return conn.execute(gone).rowcount == 1


def get(conn: Connection, runner_id: str) -> Row | None:
    return conn.execute(select(runners).where(runners.c.id == runner_id)).one_or_none()


def of_digest(conn: Connection, digest: str) -> Row | None:
    return conn.execute(select(runners).where(runners.c.digest == digest)).first()


def everything(conn: Connection) -> Sequence[Row]:
    """All rows, by id."""
    return conn.execute(select(runners).order_by(runners.c.id)).all()


def usable(conn: Connection) -> list[str]:
    """Digests of the runners that are ready."""
    rows = select(runners.c.digest).where(runners.c.state == RunnerState.READY).order_by(runners.c.digest)
    return list(conn.execute(rows).scalars())


def _installing(digest: str) -> Any:
    return update(runners).where(runners.c.digest == digest, runners.c.state == RunnerState.INSTALLING)
