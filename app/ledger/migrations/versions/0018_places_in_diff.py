"""Where in the pull request's diff the failures of a group stand."""

from alembic import op

from app.ledger.migrations.kinds import big, text

revision = "0018_places_in_diff"
down_revision = "0017_group_kinds"


def upgrade() -> None:
    op.add_column("failure_groups", text("diff_file"))
    op.add_column("failure_groups", big("diff_line"))
