"""The ratings of a run in the database: who gave which item which score, asked which question."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import ColumnElement, and_, delete, func, select

from engine.runs.storage.schema import RatingRow
from engine.runs.storage.store import Store


def write(store: Store, run_id: str, question: str, rater: str, item: int, score: float) -> None:
    """Keep a rater's score of an item, in place of an earlier one."""
    with store.session() as session:
        session.merge(
            RatingRow(run_id=run_id, question=question, rater=rater, item=item, score=score, created=datetime.now(UTC))
        )


def remove(store: Store, run_id: str, question: str, rater: str) -> None:
    """Remove all that a rater answered to a question about a run."""
    with store.session() as session:
        session.execute(delete(RatingRow).where(_asked(run_id, question), RatingRow.rater == rater))


def of_rater(store: Store, run_id: str, question: str, rater: str) -> dict[int, float]:
    """The scores that a rater gave, by item, the last one last."""
    query = (
        select(RatingRow.item, RatingRow.score)
        .where(_asked(run_id, question), RatingRow.rater == rater)
        .order_by(RatingRow.created)
    )
    with store.session() as session:
        return {item: score for item, score in session.execute(query)}


def of_all(store: Store, run_id: str, question: str) -> dict[str, dict[int, float]]:
    """The scores of every rater, by item; the rater who began first comes first."""
    query = (
        select(RatingRow.rater, RatingRow.item, RatingRow.score)
        .where(_asked(run_id, question))
        .order_by(RatingRow.created)
    )
    by_rater: dict[str, dict[int, float]] = {}
    with store.session() as session:
        for rater, item, score in session.execute(query):
            by_rater.setdefault(rater, {})[item] = score
    return by_rater


def n_raters(store: Store, run_id: str, question: str) -> int:
    """The number of people who have rated an item of the run."""
    query = select(func.count(func.distinct(RatingRow.rater))).where(_asked(run_id, question))
    with store.session() as session:
        return int(session.scalar(query) or 0)


def _asked(run_id: str, question: str) -> ColumnElement[bool]:
    return and_(RatingRow.run_id == run_id, RatingRow.question == question)
