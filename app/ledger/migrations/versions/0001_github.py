"""What GitHub told us: installations, repositories, scopes, deliveries, commands, issues."""

import sqlalchemy as sa
from alembic import op

from app.ledger.migrations.kinds import (
    big,
    blob,
    flag,
    github_key,
    json,
    key,
    maybe_text,
    number,
    one_of,
    ref,
    text,
    time,
)

revision = "0001_github"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "deliveries",
        key("guid"),
        text("event"),
        text("action"),
        big("installation_id"),
        big("repository_id"),
        maybe_text("semantic_key"),
        one_of("state", "RECEIVED HANDLED IGNORED FAILED"),
        number("tries"),
        time("next_at"),
        text("error"),
        blob("payload"),
        time("received_at", null=False),
        time("handled_at"),
        time("rung_at"),
    )
    op.create_index("ix_deliveries_repository_id_semantic_key", "deliveries", ["repository_id", "semantic_key"])
    op.create_index("ix_deliveries_state_next_at", "deliveries", ["state", "next_at"])
    op.create_table(
        "installations",
        github_key(),
        text("account"),
        time("suspended_at"),
        time("removed_at"),
        time("next_write_at"),
    )
    op.create_table(
        "repositories",
        github_key(),
        ref("installation_id", "installations.id"),
        text("full_name"),
        text("default_branch"),
        flag("is_private"),
        json("aliases"),
        json("policy_json"),
        maybe_text("policy_sha"),
        time("policy_at"),
        time("removed_at"),
    )
    op.create_index("ix_repositories_installation_id_full_name", "repositories", ["installation_id", "full_name"])
    op.create_table(
        "issues",
        key(),
        ref("repository_id", "repositories.id"),
        big("number"),
        text("fingerprint"),
        one_of("state", "open closed"),
        number("seen_count"),
        time("last_seen_at"),
        number("green_count"),
        text("closed_reason"),
        time("closed_at"),
        time("created_at", null=False),
        sa.UniqueConstraint("repository_id", "number"),
    )
    op.create_table(
        "scopes",
        key(),
        ref("installation_id", "installations.id"),
        ref("repository_id", "repositories.id"),
        text("key"),
        big("head_repo_id"),
        text("head_ref"),
        text("head_sha"),
        text("base_ref"),
        text("base_sha"),
        flag("is_fork"),
        flag("is_draft"),
        big("author_id"),
        text("author_type"),
        one_of("state", "open closed merged"),
        big("comment_id"),
        maybe_text("comment_hash"),
        time("comment_at"),
        time("comment_deleted_at"),
        big("check_run_id"),
        maybe_text("check_head_sha"),
        maybe_text("green_sha"),
        number("bot_commits"),
        maybe_text("off_by"),
        time("off_at"),
        text("off_reason"),
        time("created_at", null=False),
        time("updated_at", null=False),
        sa.UniqueConstraint("repository_id", "key"),
    )
    op.create_index("ix_scopes_repository_id_head_sha", "scopes", ["repository_id", "head_sha"])
    op.create_table(
        "commands",
        key(),
        one_of("source", "comment review review_comment button page"),
        text("source_id"),
        number("ordinal"),
        ref("scope_id", "scopes.id", null=True),
        big("actor_id"),
        text("actor"),
        text("verb"),
        text("args"),
        one_of("outcome", "accepted refused no_effect not_understood", null=True),
        text("reply"),
        text("url"),
        time("at", null=False),
        sa.UniqueConstraint("source", "source_id", "ordinal"),
    )
    op.create_index("ix_commands_outcome", "commands", ["outcome"])
    op.create_table(
        "issue_failures",
        ref("issue_id", "issues.id", part_of_key=True),
        key("failure_fingerprint"),
        ref("repository_id", "repositories.id"),
        flag("open"),
    )
    op.create_index(
        "uq_issue_failures_open",
        "issue_failures",
        ["repository_id", "failure_fingerprint"],
        unique=True,
        sqlite_where=sa.text("open IS 1"),
        postgresql_where=sa.text("open IS true"),
    )
