"""What to look for among runs, and the queries that find it."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import ColumnElement, Select, func, or_, select
from sqlalchemy.orm import aliased

from engine.runs.storage.schema import RunRow


@dataclass(frozen=True)
class Search:
    """Which runs: every field that is given narrows it.

    owner: whose; None is everybody's. shared: only those shared with the team. text: in the name, the note, the
    dataset's name or a model's, whatever the case. model, dataset: the whole name.
    """

    owner: str | None = None
    shared: bool = False
    text: str = ""
    kind: str | None = None
    states: tuple[str, ...] = ()
    model: str | None = None
    dataset: str | None = None
    limit: int = 300


def found(search: Search) -> Select[RunRow]:
    """The query of a search, the newest runs first."""
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
        # Models stand in lines of their own: the name must be a whole line.
        lines = "\n" + RunRow.models + "\n"
        conditions.append(lines.contains(f"\n{search.model}\n", autoescape=True))
    for word in search.text.split():
        fields = (RunRow.name, RunRow.note, RunRow.dataset_name, RunRow.models)
        conditions.append(or_(*(field.icontains(word, autoescape=True) for field in fields)))
    return query.where(*conditions)


def next_queued(process_id: str, running_per_owner: int | None) -> Select[str]:
    """The id of the run that a process starts next: of the owner with the fewest running runs the oldest."""
    other = aliased(RunRow)
    n_running = (select(func.count()).where(other.owner == RunRow.owner, other.state == "running")
                 .correlate(RunRow).scalar_subquery())
    query = select(RunRow.id).where(RunRow.state == "queued", RunRow.process_id == process_id)
    if running_per_owner is not None:
        query = query.where(n_running < running_per_owner)
    return query.order_by(n_running, RunRow.number).limit(1)
