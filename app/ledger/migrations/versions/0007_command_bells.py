"""A command that waits has a doorbell like every other row that is to be worked on (decisions.md, row 61)."""

from alembic import op

from app.ledger.migrations.kinds import time

revision = "0007_command_bells"
down_revision = "0006_told"


def upgrade() -> None:
    op.add_column("commands", time("rung_at"))
