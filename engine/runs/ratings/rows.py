"""The ratings of a run in the database: who gave which item which score."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import delete, func, select

from engine.runs.storage.schema import RatingRow
from engine.runs.storage.store import Store


def write(store: Store, run_id: str, rater: str, item: int, score: float) -> None:
    """Keep a rater's score of an item, in place of an earlier one."""
    with store.session() as session:
        session.merge(RatingRow(run_id=run_id, rater=rater, item=item, score=score, created=datetime.now(UTC)))


def remove(store: Store, run_id: str, rater: str) -> None:
    """Remove all that a rater gave to a run."""
    with store.session() as session:
        session.execute(delete(RatingRow).where(RatingRow.run_id == run_id, RatingRow.rater == rater))


def of_rater(store: Store, run_id: str, rater: str) -> dict[int, float]:
    """The scores that a rater gave, by item."""
    query = select(RatingRow.item, RatingRow.score).where(RatingRow.run_id == run_id, RatingRow.rater == rater)
    with store.session() as session:
        return {item: score for item, score in session.execute(query)}


def of_all(store: Store, run_id: str) -> dict[str, dict[int, float]]:
    """The scores of every rater, by item; the rater who began first comes first."""
    query = (select(RatingRow.rater, RatingRow.item, RatingRow.score).where(RatingRow.run_id == run_id)
             .order_by(RatingRow.created))
    by_rater: dict[str, dict[int, float]] = {}
    with store.session() as session:
        for rater, item, score in session.execute(query):
            by_rater.setdefault(rater, {})[item] = score
    return by_rater


def n_raters(store: Store, run_id: str) -> int:
    """The number of people who have rated an item of the run."""
    query = select(func.count(func.distinct(RatingRow.rater))).where(RatingRow.run_id == run_id)
    with store.session() as session:
        return int(session.scalar(query) or 0)
