"""From red checks of one head to named failures, causes, issues and a run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import structlog
from sqlalchemy import Connection

from app.briefs.naming import tags_of, title_of
from app.briefs.rehearse import rehearse
from app.diagnosis import rehearsal
from app.diagnosis.behind import worth_merging
from app.diagnosis.collect import Collected, collect
from app.diagnosis.examine import Examined, blame, examine, keep_history
from app.diagnosis.incident import open_incident
from app.diagnosis.issues import link_issues
from app.diagnosis.keep import keep_findings, keep_groups
from app.diagnosis.problem import problem_of
from app.diagnosis.reading import NO_JOB, CheckRead, options_of, read_beside, read_logs
from app.diagnosis.rerun import ask_rerun, may_rerun
from app.diagnosis.start import Decision, decide_and_start
from app.errors import TransientError, UserError
from app.events.places import Place, is_on, policy_at, reader
from app.failures.blame import INFRASTRUCTURE_KINDS
from app.failures.fingerprint import dedup_tag
from app.github.client import Client
from app.github.errors import PermissionMissing
from app.ledger import diagnoses, repos, runs, transitions
from app.ledger import told as told_of
from app.ledger.rows import Row
from app.ledger.rules import runner_of
from app.ledger.views import scope_view
from app.plugins.listing import registry
from app.policy import Policy, PolicyError
from app.proving.merged import Behind, cured_by_merge
from app.render import DryRun, render_dry_run
from app.render.links import links_of
from app.runners.manifest import Gateway
from app.runs.model import Cause, DiagnosisState, Outcome, Role
from app.services import Hold, Services, hold, services
from app.settings import Limits
from app.turns.places import fetch_commits
from app.watched import Stopped

log = structlog.get_logger("diagnose")

LOG_WAITS_MS = (5_000, 10_000, 20_000, 40_000, 45_000)
"""IT-14: five tries in two minutes."""
FAULT_WAIT_MS, LONGEST_WAIT_MS = 15_000, 900_000
FAULT_TRIES = 10
LEAST_CALLS, SCARCE_S = 200, 300
OPEN = (DiagnosisState.COLLECTING, DiagnosisState.READING, DiagnosisState.MEASURING, DiagnosisState.WAITING)


def diagnose(diagnosis_id: str) -> str:
    """One look at a diagnosis; again is harmless, it is one per scope and head (CR-3)."""
    s = services()
    with hold(s, f"diagnosis:{diagnosis_id}", lambda conn: _is_over(conn, diagnosis_id)) as held:
        if held is None:
            return "leased"
        with s.read() as conn:
            told = diagnoses.get(conn, diagnosis_id)
            scope = repos.get_scope(conn, told.scope_id)
            repository = repos.get_repository(conn, scope.repository_id) if scope is not None else None
        if told.state not in OPEN or scope is None or repository is None:
            return "idle"
        if told.due_at > s.clock():
            return "waiting"
        try:
            return _look(s, held, told, scope, repository)
        except TransientError as passing:
            return _later(s, told, str(passing), passing.retry_at or 0)
        except transitions.Overtaken as passing:
            return _later(s, told, str(passing))
        except Stopped:
            return "late"
        except UserError as error:
            return _end(s, told, Decision(Outcome.MISCONFIGURED), _trouble(s, error))
        except Exception as error:  # the edge of a job: the check must say that it stopped (A22)
            log.exception("diagnosis failed", diagnosis=diagnosis_id)
            return _later(s, told, f"{type(error).__name__}: {error}")


def _is_over(conn: Connection, diagnosis_id: str) -> bool:
    """Another head came, or a person stopped it: tests that run for it are ended."""
    return diagnoses.get(conn, diagnosis_id).state not in OPEN


def _look(s: Services, held: Hold, told: Row, scope: Row, repository: Row) -> str:
    if scope.head_sha != told.head_sha:
        return _end(s, told, Decision(Outcome.SUPERSEDED))
    if told.state is DiagnosisState.WAITING and _no_place(s, told):
        return _wait(s, told, s.settings.times.quiet_s)
    place = Place(scope.installation_id, repository.id, repository.full_name)
    with s.connect(place.installation_id) as github:
        client = reader(github, place)
        policy = policy_at(s, client, place, scope.base_ref)
        if told.asked_by is None and not is_on(policy):
            return _end(s, told, Decision(Outcome.NOT_ENABLED))
        if isinstance(policy, PolicyError):
            return _end(s, told, Decision(Outcome.MISCONFIGURED), {told_of.CONFIG: told_of.mistake(policy)})
        if told.asked_by is None and _calls_are_scarce(github):
            return _wait(s, told, SCARCE_S)
        found = collect(client, place.full_name, told.head_sha, s.settings.app_id)
        if stop := _not_yet(s, told, found):
            return stop
        return _read(_Work(s, held, client, place, told, scope, policy), found)


def _calls_are_scarce(github: Client) -> bool:
    """What is left of the hour is for runs that have begun, and for people (GH-11)."""
    return github.remaining is not None and github.remaining < LEAST_CALLS


def _no_place(s: Services, told: Row) -> bool:
    """Everything was read already; a free place is all that is missing (IT-31)."""
    with s.read() as conn:
        return runs.running(conn, told.installation_id) >= s.settings.limits.running


@dataclass(frozen=True)
class _Work:
    """One diagnosis at work; `policy` is None where a repository has no file and a person asked (IT-8)."""

    s: Services
    held: Hold
    client: Client
    place: Place
    told: Row
    scope: Row
    policy: Policy | None

    @property
    def annotates(self) -> bool:
        """Whether lines of the diff are marked (policy `annotations`)."""
        return self.policy is None or self.policy.annotations

    @property
    def limits(self) -> Limits:
        """The operator's, lowered by the policy."""
        limits = self.s.settings.limits
        return limits if self.policy is None else self.policy.limited(limits)


