"""A check of somebody else ended, or a button of our own check was pressed."""

from sqlalchemy import Connection

from app.events.green import learn_green
from app.events.handlers.outcome import Heard, ignored
from app.events.payloads import CheckRunEvent, CheckSuiteEvent, WorkflowRunEvent
from app.events.payloads.parts import CheckRun
from app.events.places import (
    Place,
    is_on,
    keep_branch,
    keep_pull,
    know,
    policy_at,
    pulls_at,
    reader,
)
from app.github.client import Client
from app.github.pulls import Pull
from app.ledger import commands, diagnoses, publications, repos, told, transitions
from app.ledger.words import CommandSource
from app.policy import Policy
from app.runs.model import Outcome
from app.services import Services

NEVER_BEGAN = {"action_required": Outcome.CI_WAITS_FOR_APPROVAL, "startup_failure": Outcome.INFRASTRUCTURE}
STARTUP = "the workflow could not start: its file has a mistake"
BUTTONS = {"fix": "fix", "resume": "resume", "block": "block"}


def on_check_run_completed(s: Services, event: CheckRunEvent, guid: str) -> Heard:
    """A red check: wait for its siblings, then diagnose (IT-6 to IT-12). Success never comes this far (A2)."""
    if event.check_run.app is not None and event.check_run.app.id == s.settings.app_id:
        return ignored("our own check")
    with s.write() as conn:
        place = know(conn, event)
    if place is None:
        return ignored("no installation")
    sha = event.check_run.head_sha
    with s.connect(place.installation_id) as github:
        client = reader(github, place)
        found = pulls_at(client, place, sha)
        if not found:
            return _on_branch(s, client, place, event)
        base = found[0].base.ref
        policy = policy_at(s, client, place, base)
    if not is_on(policy):
        return ignored("not enabled")
    if isinstance(policy, Policy) and (why := _unwanted(found[0], policy)):
        return ignored(why)
    return _open(s, place, found, event.check_run)


def _on_branch(s: Services, client: Client, place: Place, event: CheckRunEvent) -> Heard:
    """No pull request has this head: a branch that policy lists, or nothing."""
    suite = event.check_run.check_suite
    branch = suite.head_branch if suite is not None else None
    with s.read() as conn:
        row = repos.get_repository(conn, place.repository_id)
        waiting = publications.waiting_for(conn, place.repository_id, event.check_run.head_sha)
    if waiting is not None:
        return Heard(rings=(("advance", waiting.run_id),))
    if branch is None or row is None:
        return ignored("no open pull request has this head")
    policy = policy_at(s, client, place, branch)
    if not isinstance(policy, Policy) or not policy.enabled or branch not in policy.branches:
        return ignored("no open pull request has this head")
    now = s.clock()
    with s.write() as conn:
        scope = keep_branch(conn, place, branch, event.check_run.head_sha, now)
        diagnosis_id = _diagnosis(s, conn, scope.id, event.check_run, now)
    return Heard(rings=(("diagnose", diagnosis_id),))


def _unwanted(pull: Pull, policy: Policy) -> str:
    """IT-11: drafts and bots are left alone unless policy says otherwise; bots are known by id (FK-8)."""
    if pull.draft and not policy.drafts:
        return "a draft"
    if pull.user is not None and pull.user.type == "Bot":
        allowed = {bot.id for bot in policy.allowed_bots}
        return "" if pull.user.id in allowed else "a pull request of a bot"
    return ""


def _open(s: Services, place: Place, found: list[Pull], check: CheckRun) -> Heard:
    now = s.clock()
    rings: list[tuple[str, str]] = []
    with s.write() as conn:
        for pull in found:
            scope = keep_pull(conn, place, pull, now)
            if scope.off_at is not None:
                continue
            diagnosis_id = _diagnosis(s, conn, scope.id, check, now)
            if len(found) > 1:
                diagnoses.end(conn, diagnosis_id, Outcome.AMBIGUOUS_SCOPE, now)
            rings.append(("diagnose", diagnosis_id))
    return Heard(rings=tuple(rings)) if rings else ignored("Remedy was told to stay off")


def _diagnosis(s: Services, conn: Connection, scope_id: str, check: CheckRun, now: int) -> str:
    """The open diagnosis of this head; each red sibling moves its start by the quiet window (IT-12)."""
    due_at = s.in_ms(s.settings.times.quiet_s)
    diagnosis_id, is_new = diagnoses.open(conn, scope_id, check.head_sha, now, due_at)
    if not is_new:
        diagnoses.update_open(conn, diagnosis_id, now, due_at=due_at)
    diagnoses.saw_red(conn, diagnosis_id, check.id, check.name, now)
    transitions.show(conn, scope_id, now, comment=False)
    return diagnosis_id


