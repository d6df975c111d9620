"""Which jobs were red on the commit that was pushed."""

from alembic import op

from app.ledger.migrations.kinds import json

revision = "0011_red_jobs"
down_revision = "0010_writes"


def upgrade() -> None:
    op.add_column("publications", json("red_jobs"))
