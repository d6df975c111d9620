"""Where a turn of a remote agent stands between two looks."""

from alembic import op

from app.ledger.migrations.kinds import json

revision = "0013_followed"
down_revision = "0012_budgets"


def upgrade() -> None:
    op.add_column("turns", json("follow_json"))
