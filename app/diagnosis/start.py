"""Decide what follows from a diagnosis, and start the run: who is asked, what is repaired, whether there is a place."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import Connection

from app.diagnosis.planning import new_run, plan_of
from app.diagnosis.wanted import to_repair, unasked
from app.ledger import diagnoses, events, history, issues, publications, repos, runs, targets, transitions
from app.ledger import told as told_of
from app.ledger.ids import new_id
from app.ledger.rows import Row
from app.ledger.rules import limits_of, policy_of
from app.ledger.runs import RunFacts
from app.ledger.targets import Unclear
from app.ledger.words import EventKind
from app.runs.facts import Ended, Start
from app.runs.model import Cause, Outcome, Status
from app.services import Services

OURS_IN_A_ROW = "Commits of Remedy in a row here, without one of a person"


@dataclass(frozen=True)
class Decision:
    """`outcome` ends the diagnosis, `problem` says why; None: it waits. `rings` are doorbells after the commit.

    `details` are kept with the diagnosis, under the names of `ledger/told`.
    """

    outcome: Outcome | None
    run_id: str | None = None
    rings: tuple[tuple[str, str], ...] = field(default=())
    problem: str = ""
    details: Mapping[str, object] = field(default_factory=dict)


def decide_and_start(s: Services, conn: Connection, told: Row, groups: Sequence[Row], now: int) -> Decision:
    """T1 with all that must hold before it; everything is decided inside the caller's transaction."""
    scope = repos.get_scope(conn, told.scope_id)
    repository = repos.get_repository(conn, scope.repository_id) if scope is not None else None
    if scope is None or repository is None:
        raise LookupError(told.scope_id)
    it = _Asked(s, conn, told, scope, repository, policy_of(repository))
    decision = _decide(it, groups, now)
    left = unasked(groups, it.policy, asked=it.by_name)
    return decision if left is None else replace(decision, details={**decision.details, told_of.UNASKED: left})


@dataclass(frozen=True)
class _Asked:
    """The diagnosis that is decided, and where it is."""

    s: Services
    conn: Connection
    told: Row
    scope: Row
    repository: Row
    policy: Mapping[str, Any]

    @property
    def by_name(self) -> bool:
        """A maintainer asked for it."""
        return self.told.asked_by is not None


def _decide(it: _Asked, groups: Sequence[Row], now: int) -> Decision:
    s, conn, told, scope, repository, asked = it.s, it.conn, it.told, it.scope, it.repository, it.by_name
    wanted = to_repair(groups, it.policy, scope, asked=asked)
    if not wanted:
        return Decision(_not_ours(groups))
    often = int(it.policy.get("repair_on") or 1)
    if often > 1 and not asked:
        times = {group.id: _sightings(conn, repository.id, group) for group in wanted}
        wanted = [group for group in wanted if times[group.id] >= often]
        if not wanted:
            waits = {"seen": max(times.values()), "wanted": often}
            return Decision(Outcome.NOT_OURS, details={told_of.REPAIR_ON: waits})
    if scope.is_fork and not asked:
        return Decision(Outcome.NEEDS_MAINTAINER)
    before = _in_the_way(s, conn, told, now)
    if before is not None:
        return before
    limits = limits_of(repository, s.settings)
    ours = publications.in_a_row(conn, repository.id, told.head_sha)
    repos.count_bot_commits(conn, scope.id, ours)
    if ours >= limits.bot_commits and not asked:
        return Decision(Outcome.LIMIT_REACHED, problem=f"{OURS_IN_A_ROW}: {ours}; the limit is {limits.bot_commits}.")
    if runs.running(conn, told.installation_id) >= limits.running:
        return Decision(None)
    return _start(s, conn, told, wanted, now)


def _sightings(conn: Connection, repository_id: int, group: Row) -> int:
    """How often a group was seen, this time included: as often as the failure of its that was seen most."""
    prints = [failure.fingerprint for failure in diagnoses.failures_of_group(conn, group.id)]
    return max(history.sightings(conn, repository_id, [one]) for one in prints)


