"""Which jobs were red on the commit that was pushed."""

from alembic import op

from app.ledger.migrations.kinds import json

revision = "0014_red_jobs"
down_revision = "0013_followed"


def upgrade() -> None:
    op.add_column("publications", json("red_jobs"))
