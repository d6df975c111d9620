"""How many writes an installation made of late, by windows of five minutes."""

from alembic import op

from app.ledger.migrations.kinds import json

revision = "0010_writes"
down_revision = "0009_calls_left"


def upgrade() -> None:
    op.add_column("installations", json("writes"))