def _not_yet(s: Services, told: Row, found: Collected) -> str:
    """Wait for siblings that still run (IT-12), or end where nothing failed after all; empty: go on."""
    waited_ms = s.clock() - told.created_at
    if found.running and told.asked_by is None and waited_ms < s.settings.times.siblings_s * 1000:
        return _wait_for_siblings(s, told, found)
    if found.held:
        return _end(s, told, Decision(Outcome.CI_WAITS_FOR_APPROVAL))
    return "" if found.failed else _end(s, told, Decision(Outcome.NOTHING_FAILED))


def _read(work: _Work, found: Collected) -> str:
    s, told, repo = work.s, work.told, work.place.full_name
    how = options_of(s, work.limits)
    read = read_logs(work.client, repo, found.failed, how)
    if any(_may_come(one) for one in read) and told.tries < len(LOG_WAITS_MS):
        with s.write() as conn:
            due = s.clock() + LOG_WAITS_MS[told.tries]
            diagnoses.update_open(conn, told.id, s.clock(), due_at=due, tries=told.tries + 1)
            _speak_in_time(s, conn, told)
        return "waiting"
    read = read_beside(work.client, repo, read, how)
    examined = _merged(work, examine(s, work.client, repo, work.scope, read))
    again = may_rerun(work.client, work.policy, told, read, work.place.repository_id)
    return _conclude(work, examined, again=again)


def _merged(work: _Work, found: Examined) -> Examined:
    """With what the merge of head and base cures, where the head is behind and an agent would start."""
    s, told, policy = work.s, work.told, work.policy
    if policy is None:
        return found
    with s.read() as conn:
        tests = worth_merging(conn, told, work.scope, found, policy, s.clock())
        repository = repos.get_repository(conn, work.place.repository_id)
    if not tests or repository is None or _no_place(s, told):
        return found
    with s.write() as conn:
        facts = _facts(s, found.read, found.shown) | {"state": DiagnosisState.MEASURING}
        diagnoses.update_open(conn, told.id, s.clock(), **facts)
        transitions.show(conn, told.scope_id, s.clock(), comment=False)
    s.ring("deliver", str(told.installation_id))
    behind = Behind(repository, told.head_sha, found.base.tip_sha, policy, tests)
    try:
        mirror = fetch_commits(s, work.client, repository, (behind.head, behind.tip))
        return replace(found, cured=cured_by_merge(s, mirror, behind, work.held.lost))
    except (TransientError, UserError) as error:
        log.info("not tried on the merged base", diagnosis=told.id, why=s.redactor.text(str(error)))
        return found


def _may_come(one: CheckRead) -> bool:
    """Whether asking for the log again can help: a check without a job never has one."""
    return one.reading is None and one.answer != NO_JOB


