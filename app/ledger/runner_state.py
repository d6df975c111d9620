"""What runners remember between turns: JSON by key, apart for each repository, runner and scope (D14, D21)."""

import json
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import Connection, delete, func, select

from app.ledger.ids import new_id
from app.ledger.rows import lock, upsert
from app.ledger.schema import repositories, runner_state
from app.ledger.words import RunnerScope

VALUE_BYTES = 64 * 1024
KEYS = 100


class TooMuch(Exception):
    """A value or a shelf is full; the text says which bound."""


@dataclass(frozen=True)
class Shelf:
    """Where values are kept: of one session, of a repository for all its runners, or of one runner there."""

    installation_id: int
    repository_id: int
    runner_id: str
    scope: RunnerScope
    scope_key: str = ""

    @staticmethod
    def of(scope: RunnerScope, place: tuple[int, int], runner_id: str, session_id: str) -> "Shelf":
        """The shelf of a scope as a turn of `runner_id` sees it; `place` is (installation, repository)."""
        mine = "" if scope is RunnerScope.REPOSITORY else runner_id
        return Shelf(*place, mine, scope, session_id if scope is RunnerScope.SESSION else "")


def get(conn: Connection, shelf: Shelf, key: str) -> Any:
    """The value, None when there is none."""
    found = conn.execute(select(runner_state.c.value_json).where(*_of(shelf), runner_state.c.key == key))
    return found.scalar_one_or_none()


def put(conn: Connection, shelf: Shelf, key: str, value: Any, now: int) -> None:
    """Keep `value`, or remove the key for None. Raises TooMuch above 64 KiB and above 100 keys."""
    if value is None:
        conn.execute(delete(runner_state).where(*_of(shelf), runner_state.c.key == key))
        return
    if len(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")) > VALUE_BYTES:
        raise TooMuch(f"a value holds at most {VALUE_BYTES} bytes")
    lock(conn, repositories, shelf.repository_id)
    known = keys(conn, shelf)
    if key not in known and len(known) >= KEYS:
        raise TooMuch(f"at most {KEYS} keys are kept here")
    place = {**asdict(shelf), "key": key}
    upsert(
        conn, runner_state, place, {"id": _id(conn, shelf, key) or new_id(now), "value_json": value, "updated_at": now}
    )


def keys(conn: Connection, shelf: Shelf) -> list[str]:
    """The keys of a shelf, sorted."""
    return list(conn.execute(select(runner_state.c.key).where(*_of(shelf)).order_by(runner_state.c.key)).scalars())


def _of(shelf: Shelf) -> list[Any]:
    return [runner_state.c[name] == value for name, value in asdict(shelf).items()]


def _id(conn: Connection, shelf: Shelf, key: str) -> str | None:
    return conn.execute(select(func.max(runner_state.c.id)).where(*_of(shelf), runner_state.c.key == key)).scalar()
