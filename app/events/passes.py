"""What green checks teach: a failed test passed in a later attempt; a failure of the base is over (BL-3, IT-28)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from app.events.places import Place
from app.github import checks
from app.github.client import Client
from app.ledger import diagnoses, history, incidents, issues, outbox, transitions
from app.ledger.history import PASSED, Seen
from app.ledger.rows import Row
from app.ledger.words import OutboxKind
from app.services import Services

GREEN_RUNS = 3
"""So many passing runs on the base close the issue of a failure there."""


def passing(client: Client, place: Place, sha: str) -> Mapping[str, bool]:
    """Whether each check of a commit is green in its last attempt, by name."""
    runs = checks.find_check_runs(client, place.full_name, sha)
    return {run.name: run.conclusion == "success" for run in sorted(runs, key=lambda run: run.id)}


def learn_passes(
    s: Services, place: Place, at: tuple[str, Mapping[str, bool]], about: tuple[Sequence[Row], Sequence[Row]]
) -> None:
    """`at` is a commit and what `passing` says of it.

    `about` are failures at this commit without an answer, and open issues of the base if the commit is on it.
    """
    sha, green = at
    failed, base_issues = about
    now = s.clock()
    with s.write() as conn:
        passes = [
            Seen(place.repository_id, row.test_id, row.env, sha, row.attempt + 1, "check", PASSED)
            for row in failed
            if green.get(row.env)
        ]
        history.record(conn, passes, now)
        for issue in base_issues:
            _count_green(conn, place, issue, at, now)


@dataclass(frozen=True)
class Over:
    """Why an issue ends: `reason` is green, closed or base; `shas` are the commits that show it."""

    reason: str
    shas: Sequence[str] = ()


def close_issue(conn: Connection, installation_id: int, issue: Row, scope_id: str, over: Over, now: int) -> None:
    """Close an issue by evidence, once."""
    if issues.close(conn, issue.id, over.reason, now):
        outbox.put(
            conn,
            key=f"close_issue:{issue.id}:{issue.seen_count}",
            lane=f"issue:{issue.id}",
            kind=OutboxKind.CLOSE_ISSUE,
            payload={"issue_id": issue.id, "scope_id": scope_id, "reason": over.reason, "shas": list(over.shas)},
            installation_id=installation_id,
            now=now,
        )


def _count_green(conn: Connection, place: Place, issue: Row, at: tuple[str, Mapping[str, bool]], now: int) -> None:
    """One more passing run of all jobs in which the failure was seen; after the third it is over."""
    sha, green = at
    group = diagnoses.newest_group_of_issue(conn, issue.id)
    if group is None:
        return
    told = diagnoses.get(conn, group.diagnosis_id)
    names = {check["id"]: check["name"] for check in told.check_runs or ()}
    members = diagnoses.failures_of_group(conn, group.id)
    jobs = {names[member.check_run_id] for member in members if member.check_run_id in names}
    if not jobs or not all(green.get(job) for job in jobs):
        return
    seen = [Seen(place.repository_id, m.test_id, names[m.check_run_id], sha, 1, "check", PASSED) for m in members[:20]]
    if not history.record(conn, seen, now) or issues.green(conn, issue.id) < GREEN_RUNS:
        return
    also = incidents.also_red(conn, [issue.id])
    shas = history.green_shas(conn, place.repository_id, members[0].test_id, GREEN_RUNS)
    close_issue(conn, place.installation_id, issue, told.scope_id, Over("base", shas), now)
    for scope_id in also:
        transitions.show(conn, scope_id, now)
