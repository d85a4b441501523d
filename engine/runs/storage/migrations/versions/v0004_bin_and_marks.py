"""The bin, tags, stored headlines and sizes of datasets; stars, names of viewers."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Forward: no run is in the bin, none has tags; sizes and headlines are filled in when a run is next listed."""
    with op.batch_alter_table("runs") as runs:
        runs.add_column(sa.Column("deleted", sa.DateTime(timezone=True)))
        runs.add_column(sa.Column("tags", sa.Text, nullable=False, server_default=""))
        runs.add_column(sa.Column("n_rows", sa.Integer))
        runs.add_column(sa.Column("headline", sa.JSON))
        runs.create_index("runs_deleted", ["deleted"])
    op.create_table(
        "stars",
        sa.Column("viewer", sa.String(300), primary_key=True),
        sa.Column("run_id", sa.String(32), primary_key=True),
    )
    op.create_index("stars_by_run", "stars", ["run_id"])
    op.create_table(
        "viewer_names",
        sa.Column("viewer", sa.String(300), primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("folded_name", sa.String(300), nullable=False, unique=True),
    )


def downgrade() -> None:
    """Back. Runs in the bin are listed again."""
    for table in ("viewer_names", "stars"):
        op.drop_table(table)
    with op.batch_alter_table("runs") as runs:
        runs.drop_index("runs_deleted")
        for name in ("headline", "n_rows", "tags", "deleted"):
            runs.drop_column(name)
