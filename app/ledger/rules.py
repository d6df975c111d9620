"""The rules that hold for a run at this moment: the operator's settings, lowered by the policy of the base branch."""

from typing import Any

from sqlalchemy import Connection, select, update

from app.ledger import proofs, repos, runs, spending
from app.ledger.rows import Row
from app.ledger.schema import approvals
from app.ledger.words import ApprovalOf
from app.runs.facts import Rules
from app.runs.model import ProofOutcome, Role
from app.settings import Limits, Settings


def policy_of(repository: Row) -> dict[str, Any]:
    """The cached policy of the base branch; empty where there is none."""
    return repository.policy_json or {}


def limits_of(repository: Row | None, settings: Settings) -> Limits:
    """The operator's limits, lowered where the policy of the base branch says less; it can never raise one (S37)."""
    policy = {} if repository is None else policy_of(repository)
    shown = {name: policy.get(name) for name in ("max_failures", "max_detail_chars")}
    return settings.limits.lowered({**(policy.get("limits") or {}), **shown})


def rules_of(conn: Connection, run_id: str, settings: Settings) -> Rules:
    """Limits of the operator, lowered by the policy of the base branch, with the approvals that still hold."""
    run = runs.get(conn, run_id)
    repository = repos.get_repository(conn, run.repository_id)
    policy = {} if repository is None else policy_of(repository)
    limits = limits_of(repository, settings)
    spent = spending.measures(conn, run_id, limits)
    return Rules(
        rounds=limits.rounds,
        restarts=limits.restarts,
        self_repairs=limits.self_repairs,
        head_moves=limits.head_moves,
        self_repair=settings.self_repair and policy.get("self_repair", True) is True,
        approval=policy.get("approval") or "none",
        approved=_approved(conn, run),
        unaccepted=_is_left_to_a_person(conn, run),
        budgets_needed=max((one.needed for one in spent), default=1),
        budgets_allowed=limits.budgets,
        budget_note=spending.note(spent, run.budgets),
    )


def _is_left_to_a_person(conn: Connection, run: Row) -> bool:
    """False while a newer head waits: nothing of this tree is published then, it is proved again (T39)."""
    proof, scope = proofs.accepted(conn, run.id), repos.get_scope(conn, run.scope_id)
    if proof is None or scope is None or scope.head_sha != run.head_sha:
        return False
    return bool(proof.outcome is ProofOutcome.NEEDS_HUMAN)


def void_approvals(conn: Connection, run_id: str, now: int) -> bool:
    """A new push voids what a person said about a tree; whether there was something to void."""
    about = (approvals.c.run_id == run_id, approvals.c.what.in_((ApprovalOf.PROOF, ApprovalOf.PUBLISH)))
    mine = update(approvals).where(*about, approvals.c.voided_at.is_(None))
    return conn.execute(mine.values(voided_at=now)).rowcount > 0


def _approved(conn: Connection, run: Row) -> frozenset[str]:
    """Approvals that still hold: given for this head, and, of a proof or a publication, for the tree that is here."""
    proof = proofs.accepted(conn, run.id)
    given = conn.execute(
        select(approvals.c.what, approvals.c.subject, approvals.c.tree).where(
            approvals.c.run_id == run.id, approvals.c.head_sha == run.head_sha, approvals.c.voided_at.is_(None)
        )
    ).all()
    valid = [row for row in given if row.tree is None or (proof is not None and row.tree == proof.tree)]
    return frozenset(f"step:{row.subject}" if row.what is ApprovalOf.STEP else str(row.what) for row in valid)


def choice_of(repository: Row | None, role: Role) -> dict[str, Any]:
    """What the policy says about the runner of a role: `id`, `config`, `allow`; a self-repair is the supervisor's."""
    chosen = {} if repository is None else policy_of(repository).get("runner") or {}
    return chosen.get("agent" if role is Role.AGENT else "supervisor") or {}


def runner_of(repository: Row | None, role: Role, settings: Settings) -> str:
    """Which runner works in this role: the policy's choice, else the operator's."""
    chosen: str | None = choice_of(repository, role).get("id")
    return chosen or (settings.agent if role is Role.AGENT else settings.supervisor)
