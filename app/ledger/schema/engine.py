"""Tables of the machinery: leases, the outbox, runners and what they remember (domain.md, 2.4)."""

from sqlalchemy import Index, Table, UniqueConstraint

from app.ledger.schema.columns import big, flag, json, key, maybe_text, metadata, number, ref, text, time, words
from app.ledger.words import OutboxKind, OutboxState, RunnerScope, RunnerState

UNFINISHED = (OutboxState.PENDING, OutboxState.SENDING)

leases = Table(
    "leases",
    metadata,
    key("resource"),
    text("owner"),
    time("until_at", null=False),
    number("epoch"),
    Index(None, "until_at"),
)

outbox = Table(
    "outbox",
    metadata,
    key(),
    ref("installation_id", "installations.id"),
    text("key"),
    text("lane"),
    big("seq", null=False),
    words("kind", OutboxKind),
    json("payload", null=False),
    words("state", OutboxState, default=OutboxState.PENDING),
    flag("again"),
    number("tries"),
    time("next_at"),
    time("started_at"),
    maybe_text("remote_id"),
    text("error"),
    flag("simulated"),
    time("rung_at"),
    time("created_at", null=False),
    time("finished_at"),
    UniqueConstraint("key"),
    UniqueConstraint("installation_id", "seq"),
)
Index(
    "ix_outbox_unfinished",
    outbox.c.lane,
    outbox.c.seq,
    sqlite_where=outbox.c.state.in_(UNFINISHED),
    postgresql_where=outbox.c.state.in_(UNFINISHED),
)

runners = Table(
    "runners",
    metadata,
    key(),
    text("version"),
    text("digest"),
    json("manifest_json"),
    words("state", RunnerState),
    text("progress"),
    text("error"),
    text("log_tail"),
    time("updated_at", null=False),
    number("percent"),
    text("label"),
    text("origin"),
    time("rung_at"),
)

runner_state = Table(
    "runner_state",
    metadata,
    key(),
    ref("installation_id", "installations.id"),
    ref("repository_id", "repositories.id"),
    text("runner_id"),
    words("scope", RunnerScope),
    text("scope_key"),
    text("key"),
    json("value_json"),
    time("updated_at", null=False),
    UniqueConstraint("installation_id", "repository_id", "runner_id", "scope", "scope_key", "key"),
)
