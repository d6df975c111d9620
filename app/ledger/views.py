"""Gather from rows what people are shown about one scope; the one place where ledger becomes `ScopeView`."""

import hashlib
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection

from app.integrity.model import Finding
from app.ledger import diagnoses, events, evidence, issues, proofs, publications, repairs, repos, runs, spending, turns
from app.ledger.changes import fix_view, publication_view
from app.ledger.evidence import Store
from app.ledger.gates import gate_of
from app.ledger.rounds import rounds_of
from app.ledger.rows import Row
from app.ledger.rules import limits_of, policy_of, rules_of
from app.ledger.told import noted
from app.ledger.transitions import accepted_proof
from app.ledger.words import EventKind, EvidenceKind, ScopeState, SelfRepairStatus, TreeName
from app.runs.facts import Rules
from app.runs.model import BlockCause, ItemKind, ItemStatus, Outcome, Result, Status
from app.runs.projection import overtaken
from app.runs.view import (
    Evidence,
    FoundView,
    GridRow,
    GroupView,
    LimitRow,
    ProofView,
    RunView,
    ScopeView,
)
from app.settings import Limits, Settings

TREE_WORDS = {
    TreeName.BASE: "base",
    TreeName.HEAD: "this pull request",
    TreeName.FIXED: "this pull request + fix",
    TreeName.FIXED_WITHOUT_SOURCE: "fix without its source part",
    TreeName.BASE_SOURCE_WITH_FIXED_TESTS: "base with the fix's tests",
    TreeName.FIXED_SOURCE_WITH_ORIGINAL_TESTS: "fix with the original tests",
}
"""The rows that people see, in their order (decisions.md, 12)."""


def check_key(scope_id: str, head_sha: str) -> str:
    """Our check run's `external_id`: opaque, one per scope and head (decisions.md, 25)."""
    return hashlib.sha256(f"{scope_id}:{head_sha}".encode()).hexdigest()[:20]


def scope_view(conn: Connection, store: Store, scope_id: str, settings: Settings) -> ScopeView:
    """Everything that may be said about a scope at this moment; raises LookupError for an unknown one."""
    scope = repos.get_scope(conn, scope_id)
    repository = None if scope is None else repos.get_repository(conn, scope.repository_id)
    if scope is None or repository is None:
        raise LookupError(scope_id)
    run = runs.active(conn, scope_id) or _run_of_head(conn, scope)
    newest = diagnoses.last(conn, scope_id, scope.head_sha)
    told = _diagnosis(conn, newest, run)
    if run is not None and newest is not None and told is newest:
        run = None if overtaken(run.status, run.result, newest.state, newest.outcome) else run
    base = settings.github.web_url.rstrip("/") + "/" + repository.full_name
    groups = (
        () if told is None else tuple(group_view(conn, group, base) for group in diagnoses.groups_of(conn, told.id))
    )
    return ScopeView(
        scope_key=scope.key,
        repository=repository.full_name,
        check_key=check_key(scope_id, scope.head_sha),
        head_sha=scope.head_sha,
        head_ref=scope.head_ref,
        base_ref=scope.base_ref,
        base_sha=scope.base_sha,
        updated_at=_changed_at(scope, told, run),
        public_url=settings.url,
        web_url=settings.github.web_url,
        state=None if newest is None else newest.state,
        outcome=None if newest is None or (run is not None and told is not newest) else newest.outcome,
        jobs=() if newest is None else tuple(check["name"] for check in newest.check_runs or ()),
        problem="" if told is None else told.problem,
        groups=groups,
        failures_total=0 if told is None else told.failures_total,
        failures_most=limits_of(repository, settings).max_failures,
        evidence=None if told is None else log_shown(conn, store, told),
        log_bytes=(0, 0) if told is None else (told.log_bytes_seen or 0, told.log_bytes_total or 0),
        closed_issues=closed_issues(conn, told),
        off_by=scope.off_by or "",
        off_at=scope.off_at,
        off_reason=scope.off_reason,
        is_fork=scope.is_fork,
        pages=settings.has_pages,
        fixed_in_head=bool(scope.green_sha) and scope.green_sha == scope.head_sha,
        **noted(conn, scope, newest if told is None else told, base),
        **told_of_run(conn, store, scope, run, settings, base),
    )


