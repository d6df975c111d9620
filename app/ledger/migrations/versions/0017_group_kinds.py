"""Which kind of failure a group is, in the words of the policy key `repair`."""

from alembic import op

from app.ledger.migrations.kinds import text

revision = "0017_group_kinds"
down_revision = "0016_open_checks"


def upgrade() -> None:
    op.add_column("failure_groups", text("kind", "tests"))
