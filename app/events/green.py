"""Where green is learnt: CI of our own commit, and CI of a head that holds a published fix (IT-28, IT-35, T42)."""

from dataclasses import dataclass

from sqlalchemy import Connection

from app.events.handlers.outcome import Heard, ignored
from app.events.passes import Over, close_issue, learn_passes
from app.events.places import Place, reader
from app.github import checks, pulls
from app.github.client import Client
from app.ledger import diagnoses, history, incidents, issues, publications, repos, runs, transitions
from app.ledger import told as told_of
from app.ledger.rows import Row
from app.ledger.words import IssueState
from app.runs.ci import GOOD
from app.runs.facts import Ended
from app.runs.model import Cause, Outcome, Result, Stage, Status
from app.services import Services

BEFORE_PUBLISH = (Stage.PLAN_REVIEW, Stage.AGENT, Stage.PROVE, Stage.SUPERVISOR)


@dataclass(frozen=True)
class _Waiting:
    """A scope at this head with its newest run, which a green head would end or complete."""

    scope: Row
    run: Row


def learn_green(s: Services, place: Place, sha: str, branch: str | None = None) -> Heard:
    """Look into the ledger first; GitHub is asked only if somebody waits for this commit (decisions.md, row 58)."""
    with s.read() as conn:
        publication = publications.waiting_for(conn, place.repository_id, sha)
        scopes = repos.scopes_at(conn, place.repository_id, sha)
        waiting = [found for scope in scopes for found in _waits(conn, scope)]
        settled = [scope for scope in scopes if _may_be_over(conn, scope)]
        failed = history.failed_at(conn, place.repository_id, sha)
        base_issues = _base_issues(conn, place, branch)
    rings: list[tuple[str, str]] = [] if publication is None else [("advance", publication.run_id)]
    if not (waiting or settled or failed or base_issues):
        return Heard(rings=tuple(rings)) if rings else ignored("nobody waits for this commit")
    with s.connect(place.installation_id) as github:
        client = reader(github, place)
        learn_passes(s, client, place, sha, (failed, base_issues))
        rings += _look_again(s, settled)
        if not waiting or not _all_green(client, place, sha, s.settings.app_id):
            return Heard(rings=(*rings, ("deliver", str(place.installation_id))))
        contained = {found.run.id for found in waiting if _holds_fix(s, client, place, found.run)}
    for found in waiting:
        _settle(s, place, found, contained=found.run.id in contained)
    return Heard(rings=(*rings, ("deliver", str(place.installation_id))))


def _may_be_over(conn: Connection, scope: Row) -> bool:
    """Its diagnosis of this head waits for CI to begin, or for a second attempt: both end with a new look."""
    told = diagnoses.last(conn, scope.id, scope.head_sha)
    if told is None or told.outcome is None:
        return False
    return told.outcome is Outcome.CI_WAITS_FOR_APPROVAL or bool((told.details or {}).get(told_of.RERUN))


def _look_again(s: Services, settled: list[Row]) -> list[tuple[str, str]]:
    rings = []
    for scope in settled:
        with s.write() as conn:
            diagnosis_id, _ = diagnoses.open(conn, scope.id, scope.head_sha, s.clock(), s.clock())
        rings.append(("diagnose", diagnosis_id))
    return rings


def _base_issues(conn: Connection, place: Place, branch: str | None) -> list[Row]:
    """Open issues of failures on the base, if this commit is on the default branch or one that Remedy watches."""
    repository = repos.get_repository(conn, place.repository_id)
    watched = repos.find_scope(conn, place.repository_id, f"branch:{branch}") if branch else None
    if branch is None or repository is None or (branch != repository.default_branch and watched is None):
        return []
    return [issue for issue in issues.open_of_repository(conn, place.repository_id) if _on_base(conn, issue)]


def _on_base(conn: Connection, issue: Row) -> bool:
    return issue.number is not None and incidents.is_base_issue(conn, issue.id)


def _waits(conn: Connection, scope: Row) -> list[_Waiting]:
    run = runs.last(conn, scope.id)
    if run is None or scope.green_sha == scope.head_sha:
        return []
    fixed = run.result is Result.FIXED
    older = run.status in (Status.RUNNING, Status.BLOCKED) and run.head_sha != scope.head_sha
    return [_Waiting(scope, run)] if fixed or older else []


def _all_green(client: Client, place: Place, sha: str, app_id: int) -> bool:
    suites = [
        suite
        for suite in checks.find_check_suites(client, place.full_name, sha)
        if (suite.app is None or suite.app.id != app_id) and (suite.latest_check_runs_count or 0) > 0
    ]
    return bool(suites) and all(suite.status == "completed" and suite.conclusion in GOOD for suite in suites)


def _holds_fix(s: Services, client: Client, place: Place, run: Row) -> bool:
    """Whether the published fix is in the scope's head by now: its pull request was merged."""
    if run.result is not Result.FIXED:
        return False
    with s.read() as conn:
        published = publications.of_run(conn, run.id)
    number = published[-1].pr_number if published else None
    return number is not None and pulls.get_pull(client, place.full_name, number).is_merged


def _settle(s: Services, place: Place, found: _Waiting, *, contained: bool) -> None:
    now = s.clock()
    with s.write() as conn:
        if found.run.status in (Status.RUNNING, Status.BLOCKED):
            if found.run.status is Status.BLOCKED or found.run.stage in BEFORE_PUBLISH:
                transitions.apply(conn, found.run.id, Ended("superseded_green"), s.settings, now)
                close_issues(conn, place, found.scope, "green", now)
            return
        if contained:
            repos.set_green(conn, found.scope.id, found.scope.head_sha)
            close_issues(conn, place, found.scope, "green", now)
            transitions.show(conn, found.scope.id, now)


def close_issues(conn: Connection, place: Place, scope: Row, reason: str, now: int) -> None:
    """Close the open issues of failures that only this scope had (IT-28); `reason` is green or closed."""
    for group in diagnoses.groups_of_scope(conn, scope.id):
        issue = None if group.issue_id is None else issues.get(conn, group.issue_id)
        if issue is None or issue.state is not IssueState.OPEN or group.cause is Cause.BASE_RED:
            continue
        if incidents.shown_elsewhere(conn, issue.id, scope.id):
            continue
        close_issue(conn, place.installation_id, issue, scope.id, Over(reason), now)
