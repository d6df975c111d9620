"""Since when our check of a scope says in progress."""

from alembic import op

from app.ledger.migrations.kinds import time

revision = "0016_open_checks"
down_revision = "0015_web"


def upgrade() -> None:
    op.add_column("scopes", time("check_open_at"))
