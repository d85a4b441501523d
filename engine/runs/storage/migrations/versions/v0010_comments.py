"""Comments on runs, whether the owner has closed them, when a run was shared and when a viewer last saw what is new."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Forward: nobody has commented yet."""
    op.create_table(
        "comments",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("run_id", sa.String(32), nullable=False),
        sa.Column("author", sa.String(300), nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("view", sa.Text, nullable=False),
        sa.Column("mentions", sa.Text, nullable=False),
        sa.Column("created", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_index("comments_by_run", "comments", ["run_id", "created"])
    op.create_index("comments_by_author", "comments", ["author", "created"])
    op.create_table(
        "visits",
        sa.Column("viewer", sa.String(300), primary_key=True),
        sa.Column("seen", sa.DateTime(timezone=True), nullable=False),
    )
    with op.batch_alter_table("runs") as runs:
        runs.add_column(sa.Column("shared_at", sa.DateTime(timezone=True)))
        runs.add_column(sa.Column("comments_closed", sa.Boolean, nullable=False, server_default=sa.false()))


def downgrade() -> None:
    """Back. The comments are gone."""
    with op.batch_alter_table("runs") as runs:
        runs.drop_column("comments_closed")
        runs.drop_column("shared_at")
    op.drop_table("visits")
    op.drop_table("comments")
