"""Tables of a run: its steps, evidence, approvals, self-repairs, events and money (domain.md, 2.3)."""

from sqlalchemy import Index, Table, UniqueConstraint

from app.ledger.schema.columns import big, json, key, maybe_text, metadata, number, number_key, ref, text, time, words
from app.ledger.words import ApprovalOf, Claim, EventKind, EvidenceKind, Risk, SelfRepairStatus, SpendState
from app.runs.model import BlockCause, Ci, ItemKind, Result, Stage, Status, StepStatus

ACTIVE = (Status.RUNNING, Status.BLOCKED)

runs = Table(
    "runs",
    metadata,
    key(),
    ref("installation_id", "installations.id"),
    ref("repository_id", "repositories.id"),
    ref("scope_id", "scopes.id"),
    ref("diagnosis_id", "diagnoses.id"),
    text("dedup_tag"),
    text("head_sha"),
    text("base_sha"),
    words("status", Status),
    words("stage", Stage),
    words("blocked_stage", Stage, null=True),
    words("block_cause", BlockCause, null=True),
    text("error"),
    big("current_step"),
    number("round"),
    number("restarts"),
    number("self_repairs"),
    number("head_moves"),
    number("plan_version", 1),
    number("version"),
    words("active_kind", ItemKind, null=True),
    maybe_text("active_id"),
    maybe_text("supervisor_session_id"),
    maybe_text("stale_head_sha"),
    words("ci", Ci, null=True),
    words("result", Result, null=True),
    text("cancel_reason"),
    text("final_text"),
    text("hint"),
    text("started_by"),
    text("started_reason"),
    time("created_at", null=False),
    time("updated_at", null=False),
    time("stage_since_at", null=False),
    time("finished_at"),
    time("rung_at"),
    Index(None, "repository_id", "dedup_tag", "head_sha"),
    Index(None, "installation_id", "status"),
)
Index(
    "uq_runs_active",
    runs.c.scope_id,
    unique=True,
    sqlite_where=runs.c.status.in_(ACTIVE),
    postgresql_where=runs.c.status.in_(ACTIVE),
)

steps = Table(
    "steps",
    metadata,
    ref("run_id", "runs.id", part_of_key=True),
    key("step_id"),
    number("ord"),
    text("phase"),
    text("phase_label"),
    ref("group_id", "failure_groups.id", null=True),
    text("target"),
    json("aliases"),
    text("title"),
    text("summary"),
    words("risk", Risk, default=Risk.CODE),
    words("claim", Claim, null=True),
    text("prompt"),
    json("addenda"),
    words("status", StepStatus, default=StepStatus.PENDING),
    number("attempts"),
    maybe_text("session_id"),
    maybe_text("start_tree"),
    maybe_text("commit_sha"),
    text("feedback"),
    time("finished_at"),
    UniqueConstraint("run_id", "ord"),
)

evidence = Table(
    "evidence",
    metadata,
    key("chain"),
    number_key("seq"),
    text("id"),
    ref("run_id", "runs.id", null=True),
    ref("diagnosis_id", "diagnoses.id", null=True),
    words("kind", EvidenceKind),
    text("sha256"),
    big("bytes", null=False),
    text("path"),
    text("origin"),
    json("meta_json"),
    text("prev_hash"),
    text("hash"),
    time("at", null=False),
    UniqueConstraint("chain", "id"),
)

approvals = Table(
    "approvals",
    metadata,
    key(),
    ref("run_id", "runs.id"),
    words("what", ApprovalOf),
    text("subject"),
    text("head_sha"),
    maybe_text("tree"),
    big("actor_id"),
    text("actor"),
    time("at", null=False),
    time("voided_at"),
    Index(None, "run_id"),
)

self_repairs = Table(
    "self_repairs",
    metadata,
    ref("run_id", "runs.id", part_of_key=True),
    number_key("n"),
    number("block_version"),
    words("status", SelfRepairStatus),
    words("blocked_stage", Stage, null=True),
    ref("session_id", "sessions.id", null=True),
    ref("turn_id", "turns.id", null=True),
    number("reasks"),
    text("feedback"),
    text("prompt_addendum"),
    time("created_at", null=False),
    UniqueConstraint("run_id", "block_version"),
)

run_events = Table(
    "run_events",
    metadata,
    ref("run_id", "runs.id", part_of_key=True),
    number_key("seq"),
    words("kind", EventKind),
    json("details"),
    maybe_text("actor"),
    time("at", null=False),
)

spend = Table(
    "spend",
    metadata,
    key(),
    ref("installation_id", "installations.id"),
    ref("repository_id", "repositories.id"),
    ref("run_id", "runs.id", null=True),
    ref("turn_id", "turns.id", null=True),
    words("state", SpendState),
    big("amount", null=False),
    time("at", null=False),
    Index(None, "installation_id", "at"),
)
