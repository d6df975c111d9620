"""Runs, steps, evidence, approvals, events."""

import sqlalchemy as sa
from alembic import op

from app.ledger.migrations.kinds import big, json, key, maybe_text, number, number_key, one_of, ref, text, time, where

revision = "0003_run"
down_revision = "0002_diagnosis"


def upgrade() -> None:
    op.create_table(
        "runs",
        key(),
        ref("installation_id", "installations.id"),
        ref("repository_id", "repositories.id"),
        ref("scope_id", "scopes.id"),
        ref("diagnosis_id", "diagnoses.id"),
        text("dedup_tag"),
        text("head_sha"),
        text("base_sha"),
        one_of("status", "RUNNING BLOCKED COMPLETED CANCELLED"),
        one_of("stage", "PLAN_REVIEW AGENT PROVE SUPERVISOR PUBLISH AWAIT_CI FINAL_REVIEW IDLE"),
        one_of("blocked_stage", "PLAN_REVIEW AGENT PROVE SUPERVISOR PUBLISH AWAIT_CI FINAL_REVIEW IDLE", null=True),
        one_of(
            "block_cause",
            "verdict correction_limit no_progress verdict_missing turn_failed crash proof_failed",
            "proof_unavailable needs_approval question secret_found human_pushed no_permission tree_mismatch",
            "publish_failed budget_used command",
            null=True,
        ),
        text("error"),
        big("current_step"),
        number("round"),
        number("restarts"),
        number("self_repairs"),
        number("head_moves"),
        number("plan_version", 1),
        number("version"),
        one_of("active_kind", "turn proof publication", null=True),
        maybe_text("active_id"),
        maybe_text("supervisor_session_id"),
        maybe_text("stale_head_sha"),
        one_of("ci", "green red_named red_other none waiting_approval unfinished not_pushed", null=True),
        one_of("result", "fixed fixed_other_red not_fixed ci_unknown handed_over", null=True),
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
    )
    op.create_index("ix_runs_installation_id_status", "runs", ["installation_id", "status"])
    op.create_index("ix_runs_repository_id_dedup_tag_head_sha", "runs", ["repository_id", "dedup_tag", "head_sha"])
    op.create_index("uq_runs_active", "runs", ["scope_id"], unique=True, **where("status IN ('RUNNING', 'BLOCKED')"))
    op.create_table(
        "approvals",
        key(),
        ref("run_id", "runs.id"),
        one_of("what", "plan step proof publish"),
        text("subject"),
        text("head_sha"),
        maybe_text("tree"),
        big("actor_id"),
        text("actor"),
        time("at", null=False),
        time("voided_at"),
    )
    op.create_index("ix_approvals_run_id", "approvals", ["run_id"])
    op.create_table(
        "evidence",
        key("chain"),
        number_key("seq"),
        text("id"),
        ref("run_id", "runs.id", null=True),
        ref("diagnosis_id", "diagnoses.id", null=True),
        one_of("kind", "log failure blame plan diff grid cell gate finding mutation human ci answer"),
        text("sha256"),
        big("bytes", null=False),
        text("path"),
        text("origin"),
        json("meta_json"),
        text("prev_hash"),
        text("hash"),
        time("at", null=False),
        sa.UniqueConstraint("chain", "id"),
    )
    op.create_table(
        "run_events",
        ref("run_id", "runs.id", part_of_key=True),
        number_key("seq"),
        one_of(
            "kind",
            "run.started run.evidence_added run.blocked run.resumed run.completed run.cancelled tick.failed",
            "lease.taken_over head.moved plan.approved plan.correction_requested step.started",
            "step.work_finished step.correction_requested step.approved step.turn_restarted",
            "supervisor.review_restarted turn.restarted turn.late_result session.replaced workspace.prepared",
            "proof.started proof.passed proof.failed proof.needs_human proof.not_run proof.forbidden",
            "proof.restarted publish.started publish.done publish.refused ci.waiting ci.concluded ci.none",
            "self_repair.started self_repair.catchup_started self_repair.resumed self_repair.needs_user",
            "self_repair.failed self_repair.owner_resolved command.accepted command.refused",
            "approval.recorded approval.voided budget.reserved budget.exhausted issue.opened issue.linked",
            "issue.seen issue.closed issue.reopened pr.opened comment.updated check.updated",
        ),
        json("details"),
        maybe_text("actor"),
        time("at", null=False),
    )
    op.create_table(
        "steps",
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
        one_of("risk", "code test config production"),
        one_of("claim", "regression pre_existing test_side", null=True),
        text("prompt"),
        json("addenda"),
        one_of("status", "PENDING WORKING PROVING REVIEWING CORRECTING APPROVED BLOCKED"),
        number("attempts"),
        maybe_text("session_id"),
        maybe_text("start_tree"),
        maybe_text("commit_sha"),
        text("feedback"),
        time("finished_at"),
        sa.UniqueConstraint("run_id", "ord"),
    )
