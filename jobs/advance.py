"""One tick of one run: find the fact that the machine has not used yet, let it decide, wake what follows."""

import sys

import structlog

from app.errors import TransientError
from app.events.payloads.parts import App
from app.github import checks, tokens
from app.ledger import diagnoses, proofs, publications, repairs, repos, runs, transitions, turns, work
from app.ledger.rows import Row
from app.ledger.rules import limits_of
from app.runs.ci import JobSeen, SuiteSeen, Waited, ci_of, red_names
from app.runs.facts import (
    CatchUp,
    CiEnded,
    EngineError,
    Fact,
    ProofDone,
    ProofFailed,
    Published,
    PublishInterrupted,
    PublishRefused,
    Repaired,
    TurnDone,
    TurnFailed,
    Verdict,
)
from app.runs.model import (
    BlockCause,
    Ci,
    ItemKind,
    ItemStatus,
    PublicationStatus,
    Purpose,
    Run,
    Stage,
    Status,
)
from app.runs.rules_turns import PASSES
from app.services import Services, hold, services

log = structlog.get_logger("advance")

REASKS = 1
"""Turns more that a self-repair gets when it was interrupted or could not be read (SR-10)."""
WAIT_MS, LONGEST_WAIT_MS = 60_000, 3_600_000
"""Before a provider that is busy is asked again, and how long in all for one work item (T51)."""
ASKED_AGAIN = frozenset(
    {
        "interrupted",
        "result.validation",
        "runner.session_lost",
        "runner.start_failed",
        "provider.rate_limited",
        "gateway.unreachable",
    }
)


def advance(run_id: str) -> str:
    """One transition at most; answers with the words of LE-8. A fault of ours blocks the run with its type and text."""
    s = services()
    with hold(s, f"run:{run_id}") as held:
        if held is None:
            return "leased"
        try:
            return _tick(s, run_id)
        except (TransientError, transitions.Overtaken) as passing:
            log.info("tick put off", run=run_id, why=str(passing))
            return "waiting"
        except Exception as error:  # the edge of a job: the run must say why it stops (T16)
            log.exception("tick failed", run=run_id)
            return _stop(s, run_id, f"{type(error).__name__}: {error}".rstrip(": "))


def _tick(s: Services, run_id: str) -> str:
    with s.read() as conn:
        run, row = runs.load(conn, run_id), runs.get(conn, run_id)
    if run.status is Status.BLOCKED:
        return _blocked(s, run)
    if run.status is not Status.RUNNING or run.active_id is None:
        return "idle"
    fact = _ci(s, row) if run.stage is Stage.AWAIT_CI else _fact(s, run)
    return "waiting" if fact is None else _apply(s, run_id, fact) or "idle"


def _apply(s: Services, run_id: str, fact: Fact) -> str:
    """The word of LE-8 for a transition that was made; empty when the machine refused the fact."""
    with s.write() as conn:
        step = transitions.apply(conn, run_id, fact, s.settings, s.clock())
        row = runs.get(conn, run_id)
    for job, item_id in transitions.wakes(step):
        s.ring(job, item_id)
    s.ring("deliver", str(row.installation_id))
    if step.refused:
        return ""
    return "blocked" if step.run.status is Status.BLOCKED else "processed"


def _blocked(s: Services, run: Run) -> str:
    """A stopped run moves by its self-repair only: one that answered (T19, T20), or one that nobody asked for (T23)."""
    with s.read() as conn:
        asked = repairs.running(conn, run.run_id)
        turn = None if asked is None or asked.turn_id is None else turns.get(conn, asked.turn_id)
        missing = asked is None and run.run_id in repairs.unasked(conn)
        stage = repairs.stage_of_old(conn, run.run_id)
    if asked is not None and turn is not None and turn.status in (ItemStatus.DONE, ItemStatus.FAILED):
        return "self_repair_processed" if _apply(s, run.run_id, _repaired(turn, asked)) else "idle"
    if missing and _apply(s, run.run_id, CatchUp(stage)):
        return "self_repair_recovered"
    return "waiting" if turn is not None else "idle"


def _repaired(turn: Row, asked: Row) -> Repaired:
    said = turn.result_json or {}
    if turn.status is ItemStatus.DONE and said.get("decision") in ("fixed", "needs_user"):
        return Repaired(turn.id, said["decision"], said.get("feedback", ""), said.get("prompt_addendum", ""))
    again = turn.error_code in ASKED_AGAIN and asked.reasks < REASKS
    return Repaired(turn.id, "failed", f"{turn.error_code}: {turn.error}".rstrip(": "), may_reask=again)


def _stop(s: Services, run_id: str, text: str) -> str:
    try:
        return _apply(s, run_id, EngineError(text)) or "idle"
    except transitions.Overtaken:
        return "waiting"


