"""How many calls GitHub leaves an installation in this hour."""

from alembic import op

from app.ledger.migrations.kinds import big, time

revision = "0009_calls_left"
down_revision = "0008_sources"


def upgrade() -> None:
    op.add_column("installations", big("calls_left"))
    op.add_column("installations", time("calls_left_at"))
