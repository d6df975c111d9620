"""Leases, the outbox, runners."""

import sqlalchemy as sa
from alembic import op

from app.ledger.migrations.kinds import big, flag, json, key, maybe_text, number, one_of, ref, text, time, where

revision = "0005_engine"
down_revision = "0004_work"


def upgrade() -> None:
    op.create_table(
        "leases",
        key("resource"),
        text("owner"),
        time("until_at", null=False),
        number("epoch"),
    )
    op.create_index("ix_leases_until_at", "leases", ["until_at"])
    op.create_table(
        "runners",
        key(),
        text("version"),
        text("digest"),
        json("manifest_json"),
        one_of("state", "installing ready broken disabled"),
        text("progress"),
        text("error"),
        text("log_tail"),
        time("updated_at", null=False),
    )
    op.create_table(
        "outbox",
        key(),
        ref("installation_id", "installations.id"),
        text("key"),
        text("lane"),
        big("seq", null=False),
        one_of(
            "kind",
            "upsert_comment upsert_check open_issue update_issue close_issue reopen_issue open_pull",
            "update_pull submit_review reply hide_reply react rerun_jobs update_branch",
        ),
        json("payload", null=False),
        one_of("state", "PENDING SENDING DONE FAILED DROPPED"),
        flag("again"),
        number("tries"),
        time("next_at"),
        time("started_at"),
        maybe_text("remote_id"),
        text("error"),
        flag("simulated"),
        time("rung_at"),
        time("created_at", null=False),
        time("finished_at"),
        sa.UniqueConstraint("installation_id", "seq"),
        sa.UniqueConstraint("key"),
    )
    op.create_index("ix_outbox_unfinished", "outbox", ["lane", "seq"], **where("state IN ('PENDING', 'SENDING')"))
    op.create_table(
        "runner_state",
        key(),
        ref("installation_id", "installations.id"),
        ref("repository_id", "repositories.id"),
        text("runner_id"),
        one_of("scope", "session repository runner"),
        text("scope_key"),
        text("key"),
        json("value_json"),
        time("updated_at", null=False),
        sa.UniqueConstraint("installation_id", "repository_id", "runner_id", "scope", "scope_key", "key"),
    )