def on_check_suite_completed(s: Services, event: CheckSuiteEvent, guid: str) -> Heard:
    """All checks of an app are in: somebody may wait for exactly this commit (decisions.md, row 58)."""
    if event.check_suite.app is not None and event.check_suite.app.id == s.settings.app_id:
        return ignored("our own suite")
    if event.check_suite.conclusion in NEVER_BEGAN:
        return ignored("its workflow run says the same")
    with s.write() as conn:
        place = know(conn, event)
    if place is None:
        return ignored("no installation")
    return learn_green(s, place, event.check_suite.head_sha, event.check_suite.head_branch)


def on_workflow_run_completed(s: Services, event: WorkflowRunEvent, guid: str) -> Heard:
    """As a suite; GitHub Actions tells both, in any order. One that waits for a maintainer has no job to be read."""
    with s.write() as conn:
        place = know(conn, event)
    if place is None:
        return ignored("no installation")
    run = event.workflow_run
    if run.conclusion in NEVER_BEGAN:
        return _never_began(s, place, event)
    return learn_green(s, place, run.head_sha, run.head_branch)


def _never_began(s: Services, place: Place, event: WorkflowRunEvent) -> Heard:
    """No job is there to fail (F-A10, F-A11): the check says who must act, and no comment is written for it."""
    run, now = event.workflow_run, s.clock()
    outcome = NEVER_BEGAN[run.conclusion or ""]
    with s.connect(place.installation_id) as github:
        client = reader(github, place)
        found = pulls_at(client, place, run.head_sha)
        policy = policy_at(s, client, place, found[0].base.ref) if found else None
    if not found or not isinstance(policy, Policy) or not policy.enabled or _unwanted(found[0], policy):
        return ignored("nobody to be told")
    with s.write() as conn:
        for pull in found:
            scope = keep_pull(conn, place, pull, now)
            if scope.off_at is not None or diagnoses.last(conn, scope.id, run.head_sha) is not None:
                continue
            diagnosis_id, _ = diagnoses.open(conn, scope.id, run.head_sha, now, now)
            details = {told.WORKFLOW: s.redactor.text(run.name or "")[:200]}
            problem = "" if outcome is Outcome.CI_WAITS_FOR_APPROVAL else STARTUP
            diagnoses.update_open(conn, diagnosis_id, now, details=details, problem=problem)
            diagnoses.end(conn, diagnosis_id, outcome, now, problem=problem)
            transitions.show(conn, scope.id, now)
    return Heard(rings=(("deliver", str(place.installation_id)),))


def on_check_run_requested_action(s: Services, event: CheckRunEvent, guid: str) -> Heard:
    """A button of our check (section 18)."""
    identifier = event.requested_action.identifier if event.requested_action is not None else ""
    verb = BUTTONS.get(identifier)
    return ignored("no button of ours") if verb is None else _pressed(s, event, guid, verb)


def on_check_run_rerequested(s: Services, event: CheckRunEvent, guid: str) -> Heard:
    """GitHub's own Re-run on our check is Resume (UX-K6)."""
    return _pressed(s, event, guid, "resume")


def on_check_suite_rerequested(s: Services, event: CheckSuiteEvent, guid: str) -> Heard:
    """Re-run all on our suite: Resume in every scope at this head."""
    if event.check_suite.app is None or event.check_suite.app.id != s.settings.app_id:
        return ignored("not our suite")
    return _store(s, event, guid, (event.check_suite.head_sha, "resume"))


def _pressed(s: Services, event: CheckRunEvent, guid: str, verb: str) -> Heard:
    check = event.check_run
    if check.app is None or check.app.id != s.settings.app_id:
        return ignored("not our check")
    return _store(s, event, guid, (check.head_sha, verb))


def _store(s: Services, event: CheckRunEvent | CheckSuiteEvent, guid: str, press: tuple[str, str]) -> Heard:
    """A press becomes a command row; its delivery is its identity, and its verb is idempotent (IT-3)."""
    now, (sha, verb) = s.clock(), press
    with s.write() as conn:
        place = know(conn, event)
        if place is None or event.sender is None:
            return ignored("no installation")
        made = [
            commands.store(
                conn,
                source=CommandSource.BUTTON,
                source_id=f"{scope.id}:{guid}",
                ordinal=0,
                scope_id=scope.id,
                actor_id=event.sender.id,
                actor=event.sender.login,
                verb=verb,
                args="",
                url="",
                now=now,
            )
            for scope in repos.scopes_at(conn, place.repository_id, sha)
        ]
    stored = tuple(command for command in made if command is not None)
    return Heard(commands=stored) if made else ignored("no open pull request has this head")
