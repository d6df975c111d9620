"""Carry a transition of the machine into the rows: run, work item, events and intended texts in one transaction."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from app.ledger import events, outbox, proofs, publications, repairing, repos, runs, sessions, spending, turns, work
from app.ledger.ids import new_id
from app.ledger.proofs import NewProof
from app.ledger.publications import NewPublication
from app.ledger.rows import Row
from app.ledger.rules import limits_of, policy_of, rules_of, runner_of
from app.ledger.schema import approvals
from app.ledger.turns import NewTurn
from app.ledger.words import ApprovalOf, EventKind, OutboxKind, ProofKind, PublishMode
from app.runs.facts import Fact, HeadMoved, ProofOrder, Repaired, Transition, TurnOrder
from app.runs.machine import advance
from app.runs.model import ItemKind, ItemStatus, Role, Run, Status
from app.settings import Settings

RETRY_MS = (2_000, 10_000, 60_000, 300_000)
"""Waits before the next try of a publication (T50)."""


@dataclass(frozen=True)
class Who:
    """Who caused a transition; `actor_id` is GitHub's number, both None for Remedy itself."""

    actor: str | None = None
    actor_id: int | None = None


NOBODY = Who()

JOB_OF = {ItemKind.TURN: "turn", ItemKind.PROOF: "prove", ItemKind.PUBLICATION: "publish"}


class Overtaken(Exception):
    """Somebody else moved the run first (LE-3); read again and decide again."""


def apply(conn: Connection, run_id: str, fact: Fact, settings: Settings, now: int, who: Who = NOBODY) -> Transition:
    """Advance the run by `fact` and write all that follows; raises Overtaken when the run moved meanwhile.

    A refused fact leaves at most its trace. The caller rings the job of the new work item after the commit.
    """
    before = runs.load(conn, run_id)
    if isinstance(fact, Repaired) and repairing.is_late(conn, before, fact):
        events.append(conn, run_id, EventKind.TURN_LATE_RESULT, {"item": fact.item_id}, None, now)
        return Transition(before, refused="late result")
    step = advance(before, fact, rules_of(conn, run_id, settings))
    for event in step.events:
        events.append(conn, run_id, EventKind(event.kind), event.details, who.actor, now)
    if step.refused:
        return step
    if not runs.save(conn, before, step.run, now):
        raise Overtaken(run_id)
    if step.dropped is not None:
        work.cancel(conn, *step.dropped, now)
    if isinstance(fact, HeadMoved):
        runs.annotate(conn, run_id, stale_head_sha=fact.sha)
    _approve(conn, step, now, who)
    _order(conn, step, settings, now)
    repairing.keep(conn, before, step, fact, settings, now)
    if step.run.status in (Status.COMPLETED, Status.CANCELLED):
        sessions.close_of_run(conn, run_id)
    show(conn, runs.get(conn, run_id).scope_id, now)
    return step


def show(conn: Connection, scope_id: str, now: int, *, comment: bool = True) -> None:
    """Intend that comment and check of a scope say what is true when they are sent (OB-3)."""
    scope = repos.get_scope(conn, scope_id)
    if scope is None:
        return
    kinds = [OutboxKind.UPSERT_CHECK]
    if comment and scope.key.startswith("pr:"):
        kinds.append(OutboxKind.UPSERT_COMMENT)
    for kind in kinds:
        outbox.put(
            conn,
            key=f"{kind}:{scope_id}",
            lane=scope_id,
            kind=kind,
            payload={"scope_id": scope_id},
            installation_id=scope.installation_id,
            now=now,
        )


def _approve(conn: Connection, step: Transition, now: int, who: Who) -> None:
    """Keep what a person approved, bound to this head (T21)."""
    if not step.approves:
        return
    run, proof = runs.get(conn, step.run.run_id), proofs.accepted(conn, step.run.run_id)
    for name in step.approves:
        what, _, subject = name.partition(":")
        judged = proof is not None and what in (ApprovalOf.PROOF, ApprovalOf.PUBLISH)
        conn.execute(
            approvals.insert().values(
                id=new_id(now),
                run_id=run.id,
                what=ApprovalOf(what),
                subject=subject or str(step.run.plan_version),
                head_sha=run.head_sha,
                tree=proof.tree if proof is not None and judged else None,
                actor_id=who.actor_id,
                actor=who.actor or "",
                at=now,
            )
        )