def _conclude(work: _Work, examined: Examined, *, again: bool) -> str:
    """Everything that follows from what was read, in one transaction."""
    s, told, now = work.s, work.told, work.s.clock()
    with s.write() as conn:
        if not work.held.valid(conn, now):
            return "late"
        if not diagnoses.update_open(conn, told.id, now, **_facts(s, examined.read, examined.shown)):
            return "idle"
        if work.scope.key.startswith("branch:"):
            diagnoses.update_open(conn, told.id, now, base_sha=examined.base.tip_sha)
        repos.set_green(conn, told.scope_id, None)  # if it was: a check of this head is red now
        keep_findings(conn, s.store, told.id, examined.failing, now)
        keep_history(conn, work.scope, examined, now)
        blamed = blame(conn, work.scope, examined, work.policy, now)
        keep_groups(conn, s.store, told.id, blamed, now, examined.base.diff if work.annotates else None)
        decision = Decision(Outcome.NOT_ENABLED) if told.dry_run else _decide(work, conn, examined, now)
        if decision.outcome is None:
            due = s.in_ms(s.settings.times.quiet_s)
            diagnoses.update_open(conn, told.id, now, state=DiagnosisState.WAITING, due_at=due)
        else:
            asked = again and not told.dry_run and ask_rerun(conn, told, decision.outcome, examined.read, now)
            details = {**(told.details or {}), **_details(s, told, examined), **decision.details}
            details |= {told_of.RERUN: True} if asked else {}
            problem = decision.problem or s.redactor.text(problem_of(examined.read))
            diagnoses.update_open(conn, told.id, now, details=details, problem=problem)
            diagnoses.end(conn, told.id, decision.outcome, now, run_id=decision.run_id)
        if not told.dry_run:
            transitions.show(conn, told.scope_id, now)
    if told.dry_run:
        _rehearse(work)
    return _ring(s, told, decision)


def _called(s: Services, runner_id: str) -> Gateway | None:
    """Which server would be called for a remote agent; nothing is asked of it (G2)."""
    with s.read() as conn:
        entries = registry(conn, s.settings).entries()
    known = next((one.manifest for one in entries if one.id == runner_id and one.manifest is not None), None)
    return None if known is None else known.spec.gateway


def _rehearse(work: _Work) -> None:
    """Answer a dry run: runner, title, tags and prompts (A17)."""
    s, now = work.s, work.s.clock()
    with s.read() as conn:
        told, groups = diagnoses.get(conn, work.told.id), diagnoses.groups_of(conn, work.told.id)
        repository = repos.get_repository(conn, work.place.repository_id)
        view = scope_view(conn, s.store, work.scope.id, s.settings)
        plan = rehearsal.plan_for(conn, told, groups, work.limits.steps, now) if groups else None
    text = ""
    if plan is not None:
        runner = runner_of(repository, Role.AGENT, s.settings)
        title, tags = title_of(told.failures_total, told.dedup_tag), tags_of(repository, told.dedup_tag)
        called = _called(s, runner)
        tags = (*called.tags, *tags) if called is not None else tags
        name = runner if called is None else f"{runner}: {called.tools.create} of {called.server}"
        shown = DryRun(name, title, tags, rehearse(s, *plan, runner, called is not None))
        text = render_dry_run(shown, links_of(view), f"dry_run:{told.id}", s.redactor)
    with s.write() as conn:
        rehearsal.simulate(conn, told, [group for group in groups if _wants_issue(work.policy, group)], now)
        rehearsal.answer(conn, told, text, now)


def _details(s: Services, told: Row, examined: Examined) -> dict[str, object]:
    """The commit of the base that was looked at; logs asked for in vain: how often, with which answer (state 21)."""
    within_s = (s.clock() - told.created_at) // 1000
    asked = [
        {"job": one.check.name, "times": told.tries + 1, "answer": one.answer, "within_s": within_s}
        for one in examined.read
        if one.reading is None
    ]
    seen = {told_of.BASE_TIP: examined.base.tip_sha, told_of.ASKED: asked}
    return {name: value for name, value in seen.items() if value}


def _facts(s: Services, read: Sequence[CheckRead], shown: Mapping[str, CheckRead]) -> dict[str, object]:
    """What the diagnosis says about its checks, and the tag of all its failing tests (IT-20)."""
    readings = [one.reading for one in read if one.reading is not None]
    return {
        "state": DiagnosisState.READING,
        "check_runs": [
            {
                "id": one.check.id,
                "name": one.check.name,
                "attempt": one.attempt,
                "conclusion": one.check.conclusion,
                "tests": one.reading is None or bool(one.reading.failures),
                "log_url": one.log_url,
            }
            for one in read
        ],
        "failures_total": len(shown),
        "dedup_tag": dedup_tag(s.settings.tag_prefix, shown) if shown else "",
        "log_bytes_seen": sum(reading.bytes_seen for reading in readings),
        "log_bytes_total": sum(reading.bytes_total for reading in readings),
        "log_lines_total": sum(reading.lines_total for reading in readings),
    }


