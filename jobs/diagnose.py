"""From red checks of one head to named failures, causes, issues and a run."""

import structlog
from sqlalchemy import Connection

from app.diagnosis.blaming import blame_groups
from app.diagnosis.collect import Collected, collect, colours
from app.diagnosis.issues import link_issues
from app.diagnosis.keep import keep_findings, keep_groups
from app.diagnosis.reading import CheckRead, failures_of, read_checks
from app.diagnosis.start import Decision, decide_and_start
from app.errors import TransientError, UserError
from app.events.places import Place, is_on, policy_at, reader
from app.failures.fingerprint import dedup_tag
from app.failures.grouping import group_failures
from app.github.client import Client
from app.ledger import diagnoses, repos, transitions
from app.ledger.rows import Row
from app.ledger.rules import policy_of
from app.policy import PolicyError
from app.runs.model import DiagnosisState, Outcome
from app.services import Services, hold, services

log = structlog.get_logger("diagnose")

LOG_WAITS_MS = (5_000, 10_000, 20_000, 40_000, 45_000)
"""IT-14: five tries in two minutes."""
FAULT_WAIT_MS = 30_000
FAULT_TRIES = 10
OPEN = (DiagnosisState.COLLECTING, DiagnosisState.READING, DiagnosisState.MEASURING, DiagnosisState.WAITING)


def diagnose(diagnosis_id: str) -> str:
    """One look at a diagnosis; again is harmless, it is one per scope and head (CR-3)."""
    s = services()
    with hold(s, f"diagnosis:{diagnosis_id}") as held:
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
            return _look(s, told, scope, repository)
        except (TransientError, transitions.Overtaken) as passing:
            return _later(s, told, str(passing))
        except UserError as error:
            return _end(s, told, Decision(Outcome.MISCONFIGURED), problem=str(error))
        except Exception as error:  # the edge of a job: the check must say that it stopped (A22)
            log.exception("diagnosis failed", diagnosis=diagnosis_id)
            return _later(s, told, f"{type(error).__name__}: {error}")


def _look(s: Services, told: Row, scope: Row, repository: Row) -> str:
    if scope.head_sha != told.head_sha:
        return _end(s, told, Decision(Outcome.SUPERSEDED))
    place = Place(scope.installation_id, repository.id, repository.full_name)
    with s.connect(place.installation_id) as github:
        client = reader(github, place)
        policy = policy_at(s, client, place, scope.base_ref)
        if told.asked_by is None and not is_on(policy):
            return _end(s, told, Decision(Outcome.NOT_ENABLED))
        if isinstance(policy, PolicyError):
            return _end(s, told, Decision(Outcome.MISCONFIGURED), problem=str(policy))
        found = collect(client, place.full_name, told.head_sha, s.settings.app_id)
        if stop := _not_yet(s, told, found):
            return stop
        return _read(s, client, place, told, found)


def _not_yet(s: Services, told: Row, found: Collected) -> str:
    """Wait for siblings that still run (IT-12), or end where nothing failed after all; empty: go on."""
    waited_ms = s.clock() - told.created_at
    if found.running and told.asked_by is None and waited_ms < s.settings.times.siblings_s * 1000:
        return _wait(s, told, s.settings.times.quiet_s)
    if found.held:
        return _end(s, told, Decision(Outcome.CI_WAITS_FOR_APPROVAL))
    return "" if found.failed else _end(s, told, Decision(Outcome.NOTHING_FAILED))


def _read(s: Services, client: Client, place: Place, told: Row, found: Collected) -> str:
    read = read_checks(s, client, place.full_name, found.failed)
    if any(one.reading is None for one in read) and told.tries < len(LOG_WAITS_MS):
        with s.write() as conn:
            due = s.clock() + LOG_WAITS_MS[told.tries]
            diagnoses.update_open(conn, told.id, s.clock(), due_at=due, tries=told.tries + 1)
        return "waiting"
    names = [one.check.name for one in read]
    base = colours(client, place.full_name, told.base_sha, names, s.settings.app_id)
    failing = failures_of(read)
    shown = {failure.test_id: one for one, failure in failing}
    groups = group_failures([failure for _, failure in failing])
    now = s.clock()
    with s.write() as conn:
        if not diagnoses.update_open(conn, told.id, now, **_facts(s, read, shown)):
            return "idle"
        keep_findings(conn, s.store, told.id, failing, now)
        keep_groups(conn, s.store, told.id, blame_groups(groups, shown, base), now)
        decision = _decide(s, conn, told.id, read, now)
        if decision.outcome is None:
            due = s.in_ms(s.settings.times.quiet_s)
            diagnoses.update_open(conn, told.id, now, state=DiagnosisState.WAITING, due_at=due)
        else:
            diagnoses.end(conn, told.id, decision.outcome, now, run_id=decision.run_id)
        transitions.show(conn, told.scope_id, now)
    return _ring(s, told, decision)


def _facts(s: Services, read: list[CheckRead], shown: dict[str, CheckRead]) -> dict[str, object]:
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


def _decide(s: Services, conn: Connection, told_id: str, read: list[CheckRead], now: int) -> Decision:
    groups = diagnoses.groups_of(conn, told_id)
    told = diagnoses.get(conn, told_id)
    if not groups:
        unread = all(one.reading is None for one in read)
        infrastructure = any(one.reading is not None and one.reading.job_kind == "infrastructure" for one in read)
        if infrastructure:
            return Decision(Outcome.INFRASTRUCTURE)
        return Decision(Outcome.LOG_UNAVAILABLE if unread else Outcome.NO_TESTS_RECOGNISED)
    scope = repos.get_scope(conn, told.scope_id)
    if scope is not None and _wants_issues(repos.get_repository(conn, scope.repository_id)):
        link_issues(conn, scope, groups, now)
    return decide_and_start(s, conn, told, groups, now)


def _wants_issues(repository: Row | None) -> bool:
    policy = {} if repository is None else policy_of(repository)
    return bool(policy.get("issues", "always") == "always")


def _wait(s: Services, told: Row, seconds: float) -> str:
    with s.write() as conn:
        diagnoses.update_open(conn, told.id, s.clock(), due_at=s.in_ms(seconds))
    return "waiting"


def _later(s: Services, told: Row, why: str) -> str:
    """A passing fault: again in a while; after many tries the diagnosis ends and says so."""
    now = s.clock()
    with s.write() as conn:
        if told.tries >= FAULT_TRIES:
            diagnoses.fail(conn, told.id, s.redactor.text(why)[:500], now)
            transitions.show(conn, told.scope_id, now)
            return "failed"
        diagnoses.update_open(conn, told.id, now, due_at=now + FAULT_WAIT_MS, tries=told.tries + 1)
    log.info("diagnosis put off", diagnosis=told.id, why=why)
    return "waiting"


def _end(s: Services, told: Row, decision: Decision, problem: str = "") -> str:
    now = s.clock()
    with s.write() as conn:
        if decision.outcome is not None:
            diagnoses.end(conn, told.id, decision.outcome, now, problem=s.redactor.text(problem)[:500])
        transitions.show(conn, told.scope_id, now)
    return _ring(s, told, decision)


def _ring(s: Services, told: Row, decision: Decision) -> str:
    for job, row_id in decision.rings:
        s.ring(job, row_id)
    s.ring("deliver", str(told.installation_id))
    return "waiting" if decision.outcome is None else str(decision.outcome)
