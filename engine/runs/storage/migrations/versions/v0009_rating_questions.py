"""What was asked when a score was given: a run's sentences can be rated beside its pairs."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

KEPT = ("run_id", "rater", "item", "score", "created")


def upgrade() -> None:
    """Forward: until now minimal pairs were asked for the preference, all others for the similarity."""
    op.create_table("ratings_of_questions", *_columns(sa.Column("question", sa.String(40), primary_key=True)))
    op.execute(f"""INSERT INTO ratings_of_questions (question, {", ".join(KEPT)})
        SELECT CASE WHEN EXISTS (SELECT 1 FROM runs WHERE runs.id = ratings.run_id AND runs.kind = 'minimal-pairs')
                    THEN 'preference' ELSE 'similarity' END, {", ".join(KEPT)} FROM ratings""")
    _replace("ratings_of_questions")


def downgrade() -> None:
    """Back. The scores of single sentences are gone."""
    op.create_table("ratings_of_pairs", *_columns())
    op.execute(f"""INSERT INTO ratings_of_pairs ({", ".join(KEPT)})
        SELECT {", ".join(KEPT)} FROM ratings WHERE question IN ('preference', 'similarity')""")
    _replace("ratings_of_pairs")


def _columns(*further: sa.Column[Any]) -> tuple[sa.Column[Any], ...]:
    return (
        sa.Column("run_id", sa.String(32), primary_key=True),
        sa.Column("rater", sa.String(300), primary_key=True),
        *further,
        sa.Column("item", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("score", sa.Float(53), nullable=False),
        sa.Column("created", sa.DateTime(timezone=True), nullable=False),
    )


def _replace(table: str) -> None:
    op.drop_table("ratings")
    op.rename_table(table, "ratings")
    op.create_index("ratings_by_rater", "ratings", ["rater"])
