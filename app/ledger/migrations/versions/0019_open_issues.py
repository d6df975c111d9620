"""Since when an issue is open, this time."""

from alembic import op

from app.ledger.migrations.kinds import time

revision = "0019_open_issues"
down_revision = "0018_places_in_diff"


def upgrade() -> None:
    op.add_column("issues", time("opened_at"))
