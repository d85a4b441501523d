"""The runs of the card of a model: which to submit, and which other models they can be held against."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from engine.datasets import sample_data
from engine.errors import EngineError, InputError
from engine.evaluations.catalog import EVALUATIONS
from engine.evaluations.model_card.assemble import is_same_model
from engine.evaluations.model_card.card import KINDS, CardRun, OtherModel, left_out_notice
from engine.inference.gateway import GatewaySession
from engine.messages.message import Message, list_of
from engine.models.sources.cards import language_of
from engine.models.sources.facts import ModelFacts
from engine.models.sources.names import without_label
from engine.runs.access.access import RunAccess
from engine.runs.computing import SAMPLES_ID
from engine.runs.storage.run_record import RunRecord
from engine.runs.storage.searching import Search

MOST_OTHERS = 20  # models that a run is held against, those of the newest runs
TOGETHER_SECONDS = 30  # from one run of a press to the next, which waits for its data to be stored
ACTIVE, FAILED = ("queued", "running"), "failed"
# The settings that name the models, are chosen by what fits them, or add conditions beside their numbers.
OF_THE_MODEL = ("models", "idfs", "other_prefixes")


@dataclass(frozen=True)
class CardTask:
    """An evaluation that a card asks for: kind, settings and dataset of the run."""

    kind: str
    settings: Any
    dataset: Any


@dataclass(frozen=True)
class CardParts:
    """The runs of a card that could be opened, and a sentence for each that could not."""

    runs: tuple[CardRun, ...]
    left_out: tuple[str, ...]


@dataclass(frozen=True)
class CardJob:
    """The runs of a card that go on, as one job.

    runs: those that have not ended and those that were submitted with them, the first one first; () where all have
    ended. failed: the newest of its evaluation, which may be submitted again.
    """

    runs: tuple[RunRecord, ...]
    failed: tuple[RunRecord, ...]

    @property
    def active(self) -> tuple[RunRecord, ...]:
        """The runs that have not ended."""
        return tuple(run for run in self.runs if run.state in ACTIVE)


def fitting_kinds(facts: ModelFacts) -> tuple[str, ...]:
    """The evaluations that a model can go through, of KINDS.

    A model behind a server gives log-likelihoods alone, an encoder without a decoder vectors alone, and only masked
    models fill masks.
    """
    return tuple(kind for kind in KINDS if EVALUATIONS[kind].fits(facts))


def card_tasks(
    model: str,
    facts: ModelFacts,
    session: GatewaySession,
    kinds: Collection[str] = (),
    datasets: Mapping[str, Any] | None = None,
) -> list[CardTask]:
    """The evaluations of a model for its card, under the default settings of each.

    kinds: of KINDS; by default all that fit the model. datasets: kind -> dataset in place of its sample. A model
    without a CLS token is pooled by the mean where its files do not say how. Raises InputError for a kind that is none
    of KINDS.
    """
    if unknown := [kind for kind in kinds if kind not in KINDS]:
        raise InputError(
            Message("A card holds {KINDS}; got {unknown}.", KINDS=list_of(KINDS), unknown=list_of(unknown))
        )
    tasks = []
    for kind in kinds or fitting_kinds(facts):
        evaluation = EVALUATIONS[kind]
        settings = (
            evaluation.settings_type((model,))
            if evaluation.for_card is None
            else evaluation.for_card(model, facts, session)
        )
        dataset = (datasets or {}).get(kind) or evaluation.sample(language_of(without_label(model)))
        tasks.append(CardTask(kind, settings, dataset))
    return tasks


def card_parts(access: RunAccess, runs: Sequence[RunRecord], model: str, load: Callable[[str], Any]) -> CardParts:
    """The runs of the card of `model`, each by `card_run`; one that cannot be opened is left out and named."""
    parts: list[CardRun] = []
    left_out: list[str] = []
    for run in runs:
        try:
            parts.append(card_run(access, run, model, load))
        except EngineError as error:
            left_out.append(left_out_notice(run.kind, run.id, run.dataset_name, str(error)))
    return CardParts(tuple(parts), tuple(left_out))


def card_run(access: RunAccess, run: RunRecord, model: str, load: Callable[[str], Any]) -> CardRun:
    """A finished run of `model` as a part of its card, with the other models of the same data and settings.

    load: id of a run -> its result. Raises what `load` raises of this run, and InputError where it has no such model; a
    run of others that cannot be opened is left out and named.
    """
    result = load(run.id)
    names = [name for name in result.settings.models if is_same_model(name, model)]
    if not names:
        raise InputError(
            Message(
                "The run {name!r} holds no model {model!r}; it holds {settings}.",
                name=run.name,
                model=model,
                settings=list_of(run.settings["models"]),
            )
        )
    others: dict[str, OtherModel] = {}
    left_out: list[str] = []
    for record in (run, *runs_like(access, run)):
        new = [
            name
            for name in record.settings["models"]
            if not is_same_model(name, model) and without_label(name) not in others
        ]
        if not new or len(others) >= MOST_OTHERS:
            continue
        try:
            of_others = result if record.id == run.id else load(record.id)  # one object: one run of both models
        except EngineError as error:
            left_out.append(left_out_notice(record.kind, record.id, record.dataset_name, str(error)))
            continue
        others |= {
            without_label(name): OtherModel(name, record.id, of_others) for name in new[: MOST_OTHERS - len(others)]
        }
    return CardRun(
        run.kind, run.id, run.dataset_name, run.dataset_hash, names[0], result, tuple(others.values()), tuple(left_out)
    )


def runs_like(access: RunAccess, run: RunRecord) -> list[RunRecord]:
    """The finished runs of the same kind, data and settings but for the models, newest first; the samples' last.

    They are those that the viewer may read, without the run itself.
    """
    search = Search(kind=run.kind, states=("done",), dataset_hash=run.dataset_hash)
    own = _settings(access, run)
    return [
        record
        for record in _readable(access, search)
        if record.id != run.id and own is not None and _settings(access, record) == own
    ]


def comparable_groups(access: RunAccess, kind: str) -> list[list[RunRecord]]:
    """The finished runs of a kind that the viewer may read, in groups of the same data and settings but the models.

    The group with the newest run comes first; the samples' runs are the last of theirs. Runs whose settings another
    version made are left out.
    """
    search = Search(kind=kind, states=("done",))
    groups: dict[tuple[str, str], list[RunRecord]] = {}
    for record in _readable(access, search):
        settings = _settings(access, record)
        if settings is not None:
            groups.setdefault((record.dataset_hash, repr(settings)), []).append(record)
    return list(groups.values())


def runs_of(access: RunAccess, model: str) -> list[RunRecord]:
    """The finished runs that hold a model and that a card can be made of, newest first; the samples' last."""
    return [record for record in _readable(access, Search(states=("done",))) if holds(record, model)]


