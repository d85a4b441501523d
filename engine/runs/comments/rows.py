"""Comments in the database, and when a viewer last saw what is new."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, func, or_, select
from sqlalchemy.exc import IntegrityError

from engine.runs.storage.schema import CommentRow, RunRow, VisitRow
from engine.runs.storage.store import Store


@dataclass(frozen=True)
class Comment:
    """A comment on a run. view: the choices of the page that it is about, as the query of an address; "" for none."""

    id: str
    run_id: str
    author: str
    text: str
    view: str
    created: datetime


def add(store: Store, comment: Comment, mentions: Collection[str]) -> None:
    """Keep a comment; mentions: the ids of the viewers whom it names."""
    kept = "".join(f"{viewer}\n" for viewer in mentions)
    with store.session() as session:
        session.add(CommentRow(**vars(comment), mentions=f"\n{kept}" if kept else ""))


def of_run(store: Store, run_id: str) -> list[Comment]:
    """The comments on a run, the first one first."""
    query = select(CommentRow).where(CommentRow.run_id == run_id).order_by(CommentRow.created, CommentRow.id)
    with store.session() as session:
        return [_comment(row) for row in session.scalars(query)]


def by_id(store: Store, comment_id: str) -> Comment | None:
    """The comment, or None where there is none."""
    with store.session() as session:
        row = session.get(CommentRow, comment_id)
        return None if row is None else _comment(row)


def remove(store: Store, comment_id: str) -> None:
    """Remove a comment."""
    with store.session() as session:
        session.execute(delete(CommentRow).where(CommentRow.id == comment_id))


def n_of_run(store: Store, run_id: str, *, author: str | None = None, since: datetime | None = None) -> int:
    """How many comments a run has, of one author or since a moment where these are given."""
    conditions = [CommentRow.run_id == run_id]
    if author is not None:
        conditions.append(CommentRow.author == author)
    if since is not None:
        conditions.append(CommentRow.created > since)
    return _count(store, *conditions)


def n_of_author(store: Store, author: str, since: datetime) -> int:
    """How many comments somebody has written since a moment."""
    return _count(store, CommentRow.author == author, CommentRow.created > since)


def is_closed(store: Store, run_id: str) -> bool:
    """Whether the owner of a run takes no more comments on it."""
    with store.session() as session:
        return bool(session.scalar(select(RunRow.comments_closed).where(RunRow.id == run_id)))


def concerning(
    store: Store, viewer: str, owners: Sequence[str], since: datetime, limit: int, start: int = 0
) -> list[Comment]:
    """Others' comments since a moment, the newest first: on runs of `owners`, in talks of the viewer, or naming them.

    start: how many of the newest are passed over. Comments on runs in the bin are not among them.
    """
    query = (
        select(CommentRow)
        .join(RunRow, RunRow.id == CommentRow.run_id)
        .where(
            CommentRow.author != viewer,
            CommentRow.created > since,
            RunRow.deleted.is_(None),
            or_(
                RunRow.owner.in_(owners),
                CommentRow.mentions.contains(f"\n{viewer}\n", autoescape=True),
                CommentRow.run_id.in_(select(CommentRow.run_id).where(CommentRow.author == viewer)),
            ),
        )
        .order_by(CommentRow.created.desc(), CommentRow.id)
        .offset(start)
        .limit(limit)
    )
    with store.session() as session:
        return [_comment(row) for row in session.scalars(query)]


def visit(store: Store, viewer: str, now: datetime) -> datetime | None:
    """When the viewer last saw what is new, None for never; from now on it is `now`."""
    with store.session() as session:
        row = session.get(VisitRow, viewer)
        before = None if row is None else row.seen
    with suppress(IntegrityError), store.session() as session:  # two tabs at once: the other one's moment is kept
        session.merge(VisitRow(viewer=viewer, seen=now))
    return before


def _count(store: Store, *conditions: object) -> int:
    with store.session() as session:
        return int(session.scalar(select(func.count()).select_from(CommentRow).where(*conditions)) or 0)  # type: ignore[arg-type]


def _comment(row: CommentRow) -> Comment:
    return Comment(row.id, row.run_id, row.author, row.text, row.view, row.created)
