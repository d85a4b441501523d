"""Kinds of run by the names of their evaluations: classify, bertscore and idf were called by their measures."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

KINDS = {"classify": "classification", "bertscore": "alignment", "idf": "dictionary"}


def upgrade() -> None:
    """Forward: the runs keep everything else."""
    _rename(KINDS)


def downgrade() -> None:
    """Back."""
    _rename({new: old for old, new in KINDS.items()})


def _rename(names: dict[str, str]) -> None:
    runs = sa.table("runs", sa.column("kind", sa.String))
    for old, new in names.items():
        op.execute(runs.update().where(runs.c.kind == old).values(kind=new))
