"""One turn with the rows it is about, read once; every prompt is made from this and nothing else."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from app.failures.evidence import budget_of, tails_within
from app.ledger import diagnoses, events, evidence, proofs, repos, runs, turns
from app.ledger.evidence import Store
from app.ledger.gates import Gate, read_gate
from app.ledger.rounds import rounds_of
from app.ledger.rows import Row
from app.ledger.rules import limits_of
from app.ledger.transitions import last_work
from app.ledger.views import TREE_WORDS
from app.render.prompts.inputs import (
    Attempt,
    ConventionFile,
    EvidenceLine,
    Failure,
    Finding,
    PullText,
    RunFacts,
    Task,
    TreeRow,
)
from app.runs.model import ItemStatus, Role
from app.runs.view import RoundView
from app.settings import Settings

NO_PULL = PullText()
RESTARTED = frozenset({"interrupted", "runner.session_lost", "runner.start_failed"})


@dataclass(frozen=True)
class Outside:
    """What is read outside the ledger: the pull request's own words, contributor files, the test command."""

    pull: PullText = NO_PULL
    conventions: tuple[ConventionFile, ...] = ()
    command: tuple[str, ...] = ()
    remote_branch: str = ""
    """Set where a remote agent does the work, in a clone of its own."""


@dataclass(frozen=True)
class Case:
    """A turn's rows. `step` is None for turns about the whole run; `before` are earlier turns of the run."""

    turn: Row
    run: Row
    scope: Row
    repository: Row
    told: Row
    steps: Sequence[Row]
    step: Row | None
    groups: Mapping[str, Row]
    failures: Sequence[Row]
    found: Sequence[Row]
    before: Sequence[Row]
    proved: Sequence[Row]
    cells: Mapping[str, Sequence[Row]]
    rounds: tuple[RoundView, ...]
    left: Mapping[str, Any]
    events: Sequence[Row] = ()
    most_failures: int = 50
    joined: Sequence[Row] = ()

    @property
    def restarted(self) -> bool:
        """The turn before this one in the same session was lost with its worker (T14)."""
        mine = [turn for turn in self.before if turn.session_id == self.turn.session_id]
        return bool(mine) and mine[-1].status is ItemStatus.FAILED and mine[-1].error_code in RESTARTED

    @property
    def proof(self) -> Row | None:
        """The newest finished proof of the current step."""
        return self.proved[-1] if self.proved else None

    def gate(self, store: Store) -> Gate | None:
        """What the integrity gate said about that proof."""
        wanted = None if self.proof is None else self.proof.gate_evidence_id
        return read_gate(store, next((row for row in self.found if row.id == wanted), None))

    def kinds(self, wanted: frozenset[str]) -> dict[str, str]:
        """Evidence ids of these kinds with their kind, in order."""
        return {row.id: row.kind.value for row in self.found if row.kind.value in wanted}


def open_case(conn: Connection, turn_id: str, settings: Settings) -> Case:
    """Read all rows of a turn; raises NoResultFound for an unknown id."""
    turn = turns.get(conn, turn_id)
    run = runs.get(conn, turn.run_id)
    scope, repository = repos.get_scope(conn, run.scope_id), repos.get_repository(conn, run.repository_id)
    if scope is None or repository is None:
        raise LookupError(run.scope_id)
    steps = runs.steps_of(conn, run.id)
    step = next((row for row in steps if row.step_id == turn.step_id), None)
    proved = [p for p in proofs.of_run(conn, run.id, turn.step_id) if p.status is ItemStatus.DONE]
    all_turns = turns.of_run(conn, run.id)
    return Case(
        turn=turn,
        run=run,
        scope=scope,
        repository=repository,
        told=diagnoses.get(conn, run.diagnosis_id),
        steps=steps,
        step=step,
        groups={group.id: group for group in diagnoses.groups_of(conn, run.diagnosis_id)},
        failures=_failures(conn, run, step),
        found=evidence.of_run(conn, run.id),
        before=[row for row in all_turns if (row.created_at, row.id) < (turn.created_at, turn.id)],
        proved=proved,
        cells={proof.id: proofs.cells_of(conn, proof.id) for proof in proved},
        rounds=rounds_of(conn, run.id, turn.step_id),
        left=last_work(conn, run.id, turn.step_id),
        events=events.of_run(conn, run.id),
        most_failures=limits_of(repository, settings).max_failures,
        joined=diagnoses.joined(conn, run),
    )


def _failures(conn: Connection, run: Row, step: Row | None) -> Sequence[Row]:
    if step is None or step.group_id is None:
        return diagnoses.failures_of(conn, run.diagnosis_id)
    return diagnoses.failures_of_group(conn, step.group_id)


