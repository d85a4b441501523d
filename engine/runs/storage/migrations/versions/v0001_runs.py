"""Runs, and the processes that have them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Forward."""
    op.create_table(
        "processes",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("host", sa.String(300), nullable=False),
        sa.Column("pid", sa.Integer, nullable=False),
        sa.Column("started", sa.Float(53), nullable=False),
        sa.Column("signed", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_table(
        "runs",
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("id", sa.String(32), nullable=False, unique=True),
        sa.Column("owner", sa.String(300), nullable=False),
        sa.Column("kind", sa.String(60), nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("settings", sa.JSON, nullable=False),
        sa.Column("dataset_name", sa.Text, nullable=False),
        sa.Column("dataset_hash", sa.String(64), nullable=False),
        sa.Column("dataset_notices", sa.JSON, nullable=False),
        sa.Column("key", sa.String(64), nullable=False),
        sa.Column("state", sa.String(12), nullable=False),
        sa.Column("done", sa.Integer, nullable=False),
        sa.Column("total", sa.Integer, nullable=False),
        sa.Column("label", sa.Text, nullable=False),
        sa.Column("message", sa.Text, nullable=False),
        sa.Column("created", sa.DateTime(timezone=True), nullable=False),
        sa.Column("started", sa.DateTime(timezone=True)),
        sa.Column("finished", sa.DateTime(timezone=True)),
        sa.Column("expected", sa.DateTime(timezone=True)),
        sa.Column("process_id", sa.String(32), sa.ForeignKey("processes.id", ondelete="SET NULL")),
        sa.Column("stop_requested", sa.Boolean, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
    )
    op.create_index("ix_runs_dataset_hash", "runs", ["dataset_hash"])
    op.create_index("ix_runs_state", "runs", ["state"])
    op.create_index("runs_by_owner", "runs", ["owner", "number"])
    op.create_index("runs_by_key", "runs", ["owner", "key"])


def downgrade() -> None:
    """Back."""
    op.drop_table("runs")
    op.drop_table("processes")