def _run_of_head(conn: Connection, scope: Row) -> Row | None:
    """The last run, as long as it is about this head or its fix may be in it."""
    last = runs.last(conn, scope.id)
    if last is None:
        return None
    about_head = last.head_sha == scope.head_sha or last.stale_head_sha == scope.head_sha
    pushed = any(row.pushed_sha == scope.head_sha for row in publications.of_run(conn, last.id))
    is_green = last.result is Result.HANDED_OVER and scope.green_sha == scope.head_sha
    return last if about_head or pushed or is_green or last.result is Result.FIXED else None


def _diagnosis(conn: Connection, newest: Row | None, run: Row | None) -> Row | None:
    """The diagnosis with the failures to show: the run's own, unless a newer head has one of its own."""
    silent = (Outcome.ATTACHED, Outcome.NOTHING_FAILED)
    if run is None or (newest is not None and newest.run_id is None and newest.outcome not in silent):
        return newest
    return diagnoses.get(conn, run.diagnosis_id)


def _changed_at(scope: Row, told: Row | None, run: Row | None) -> int:
    """When something last changed: rendering the same state twice gives the same text (UX-C17)."""
    times = [scope.off_at, None if told is None else told.updated_at, None if run is None else run.updated_at]
    return max(int(at) for at in (scope.created_at, *times) if at is not None)


def group_view(conn: Connection, group: Row, base: str) -> GroupView:
    """One group as a row of the cause table; `base` is the repository's web address."""
    members = diagnoses.failures_of_group(conn, group.id)
    first = members[0] if members else None
    issue = None if group.issue_id is None else issues.get(conn, group.issue_id)
    number = None if issue is None else issue.number
    return GroupView(
        group_id=group.id,
        cause=group.cause,
        tests=tuple(member.test_id for member in members),
        title=group.title,
        how_we_know=group.how_we_know,
        file=first.file or None if first is not None else None,
        line=first.line if first is not None else None,
        framework=first.framework if first is not None else "",
        error_head=first.error_head if first is not None else "",
        why_grouped=group.why_grouped,
        diff_file=group.diff_file or None,
        diff_line=group.diff_line,
        issue_number=number,
        issue_url=None if number is None else f"{base}/issues/{number}",
    )


def closed_issues(conn: Connection, told: Row | None) -> tuple[int, ...]:
    groups = [] if told is None else diagnoses.groups_of(conn, told.id)
    known = [issues.get(conn, group.issue_id) for group in groups if group.issue_id is not None]
    return tuple(issue.number for issue in known if issue.state == "closed" and issue.number is not None)


def log_shown(conn: Connection, store: Store, told: Row) -> Evidence | None:
    """The log around the failures, as it was stored."""
    logs = [row for row in evidence.of_diagnosis(conn, told.id) if row.kind is EvidenceKind.LOG and row.path]
    if not logs:
        return None
    meta: dict[str, Any] = logs[0].meta_json or {}
    text = store.read(logs[0]).decode("utf-8", "replace")
    return Evidence(
        job=meta.get("job", ""),
        text=text,
        shown=meta.get("lines_shown", text.count("\n") + 1),
        total=meta.get("lines_total", 0),
        log_url=meta.get("log_url"),
    )


def told_of_run(
    conn: Connection, store: Store, scope: Row, run: Row | None, settings: Settings, base: str
) -> dict[str, Any]:
    if run is None:
        return {}
    published = publications.of_run(conn, run.id)
    return {
        "run": run_view(conn, scope, run, settings),
        "rounds": rounds_of(conn, run.id),
        "proof": _proof(conn, store, run),
        "fix": fix_view(conn, store, run),
        "publication": publication_view(conn, published[-1], run, base) if published else None,
    }