def run_facts(case: Case) -> RunFacts:
    """The part Run of a prompt."""
    kind, _, rest = case.scope.key.partition(":")
    return RunFacts(
        repository=case.repository.full_name,
        head_sha=case.run.head_sha,
        base_sha=case.run.base_sha,
        tag=case.run.dedup_tag,
        failures_total=case.told.failures_total,
        failures_in_step=len(case.failures),
        pull_number=int(rest) if kind == "pr" else None,
        head_ref=case.scope.head_ref,
        base_ref=case.scope.base_ref,
        environment=_environment(case),
        attempt=max(1, case.step.attempts) if case.step is not None else 1,
        log_bytes=(case.told.log_bytes_seen or 0, case.told.log_bytes_total or 0),
    )


def _environment(case: Case) -> str:
    checks = {check["id"]: check["name"] for check in case.told.check_runs or ()}
    first = case.failures[0].check_run_id if case.failures else None
    return str(checks.get(first, ""))


def failures_shown(case: Case) -> tuple[Failure, ...]:
    """The failing tests as the prompt lists them: as many as policy wants (A6), output within the log's budget (W5)."""
    checks = {check["id"]: check for check in case.told.check_runs or ()}
    rows = [*case.failures, *case.joined][: case.most_failures]
    later = {row.id for row in case.joined}
    heads = sum(len(row.test_id) + len(row.error_head) for row in rows)
    details = tails_within([row.detail_tail for row in rows], budget_of(case.told.log_bytes_total or 0) - heads)
    shown = []
    for row, detail in zip(rows, details, strict=True):
        check = checks.get(row.check_run_id, {})
        job, attempt = str(check.get("name", "unknown")), int(check.get("attempt", 1))
        whole = len(row.detail_tail.strip("\n"))
        shown.append(Failure(row.test_id, row.kind.value, job, attempt, detail, row.error_head, whole, row.id in later))
    return tuple(shown)


def task_of(case: Case) -> Task:
    """The step prompt with its addenda and a maintainer's hint."""
    if case.step is None:
        return Task("", "")
    addenda = tuple(str(text) for text in case.step.addenda or ())
    author = "Remedy" if case.run.plan_version == 1 else "plan review"
    return Task(case.step.step_id, case.step.prompt, author, addenda, hint=case.run.hint)


def evidence_lines(case: Case, kinds: frozenset[str]) -> tuple[EvidenceLine, ...]:
    """All that the turn may cite; `what` was written by the app when the evidence was stored (EV-4)."""
    return tuple(
        EvidenceLine(row.id, row.kind.value, str((row.meta_json or {}).get("what", "")))
        for row in case.found
        if row.kind.value in kinds
    )


def grid_rows(case: Case) -> tuple[TreeRow, ...]:
    """The grid of the newest proof, one row per tree over all named tests."""
    cells = case.cells.get(case.proof.id, ()) if case.proof is not None else ()
    rows = []
    for tree, word in TREE_WORDS.items():
        mine = [cell for cell in cells if cell.tree_name is tree]
        if not mine:
            continue
        total, passed = sum(cell.runs for cell in mine), sum(cell.passes for cell in mine)
        ran = total - sum(cell.not_run for cell in mine)
        if not ran:
            rows.append(TreeRow(word, expected=mine[0].expected, note="not run"))
            continue
        outcome = "pass" if passed == total else "fail"
        count = passed if passed == total else sum(cell.fails for cell in mine)
        rows.append(TreeRow(word, outcome, count, total, mine[0].expected))
    return tuple(rows)


def findings_of(gate: Gate | None, *, accepted: bool = False) -> tuple[Finding, ...]:
    """What the rules found, in their words; `accepted` by a maintainer, who was asked before this turn (PM-26)."""
    return tuple(
        Finding(
            title=one.title,
            file=one.file or "",
            line=one.line or 0,
            explanation=one.explanation,
            excerpt="\n".join([*(f"- {line}" for line in one.before), *(f"+ {line}" for line in one.after)]),
            accepted=accepted,
        )
        for one in (gate.told if gate is not None else ())
    )


def attempts_of(case: Case) -> tuple[Attempt, ...]:
    """Earlier attempts of the step; the last one with its diff (PM-19)."""
    work = [turn for turn in case.before if turn.role is Role.AGENT and turn.step_id == case.turn.step_id]
    done = [turn for turn in work if turn.status is ItemStatus.DONE]
    made = []
    for shown, turn in zip(case.rounds, done, strict=False):
        result = turn.result_json or {}
        made.append(
            Attempt(
                n=shown.n,
                ended_by="supervisor" if shown.verdict else "proof",
                said=shown.tried,
                files=tuple(str(name) for name in result.get("files", ())),
                came_out=shown.proof,
                point=shown.feedback,
                diff=str(result.get("diff", "")) if shown.n == len(done) else "",
            )
        )
    return tuple(made)
