"""Tests that passed and failed on one commit, with how often and in which range the true rate may lie."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

from sqlalchemy import Connection, func, select

from app.ledger.history import FAILED, PASSED
from app.ledger.rows import Row
from app.ledger.rules import policy_of
from app.ledger.schema import diagnoses as diagnoses_table
from app.ledger.schema import failure_groups, failures, issues, repositories, scopes, test_history

LAST = 50
MOST = 100
DAY_MS = 24 * 3600 * 1000
Z95 = 1.96


@dataclass(frozen=True)
class FlakyTest:
    """`marks` are the last outcomes, oldest first, True for a failure; `low` and `high` are percent."""

    repository: str
    repository_id: int
    test_id: str
    marks: tuple[bool, ...]
    failed: int
    low: float
    high: float
    commits: int
    issue: int | None = None

    @property
    def rate(self) -> float:
        return 100 * self.failed / len(self.marks)

    def as_json(self) -> dict[str, Any]:
        """The same facts for scripts."""
        names = ("repository", "test_id", "failed", "commits", "issue")
        numbers = {"runs": len(self.marks), "rate": round(self.rate, 1), "range": [round(self.low), round(self.high)]}
        return {**{name: getattr(self, name) for name in names}, **numbers}


def flaky_tests(conn: Connection, readable: Collection[int], now: int) -> list[FlakyTest]:
    """Worst first; a test counts when as many commits as the policy says saw both outcomes (IT-24)."""
    mine = (repositories.c.id.in_(readable), repositories.c.removed_at.is_(None))
    found = [
        one
        for repository in conn.execute(select(repositories).where(*mine).order_by(repositories.c.full_name)).all()
        for one in _of_repository(conn, repository, now)
    ]
    return sorted(found, key=lambda one: (-one.rate, one.repository, one.test_id))[:MOST]


def wilson(failed: int, runs: int) -> tuple[float, float]:
    """The range, in percent, in which the true rate lies with 95 %."""
    share, square = failed / runs, Z95 * Z95
    middle = share + square / (2 * runs)
    spread = Z95 * sqrt(share * (1 - share) / runs + square / (4 * runs * runs))
    whole = 1 + square / runs
    return max(0.0, 100 * (middle - spread) / whole), min(100.0, 100 * (middle + spread) / whole)


def _of_repository(conn: Connection, repository: Row, now: int) -> Iterator[FlakyTest]:
    rule = policy_of(repository).get("flaky") or {}
    since = now - int(rule.get("days", 30)) * DAY_MS
    recent = (test_history.c.repository_id == repository.id, test_history.c.at >= since)
    both = (
        select(test_history.c.test_id, test_history.c.sha)
        .where(*recent, test_history.c.outcome.in_((FAILED, PASSED)))
        .group_by(test_history.c.test_id, test_history.c.sha)
        .having(func.count(func.distinct(test_history.c.outcome)) > 1)
    )
    commits: dict[str, int] = defaultdict(int)
    for test_id, _ in conn.execute(both).all():
        commits[test_id] += 1
    for test_id, n in commits.items():
        if n >= int(rule.get("commits", 2)):
            yield _flaky(
                repository, test_id, n, _marks(conn, repository.id, test_id), _issue(conn, repository, test_id)
            )


def _flaky(repository: Row, test_id: str, commits: int, marks: Sequence[bool], issue: int | None) -> FlakyTest:
    low, high = wilson(sum(marks), len(marks))
    name, number = repository.full_name, repository.id
    return FlakyTest(name, number, test_id, tuple(marks), sum(marks), low, high, commits, issue)


def _marks(conn: Connection, repository_id: int, test_id: str) -> list[bool]:
    mine = (test_history.c.repository_id == repository_id, test_history.c.test_id == test_id)
    rows = select(test_history.c.outcome).where(*mine, test_history.c.outcome.in_((FAILED, PASSED)))
    newest = conn.execute(rows.order_by(test_history.c.at.desc(), test_history.c.attempt.desc()).limit(LAST)).scalars()
    return [outcome == FAILED for outcome in newest][::-1]


def _issue(conn: Connection, repository: Row, test_id: str) -> int | None:
    """The newest issue about this test."""
    rows = (
        select(issues.c.number)
        .join(failure_groups, failure_groups.c.issue_id == issues.c.id)
        .join(failures, failures.c.group_id == failure_groups.c.id)
        .join(diagnoses_table, diagnoses_table.c.id == failures.c.diagnosis_id)
        .join(scopes, scopes.c.id == diagnoses_table.c.scope_id)
        .where(scopes.c.repository_id == repository.id, failures.c.test_id == test_id, issues.c.number.is_not(None))
        .order_by(diagnoses_table.c.created_at.desc())
        .limit(1)
    )
    return conn.execute(rows).scalar_one_or_none()
