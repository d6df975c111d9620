"""Which input named a failing test and which one gave its place: a report, an annotation or the log."""

from alembic import op

from app.ledger.migrations.kinds import text

revision = "0008_sources"
down_revision = "0007_command_bells"


def upgrade() -> None:
    op.add_column("failures", text("source"))
    op.add_column("failures", text("place_source"))
