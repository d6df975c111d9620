"""The history of tests: what each did where, so that flakiness is a count and not a feeling (IT-24)."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from sqlalchemy import Connection, select

from app.ledger.rows import Row, insert_new
from app.ledger.schema import test_history


@dataclass(frozen=True)
class Seen:
    """One outcome of one test; `env` names the job or tree it ran in, `source` who says so: `log`, `junit`, `proof`."""

    repository_id: int
    test_id: str
    env: str
    sha: str
    attempt: int
    source: str
    outcome: str
    fingerprint: str = ""


def record(conn: Connection, seen: Sequence[Seen], now: int) -> int:
    """Keep outcomes; how many were new. The first word about a test in an attempt stays."""
    return sum(insert_new(conn, test_history, **asdict(one), at=now) for one in seen)


def of_test(conn: Connection, repository_id: int, test_id: str, since: int) -> Sequence[Row]:
    """Outcomes of a test since a time, oldest first (BL-2: history is ordered)."""
    same = (test_history.c.repository_id == repository_id, test_history.c.test_id == test_id)
    rows = select(test_history).where(*same, test_history.c.at >= since)
    return conn.execute(rows.order_by(test_history.c.at, test_history.c.sha, test_history.c.attempt)).all()


def at_sha(conn: Connection, repository_id: int, sha: str) -> Sequence[Row]:
    """Outcomes of all tests at one commit, by test and attempt (BL-16)."""
    rows = select(test_history).where(test_history.c.repository_id == repository_id, test_history.c.sha == sha)
    return conn.execute(rows.order_by(test_history.c.test_id, test_history.c.attempt)).all()
