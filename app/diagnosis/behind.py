"""Which failing tests are run on the head merged with its base, before anybody works on them (IT-26)."""

from sqlalchemy import Connection

from app.diagnosis.blaming import MEMBERS, Blamed
from app.diagnosis.examine import Examined, blame
from app.failures.group_kind import kind_of
from app.ledger import runs
from app.ledger.rows import Row
from app.policy import Policy


def worth_merging(
    conn: Connection, told: Row, scope: Row, found: Examined, policy: Policy, now: int
) -> dict[str, list[str]]:
    """Tests by framework where the head lacks commits of its base: those that an agent would start for by itself, and
    those that the base seems to have left behind.

    Nothing of a fork is run before a maintainer starts it (FK-1), and whoever was asked for is repaired in any case.
    """
    unasked = told.asked_by is None and not scope.is_fork and scope.key.startswith("pr:")
    is_behind = found.base.behind > 0 and bool(found.base.tip_sha)
    if not (unasked and is_behind) or runs.active(conn, scope.id) is not None:
        return {}
    tests: dict[str, list[str]] = {}
    for one in blame(conn, scope, found, policy, now):
        if _is_worth_it(one, policy):
            for member in one.group.members[:MEMBERS]:
                tests.setdefault(member.framework, []).append(member.test_id)
    return tests


def _is_worth_it(one: Blamed, policy: Policy) -> bool:
    if one.blame.cause != "this_change":
        return one.blame.cause == "stale_base"
    return one.blame.cause in policy.causes and kind_of(one.group.members) in policy.repair