def holds(run: RunRecord, model: str) -> bool:
    """Whether a run is of a kind that a card is made of, and holds the model."""
    return run.kind in KINDS and any(is_same_model(name, model) for name in run.settings.get("models", ()))


def default_runs(access: RunAccess, runs: Sequence[RunRecord]) -> tuple[RunRecord, ...]:
    """Of `runs_of` a model, those of its card where none are chosen: one of each evaluation, over its sample's data.

    That of the samples where they hold the model, else the newest of the viewer's own. What others evaluated, and data
    other than a sample's, are on a card only where they are chosen.
    """
    chosen: dict[str, RunRecord] = {}
    for run in sorted(runs, key=lambda run: run.owner != SAMPLES_ID):  # of each owner the newest stay first
        is_offered = run.owner == SAMPLES_ID or access.may_change(run)
        if is_offered and run.dataset_hash in _hashes_of_samples(run.kind):
            chosen.setdefault(run.kind, run)
    return tuple(chosen[kind] for kind in KINDS if kind in chosen)


@cache
def _hashes_of_samples(kind: str) -> frozenset[str]:
    return frozenset(str(EVALUATIONS[kind].sample(language).content_hash) for language in sample_data.LANGUAGES)


def card_job(access: RunAccess, model: str, chosen: Collection[str] = ()) -> CardJob:
    """The runs of a model that go on, with those of the same press, and the viewer's evaluations that failed last.

    Runs of one owner belong together where each was submitted within TOGETHER_SECONDS of the next: nothing but the list
    of runs says so, and every page and browser that may read them sees the same. The job holds every such chain of runs
    in which one has not ended. The viewer's own come before others', of which only those are looked at that belong to
    a run of `chosen`, the ids of the runs of the card.
    """
    # Unfinished runs are searched for by themselves, because newer ones may fill the list. They come first: a run that
    # ends between the two searches has ended.
    by_id = {run.id: run for search in (Search(states=ACTIVE), Search()) for run in _readable(access, search)}
    readable = [
        run
        for run in sorted(by_id.values(), key=lambda run: run.created, reverse=True)
        if run.owner != SAMPLES_ID and holds(run, model)
    ]
    own = [run for run in readable if access.may_change(run)]
    failed = tuple(run for run in {run.kind: run for run in reversed(own)}.values() if run.state == FAILED)
    others = next((run.owner for run in readable if run.state in ACTIVE and run.id in chosen), None)
    runs = own if any(run.state in ACTIVE for run in own) else [run for run in readable if run.owner == others]
    return CardJob(
        tuple(run for chain in _chains(runs[::-1]) if any(run.state in ACTIVE for run in chain) for run in chain),
        failed,
    )


def _chains(runs: Sequence[RunRecord]) -> list[list[RunRecord]]:
    """Runs, the oldest first, divided where more than TOGETHER_SECONDS lie between one and the next."""
    chains: list[list[RunRecord]] = []
    for run in runs:
        if chains and (run.created - chains[-1][-1].created).total_seconds() <= TOGETHER_SECONDS:
            chains[-1].append(run)
        else:
            chains.append([run])
    return chains


def _readable(access: RunAccess, search: Search) -> list[RunRecord]:
    """The runs of a search that the viewer may read, each once: own ones and the team's by time, then the samples'."""
    seen = {record.id: record for record in (*access.mine(search), *access.team(search))}
    ordered = sorted(seen.values(), key=lambda record: record.created, reverse=True)
    return [*ordered, *access.store.search(replace(search, owner=SAMPLES_ID))]


def _settings(access: RunAccess, run: RunRecord) -> Any | None:
    """The settings of a run without what is of its models; None where another version made them."""
    try:
        settings = access.queue.settings(run.id)
    except EngineError:
        return None
    return replace(settings, **{name: () for name in OF_THE_MODEL if hasattr(settings, name)})
