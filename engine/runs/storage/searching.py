"""Search criteria for runs, and the queries that select and count them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any

from sqlalchemy import ColumnElement, Select, func, or_, select
from sqlalchemy.orm import aliased

from engine.runs.storage.schema import RunRow, StarRow

BROWSER_PREFIX = "browser:"  # of the owner of a run that was started without sign-in in a browser with its cookie
MOST_WORDS = 100  # of a search: a query of many thousands is more than a database takes

# What each order sorts by; among equals the newest come first. Texts are compared without case.
ORDERS: Mapping[str, tuple[Any, ...]] = MappingProxyType(
    {
        "newest": (),
        "oldest": (RunRow.number,),
        "name": (func.lower(RunRow.name),),
        "kind": (RunRow.kind,),
        "models": (func.lower(RunRow.models),),
        "dataset": (func.lower(RunRow.dataset_name),),
        "largest dataset": (func.coalesce(RunRow.n_rows, -1).desc(),),
        "owner": (RunRow.owner,),
        "last deleted": (RunRow.deleted.desc(),),
    }
)


@dataclass(frozen=True)
class Scope:
    """A set of runs: those of `owners`, of all browsers, shared with the team, and starred by a viewer."""

    owners: tuple[str, ...] = ()
    browsers: bool = False
    shared: bool = False
    starred_by: str | None = None


@dataclass(frozen=True)
class Search:
    """Criteria, combined by AND; a default value does not restrict.

    owner: None for all owners. shared: only runs shared with the team. text: words, MOST_WORDS at most, in the name, the note,
    the tags, the name of the dataset or of a model, ignoring case. model, dataset: the exact name. dataset_hash: of the dataset's
    content. tags: all of them. starred_by: only runs that the viewer has starred. since: only runs that were started then
    or later. deleted: False: runs that are not in the bin, True: those in it, None: both. within: only runs in all of
    these sets. but_owners: not the runs of these owners. new_since: only runs that finished, or were shared, after this.
    order: one of ORDERS. limit, offset: which part of the sorted runs.
    """

    owner: str | None = None
    shared: bool = False
    text: str = ""
    kind: str | None = None
    states: tuple[str, ...] = ()
    model: str | None = None
    dataset: str | None = None
    dataset_hash: str | None = None
    tags: tuple[str, ...] = ()
    starred_by: str | None = None
    since: datetime | None = None
    deleted: bool | None = False
    within: tuple[Scope, ...] = ()
    but_owners: tuple[str, ...] = ()
    new_since: datetime | None = None
    order: str = "newest"
    limit: int = 300
    offset: int = 0


def search_query(search: Search) -> Select[RunRow]:
    """The query of a search."""
    order = (*ORDERS[search.order], RunRow.number.desc())
    return select(RunRow).where(*conditions(search)).order_by(*order).limit(search.limit).offset(search.offset)


def count_query(search: Search) -> Select[int]:
    """The query of the number of runs that match a search, whatever its limit."""
    return select(func.count()).select_from(RunRow).where(*conditions(search))


def conditions(search: Search) -> list[ColumnElement[bool]]:
    """What a search demands of a row."""
    demanded: list[ColumnElement[bool]] = [_in(scope) for scope in search.within]
    if search.deleted is not None:
        demanded.append(RunRow.deleted.is_not(None) if search.deleted else RunRow.deleted.is_(None))
    if search.owner is not None:
        demanded.append(RunRow.owner == search.owner)
    if search.but_owners:
        demanded.append(RunRow.owner.not_in(search.but_owners))
    if search.shared:
        demanded.append(RunRow.shared.is_(True))
    if search.kind:
        demanded.append(RunRow.kind == search.kind)
    if search.states:
        demanded.append(RunRow.state.in_(search.states))
    if search.dataset:
        demanded.append(RunRow.dataset_name == search.dataset)
    if search.dataset_hash:
        demanded.append(RunRow.dataset_hash == search.dataset_hash)
    if search.model:
        demanded.append(_has_line(RunRow.models, search.model))
    # The tag itself, too: the lower() of SQLite leaves letters beyond ASCII as they are, that of Python does not.
    demanded += [
        or_(_has_line(RunRow.tags, tag), _has_line(func.lower(RunRow.tags), tag.lower())) for tag in search.tags
    ]
    if search.starred_by is not None:
        demanded.append(_starred(search.starred_by))
    if search.since is not None:
        demanded.append(RunRow.created >= search.since)
    if search.new_since is not None:
        demanded += [
            RunRow.state == "done",
            or_(RunRow.finished > search.new_since, RunRow.shared_at > search.new_since),
        ]
    for word in list(dict.fromkeys(search.text.split()))[:MOST_WORDS]:
        fields = (RunRow.name, RunRow.note, RunRow.dataset_name, RunRow.models, RunRow.tags)
        demanded.append(or_(*(field.icontains(word, autoescape=True) for field in fields)))
    return demanded


def next_queued(process_id: str, running_per_owner: int | None) -> Select[str]:
    """The query of the next run of a process: its id; the oldest run of the owner with the fewest running runs."""
    same_owner = aliased(RunRow)
    n_running = (
        select(func.count())
        .where(same_owner.owner == RunRow.owner, same_owner.state == "running")
        .correlate(RunRow)
        .scalar_subquery()
    )
    query = select(RunRow.id).where(RunRow.state == "queued", RunRow.process_id == process_id)
    if running_per_owner is not None:
        query = query.where(n_running < running_per_owner)
    return query.order_by(n_running, RunRow.number).limit(1)


def _in(scope: Scope) -> ColumnElement[bool]:
    parts: list[ColumnElement[bool]] = [RunRow.owner.in_(scope.owners)]
    if scope.browsers:
        parts.append(RunRow.owner.startswith(BROWSER_PREFIX, autoescape=True))
    if scope.shared:
        parts.append(RunRow.shared.is_(True))
    if scope.starred_by is not None:
        parts.append(_starred(scope.starred_by))
    return or_(*parts)


def _starred(viewer: str) -> ColumnElement[bool]:
    return RunRow.id.in_(select(StarRow.run_id).where(StarRow.viewer == viewer))


def _has_line(column: Any, text: str) -> ColumnElement[bool]:
    """Whether a text of lines has this one as a whole line."""
    condition: ColumnElement[bool] = ("\n" + column + "\n").contains(f"\n{text}\n", autoescape=True)
    return condition