def _decide(work: _Work, conn: Connection, examined: Examined, now: int) -> Decision:
    told = diagnoses.get(conn, work.told.id)
    groups = diagnoses.groups_of(conn, told.id)
    readings = [one.reading for one in examined.read if one.reading is not None]
    if not groups:
        if any(reading.job_kind in INFRASTRUCTURE_KINDS for reading in readings):
            return Decision(Outcome.INFRASTRUCTURE)
        return Decision(Outcome.NO_TESTS_RECOGNISED if readings else Outcome.LOG_UNAVAILABLE)
    wanted = [group for group in groups if _wants_issue(work.policy, group)]
    link_issues(conn, work.scope, wanted, now)
    incident = open_incident(conn, work.scope, groups, work.policy, examined.base.tip_sha, now)
    decision = decide_and_start(work.s, conn, told, groups, now)
    return replace(decision, rings=(*decision.rings, *incident))


def _wants_issue(policy: Policy | None, group: Row) -> bool:
    """Policy `issues: always | base | never`; what no test failed in, or an update of the branch cures, needs none."""
    asked = "always" if policy is None else policy.issues
    if asked == "base":
        return group.cause is Cause.BASE_RED
    return asked == "always" and group.cause not in (Cause.INFRASTRUCTURE, Cause.STALE_BASE)


def _speak_in_time(s: Services, conn: Connection, told: Row) -> None:
    """The first comment comes when the diagnosis is ready, or after two minutes (ux.md, 1)."""
    if s.clock() - told.created_at >= s.settings.times.first_comment_s * 1000:
        transitions.show(conn, told.scope_id, s.clock())


def _wait_for_siblings(s: Services, told: Row, found: Collected) -> str:
    """Say which jobs are red, and how many are still to come (state 01)."""
    now = s.clock()
    known = [{"id": run.id, "name": run.name} for run in found.failed]
    details = {**(told.details or {}), told_of.WAITING_FOR: len(found.running)}
    with s.write() as conn:
        if known != told.check_runs or details != told.details:
            diagnoses.update_open(conn, told.id, now, check_runs=known, details=details)
            transitions.show(conn, told.scope_id, now, comment=False)
    return _wait(s, told, s.settings.times.quiet_s)


def _wait(s: Services, told: Row, seconds: float) -> str:
    with s.write() as conn:
        diagnoses.update_open(conn, told.id, s.clock(), due_at=s.in_ms(seconds))
        _speak_in_time(s, conn, told)
    return "waiting"


def _later(s: Services, told: Row, why: str, not_before: int = 0) -> str:
    """A passing fault: again in a while; after many tries the diagnosis ends and says so."""
    now = s.clock()
    with s.write() as conn:
        due_at = now + min(LONGEST_WAIT_MS, FAULT_WAIT_MS << told.tries)
        if told.tries >= FAULT_TRIES:
            diagnoses.fail(conn, told.id, s.redactor.text(why)[:500], now)
            transitions.show(conn, told.scope_id, now)
            return "failed"
        diagnoses.update_open(conn, told.id, now, due_at=max(due_at, not_before), tries=told.tries + 1)
    log.info("diagnosis put off", diagnosis=told.id, why=why)
    return "waiting"


def _end(s: Services, told: Row, decision: Decision, details: dict[str, object] | None = None) -> str:
    now = s.clock()
    with s.write() as conn:
        if details:
            diagnoses.update_open(conn, told.id, now, details={**(told.details or {}), **details})
        if decision.outcome is not None:
            diagnoses.end(conn, told.id, decision.outcome, now, problem=told.problem)
        if told.dry_run:
            rehearsal.answer(conn, told, "", now)
        else:
            transitions.show(conn, told.scope_id, now)
    return _ring(s, told, decision)


def _trouble(s: Services, error: UserError) -> dict[str, object]:
    """What GitHub refuses, as a note: a missing permission is named, with where an owner can accept it (W95)."""
    if isinstance(error, PermissionMissing):
        text = f"Remedy lacks the permission {error.permission} on this repository."
        return {told_of.TROUBLE: {"text": text, "url": error.settings_url}}
    return {told_of.TROUBLE: {"text": s.redactor.text(str(error))[:500], "url": ""}}


def _ring(s: Services, told: Row, decision: Decision) -> str:
    for job, row_id in decision.rings:
        s.ring(job, row_id)
    s.ring("deliver", str(told.installation_id))
    return "waiting" if decision.outcome is None else str(decision.outcome)