def run_view(conn: Connection, scope: Row, run: Row, settings: Settings) -> RunView:
    """The run as people read it; round n of m counts agent attempts since the last reset (UX-C18)."""
    steps = runs.steps_of(conn, run.id)
    place = run.current_step if run.current_step is not None else len(steps) - 1
    limits = rules_of(conn, run.id, settings)
    stop = _last(conn, run.id, EventKind.COMMAND_ACCEPTED)
    stopped = stop is not None and stop.details.get("verb") in ("block", "cancel")
    return RunView(
        run_id=run.id,
        status=run.status,
        stage=run.stage,
        step_title=steps[place].title,
        step=place + 1,
        steps=len(steps),
        round=run.round + 1,
        rounds=limits.rounds + 1,
        started_at=run.created_at,
        stage_since=run.stage_since_at,
        restarts=run.restarts,
        restarts_allowed=limits.restarts,
        blocked_stage=run.blocked_stage,
        cause=run.block_cause,
        error=run.error,
        stopped_by=(stop.actor or "") if stop is not None and stopped else "",
        stop_reason=stop.details.get("text", "") if stop is not None and stopped else "",
        result=run.result,
        cancel_reason=run.cancel_reason,
        newer_sha=scope.head_sha if scope.head_sha != run.head_sha else "",
        final_text=run.final_text,
        finished_at=run.finished_at,
        lost_at=_lost_at(conn, run),
        limit_s=_limit_s(run, limits_of(repos.get_repository(conn, run.repository_id), settings)),
        tag=run.dedup_tag,
        **_budget(conn, run, limits, repos.get_repository(conn, run.repository_id), settings),
        **_repair(conn, run, limits.self_repairs),
    )


def _budget(conn: Connection, run: Row, rules: Rules, repository: Row | None, settings: Settings) -> dict[str, Any]:
    """The limits of a run with what is used of them; the cost only where the repository shows it, or it is the end."""
    found = spending.measures(conn, run.id, limits_of(repository, settings))
    reached = [one for one in found if one.needed > run.budgets]
    rows = [
        LimitRow(
            one.name,
            spending.amount(one, one.step * run.budgets),
            spending.amount(one, one.used),
            one in reached,
        )
        for one in found
    ]
    rounds = LimitRow("Rounds", str(rules.rounds), str(run.round))
    stopped = run.block_cause is BlockCause.BUDGET_USED
    may_add = stopped and rules.budgets_needed <= rules.budgets_allowed
    return {
        "limits": (*rows, rounds) if stopped else (),
        "cost": _cost(conn, run, reached if stopped else found, shown=stopped or _shows_cost(repository)),
        "budget": spending.amount(reached[0], reached[0].step) if may_add and reached else "",
    }


def _cost(conn: Connection, run: Row, found: Sequence[spending.Measure], *, shown: bool) -> str:
    """What a run took: of the limit that stopped it, else of its money as far as its agents tell."""
    stopped = run.block_cause is BlockCause.BUDGET_USED
    told = [one for one in found if stopped or one.name == spending.MONEY]
    if not shown:
        return ""
    if told:
        return spending.spent_of(told[0], run.budgets)
    micros = spending.used(conn, run.id).usd_micros
    return f"{micros / spending.MICROS:.2f} USD" if micros else ""


def _shows_cost(repository: Row | None) -> bool:
    """Policy `show_cost`; left out, only private repositories show it (decisions.md, 75)."""
    if repository is None:
        return False
    said = policy_of(repository).get("show_cost")
    return bool(repository.is_private if said is None else said)


def _repair(conn: Connection, run: Row, allowed: int) -> dict[str, Any]:
    """The newest plan repair as people read it, and whether what it set going has begun only just now (state 10)."""
    rows = [row for row in repairs.of_run(conn, run.id) if row.turn_id is not None]
    if not rows:
        return {"repairs_allowed": allowed}
    last = rows[-1]
    later = _turns_after(conn, run.id, last.turn_id)
    going = run.status is Status.RUNNING and last.status is SelfRepairStatus.SUCCEEDED
    return {
        "repair_n": len(rows),
        "repair_state": last.status.value,
        "repair_feedback": last.feedback,
        "repairs_allowed": allowed,
        "repair_fresh": going and [turn.id for turn in later] in ([], [run.active_id]),
        "addendum": last.prompt_addendum,
    }


