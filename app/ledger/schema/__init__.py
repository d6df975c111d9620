"""All tables of the ledger (domain.md, section 2), for SQLite and PostgreSQL alike."""

from app.ledger.schema.columns import metadata
from app.ledger.schema.diagnosis import diagnoses, failure_groups, failures, test_history
from app.ledger.schema.engine import leases, outbox, runner_state, runners
from app.ledger.schema.github import commands, deliveries, installations, issue_failures, issues, repositories, scopes
from app.ledger.schema.run import approvals, evidence, run_events, runs, steps
from app.ledger.schema.web import browsers, vault
from app.ledger.schema.work import (
    proof_cells,
    proofs,
    publications,
    self_repairs,
    sessions,
    spend,
    turn_events,
    turns,
    verdicts,
)

__all__ = [
    "approvals",
    "browsers",
    "commands",
    "deliveries",
    "diagnoses",
    "evidence",
    "failure_groups",
    "failures",
    "installations",
    "issue_failures",
    "issues",
    "leases",
    "metadata",
    "outbox",
    "proof_cells",
    "proofs",
    "publications",
    "repositories",
    "run_events",
    "runner_state",
    "runners",
    "runs",
    "scopes",
    "self_repairs",
    "sessions",
    "spend",
    "steps",
    "test_history",
    "turn_events",
    "turns",
    "vault",
    "verdicts",
]
