"""How Alembic reaches the database: over the connection that `engine.runs.storage.database` hands it."""

from __future__ import annotations

from alembic import context

from engine.runs.storage.schema import Base

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    render_as_batch=True,  # SQLite alters a table by making it anew
    transaction_per_migration=False,
)
with context.begin_transaction():
    context.run_migrations()
