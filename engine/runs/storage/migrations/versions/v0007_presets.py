"""Presets of one's own by name, and the speed of a running run."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Forward: nobody has a preset yet; a running run says its speed at its next report."""
    op.add_column("runs", sa.Column("per_second", sa.Float(53)))
    op.create_table(
        "presets",
        sa.Column("owner", sa.String(300), primary_key=True),
        sa.Column("kind", sa.String(60), primary_key=True),
        sa.Column("name", sa.String(300), primary_key=True),
        sa.Column("settings", sa.JSON, nullable=False),
        sa.Column("created", sa.DateTime(timezone=True), nullable=False),
    )


def downgrade() -> None:
    """Back. The presets are gone."""
    op.drop_table("presets")
    with op.batch_alter_table("runs") as runs:
        runs.drop_column("per_second")
