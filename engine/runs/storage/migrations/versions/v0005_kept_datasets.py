"""Data sets that are kept by name, in versions."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Forward: nothing is kept yet."""
    op.create_table(
        "kept_datasets",
        sa.Column("set_id", sa.String(32), primary_key=True),
        sa.Column("version", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("owner", sa.String(300), nullable=False),
        sa.Column("name", sa.String(300), nullable=False),
        sa.Column("dataset_type", sa.String(60), nullable=False),
        sa.Column("dataset_hash", sa.String(64), nullable=False),
        sa.Column("notices", sa.JSON, nullable=False),
        sa.Column("n_rows", sa.Integer, nullable=False),
        sa.Column("shared", sa.Boolean, nullable=False),
        sa.Column("created", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_index("ix_kept_datasets_dataset_hash", "kept_datasets", ["dataset_hash"])
    op.create_index("kept_by_name", "kept_datasets", ["owner", "name", "version"], unique=True)


def downgrade() -> None:
    """Back. Data sets that no run uses stay on the disk, unlisted."""
    op.drop_table("kept_datasets")
