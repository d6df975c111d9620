"""All that is collected about the red checks of one head before a cause is named: failures, groups, base, history."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy import Connection

from app.diagnosis.base_branch import BaseSeen, Wanted, look_at_base
from app.diagnosis.blaming import Blamed, Known, blame_groups
from app.diagnosis.past import DAY_MS, remember
from app.diagnosis.reading import CheckRead, failures_of
from app.failures.grouping import Group, group_failures
from app.failures.model import Failure
from app.github.client import Client
from app.ledger import history
from app.ledger.history import FAILED
from app.ledger.rows import Row
from app.policy import Policy
from app.services import Services

MOST_TESTS = 200
"""So many tests are looked up in the history; the groups behind them share their causes."""


@dataclass(frozen=True)
class Examined:
    """The red checks of a head as read, what fails in them, and what the base shows.

    `cured` counts the runs of a test that failed on the head and passed on the head merged with the base (IT-26).
    """

    read: Sequence[CheckRead]
    failing: Sequence[tuple[CheckRead, Failure]]
    groups: Sequence[Group]
    base: BaseSeen
    cured: Mapping[str, int] = field(default_factory=dict)

    @property
    def shown(self) -> dict[str, CheckRead]:
        """The check that showed each test."""
        return {failure.test_id: one for one, failure in self.failing}


def examine(s: Services, client: Client, repo: str, scope: Row, read: Sequence[CheckRead]) -> Examined:
    """Group what fails, and look at the base for the same checks; the ledger is changed by `keep_history` only."""
    failing = failures_of(read)
    if not failing:
        return Examined(read, (), (), BaseSeen())
    names = list(dict.fromkeys(one.check.name for one, _ in failing))

    def known(sha: str) -> Mapping[str, set[str]]:
        with s.read() as conn:
            return _read_before(conn, scope.repository_id, sha)

    base = look_at_base(s, client, repo, scope, Wanted(names, known))
    return Examined(read, failing, group_failures([failure for _, failure in failing]), base)


def keep_history(conn: Connection, scope: Row, found: Examined, now: int) -> None:
    """Each diagnosis adds to the history of its tests, and of the base's (BL-3)."""
    pairs = [(scope.head_sha, one) for one in found.read]
    remember(conn, scope.repository_id, [*pairs, *found.base.read], now)


def blame(conn: Connection, scope: Row, found: Examined, policy: Policy | None, now: int) -> list[Blamed]:
    """The cause of each group, with what the history says now."""
    window = policy.flaky if policy is not None else Policy().flaky
    since = now - window.days * DAY_MS
    tests = [failure.test_id for _, failure in found.failing][:MOST_TESTS]
    past = {test: history.of_test(conn, scope.repository_id, test, since) for test in tests}
    on_base = scope.key.startswith("branch:")
    known = Known(scope.head_sha, found.base, past, window.commits, on_base, found.cured)
    return blame_groups(found.groups, found.shown, known)


def _read_before(conn: Connection, repository_id: int, sha: str) -> Mapping[str, set[str]]:
    """Failures of a commit whose logs were read already, by check: a base is read once, not once per head."""
    found: dict[str, set[str]] = {}
    for row in history.at_sha(conn, repository_id, sha):
        if row.outcome == FAILED and row.source == "log":
            found.setdefault(row.env, set()).add(row.fingerprint)
    return found
