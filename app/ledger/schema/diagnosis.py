"""Tables of reading one head's red checks: diagnoses, failures, groups, history (domain.md, 2.2; decisions.md, 84)."""

from sqlalchemy import Index, Table, UniqueConstraint

from app.ledger.schema.columns import (
    big,
    flag,
    json,
    key,
    maybe_text,
    metadata,
    number,
    number_key,
    ref,
    text,
    time,
    words,
)
from app.ledger.words import FailureKind
from app.runs.model import Cause, DiagnosisState, Outcome

ENDED = (DiagnosisState.DONE, DiagnosisState.FAILED)

diagnoses = Table(
    "diagnoses",
    metadata,
    key(),
    ref("installation_id", "installations.id"),
    ref("scope_id", "scopes.id"),
    text("head_sha"),
    text("base_sha"),
    json("check_runs"),
    words("state", DiagnosisState, default=DiagnosisState.COLLECTING),
    words("outcome", Outcome, null=True),
    text("problem"),
    text("dedup_tag"),
    number("failures_total"),
    big("log_bytes_seen"),
    big("log_bytes_total"),
    big("log_lines_total"),
    flag("dry_run"),
    maybe_text("asked_by"),
    text("asked_reason"),
    maybe_text("run_id"),
    time("due_at", null=False),
    number("tries"),
    time("rung_at"),
    time("created_at", null=False),
    time("updated_at", null=False),
    time("finished_at"),
    json("details"),
    Index(None, "state", "due_at"),
    Index(None, "scope_id", "head_sha", "dedup_tag"),
)
Index(
    "uq_diagnoses_open",
    diagnoses.c.scope_id,
    diagnoses.c.head_sha,
    unique=True,
    sqlite_where=diagnoses.c.state.not_in(ENDED),
    postgresql_where=diagnoses.c.state.not_in(ENDED),
)

failure_groups = Table(
    "failure_groups",
    metadata,
    key(),
    ref("diagnosis_id", "diagnoses.id"),
    number("ord"),
    text("fingerprint"),
    text("title"),
    words("cause", Cause),
    json("cause_counts"),
    text("how_we_know"),
    text("why_grouped"),
    ref("issue_id", "issues.id", null=True),
    text("kind", "tests"),
    text("diff_file"),
    big("diff_line"),
    UniqueConstraint("diagnosis_id", "fingerprint"),
)

failures = Table(
    "failures",
    metadata,
    key(),
    ref("diagnosis_id", "diagnoses.id"),
    ref("group_id", "failure_groups.id", null=True),
    number("ord"),
    text("test_id"),
    text("framework"),
    words("kind", FailureKind),
    text("error_head"),
    text("detail_tail"),
    text("file"),
    big("line"),
    text("fingerprint"),
    flag("unstable_id"),
    big("check_run_id"),
    maybe_text("log_evidence_id"),
    text("source"),
    text("place_source"),
    UniqueConstraint("diagnosis_id", "test_id"),
    Index(None, "group_id"),
)

test_history = Table(
    "test_history",
    metadata,
    ref("repository_id", "repositories.id", part_of_key=True),
    key("test_id"),
    key("env"),
    key("sha"),
    number_key("attempt"),
    key("source"),
    text("outcome"),
    text("fingerprint"),
    time("at", null=False),
    Index(None, "repository_id", "test_id", "at"),
)
