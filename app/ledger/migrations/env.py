"""Alembic's entry: runs the revisions on the connection that `app.ledger.engine.migrate` hands over."""

from alembic import context

from app.ledger.schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
