"""Budgets of a run, what its turns took of them, and the version of the rules that a verdict was read by."""

from alembic import op

from app.ledger.migrations.kinds import big, key, number, one_of, ref, text, time

revision = "0012_budgets"
down_revision = "0011_runners"


def upgrade() -> None:
    op.add_column("runs", number("budgets", 1))
    op.add_column("verdicts", text("rules_version"))
    op.drop_table("spend")  # never written before this revision
    op.create_table(
        "spend",
        key(),
        ref("installation_id", "installations.id"),
        ref("repository_id", "repositories.id"),
        ref("run_id", "runs.id", null=True),
        ref("turn_id", "turns.id", null=True),
        one_of("state", "reserved spent released"),
        big("usd_micros"),
        big("tokens", null=False),
        time("at", null=False),
    )
    op.create_index("ix_spend_installation_id_at", "spend", ["installation_id", "at"])
    op.create_index("ix_spend_run_id", "spend", ["run_id"])
