"""Tables of the pages: who is signed in, and what the set-up keeps; secrets in them are sealed (app/sealing)."""

from sqlalchemy import Index, Table

from app.ledger.schema.columns import big, key, metadata, text, time

browsers = Table(
    "browsers",
    metadata,
    key(),
    big("user_id", null=False),
    text("login"),
    text("sealed"),
    time("created_at", null=False),
    time("until_at", null=False),
    Index(None, "until_at"),
)

vault = Table(
    "vault",
    metadata,
    key("name"),
    text("sealed"),
    time("updated_at", null=False),
)
