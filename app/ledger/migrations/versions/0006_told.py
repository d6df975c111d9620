"""What else is told to people: details of a diagnosis, notes of a scope, the thread of a command."""

from alembic import op

from app.ledger.migrations.kinds import big, json

revision = "0006_told"
down_revision = "0005_engine"


def upgrade() -> None:
    op.add_column("diagnoses", json("details"))
    op.add_column("scopes", json("notes"))
    op.add_column("commands", big("thread"))
