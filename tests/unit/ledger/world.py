"""Rows that other rows need: a repository of an installation, a pull request, a diagnosis, a run."""

from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection

from app.ledger import diagnoses, proofs, publications, repos, runs, sessions, turns
from app.ledger.ids import new_id
from app.ledger.proofs import NewProof
from app.ledger.publications import NewPublication
from app.ledger.repos import ScopeFacts
from app.ledger.runs import RunFacts, StepFacts
from app.ledger.turns import NewTurn
from app.ledger.words import ProofKind, PublishMode
from app.runs.model import ItemKind, Purpose, Role, Run, Stage, Status, Step

NOW = 1_700_000_000_000
ACME, OTHER = 11, 22
SHOP, BLOG = 101, 202


def a_scope(conn: Connection, key: str = "pr:318", *, installation: int = ACME, repository: int = SHOP) -> str:
    """An open pull request of `acme/shop`, or of the repository named; its id."""
    repos.upsert_installation(conn, installation, "acme" if installation == ACME else "other")
    repos.upsert_repository(conn, repository, installation, f"acme/r{repository}", "main", False)
    facts = ScopeFacts(repository, key, repository, "feature", "headsha", "main", "basesha")
    return str(repos.upsert_scope(conn, facts, NOW).id)


def a_diagnosis(conn: Connection, scope_id: str, head_sha: str = "headsha") -> str:
    return diagnoses.open(conn, scope_id, head_sha, NOW, NOW)[0]


@dataclass(frozen=True)
class Started:
    run: Run
    created: bool


def a_run(conn: Connection, scope_id: str | None = None, **machine: Any) -> Run:
    """A run of two steps in PLAN_REVIEW, with any field of the machine's record replaced."""
    started = start(conn, scope_id or a_scope(conn), **machine)
    assert started.created
    return started.run


def start(conn: Connection, scope_id: str, **machine: Any) -> Started:
    scope = repos.get_scope(conn, scope_id)
    assert scope is not None
    steps = (Step("s1", prompt="repair a"), Step("s2", prompt="repair b"))
    run = replace(Run(new_id(NOW), Status.RUNNING, Stage.PLAN_REVIEW, steps), **machine)
    facts = RunFacts(
        installation_id=scope.installation_id,
        repository_id=scope.repository_id,
        scope_id=scope_id,
        diagnosis_id=a_diagnosis(conn, scope_id),
        dedup_tag="e2e-fail-0123456789ab",
        head_sha="headsha",
        base_sha="basesha",
        started_by="octocat",
    )
    return Started(run, runs.create(conn, run, facts, [StepFacts("a"), StepFacts("b", aliases=("x",))], NOW))


def a_turn(conn: Connection, run: Run, **of_turn: Any) -> str:
    """A queued supervisor turn of the run, or another one."""
    session_id = sessions.create(conn, run.run_id, Role.SUPERVISOR, "acme/agents/supervisor", NOW)
    assert session_id is not None
    turn = NewTurn(f"{run.run_id}-{new_id(NOW)}", run.run_id, session_id, Role.SUPERVISOR, Purpose.PLAN)
    return turns.create(conn, replace(turn, **of_turn), NOW)


def a_proof(conn: Connection, run: Run) -> str:
    return proofs.create(conn, NewProof(f"{run.run_id}-{new_id(NOW)}", ProofKind.STEP, run.run_id, step_id="s1"), NOW)


def a_publication(conn: Connection, run: Run) -> str:
    key = f"{run.run_id}-{new_id(NOW)}"
    return publications.create(conn, NewPublication(key, run.run_id, PublishMode.STACKED_PR, "tree", "remedy/x"), NOW)


def an_item(conn: Connection, kind: ItemKind, run: Run) -> str:
    return {ItemKind.TURN: a_turn, ItemKind.PROOF: a_proof, ItemKind.PUBLICATION: a_publication}[kind](conn, run)
