"""Diagnoses, failure groups, failures, the history of tests."""

import sqlalchemy as sa
from alembic import op

from app.ledger.migrations.kinds import (
    big,
    flag,
    json,
    key,
    maybe_text,
    number,
    number_key,
    one_of,
    ref,
    text,
    time,
    where,
)

revision = "0002_diagnosis"
down_revision = "0001_github"


def upgrade() -> None:
    op.create_table(
        "test_history",
        ref("repository_id", "repositories.id", part_of_key=True),
        key("test_id"),
        key("env"),
        key("sha"),
        number_key("attempt"),
        key("source"),
        text("outcome"),
        text("fingerprint"),
        time("at", null=False),
    )
    op.create_index("ix_test_history_repository_id_test_id_at", "test_history", ["repository_id", "test_id", "at"])
    op.create_table(
        "diagnoses",
        key(),
        ref("installation_id", "installations.id"),
        ref("scope_id", "scopes.id"),
        text("head_sha"),
        text("base_sha"),
        json("check_runs"),
        one_of("state", "COLLECTING READING MEASURING WAITING DONE FAILED"),
        one_of(
            "outcome",
            "run_started attached nothing_failed no_tests_recognised log_unavailable not_ours stale_base",
            "infrastructure needs_maintainer not_enabled misconfigured ambiguous_scope limit_reached",
            "ci_waits_for_approval superseded",
            null=True,
        ),
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
    )
    op.create_index("ix_diagnoses_scope_id_head_sha_dedup_tag", "diagnoses", ["scope_id", "head_sha", "dedup_tag"])
    op.create_index("ix_diagnoses_state_due_at", "diagnoses", ["state", "due_at"])
    op.create_index(
        "uq_diagnoses_open",
        "diagnoses",
        ["scope_id", "head_sha"],
        unique=True,
        **where("(state NOT IN ('DONE', 'FAILED'))"),
    )
    op.create_table(
        "failure_groups",
        key(),
        ref("diagnosis_id", "diagnoses.id"),
        number("ord"),
        text("fingerprint"),
        text("title"),
        one_of("cause", "this_change known_flaky base_red infrastructure stale_base not_decided"),
        json("cause_counts"),
        text("how_we_know"),
        text("why_grouped"),
        ref("issue_id", "issues.id", null=True),
        sa.UniqueConstraint("diagnosis_id", "fingerprint"),
    )
    op.create_table(
        "failures",
        key(),
        ref("diagnosis_id", "diagnoses.id"),
        ref("group_id", "failure_groups.id", null=True),
        number("ord"),
        text("test_id"),
        text("framework"),
        one_of("kind", "failed error"),
        text("error_head"),
        text("detail_tail"),
        text("file"),
        big("line"),
        text("fingerprint"),
        flag("unstable_id"),
        big("check_run_id"),
        maybe_text("log_evidence_id"),
        sa.UniqueConstraint("diagnosis_id", "test_id"),
    )
    op.create_index("ix_failures_group_id", "failures", ["group_id"])
