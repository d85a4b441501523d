"""Alembic's environment: runs the migrations on the connection passed by `engine.runs.storage.database`."""

from __future__ import annotations

from alembic import context

from engine.runs.storage.schema import Base

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    render_as_batch=True,  # SQLite alters a table by copying it
    transaction_per_migration=False,
)
with context.begin_transaction():
    context.run_migrations()
