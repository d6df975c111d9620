"""One proof: the named tests without and with the change, in fresh trees, by rule; no model takes part."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

import structlog
from sqlalchemy import Connection

from app.errors import TransientError, UserError
from app.github.tokens import Purpose
from app.ledger import diagnoses, proofs, repos, runs, work
from app.ledger.leases import Holder
from app.ledger.proofs import ProofEnd
from app.ledger.rows import Row
from app.ledger.words import EvidenceKind, TreeName
from app.policy import Policy
from app.proving.cells import TreeSeen, Trial, keep, look
from app.proving.change import Change, change_of
from app.runs.grid import Judgement, judge, nothing_changed
from app.runs.model import ItemKind, ItemStatus, ProofOutcome
from app.services import Hold, Services, hold, services
from app.turns.places import fetch, mirror_of
from app.workspace.sandbox.model import SandboxUnavailable
from app.workspace.tests.model import OwnCommand

log = structlog.get_logger("prove")

EXPECTED = {TreeName.HEAD: "fail", TreeName.FIXED: "pass"}
WORDS = {TreeName.HEAD: "this pull request", TreeName.FIXED: "this pull request + fix"}
OUTPUT_CHARS = 6000


@dataclass(frozen=True)
class Case:
    """A proof with its rows: the tests of its step, and those of the steps before it (PF-3)."""

    s: Services
    held: Hold
    proof: Row
    run: Row
    scope: Row
    repository: Row
    named: Sequence[Row]
    earlier: Sequence[Row]

    @property
    def holder(self) -> Holder:
        return Holder(self.held.owner, self.held.epoch)

    @property
    def trial(self) -> Trial:
        framework = self.named[0].framework if self.named else ""
        policy = Policy.model_validate(self.repository.policy_json or {})
        own = tuple(
            OwnCommand(one.framework, one.run or (), one.run_named or (), one.paths) for one in policy.tests if one.run
        )
        return Trial(self.repository.full_name, self.scope.is_fork, framework, own)


def prove(proof_id: str) -> str:
    """Make one queued proof; cells of the same trees are reused, so a lost worker costs little (CR-6)."""
    s = services()
    with hold(s, f"proof:{proof_id}", lambda conn: work.is_cancelled(conn, ItemKind.PROOF, proof_id)) as held:
        if held is None:
            return "leased"
        with s.read() as conn:
            case = _open(s, held, conn, proof_id)
        if case is None:
            return "idle"
        try:
            word = _prove(case)
        except TransientError as passing:
            log.info("proof put off", proof=proof_id, why=str(passing))
            return "waiting"
    s.ring("advance", case.run.id)
    return word


def _open(s: Services, held: Hold, conn: Connection, proof_id: str) -> Case | None:
    proof = proofs.get(conn, proof_id)
    if proof.status is not ItemStatus.QUEUED or proof.run_id is None:
        return None
    run = runs.get(conn, proof.run_id)
    scope, repository = repos.get_scope(conn, run.scope_id), repos.get_repository(conn, run.repository_id)
    if scope is None or repository is None:
        return None
    steps = list(runs.steps_of(conn, run.id))
    places = [step.step_id for step in steps]
    place = places.index(proof.step_id) if proof.step_id in places else len(steps)
    mine = steps[place : place + 1] or steps
    before = steps[:place] if proof.step_id in places else []
    named, earlier = (
        [failure for step in part for failure in diagnoses.failures_of_group(conn, step.group_id)]
        for part in (mine, before)
    )
    return Case(s, held, proof, run, scope, repository, named, earlier)


def _prove(case: Case) -> str:
    s = case.s
    with s.connect(case.run.installation_id) as github:
        client = github.acting(Purpose.READ, case.repository.id)
        mirror = fetch(s, client, case.repository, (case.proof.head_sha,))
    with s.read() as conn:
        change = change_of(s, conn, mirror, case.proof, case.run)
    now = s.clock()
    with s.write() as conn:
        values = {
            "commit_sha": change.commit,
            "tree": change.tree,
            "deadline_at": now + s.settings.limits.proof_s * 1000,
        }
        if not proofs.start(conn, case.proof.id, case.holder, now, **values):
            return "late"
    try:
        return _judge(case, change)
    except InterruptedError:
        return "cancelled"
    except SandboxUnavailable as error:
        return _end(case, Judgement(ProofOutcome.NOT_RUN, str(error)), [])
    except UserError as error:
        end = ProofEnd(ItemStatus.FAILED, error_code="workspace", error=s.redactor.text(str(error))[:1000])
        with s.write() as conn:
            proofs.finish(conn, case.proof.id, case.holder, end, s.clock())
        return "failed"


def _judge(case: Case, change: Change) -> str:
    if change.problem:
        return _end(case, nothing_changed(change.problem), [])
    mirror = mirror_of(case.s, case.repository.id)
    named = [row.test_id for row in case.named]
    every = list(dict.fromkeys([*(row.test_id for row in case.earlier), *named]))
    trees = [
        (TreeName.HEAD, mirror.tree_of(case.proof.head_sha), named),
        (TreeName.FIXED, change.tree, every),
    ]
    seen = [look(case.s, mirror, case.trial, tree, case.held.lost) for tree in trees]
    found = judge(seen[0].seen, seen[1].seen)
    why = next((tree.reason for tree in seen if tree.reason), "")
    if found.outcome is ProofOutcome.NOT_RUN and why:
        found = Judgement(found.outcome, f"{found.reason} ({why})", found.failing_key)
    return _end(case, found, seen)


def _end(case: Case, found: Judgement, seen: Sequence[TreeSeen]) -> str:
    """Cells, outputs and grid as rows and evidence, and the end of the proof, in one transaction."""
    s, now = case.s, case.s.clock()
    with s.write() as conn:
        if not case.held.valid(conn, now):
            return "late"
        for tree in seen:
            keep(conn, case.proof.id, tree, EXPECTED[tree.name], _cell_evidence(case, conn, tree, now))
        grid = _grid_evidence(case, conn, found, seen, now) if seen else None
        end = ProofEnd(
            ItemStatus.DONE,
            found.outcome,
            s.redactor.text(found.reason)[:1000],
            found.failing_key,
            grid,
            tier=seen[0].tier if seen else "",
        )
        return str(found.outcome) if proofs.finish(conn, case.proof.id, case.holder, end, now) else "late"


def _cell_evidence(case: Case, conn: Connection, tree: TreeSeen, now: int) -> str:
    output = case.s.redactor.text(tree.output.decode("utf-8", "replace"))
    counts = ", ".join(f"{test}: {seen.passes} passed, {seen.fails} failed" for test, seen in tree.seen.items())
    return _put(case, conn, (EvidenceKind.CELL, f"{tree.name}: {counts}\n{output}"), WORDS[tree.name], now, output)


def _grid_evidence(case: Case, conn: Connection, found: Judgement, seen: Sequence[TreeSeen], now: int) -> str:
    rows = [
        {
            "tree_name": tree.name.value,
            "tree": tree.tree,
            "expected": EXPECTED[tree.name],
            "tier": tree.tier,
            "tests": {test: vars(counts) for test, counts in tree.seen.items()},
        }
        for tree in seen
    ]
    body = {"proof": case.proof.id, "outcome": found.outcome.value, "reason": found.reason, "rows": rows}
    text = json.dumps(body, indent=1, sort_keys=True)
    return _put(case, conn, (EvidenceKind.GRID, text), f"proof of attempt {case.proof.attempt}", now)


def _put(case: Case, conn: Connection, fact: tuple[EvidenceKind, str], what: str, now: int, tail: str = "") -> str:
    kind, text = fact
    return case.s.store.put(
        conn,
        run_id=case.run.id,
        kind=kind,
        data=text.encode("utf-8", "replace"),
        origin="host",
        meta={"what": what, "tail": tail[-OUTPUT_CHARS:]} if tail else {"what": what},
        now=now,
    )