def _turns_after(conn: Connection, run_id: str, turn_id: str) -> list[Row]:
    """The turns of a run that were asked for after this one."""
    every = list(turns.of_run(conn, run_id))
    place = next(place for place, turn in enumerate(every) if turn.id == turn_id)
    return every[place + 1 :]


def _last(conn: Connection, run_id: str, kind: EventKind) -> Row | None:
    return next((event for event in reversed(events.of_run(conn, run_id)) if event.kind is kind), None)


def _lost_at(conn: Connection, run: Row) -> int | None:
    """When the interrupted item was last alive, while its restart is active (state 24)."""
    if run.status is not Status.RUNNING or run.active_kind is not ItemKind.TURN or not run.restarts:
        return None
    lost = [turn for turn in turns.of_run(conn, run.id) if turn.error_code == "interrupted"]
    return lost[-1].finished_at if lost else None


def _limit_s(run: Row, limits: Limits) -> int:
    by_stage = {"AGENT": limits.agent_turn_s, "PROVE": limits.proof_s, "IDLE": limits.self_repair_turn_s}
    return by_stage.get(run.stage.value, limits.supervisor_turn_s)


def _proof(conn: Connection, store: Store, run: Row) -> ProofView | None:
    """The grid of the accepted proof, else of the newest finished one, in the rows that people can follow."""
    done = [proof for proof in proofs.of_run(conn, run.id) if proof.status is ItemStatus.DONE]
    chosen = accepted_proof(conn, run.id) or (done[-1] if done else None)
    cells = [] if chosen is None else proofs.cells_of(conn, chosen.id)
    if chosen is None or not cells:
        return None
    tests = tuple(dict.fromkeys(cell.test_id for cell in cells))
    shas = {TreeName.BASE: chosen.base_sha, TreeName.HEAD: chosen.head_sha, TreeName.FIXED: chosen.commit_sha}
    trees = {cell.tree_name: cell.tree for cell in cells}
    if trees.get(TreeName.FIXED_WITHOUT_SOURCE) == trees.get(TreeName.HEAD):
        shas[TreeName.FIXED_WITHOUT_SOURCE] = chosen.head_sha
    rows = []
    for tree, word in TREE_WORDS.items():
        mine = {cell.test_id: cell for cell in cells if cell.tree_name is tree}
        if not mine:
            continue
        expected = next(iter(mine.values())).expected
        seen = tuple(seen_word(mine.get(test)) for test in tests)
        as_expected = all(f"{word_of} ".startswith(f"{expected} ") for word_of in seen)
        rows.append(GridRow(word, shas.get(tree, ""), expected, seen, as_expected))
    gate = gate_of(conn, store, chosen)
    return ProofView(
        tests=tests,
        rows=tuple(rows),
        tier=chosen.tier,
        findings=() if gate is None else tuple(_found(one) for one in gate.weighty),
        gate=gate is not None,
        tree=chosen.tree,
        ran=max(0, gate.passed - len(tests)) if gate is not None and gate.passed is not None else 0,
    )


def _found(finding: Finding) -> FoundView:
    return FoundView(
        title=finding.title,
        file=finding.file or "",
        line=finding.line or 0,
        explanation=finding.explanation,
        before=finding.before,
        after=finding.after,
    )


def seen_word(cell: Row | None) -> str:
    """ "fail 3 of 3", or "not run": zero executed tests are never a pass (UX-C9)."""
    if cell is None or cell.runs == 0 or cell.not_run == cell.runs:
        return "not run"
    word, count = ("pass", cell.passes) if cell.passes == cell.runs else ("fail", cell.fails)
    return f"{word} {count} of {cell.runs}"


def is_open(scope: Row) -> bool:
    """Whether the pull request or branch is still there to be worked on."""
    return scope.state is ScopeState.OPEN
