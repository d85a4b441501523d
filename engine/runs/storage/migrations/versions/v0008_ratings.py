"""Scores that people give to the pairs of a run."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Forward: nobody has rated yet."""
    op.create_table(
        "ratings",
        sa.Column("run_id", sa.String(32), primary_key=True),
        sa.Column("rater", sa.String(300), primary_key=True),
        sa.Column("item", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("score", sa.Float(53), nullable=False),
        sa.Column("created", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_index("ratings_by_rater", "ratings", ["rater"])


def downgrade() -> None:
    """Back. The ratings are gone."""
    op.drop_table("ratings")