def _not_ours(groups: Sequence[Row]) -> Outcome:
    causes = {group.cause for group in groups}
    if causes == {Cause.INFRASTRUCTURE}:
        return Outcome.INFRASTRUCTURE
    return Outcome.STALE_BASE if causes == {Cause.STALE_BASE} else Outcome.NOT_OURS


def _in_the_way(s: Services, conn: Connection, told: Row, now: int) -> Decision | None:
    """Another run: a RUNNING one takes the evidence along, a stopped one of an older head is over (IT-29, row 56)."""
    active = runs.active(conn, told.scope_id)
    if active is None:
        ended = runs.ended_before(conn, _repository_of(conn, told), told.dedup_tag, told.head_sha)
        if ended is not None and told.asked_by is None:
            return Decision(Outcome.ATTACHED, ended.id)
        return None
    if active.status is Status.RUNNING and _is_its_own(conn, active, told):
        return Decision(None)
    newer = active.head_sha != told.head_sha
    if active.status is Status.BLOCKED and newer and str(active.block_cause) != "command":
        transitions.apply(conn, active.id, Ended("superseded", hard=True), s.settings, now)
        return None
    if told.dedup_tag != active.dedup_tag:
        more = {"diagnosis": told.id, "head": told.head_sha, "failing": told.failures_total}
        events.append(conn, active.id, EventKind.RUN_EVIDENCE_ADDED, more, None, now)
    return Decision(Outcome.ATTACHED, active.id)


def _is_its_own(conn: Connection, active: Row, told: Row) -> bool:
    """The red commit is what the run itself pushed: it first ends with that result, then this is looked at (PB-11)."""
    return any(row.pushed_sha == told.head_sha for row in publications.of_run(conn, active.id))


def _repository_of(conn: Connection, told: Row) -> int:
    scope = repos.get_scope(conn, told.scope_id)
    return int(scope.repository_id) if scope is not None else 0


def facts_of(conn: Connection, told: Row) -> RunFacts:
    """What a run about this diagnosis is bound to."""
    return RunFacts(
        installation_id=told.installation_id,
        repository_id=_repository_of(conn, told),
        scope_id=told.scope_id,
        diagnosis_id=told.id,
        dedup_tag=told.dedup_tag,
        head_sha=told.head_sha,
        base_sha=told.base_sha,
        started_by=told.asked_by or "",
        started_reason=told.asked_reason,
    )


def _start(s: Services, conn: Connection, told: Row, wanted: list[Row], now: int) -> Decision:
    repository = repos.get_repository(conn, _repository_of(conn, told))
    if repository is None:
        raise LookupError(told.scope_id)
    groups = wanted[: limits_of(repository, s.settings).steps]
    members = {group.id: diagnoses.failures_of_group(conn, group.id) for group in groups}
    steps, about = plan_of(groups, members, repository.full_name)
    unclear = [
        found.why for one in about if isinstance(found := targets.resolve(conn, repository, one.target), Unclear)
    ]
    if unclear:
        return Decision(Outcome.MISCONFIGURED, problem=unclear[0])
    run = new_run(new_id(now), steps)
    if not runs.create(conn, run, facts_of(conn, told), about, now):
        active = runs.active(conn, told.scope_id)
        return Decision(Outcome.ATTACHED, None if active is None else active.id)
    step = transitions.apply(conn, run.run_id, Start(told.asked_by or "remedy"), s.settings, now)
    _tell_issues(conn, run.run_id, told, now)
    left = [group.title for group in wanted[len(groups) :]]
    details = {told_of.LEFT: left} if left else {}
    return Decision(Outcome.RUN_STARTED, run.run_id, (("turn", str(step.run.active_id)),), details=details)


def _tell_issues(conn: Connection, run_id: str, told: Row, now: int) -> None:
    """Issues that were there before this run; a new one tells of itself when it is opened (A9)."""
    for group in diagnoses.groups_of(conn, told.id):
        number = None if group.issue_id is None else issues.get(conn, group.issue_id).number
        if number is not None:
            events.append(conn, run_id, EventKind.ISSUE_LINKED, {"number": number}, None, now)
