"""One proof: the grid of trees and the integrity gate about one change, by rule; no model takes part."""

import hashlib
from dataclasses import replace

import structlog
from sqlalchemy import Connection

from app.errors import TransientError, UserError
from app.github import pulls
from app.github.client import Client
from app.github.tokens import Purpose
from app.integrity.selftest import problem_of_gate
from app.ledger import proofs, work
from app.ledger.proofs import ProofEnd
from app.ledger.rules import limits_of
from app.proving.case import Case, open_case
from app.proving.change import Change, change_of
from app.proving.draft import draft_of
from app.proving.keep import keep
from app.proving.measure import Proved, measure
from app.proving.outcome import failing_key, outcome_of, reason_of
from app.runs.model import ItemKind, ItemStatus, ProofOutcome
from app.services import Services, hold, services
from app.turns.places import fetch, mirror_of
from app.watched import Stopped
from app.workspace.grid.cells import NotRun
from app.workspace.packs import packs_of
from app.workspace.sandbox.model import SandboxUnavailable

log = structlog.get_logger("prove")


def prove(proof_id: str) -> str:
    """Make one queued proof; a lost worker's proof goes on with the runs it left on this machine (CR-6)."""
    s = services()
    with hold(s, f"proof:{proof_id}", lambda conn: work.is_cancelled(conn, ItemKind.PROOF, proof_id)) as held:
        if held is None:
            return "leased"
        with s.read() as conn:
            case = open_case(s, held, conn, proof_id)
        if case is None:
            return "idle"
        try:
            word = _prove(case)
        except TransientError as passing:
            log.info("proof put off", proof=proof_id, why=str(passing))
            return "waiting"
    s.ring("advance", case.run.id)
    return word


def _prove(case: Case) -> str:
    change = _begin(case)
    if change is None:
        return "late"
    if change.problem:
        return _end(case, _without_run(ProofOutcome.FAILED, case.s, change.problem))
    if problem := problem_of_gate():
        return _end(case, ProofEnd(ItemStatus.FAILED, error_code="gate", error=problem))
    try:
        proved = measure(case, mirror_of(case.s, case.repository.id), change, case.held.lost)
    except Stopped:
        return "cancelled"
    except (SandboxUnavailable, NotRun) as error:
        return _end(case, _without_run(ProofOutcome.NOT_RUN, case.s, str(error)))
    except UserError as error:
        text = case.s.redactor.text(str(error))[:1000]
        return _end(case, ProofEnd(ItemStatus.FAILED, error_code="workspace", error=text))
    return _keep(case, proved)


def _keep(case: Case, proved: Proved) -> str:
    """Its rows and its evidence, with the end of the proof in one transaction."""
    outcome = outcome_of(proved.judgement, case.policy.allow_test_only_fix)
    now = case.s.clock()
    with case.s.write() as conn:
        if not case.held.valid(conn, now):
            return "late"
        kept = keep(case, conn, proved, outcome, now)
        end = ProofEnd(
            ItemStatus.DONE,
            outcome,
            case.s.redactor.text(reason_of(proved.judgement, outcome))[:1000],
            "" if outcome is ProofOutcome.PASSED else failing_key(proved.judgement, proved.grid),
            kept.grid,
            kept.gate,
            tier=proved.sandbox.tier.name,
        )
        return _finish(case, conn, end, now)


def _begin(case: Case) -> Change | None:
    """The commits are here, the change is known, the row is RUNNING; None if somebody else was first."""
    s = case.s
    with s.connect(case.run.installation_id) as github:
        client = github.acting(Purpose.READ, case.repository.id)
        mirror = fetch(s, client, case.run, case.repository, (case.proof.head_sha, case.proof.base_sha))
        title = _title(case, client)
    with s.read() as conn:
        change = replace(change_of(s, conn, mirror, case.proof, case.run), title=title)
    if change.commit:
        packs_of(s.settings.data, case.run.id).keep(mirror, change.commit, case.proof.head_sha)
    now = s.clock()
    deadline = now + limits_of(case.repository, s.settings).proof_s * 1000
    values = {"commit_sha": change.commit, "tree": change.tree, "deadline_at": deadline}
    with s.write() as conn:
        return change if proofs.start(conn, case.proof.id, case.held.holder, now, **values) else None


def _title(case: Case, client: Client) -> str:
    """What the author calls the change: a sign of intent at most (PE-12)."""
    kind, _, number = case.scope.key.partition(":")
    return pulls.get_pull(client, case.repository.full_name, int(number)).title if kind == "pr" else ""


def _without_run(outcome: ProofOutcome, s: Services, reason: str) -> ProofEnd:
    """Nothing was run: no change to prove (PF-11), or no sandbox to run it in."""
    key = hashlib.sha256(reason.encode()).hexdigest() if outcome is ProofOutcome.FAILED else ""
    return ProofEnd(ItemStatus.DONE, outcome, s.redactor.text(reason)[:1000], key)


def _end(case: Case, end: ProofEnd) -> str:
    now = case.s.clock()
    with case.s.write() as conn:
        return _finish(case, conn, end, now)


def _finish(case: Case, conn: Connection, end: ProofEnd, now: int) -> str:
    done = proofs.finish(conn, case.proof.id, case.held.holder, end, now)
    if done:
        draft_of(case.s.settings.data, case.run.id).drop()
    return str(end.outcome or end.error_code) if done else "late"
