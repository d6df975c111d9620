"""The history of a failing test: how often it failed and passed on one commit, here and elsewhere (IT-24, BL-2)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection

from app.diagnosis.reading import CheckRead
from app.failures.model import Failure
from app.ledger import history
from app.ledger.history import FAILED, PASSED, Seen
from app.ledger.rows import Row

DAY_MS = 24 * 3600 * 1000
AGAIN: Mapping[str, Any] = {"outcome": PASSED, "source": "again", "fingerprint": ""}


@dataclass(frozen=True)
class Past:
    """Counts about one failure in one job: on this head, and on other commits of the window."""

    head_red: int = 0
    head_green: int = 0
    flaky_commits: int = 0
    runs: int = 0
    flakes: int = 0
    streak: int = 1


def past_of(rows: Iterable[Row], env: str, fingerprint: str, head_sha: str) -> Past:
    """`rows` are those of one test, oldest first. A failure with another error is another failure (BL-5).

    A commit counts as flaky when this failure and a pass of the test were seen there: the tree was one and the same.
    """
    mine = [row for row in rows if row.env == env]
    relevant = [row for row in mine if row.outcome == PASSED or row.fingerprint == fingerprint]
    red = {(row.sha, row.attempt) for row in relevant if row.outcome == FAILED}
    green = {(row.sha, row.attempt) for row in relevant if row.outcome == PASSED}
    both = {sha for sha, _ in red} & {sha for sha, _ in green}
    flaky = both - {head_sha}
    head_red = sum(sha == head_sha for sha, _ in red)
    return Past(
        head_red=head_red,
        head_green=sum(sha == head_sha for sha, _ in green),
        flaky_commits=len(flaky),
        runs=len(red | green),
        flakes=sum(sha in both for sha, _ in red),
        streak=max(1, head_red),
    )


def remember(
    conn: Connection, repository_id: int, read: Sequence[tuple[str, CheckRead]], now: int, passed: Sequence[Seen] = ()
) -> None:
    """Keep what the logs of these commits said about tests, as (commit, check) pairs; `passed` was learnt beside."""
    rows = list(passed)
    for sha, one in read:
        if one.reading is None:
            continue
        # A flaky one failed, then passed, in one job: a flake within a single attempt.
        rows += [_seen(repository_id, sha, one, failure) for failure in one.reading.findings]
        rows += [replace(_seen(repository_id, sha, one, failure), **AGAIN) for failure in one.reading.flaky]
    history.record(conn, rows, now)


def _seen(repository_id: int, sha: str, one: CheckRead, failure: Failure) -> Seen:
    env, attempt = one.check.name, one.attempt
    return Seen(repository_id, failure.test_id, env, sha, attempt, "log", FAILED, failure.fingerprint)
