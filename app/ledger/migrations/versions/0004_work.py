"""Sessions, turns, verdicts, proofs, publications, self-repairs, money."""

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

revision = "0004_work"
down_revision = "0003_run"


def upgrade() -> None:
    op.create_table(
        "publications",
        key(),
        ref("run_id", "runs.id"),
        one_of("mode", "commit stacked_pr suggestions patch"),
        text("tree"),
        text("branch"),
        maybe_text("pushed_sha"),
        big("pr_number"),
        one_of("status", "QUEUED RUNNING PUSHED HANDED_OVER REFUSED FAILED CANCELLED"),
        text("refusal"),
        text("error_code"),
        text("error"),
        number("tries"),
        time("next_at"),
        one_of("ci", "green red_named red_other none waiting_approval unfinished not_pushed", null=True),
        time("ci_seen_at"),
        time("ci_deadline_at"),
        time("rung_at"),
        time("created_at", null=False),
        time("started_at"),
        time("finished_at"),
    )
    op.create_index("ix_publications_pushed_sha", "publications", ["pushed_sha"])
    op.create_index("ix_publications_run_id", "publications", ["run_id"])
    op.create_index("ix_publications_status_next_at", "publications", ["status", "next_at"])
    op.create_table(
        "sessions",
        key(),
        ref("run_id", "runs.id"),
        one_of("role", "SUPERVISOR AGENT SELF_REPAIR"),
        text("runner_id"),
        text("model"),
        maybe_text("agent_session_id"),
        maybe_text("dedupe_key"),
        text("workspace"),
        one_of("state", "OPEN LOST CLOSED"),
        time("created_at", null=False),
    )
    op.create_index("ix_sessions_run_id", "sessions", ["run_id"])
    op.create_index("uq_sessions_open", "sessions", ["runner_id", "dedupe_key"], unique=True, **where("state = 'OPEN'"))
    op.create_table(
        "proofs",
        key(),
        ref("run_id", "runs.id", null=True),
        ref("diagnosis_id", "diagnoses.id", null=True),
        maybe_text("step_id"),
        one_of("kind", "step whole baseline"),
        number("attempt"),
        text("tree"),
        text("commit_sha"),
        text("head_sha"),
        text("base_sha"),
        one_of("status", "QUEUED RUNNING DONE FAILED CANCELLED"),
        one_of("outcome", "passed failed needs_human forbidden not_run", null=True),
        text("reason"),
        maybe_text("grid_evidence_id"),
        maybe_text("gate_evidence_id"),
        text("failing_key"),
        text("tier"),
        text("error_code"),
        text("error"),
        time("deadline_at"),
        time("next_at"),
        number("tries"),
        time("rung_at"),
        time("created_at", null=False),
        time("started_at"),
        time("finished_at"),
        sa.ForeignKeyConstraint(["run_id", "step_id"], ["steps.run_id", "steps.step_id"]),
    )
    op.create_index("ix_proofs_run_id", "proofs", ["run_id"])
    op.create_index("ix_proofs_status", "proofs", ["status"])
    op.create_table(
        "turns",
        key(),
        ref("run_id", "runs.id"),
        maybe_text("step_id"),
        ref("session_id", "sessions.id"),
        one_of("role", "SUPERVISOR AGENT SELF_REPAIR"),
        one_of("purpose", "plan work review final repair reask"),
        one_of("status", "QUEUED RUNNING DONE FAILED CANCELLED"),
        text("error_code"),
        text("error"),
        text("prompt"),
        text("prompt_version"),
        text("nonce"),
        json("result_json"),
        text("text"),
        text("stop_reason"),
        json("grant_json"),
        text("runner_digest"),
        time("deadline_at"),
        time("next_at"),
        json("cost_json"),
        flag("simulated"),
        number("tries"),
        time("rung_at"),
        time("created_at", null=False),
        time("started_at"),
        time("finished_at"),
        sa.ForeignKeyConstraint(["run_id", "step_id"], ["steps.run_id", "steps.step_id"]),
    )
    op.create_index("ix_turns_run_id", "turns", ["run_id"])
    op.create_index("ix_turns_status_next_at", "turns", ["status", "next_at"])
    op.create_table(
        "proof_cells",
        ref("proof_id", "proofs.id", part_of_key=True),
        one_of(
            "tree_name",
            "base head fixed fixed_without_source base_source_with_fixed_tests",
            "fixed_source_with_original_tests",
            part_of_key=True,
        ),
        key("test_id"),
        text("tree"),
        text("env"),
        number("runs"),
        number("passes"),
        number("fails"),
        number("not_run"),
        text("expected"),
        maybe_text("evidence_id"),
    )
    op.create_index("ix_proof_cells_tree_test_id_env", "proof_cells", ["tree", "test_id", "env"])
    op.create_table(
        "self_repairs",
        ref("run_id", "runs.id", part_of_key=True),
        number_key("n"),
        number("block_version"),
        one_of("status", "RUNNING SUCCEEDED NEEDS_USER FAILED SUPERSEDED"),
        one_of("blocked_stage", "PLAN_REVIEW AGENT PROVE SUPERVISOR PUBLISH AWAIT_CI FINAL_REVIEW IDLE", null=True),
        ref("session_id", "sessions.id", null=True),
        ref("turn_id", "turns.id", null=True),
        number("reasks"),
        text("feedback"),
        text("prompt_addendum"),
        time("created_at", null=False),
        sa.UniqueConstraint("run_id", "block_version"),
    )
    op.create_table(
        "spend",
        key(),
        ref("installation_id", "installations.id"),
        ref("repository_id", "repositories.id"),
        ref("run_id", "runs.id", null=True),
        ref("turn_id", "turns.id", null=True),
        one_of("state", "reserved spent released"),
        big("amount", null=False),
        time("at", null=False),
    )
    op.create_index("ix_spend_installation_id_at", "spend", ["installation_id", "at"])
    op.create_table(
        "turn_events",
        ref("turn_id", "turns.id", part_of_key=True),
        number_key("seq"),
        one_of(
            "type",
            "message.delta message.completed tool.call.started tool.call.completed tool.denied",
            "permission.decided state.updated turn.log turn.cleanup_failed turn.completed turn.failed",
        ),
        json("data_json"),
        one_of("source", "runner host"),
        time("at", null=False),
    )
    op.create_table(
        "turn_tokens",
        key("token_hash"),
        ref("turn_id", "turns.id"),
        number("epoch"),
        json("grant_json"),
        time("expires_at", null=False),
    )
    op.create_table(
        "verdicts",
        ref("turn_id", "turns.id", part_of_key=True),
        one_of("decision", "approve correct block"),
        text("feedback"),
        json("evidence"),
        json("prompts"),
        maybe_text("addendum"),
        one_of("source", "structured tool marker"),
        text("model"),
        text("prompt_version"),
        time("at", null=False),
    )
