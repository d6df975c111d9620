"""Where green is learnt: CI of our own commit, and of a head that people were told is red (IT-28, IT-35, T42)."""

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import Connection

from app.events.handlers.outcome import Heard, ignored
from app.events.passes import Over, close_issue, learn_passes, passing
from app.events.places import Place, reader
from app.github import checks, pulls
from app.github.client import Client
from app.ledger import diagnoses, history, incidents, issues, publications, repos, runs, transitions
from app.ledger import told as told_of
from app.ledger.rows import Row
from app.ledger.schema.run import ACTIVE
from app.ledger.words import IssueState
from app.runs.ci import GOOD
from app.runs.facts import Ended
from app.runs.model import Cause, DiagnosisState, Outcome, Result, Stage, Status
from app.services import Services

BEFORE_PUBLISH = (Stage.PLAN_REVIEW, Stage.AGENT, Stage.PROVE, Stage.SUPERVISOR)
WITH_FIX = (Result.FIXED, Result.HANDED_OVER)
TOLD_RED = frozenset(
    {
        Outcome.NOT_OURS,
        Outcome.STALE_BASE,
        Outcome.INFRASTRUCTURE,
        Outcome.NEEDS_MAINTAINER,
        Outcome.NO_TESTS_RECOGNISED,
        Outcome.LOG_UNAVAILABLE,
        Outcome.LIMIT_REACHED,
        Outcome.CI_WAITS_FOR_APPROVAL,
    }
)
"""How a diagnosis ends that tells people of a red check and starts nothing."""


@dataclass(frozen=True)
class _Waiting:
    """A scope at this head, with the newest run that a green head would end or complete, if there is one.

    `jobs` are the checks that showed failing tests: they have to be green here, for a test that did not run is no pass.
    """

    scope: Row
    run: Row | None
    jobs: frozenset[str]


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
        all_green = bool(waiting) and _all_green(client, place, sha, s.settings.app_id)
        green = passing(client, place, sha) if failed or base_issues or all_green else {}
        learn_passes(s, place, (sha, green), (failed, base_issues))
        rings += _look_again(s, settled)
        looked = [(found, _has_fix(s, client, place, found)) for found in waiting] if all_green else []
    over = [(found, has_fix) for found, has_fix in looked if has_fix or _is_over(found, green)]
    for found, has_fix in over:
        _settle(s, place, found, own_way=not has_fix)
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
    run, told = runs.last(conn, scope.id), diagnoses.last(conn, scope.id)
    if told is None or scope.green_sha == scope.head_sha:
        return []
    if run is not None and _may_end(run, scope):
        return [_Waiting(scope, run, _red_jobs(diagnoses.get(conn, run.diagnosis_id)))]
    return [_Waiting(scope, None, _red_jobs(told))] if _says_red(scope, run, told) else []


def _may_end(run: Row, scope: Row) -> bool:
    """It handed a fix over, or it is at work for an older head."""
    return run.result in WITH_FIX or (run.status in ACTIVE and run.head_sha != scope.head_sha)


def _says_red(scope: Row, run: Row | None, told: Row) -> bool:
    """Whether a comment stands, or our check on this head, that tells of something red without a run for it."""
    stands = scope.comment_id is not None or (scope.check_run_id is not None and scope.check_head_sha == scope.head_sha)
    if run is not None and told.id == run.diagnosis_id:
        return stands and run.status is Status.COMPLETED and run.head_sha != scope.head_sha
    return stands and _is_red(told) and (run is None or run.status not in ACTIVE)


def _is_red(told: Row) -> bool:
    return told.outcome in TOLD_RED or told.state is DiagnosisState.FAILED


def _red_jobs(told: Row) -> frozenset[str]:
    """The checks in which tests failed, or all red ones where none did."""
    red = told.check_runs or ()
    return frozenset(check["name"] for check in [one for one in red if one.get("tests", True)] or red)


def _all_green(client: Client, place: Place, sha: str, app_id: int) -> bool:
    suites = [
        suite
        for suite in checks.find_check_suites(client, place.full_name, sha)
        if (suite.app is None or suite.app.id != app_id) and (suite.latest_check_runs_count or 0) > 0
    ]
    return bool(suites) and all(suite.status == "completed" and suite.conclusion in GOOD for suite in suites)


def _is_over(found: _Waiting, green: Mapping[str, bool]) -> bool:
    """What was red is green here (IT-35, HM-3). A fix that waits to be merged is not in the head that it is for."""
    is_green = all(green.get(job) for job in found.jobs)
    return is_green and (found.run is None or found.run.head_sha != found.scope.head_sha)


def _has_fix(s: Services, client: Client, place: Place, found: _Waiting) -> bool:
    """Whether the fix is in the head: its commit is the head, or its pull request was merged."""
    if found.run is None or found.run.result is not Result.FIXED:
        return False
    with s.read() as conn:
        published = publications.of_run(conn, found.run.id)
    if published and published[-1].pushed_sha == found.scope.head_sha:
        return True
    number = published[-1].pr_number if published else None
    return number is not None and pulls.get_pull(client, place.full_name, number).is_merged


def _settle(s: Services, place: Place, found: _Waiting, *, own_way: bool) -> None:
    """End the run, complete its text, or say that nothing fails any more; `own_way`: maybe without the fix."""
    scope, run, now = found.scope, found.run, s.clock()
    with s.write() as conn:
        if run is not None and run.status in ACTIVE:
            if run.status is Status.RUNNING and run.stage not in BEFORE_PUBLISH:
                return
            transitions.apply(conn, run.id, Ended("superseded_green"), s.settings, now)
        elif not _nothing_fails(conn, scope, run, now):
            return
        elif run is not None:
            repos.set_green(conn, scope.id, scope.head_sha)
            repos.note(conn, scope.id, told_of.OWN_WAY, {"sha": scope.head_sha} if own_way else None)
        close_issues(conn, place, scope, "green", now)
        transitions.show(conn, scope.id, now)


def _nothing_fails(conn: Connection, scope: Row, run: Row | None, now: int) -> bool:
    """Take back what the last diagnosis told of this head, unless a new one is on its way."""
    told = diagnoses.last(conn, scope.id, scope.head_sha)
    if run is not None and (told is None or not _is_red(told)):
        return True
    diagnosis_id, is_new = diagnoses.open(conn, scope.id, scope.head_sha, now, now)
    return is_new and diagnoses.end(conn, diagnosis_id, Outcome.NOTHING_FAILED, now)


def close_issues(conn: Connection, place: Place, scope: Row, reason: str, now: int) -> None:
    """Close the open issues of failures that only this scope had (IT-28); `reason` is green or closed."""
    for group in diagnoses.groups_of_scope(conn, scope.id):
        issue = None if group.issue_id is None else issues.get(conn, group.issue_id)
        if issue is None or issue.state is not IssueState.OPEN or group.cause is Cause.BASE_RED:
            continue
        if incidents.shown_elsewhere(conn, issue.id, scope.id):
            continue
        close_issue(conn, place.installation_id, issue, scope.id, Over(reason), now)
