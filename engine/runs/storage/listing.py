"""What lists of runs show beside the runs: counts, the values to filter by, stars, names of viewers."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from sqlalchemy import delete, select
from sqlalchemy.exc import IntegrityError

from engine.errors import InputError
from engine.messages.message import Message
from engine.runs.storage.schema import RunRow, StarRow, ViewerNameRow
from engine.runs.storage.searching import Search, conditions, count_query
from engine.runs.storage.store import Store


@dataclass(frozen=True)
class Facets:
    """The values that occur among runs, each sorted."""

    kinds: tuple[str, ...] = ()
    states: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    datasets: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    owners: tuple[str, ...] = ()


def n_matching(store: Store, search: Search) -> int:
    """The number of runs that match a search, whatever its limit."""
    with store.session() as session:
        return int(session.scalar(count_query(search)) or 0)


def facets(store: Store, search: Search) -> Facets:
    """The values that occur among the runs that match a search, whatever its limit."""
    demanded = conditions(search)
    columns = (RunRow.kind, RunRow.state, RunRow.models, RunRow.dataset_name, RunRow.tags, RunRow.owner)
    with store.session() as session:
        kinds, states, models, datasets, tags, owners = (
            tuple(session.scalars(select(column).where(*demanded).distinct())) for column in columns
        )
    return Facets(_sorted(kinds), _sorted(states), _lines(models), _sorted(datasets), _lines(tags), _sorted(owners))


def set_star(store: Store, viewer: str, run_id: str, *, starred: bool) -> None:
    """Star a run for a viewer, or take the star away."""
    row = StarRow(viewer=viewer, run_id=run_id)
    with store.session() as session:
        if starred:
            session.merge(row)
        else:
            session.execute(delete(StarRow).where(StarRow.viewer == viewer, StarRow.run_id == run_id))


def starred(store: Store, viewer: str, run_ids: Collection[str]) -> set[str]:
    """Those of the runs that the viewer has starred."""
    query = select(StarRow.run_id).where(StarRow.viewer == viewer, StarRow.run_id.in_(run_ids))
    with store.session() as session:
        return set(session.scalars(query))


def set_viewer_name(store: Store, viewer: str, name: str) -> None:
    """Set the name of a viewer, "" for none. Raises InputError for one that another viewer has, in whatever case."""
    try:
        with store.session() as session:
            if name:
                session.merge(ViewerNameRow(viewer=viewer, name=name, folded_name=folded(name)))
            else:
                session.execute(delete(ViewerNameRow).where(ViewerNameRow.viewer == viewer))
    except IntegrityError as error:
        raise InputError(
            Message("The name {name!r} is taken by somebody else here. Choose another.", name=name)
        ) from error


def folded(name: str) -> str:
    """A name for comparison: without case and without different forms of one letter.

    >>> folded("Ｋen")
    'ken'
    """
    return unicodedata.normalize("NFKC", name).casefold()


def viewer_names(store: Store, viewers: Collection[str]) -> dict[str, str]:
    """The names of those of the viewers that have one."""
    query = select(ViewerNameRow).where(ViewerNameRow.viewer.in_(viewers))
    with store.session() as session:
        return {row.viewer: row.name for row in session.scalars(query)}


def every_viewer_name(store: Store) -> dict[str, str]:
    """The names of all viewers that have one."""
    with store.session() as session:
        return {row.viewer: row.name for row in session.scalars(select(ViewerNameRow))}


def _sorted(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(values)))


def _lines(texts: Iterable[str]) -> tuple[str, ...]:
    return _sorted(line for text in texts for line in text.split("\n") if line)
