"""Shared runs, notes, the models of a run for searching, what a run takes on the disk."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

MODELS = "models"


def upgrade() -> None:
    """Forward. The models of older runs are read from their settings."""
    with op.batch_alter_table("runs") as runs:
        runs.add_column(sa.Column("shared", sa.Boolean, nullable=False, server_default=sa.false()))
        runs.add_column(sa.Column("note", sa.Text, nullable=False, server_default=""))
        runs.add_column(sa.Column(MODELS, sa.Text, nullable=False, server_default=""))
        runs.add_column(sa.Column("stored_bytes", sa.BigInteger, nullable=False, server_default="0"))
        runs.create_index("runs_shared", ["shared", "number"])
    rows = sa.table("runs", sa.column("number", sa.Integer), sa.column("settings", sa.JSON), sa.column(MODELS, sa.Text))
    connection = op.get_bind()
    for number, settings in connection.execute(sa.select(rows.c.number, rows.c.settings)).all():
        models = "\n".join(settings.get(MODELS) or ())
        connection.execute(rows.update().where(rows.c.number == number).values(models=models))


def downgrade() -> None:
    """Back."""
    with op.batch_alter_table("runs") as runs:
        runs.drop_index("runs_shared")
        for name in ("stored_bytes", MODELS, "note", "shared"):
            runs.drop_column(name)
