"""Search criteria for runs, and the queries that select runs."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import ColumnElement, Select, func, or_, select
from sqlalchemy.orm import aliased

from engine.runs.storage.schema import RunRow


@dataclass(frozen=True)
class Search:
    """Criteria, combined by AND; a default value does not restrict.

    owner: None for all owners. shared: only runs shared with the team. text: words in the name, the note, the name of
    the dataset or of a model, ignoring case. model, dataset: the exact name.
    """

    owner: str | None = None
    shared: bool = False
    text: str = ""
    kind: str | None = None
    states: tuple[str, ...] = ()
    model: str | None = None
    dataset: str | None = None
    limit: int = 300


def search_query(search: Search) -> Select[RunRow]:
    """The query of a search, newest runs first."""
    query = select(RunRow).order_by(RunRow.number.desc()).limit(search.limit)
    conditions: list[ColumnElement[bool]] = []
    if search.owner is not None:
        conditions.append(RunRow.owner == search.owner)
    if search.shared:
        conditions.append(RunRow.shared.is_(True))
    if search.kind:
        conditions.append(RunRow.kind == search.kind)
    if search.states:
        conditions.append(RunRow.state.in_(search.states))
    if search.dataset:
        conditions.append(RunRow.dataset_name == search.dataset)
    if search.model:
        # One model per line: the name must match a whole line.
        lines = "\n" + RunRow.models + "\n"
        conditions.append(lines.contains(f"\n{search.model}\n", autoescape=True))
    for word in search.text.split():
        fields = (RunRow.name, RunRow.note, RunRow.dataset_name, RunRow.models)
        conditions.append(or_(*(field.icontains(word, autoescape=True) for field in fields)))
    return query.where(*conditions)


def next_queued(process_id: str, running_per_owner: int | None) -> Select[str]:
    """The query of the next run of a process: its id; the oldest run of the owner with the fewest running runs."""
    same_owner = aliased(RunRow)
    n_running = (select(func.count()).where(same_owner.owner == RunRow.owner, same_owner.state == "running")
                 .correlate(RunRow).scalar_subquery())
    query = select(RunRow.id).where(RunRow.state == "queued", RunRow.process_id == process_id)
    if running_per_owner is not None:
        query = query.where(n_running < running_per_owner)
    return query.order_by(n_running, RunRow.number).limit(1)
