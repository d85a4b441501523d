"""Listing results again whose rows are lost.

A result says by its entry (`engine.runs.storage.run_entry`) whose it is and what it came from. One of a version without
entries says less: its settings and data set are read from the result itself, the time from its files, and the owner has
to be named.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import exists, select
from sqlalchemy.exc import IntegrityError

from engine.errors import EngineError, RunError
from engine.evaluations.shared.evaluation import AnyEvaluation
from engine.messages.message import Message, list_of
from engine.runs.naming import MAX_NAME_CHARACTERS
from engine.runs.storage.artifacts import Artifacts
from engine.runs.storage.json_codec import to_json_value
from engine.runs.storage.run_entry import RunEntry, from_bytes, to_bytes
from engine.runs.storage.schema import RunRow
from engine.runs.storage.store import Store, models_of
from engine.version import FIRST_VERSION


@dataclass(frozen=True)
class Adoption:
    """What became of one result. `entry`: as it was listed, or None. `reason`: why it was not, or what it lacks."""

    run_id: str
    entry: RunEntry | None
    reason: str = ""


def adopt(
    store: Store,
    artifacts: Artifacts,
    evaluations: Mapping[str, AnyEvaluation],
    *,
    owner: str | None = None,
    dry_run: bool = False,
) -> Iterator[Adoption]:
    """List every result that has no row, oldest first; a result that is damaged stays as it is, with the reason.

    owner: of results that do not say whose they are. dry_run: only say what would become of them.
    """
    run_ids, _ = store.ids_and_datasets()
    refused: list[Adoption] = []
    entries: list[RunEntry] = []
    for run_id in artifacts.result_ids():
        if run_id in run_ids:
            continue
        try:
            entries.append(_entry(run_id, artifacts, evaluations, owner))
        except EngineError as error:
            refused.append(Adoption(run_id, None, str(error)))
    for entry in sorted(entries, key=lambda entry: datetime.fromisoformat(entry.created)):
        if not dry_run:
            if not _list_again(store, artifacts, entry):
                continue  # another process was quicker
            if not artifacts.has_entry(entry.id):
                artifacts.save_entry(entry.id, to_bytes(entry))
        missing = "" if artifacts.bytes_of_content(entry.dataset_hash) else Message("Its dataset is not on the disk.")
        yield Adoption(entry.id, entry, missing)
    yield from refused


def _entry(run_id: str, artifacts: Artifacts, evaluations: Mapping[str, AnyEvaluation], owner: str | None) -> RunEntry:
    raw = artifacts.entry(run_id)
    what = Message("The result of run {run_id}", run_id=run_id)
    if raw is None:
        return _entry_of_result(run_id, artifacts, evaluations, owner)
    entry = from_bytes(raw, what)
    if entry.id != run_id:
        raise RunError(Message("{what} has the entry of another run, {id}.", what=what, id=entry.id))
    if entry.kind not in evaluations:
        raise RunError(
            Message(
                "{what} is of the kind {kind!r}, which this version does not know; there are: {evaluations}.",
                what=what,
                kind=entry.kind,
                evaluations=list_of(evaluations),
            )
        )
    artifacts.load_result(run_id, evaluations[entry.kind].result_type)  # refuses what is damaged
    return entry


def _entry_of_result(
    run_id: str, artifacts: Artifacts, evaluations: Mapping[str, AnyEvaluation], owner: str | None
) -> RunEntry:
    """The entry of a result that an earlier version stored without one."""
    version, stored = artifacts.version_and_time(run_id)
    if not owner:
        raise RunError(
            Message(
                "The result of run {run_id} was stored by version {FIRST_VERSION}, which did not write "
                "whose it is. Name the owner: --owner ADDRESS (local on a machine without sign-in).",
                run_id=run_id,
                FIRST_VERSION=version or FIRST_VERSION,
            )
        )
    evaluation, result = _evaluation_of(run_id, artifacts, evaluations)
    settings = to_json_value(result.settings)
    return RunEntry(
        id=run_id,
        owner=owner,
        kind=evaluation.kind,
        name=f"{evaluation.title}: {result.dataset_name}"[:MAX_NAME_CHARACTERS],
        settings=settings,
        dataset_type=evaluation.dataset_type.__name__,
        dataset_name=result.dataset_name,
        dataset_hash=_full_hash(str(result.signature.get("dataset", "")), evaluation, artifacts),
        created=stored.isoformat(),
        finished=stored.isoformat(),
        models=tuple(models_of(settings)),
        version=version or FIRST_VERSION,
    )


def _evaluation_of(
    run_id: str, artifacts: Artifacts, evaluations: Mapping[str, AnyEvaluation]
) -> tuple[AnyEvaluation, Any]:
    """The one evaluation whose results have the fields of this one, and the result."""
    matching: list[tuple[AnyEvaluation, Any]] = []
    reasons = []
    for evaluation in evaluations.values():
        try:
            matching.append((evaluation, artifacts.load_result(run_id, evaluation.result_type)))
        except RunError as error:
            reasons.append(error)
    if not matching:
        raise min(
            reasons, key=lambda error: Message("another version") in str(error)
        )  # damage before another kind's fields
    if len(matching) > 1:
        kinds = ", ".join(evaluation.kind for evaluation, _ in matching)
        raise RunError(
            Message(
                "The result of run {run_id} may be of the kinds {kinds}; it cannot be listed.",
                run_id=run_id,
                kinds=kinds,
            )
        )
    return matching[0]


def _full_hash(prefix: str, evaluation: AnyEvaluation, artifacts: Artifacts) -> str:
    """The content hash of the dataset whose first digits a signature has; the digits alone where it is not there."""
    type_name = evaluation.dataset_type.__name__
    hashes = {
        content_hash
        for name, (content_hash, _) in artifacts.stored_datasets().items()
        if prefix and name.startswith(f"{type_name}-{prefix}")
    }
    return hashes.pop() if len(hashes) == 1 else prefix or "unknown"


def _list_again(store: Store, artifacts: Artifacts, entry: RunEntry) -> bool:
    """Add the row of a finished run; False when there is one of that id."""
    stored_bytes = artifacts.result_bytes(entry.id) + artifacts.bytes_of_content(entry.dataset_hash)
    created, finished = datetime.fromisoformat(entry.created), datetime.fromisoformat(entry.finished)
    try:
        with store.session() as session:
            if session.scalar(select(exists().where(RunRow.id == entry.id))):
                return False
            session.add(
                RunRow(
                    id=entry.id,
                    owner=entry.owner,
                    kind=entry.kind,
                    name=entry.name,
                    settings=dict(entry.settings),
                    dataset_name=entry.dataset_name,
                    dataset_hash=entry.dataset_hash,
                    dataset_notices=list(entry.dataset_notices),
                    key=entry.key,
                    state="done",
                    created=created,
                    started=datetime.fromisoformat(entry.started) if entry.started else None,
                    finished=finished,
                    models="\n".join(entry.models),
                    shared=entry.shared,
                    note=entry.note,
                    stored_bytes=stored_bytes,
                    deleted=datetime.fromisoformat(entry.deleted) if entry.deleted else None,
                    tags="\n".join(entry.tags),
                    n_rows=entry.n_rows,
                )
            )
    except IntegrityError:  # another process listed it in between
        return False
    return True
