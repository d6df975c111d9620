"""Gather from rows what the page of one run shows beside the scope's view: timeline, talk, verdicts, cost, evidence."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from typing import Any

from sqlalchemy import Connection

from app.ledger import (
    commands,
    diagnoses,
    events,
    evidence,
    proofs,
    publications,
    repairs,
    repos,
    runs,
    sessions,
    turns,
)
from app.ledger.evidence import DamagedEvidence, Store
from app.ledger.rows import Row
from app.ledger.views import closed_issues, group_view, log_shown, scope_view, told_of_run
from app.ledger.words import EventKind, EvidenceKind, TurnEventKind
from app.runs.model import ItemStatus, Outcome, Role
from app.runs.view import ScopeView
from app.settings import Settings

TOLD_EVENTS = frozenset(
    {
        *(EventKind.RUN_BLOCKED, EventKind.RUN_RESUMED, EventKind.RUN_COMPLETED, EventKind.RUN_CANCELLED),
        *(EventKind.COMMAND_ACCEPTED, EventKind.HEAD_MOVED, EventKind.PR_OPENED, EventKind.CI_CONCLUDED),
        *(EventKind.CI_NONE, EventKind.CI_WAITING, EventKind.STEP_TURN_RESTARTED, EventKind.TURN_RESTARTED),
        *(EventKind.SUPERVISOR_REVIEW_RESTARTED, EventKind.PROOF_RESTARTED, EventKind.APPROVAL_RECORDED),
        EventKind.TICK_FAILED,
    }
)
MOST_TALK = 400
# The line that ends an answer is for the machine; what it holds is shown as verdict or report.
_HANDED_IN = re.compile(r"^REMEDY_[A-Z]+:[A-Z2-7]{16,} .*", re.MULTILINE | re.DOTALL)
_SHOWN = frozenset(
    {
        *(TurnEventKind.MESSAGE_COMPLETED, TurnEventKind.TOOL_CALL_STARTED, TurnEventKind.TOOL_DENIED),
        *(TurnEventKind.TURN_FAILED, TurnEventKind.TURN_LOG),
    }
)


@dataclass(frozen=True)
class Moment:
    """One line of the timeline; `kind` picks its words, `facts` fill them. `until` is None while it goes on."""

    at: int
    kind: str
    facts: Mapping[str, Any] = field(default_factory=dict)
    until: int | None = None
    lasts: bool = False


@dataclass(frozen=True)
class Said:
    """One event of a turn, as the transcript shows it."""

    at: int
    kind: str
    text: str = ""
    title: str = ""


@dataclass(frozen=True)
class TurnSheet:
    """One turn: who worked at what, how it ended, what it cost. `n` counts turns of its role."""

    id: str
    n: int
    role: str
    purpose: str
    status: str
    runner: str
    at: int
    until: int | None
    error: str = ""
    tokens: int = 0
    usd: Decimal | None = None
    verdict: str = ""
    feedback: str = ""
    cites: tuple[str, ...] = ()
    version: str = ""


@dataclass(frozen=True)
class Kept:
    """One piece of evidence; `readable` says whether its file is still there."""

    id: str
    kind: str
    what: str
    size: int
    at: int
    readable: bool


@dataclass(frozen=True)
class Asked:
    """What somebody last asked for on this page, and what became of it."""

    verb: str
    actor: str
    at: int
    outcome: str


@dataclass(frozen=True)
class Sheet:
    """Everything that the page of one run shows."""

    view: ScopeView
    repository_id: int
    moments: tuple[Moment, ...]
    turns: tuple[TurnSheet, ...]
    talk: tuple[Said, ...]
    talk_of: TurnSheet | None
    evidence: tuple[Kept, ...]
    repairs: tuple[Mapping[str, Any], ...]
    asked: Asked | None
    places: tuple[str, ...] = ()


def sheet_of(conn: Connection, store: Store, run_id: str, settings: Settings, talk_of: str = "") -> Sheet:
    """The sheet of a run, with the transcript of one turn (by default the newest); NoResultFound for an unknown run."""
    run = runs.get(conn, run_id)
    told = tuple(_turns(conn, run_id))
    chosen = next((turn for turn in told if turn.id == talk_of), told[-1] if told else None)
    return Sheet(
        view=view_of_run(conn, store, run_id, settings),
        repository_id=run.repository_id,
        moments=tuple(sorted(_moments(conn, run, told), key=lambda moment: moment.at, reverse=True)),
        turns=told,
        talk=() if chosen is None else tuple(_talk(conn, chosen.id)),
        talk_of=chosen,
        evidence=tuple(_kept(row) for row in evidence.of_run(conn, run_id)),
        repairs=tuple(_repair(row) for row in repairs.of_run(conn, run_id) if row.turn_id is not None),
        asked=_asked(conn, run),
    )


def view_of_run(conn: Connection, store: Store, run_id: str, settings: Settings) -> ScopeView:
    """As `scope_view`, about one run and its commit, also when a newer one took its place; NoResultFound if unknown."""
    run = runs.get(conn, run_id)
    view = scope_view(conn, store, run.scope_id, settings)
    if view.run is not None and view.run.run_id == run_id:
        return view
    scope, told = repos.get_scope(conn, run.scope_id), diagnoses.get(conn, run.diagnosis_id)
    assert scope is not None
    base = settings.github.web_url.rstrip("/") + "/" + view.repository
    return replace(
        view,
        head_sha=run.head_sha,
        base_sha=run.base_sha,
        updated_at=run.updated_at,
        state=told.state,
        outcome=Outcome.RUN_STARTED,
        jobs=tuple(check["name"] for check in told.check_runs or ()),
        problem=told.problem,
        groups=tuple(group_view(conn, group, base) for group in diagnoses.groups_of(conn, told.id)),
        failures_total=told.failures_total,
        evidence=log_shown(conn, store, told),
        closed_issues=closed_issues(conn, told),
        off_by="",
        fixed_in_head=False,
        **{"publication": None, **told_of_run(conn, store, scope, run, settings, base)},
    )


def repository_of(conn: Connection, run_id: str) -> Row | None:
    """The repository of a run, or None for an unknown run; asked before anything of the run is read."""
    found = runs.find_any(conn, run_id)
    return None if found is None else repos.get_repository(conn, found.repository_id)


def pulse(conn: Connection, run_id: str) -> tuple[int, ...]:
    """A few numbers that differ whenever the page of the run would: cheap enough to be asked every second."""
    run = runs.get(conn, run_id)
    newest = turns.of_run(conn, run_id)[-1:]
    said = [events.last_of_turn(conn, turn.id) for turn in newest]
    scope = repos.get_scope(conn, run.scope_id)
    asked = commands.last_of_page(conn, run.scope_id)
    return (
        int(run.version),
        int(run.updated_at),
        events.last_of_run(conn, run_id),
        *said,
        0 if scope is None else int(scope.updated_at),
        0 if asked is None else int(asked.at) + (asked.outcome is not None),
    )


def diff_of(conn: Connection, store: Store, run_id: str, n: int | None = None) -> bytes | None:
    """The newest change of a run, or that of its round `n` (from 1); None where there is none any more."""
    kept = [row for row in evidence.of_run(conn, run_id) if row.kind is EvidenceKind.DIFF]
    if not kept or (n is not None and not 1 <= n <= len(kept)):
        return None
    try:
        return store.read(kept[-1] if n is None else kept[n - 1])
    except DamagedEvidence:
        return None


def _turns(conn: Connection, run_id: str) -> Iterator[TurnSheet]:
    counts: dict[Role, int] = {}
    verdicts = {row.turn_id: row for row in turns.verdicts_of_run(conn, run_id)}
    for turn in turns.of_run(conn, run_id):
        counts[turn.role] = n = counts.get(turn.role, 0) + 1
        said = verdicts.get(turn.id)
        cost: Mapping[str, Any] = turn.cost_json or {}
        yield TurnSheet(
            id=turn.id,
            n=n,
            role=turn.role.value,
            purpose=turn.purpose.value,
            status=turn.status.value,
            runner=sessions.get(conn, turn.session_id).runner_id,
            at=turn.started_at or turn.created_at,
            until=turn.finished_at,
            error=turn.error if turn.status is ItemStatus.FAILED else "",
            tokens=int(cost.get("input") or 0) + int(cost.get("output") or 0),
            usd=money(cost.get("usd")),
            verdict="" if said is None else said.decision.value,
            feedback="" if said is None else said.feedback,
            cites=() if said is None else tuple(said.evidence or ()),
            version=turn.prompt_version if said is None else said.rules_version or turn.prompt_version,
        )


def money(value: object) -> Decimal | None:
    """What a turn said it cost; None where it did not say."""
    try:
        return None if value is None else Decimal(str(value))
    except InvalidOperation:
        return None


def _moments(conn: Connection, run: Row, told: Sequence[TurnSheet]) -> Iterator[Moment]:
    diagnosis = diagnoses.get(conn, run.diagnosis_id)
    causes = [group.cause.value for group in diagnoses.groups_of(conn, diagnosis.id)]
    facts = {
        "failures": diagnosis.failures_total,
        "causes": {cause: causes.count(cause) for cause in dict.fromkeys(causes)},
    }
    yield Moment(diagnosis.created_at, "diagnosis", facts, diagnosis.finished_at, True)
    for turn in told:
        yield Moment(turn.at, "turn", {"turn": turn}, turn.until, True)
    for proof in proofs.of_run(conn, run.id):
        outcome = "" if proof.outcome is None else proof.outcome.value
        about = {"kind": proof.kind.value, "status": proof.status.value, "outcome": outcome, "reason": proof.reason}
        yield Moment(proof.started_at or proof.created_at, "proof", about, proof.finished_at, True)
    for one in publications.of_run(conn, run.id):
        about = {"mode": one.mode.value, "status": one.status.value, "branch": one.branch, "refusal": one.refusal}
        yield Moment(one.started_at or one.created_at, "publication", about, one.finished_at)
    for event in events.of_run(conn, run.id):
        if event.kind in TOLD_EVENTS:
            yield Moment(event.at, event.kind.value, {"actor": event.actor or "", **(event.details or {})})


def _talk(conn: Connection, turn_id: str) -> Iterator[Said]:
    shown = [row for row in events.of_turn(conn, turn_id) if row.type in _SHOWN]
    for row in shown[-MOST_TALK:]:
        data: Mapping[str, Any] = row.data_json or {}
        text = next((str(data[name]) for name in ("text", "message", "why", "cut") if data.get(name)), "")
        text = _HANDED_IN.sub("", text).strip()
        yield Said(row.at, row.type.value, text, str(data.get("title") or data.get("tool") or data.get("kind") or ""))


def _kept(row: Row) -> Kept:
    meta: Mapping[str, Any] = row.meta_json or {}
    return Kept(row.id, row.kind.value, str(meta.get("what", "")), row.bytes, row.at, bool(row.path))


def _repair(row: Row) -> Mapping[str, Any]:
    names = ("n", "feedback", "prompt_addendum", "created_at")
    return {"status": row.status.value, **{name: getattr(row, name) for name in names}}


def _asked(conn: Connection, run: Row) -> Asked | None:
    row = commands.last_of_page(conn, run.scope_id)
    if row is None or row.at < run.created_at:
        return None
    return Asked(row.verb, row.actor, row.at, "" if row.outcome is None else row.outcome.value)