def _order(conn: Connection, step: Transition, settings: Settings, now: int) -> None:
    run, order = step.run, step.order
    if order is None or run.active_id is None:
        return
    if isinstance(order, TurnOrder):
        _queue_turn(conn, run, order, settings, now)
    elif isinstance(order, ProofOrder):
        _queue_proof(conn, run, order, now)
    elif order.again:
        tries = publications.get(conn, run.active_id).tries
        publications.requeue(conn, run.active_id, now + RETRY_MS[min(tries, len(RETRY_MS)) - 1])
    else:
        _queue_publication(conn, run, now)


def _queue_turn(conn: Connection, run: Run, order: TurnOrder, settings: Settings, now: int) -> None:
    session_id = _session(conn, run, order, settings, now)
    turns.create(
        conn,
        NewTurn(
            key=str(run.active_id),
            run_id=run.run_id,
            session_id=session_id,
            role=order.role,
            purpose=order.purpose,
            step_id=order.step_id,
            next_at=order.not_before,
        ),
        now,
    )
    repository = repos.get_repository(conn, runs.get(conn, run.run_id).repository_id)
    spending.reserve(conn, run.run_id, str(run.active_id), limits_of(repository, settings), now)


def _session(conn: Connection, run: Run, order: TurnOrder, settings: Settings, now: int) -> str:
    """The conversation of this step, or of the supervisor; made once, then kept (IV-4)."""
    row = runs.get(conn, run.run_id)
    if order.role is Role.AGENT:
        step = next(s for s in runs.steps_of(conn, run.run_id) if s.step_id == order.step_id)
        known = step.session_id
    else:
        known = row.supervisor_session_id
    if known:
        return str(known)
    repository = repos.get_repository(conn, row.repository_id)
    made = sessions.create(conn, run.run_id, order.role, runner_of(repository, order.role, settings), now)
    if made is None:
        raise RuntimeError("a session without a dedupe key is always new")
    if order.role is Role.AGENT and order.step_id is not None:
        runs.annotate_step(conn, run.run_id, order.step_id, session_id=made)
    else:
        runs.annotate(conn, run.run_id, supervisor_session_id=made)
    return made


def wakes(step: Transition) -> tuple[tuple[str, str], ...]:
    """The doorbells to ring after the commit of a transition: its work item's, or its self-repair's."""
    if step.refused:
        return ()
    if step.repair:
        return (("turn", repairing.turn_of(step.run)),)
    kind, item_id = step.run.active_kind, step.run.active_id
    return () if step.order is None or kind is None else ((JOB_OF[kind], str(item_id)),)


def last_work(conn: Connection, run_id: str, step_id: str | None) -> dict[str, Any]:
    """What the last finished agent turn of a step left: `commit`, `tree`, `problem`; empty if there is none."""
    done = [
        turn
        for turn in turns.of_run(conn, run_id)
        if turn.role is Role.AGENT and turn.status is ItemStatus.DONE and step_id in (None, turn.step_id)
    ]
    return dict(done[-1].result_json or {}) if done else {}


def _queue_proof(conn: Connection, run: Run, order: ProofOrder, now: int) -> None:
    row = runs.get(conn, run.run_id)
    left = last_work(conn, run.run_id, order.step_id)
    attempt = 0 if run.current is None else run.steps[run.current].attempts
    proofs.create(
        conn,
        NewProof(
            key=str(run.active_id),
            kind=ProofKind(order.kind),
            run_id=run.run_id,
            step_id=order.step_id,
            attempt=attempt,
            tree=left.get("tree") or "",
            commit_sha=left.get("commit") or "",
            head_sha=row.head_sha,
            base_sha=row.base_sha,
        ),
        now,
    )


def accepted_proof(conn: Connection, run_id: str) -> Row | None:
    """As `proofs.accepted`."""
    return proofs.accepted(conn, run_id)


def _queue_publication(conn: Connection, run: Run, now: int) -> None:
    row = runs.get(conn, run.run_id)
    repository = repos.get_repository(conn, row.repository_id)
    mode = policy_of(repository).get("publish") if repository is not None else None
    proof = accepted_proof(conn, run.run_id)
    publications.create(
        conn,
        NewPublication(
            key=str(run.active_id),
            run_id=run.run_id,
            mode=_mode(PublishMode(mode or PublishMode.STACKED_PR), repos.get_scope(conn, row.scope_id)),
            tree="" if proof is None else proof.tree,
            branch=f"remedy/{row.dedup_tag}/{row.id}",
        ),
        now,
    )


def _mode(wanted: PublishMode, scope: Row | None) -> PublishMode:
    """A fork gets no push and no pull request of ours: what would need one is a patch to take away (FK-2)."""
    pushes = wanted in (PublishMode.STACKED_PR, PublishMode.COMMIT)
    return PublishMode.PATCH if pushes and scope is not None and scope.is_fork else wanted
