"""Kinds of live progress in the ledger of a turn; the token of a turn is kept nowhere; how far an install is."""

import sqlalchemy as sa
from alembic import op

from app.ledger.migrations.kinds import json, number, number_key, one_of, ref, text, time

revision = "0011_runners"
down_revision = "0010_writes"

KINDS = (
    "session.bound message.delta message.completed plan.updated tool.call.started tool.call.completed tool.denied",
    "permission.decided usage.updated state.updated turn.log turn.cleanup_failed turn.completed turn.failed",
)


def upgrade() -> None:
    op.drop_table("turn_tokens")
    _more_kinds()
    op.add_column("runners", number("percent"))
    op.add_column("runners", text("label"))
    op.add_column("runners", text("origin"))
    op.add_column("runners", time("rung_at"))


def _more_kinds() -> None:
    if op.get_bind().dialect.name != "sqlite":
        allowed = sa.column("type").in_(" ".join(KINDS).split())
        op.drop_constraint("type", "turn_events", type_="check")
        op.create_check_constraint("type", "turn_events", allowed)
        return
    op.rename_table("turn_events", "turn_events_before")
    op.create_table(
        "turn_events",
        ref("turn_id", "turns.id", part_of_key=True),
        number_key("seq"),
        one_of("type", *KINDS),
        json("data_json"),
        one_of("source", "runner host"),
        time("at", null=False),
    )
    columns = "turn_id, seq, type, data_json, source, at"
    op.execute(f"INSERT INTO turn_events ({columns}) SELECT {columns} FROM turn_events_before")
    op.drop_table("turn_events_before")