def _fact(s: Services, run: Run) -> Fact | None:
    """What the active work item says, or None while it is not done."""
    if run.active_kind is None or run.active_id is None:
        return None
    with s.read() as conn:
        item = work.get(conn, run.active_kind, run.active_id)
        verdict = turns.verdict_of(conn, item.id) if run.active_kind is ItemKind.TURN else None
    if run.active_kind is ItemKind.TURN:
        return _of_turn(item, verdict, s)
    if run.active_kind is ItemKind.PROOF:
        return _of_proof(s, item)
    return _of_publication(s, item)


def _of_turn(turn: Row, verdict: Row | None, s: Services) -> Fact | None:
    result = turn.result_json or {}
    if turn.status is ItemStatus.DONE:
        said = None if verdict is None else Verdict(verdict.decision, verdict.feedback, verdict.prompts or {})
        return TurnDone(turn.id, said, turn.text, str(result.get("question", "")), reask=turn.purpose is Purpose.REASK)
    if turn.status is not ItemStatus.FAILED:
        return None
    now = s.clock()
    return TurnFailed(
        turn.id,
        turn.error_code,
        turn.error,
        turn.purpose,
        fallback=str(result.get("fallback", "")),
        retry_at=max(turn.next_at or 0, now + WAIT_MS),
        may_wait=now - _waits_since(s, turn) < LONGEST_WAIT_MS,
    )


def _waits_since(s: Services, turn: Row) -> int:
    """When the first of the turns was asked for that had to wait for the same provider in a row (T51)."""
    with s.read() as conn:
        mine = [row for row in turns.of_run(conn, turn.run_id) if row.session_id == turn.session_id]
    since = int(turn.created_at)
    for row in reversed([row for row in mine if (row.created_at, row.id) <= (turn.created_at, turn.id)]):
        if row.error_code not in PASSES:
            break
        since = int(row.created_at)
    return since


def _of_proof(s: Services, proof: Row) -> Fact | None:
    whole = proof.kind.value == "whole"
    if proof.status is ItemStatus.FAILED:
        return ProofFailed(proof.id, proof.error_code, proof.error, whole)
    if proof.status is not ItemStatus.DONE:
        return None
    with s.read() as conn:
        others = [old for old in proofs.of_run(conn, proof.run_id, proof.step_id) if old.id != proof.id]
    same = (proof.tree, proof.failing_key)
    repeated = bool(proof.failing_key) and any((old.tree, old.failing_key) == same for old in others)
    return ProofDone(proof.id, proof.outcome, proof.reason, repeated, whole)


def _of_publication(s: Services, publication: Row) -> Fact | None:
    match publication.status:
        case PublicationStatus.PUSHED:
            return Published(publication.id)
        case PublicationStatus.HANDED_OVER:
            return Published(publication.id, handed_over=True)
        case PublicationStatus.REFUSED:
            return PublishRefused(publication.id, BlockCause(publication.refusal), publication.error)
        case PublicationStatus.FAILED:
            with s.read() as conn:
                run = runs.get(conn, publication.run_id)
                limits = limits_of(repos.get_repository(conn, run.repository_id), s.settings)
            may_retry = publication.tries < limits.publication_tries
            return PublishInterrupted(publication.id, publication.error, may_retry)
        case _:
            return None


def _ci(s: Services, run: Row) -> Fact | None:
    """Look at CI of the pushed commit; None, with the next look noted, while it is not finished (PB-8)."""
    with s.read() as conn:
        publication = publications.get(conn, run.active_id)
        repository = repos.get_repository(conn, run.repository_id)
        told = diagnoses.get(conn, run.diagnosis_id)
    if publication.ci is not None:
        return CiEnded(publication.id, publication.ci)
    if repository is None or publication.pushed_sha is None:
        return CiEnded(publication.id, Ci.NONE)
    # A job that failed before for another reason says nothing about the named tests; one that nobody read may.
    before = frozenset(check["name"] for check in told.check_runs or () if check.get("tests", True))
    with s.connect(run.installation_id) as github:
        client = github.acting(tokens.Purpose.READ, repository.id)
        suites = checks.find_check_suites(client, repository.full_name, publication.pushed_sha)
        jobs = checks.find_check_runs(client, repository.full_name, publication.pushed_sha)
    now, times = s.clock(), s.settings.times
    waited = Waited((now - publication.finished_at) / 1000, times.ci_first_suite_s, times.ci_all_s)
    seen = [JobSeen(job.name, job.conclusion) for job in jobs if _not_ours(s, job.app)]
    ci = ci_of(
        [
            SuiteSeen(suite.status or "", suite.conclusion, suite.latest_check_runs_count or 0)
            for suite in suites
            if _not_ours(s, suite.app)
        ],
        seen,
        before,
        waited,
    )
    with s.write() as conn:
        if ci is None:
            publications.look_again(conn, publication.id, s.in_ms(times.ci_poll_s), publication.ci_deadline_at)
            return None
        publications.ci_seen(conn, publication.id, ci, red_names(seen), now)
    return CiEnded(publication.id, ci)


def _not_ours(s: Services, app: App | None) -> bool:
    return app is None or app.id != s.settings.app_id


if __name__ == "__main__":
    sys.stdout.write(f"{advance(sys.argv[1])}\n")
