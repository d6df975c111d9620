"""Who is signed in, and what the set-up keeps."""

from alembic import op
from sqlalchemy import Index

from app.ledger.migrations.kinds import big, key, text, time

revision = "0015_web"
down_revision = "0014_red_jobs"


def upgrade() -> None:
    op.create_table(
        "browsers",
        key(),
        big("user_id", null=False),
        text("login"),
        text("sealed"),
        time("created_at", null=False),
        time("until_at", null=False),
        Index("ix_browsers_until_at", "until_at"),
    )
    op.create_table("vault", key("name"), text("sealed"), time("updated_at", null=False))
