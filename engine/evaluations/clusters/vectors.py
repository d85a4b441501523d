"""The sentence vectors of each model that clusters are scored on, and which sentences are left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from engine.datasets.labelled.labelled_sentences import LabelledSentences
from engine.errors import InputError
from engine.evaluations.clusters.records import EXCLUDE, LAYERS, Settings
from engine.evaluations.shared.vectors.sentence_vectors import VectorRequest, cut_notice
from engine.inference.backend import Piece
from engine.inference.gateway import GatewaySession
from engine.measures.clusters.correction import whitened, without_top
from engine.measures.clusters.dispersion import dispersion
from engine.measures.clusters.projection import canonical_order, in_one_order
from engine.messages.message import Message
from engine.models.sources.facts import ModelFacts


@dataclass(frozen=True, eq=False)
class ModelVectors:
    """What one model says of the sentences that every model of the run can read.

    kept: their places in the dataset, ascending, the same for all models. vectors: as the model gives them, or
    corrected, float32 (n, dims). placed: those that cosines are taken of, `vectors` or the same mean-centred. excluded:
    (place in the dataset, reason) of what this model left out. n_too_long: how many of them it cannot read.
    lone_classes: the classes with one sentence among those that every model can read. score_otherwise: the score where
    these classes were treated as the settings do not; nan without such classes. cut: which sentences it read in part,
    in words.
    """

    model: str
    kept: np.ndarray
    labels: tuple[str, ...]
    vectors: np.ndarray
    placed: np.ndarray
    layers: pd.DataFrame
    excluded: tuple[tuple[int, str], ...]
    n_too_long: int
    lone_classes: tuple[str, ...]
    score_otherwise: float
    cut: tuple[str, ...]

    @property
    def class_of(self) -> list[int]:
        """Class numbers, in the order of the labels."""
        return [int(number) for number in np.unique(np.array(self.labels), return_inverse=True)[1]]

    def has_directions(self) -> bool:
        """Whether every placed vector has a length, so that cosines are defined."""
        return bool(np.any(self.placed, axis=1).all())


@dataclass(frozen=True)
class _Kept:
    """The sentences that are scored, of those that every model can read, by their places in the dataset.

    otherwise: those that would be, were classes of one sentence treated the other way.
    """

    places: list[int]
    lone_places: list[int]
    lone_classes: tuple[str, ...]
    otherwise: list[int]


def model_vectors(
    settings: Settings,
    all_facts: Sequence[ModelFacts],
    layers: Mapping[str, int],
    dataset: LabelledSentences,
    texts: Sequence[str],
    requests: Mapping[str, VectorRequest],
    session: GatewaySession,
) -> list[ModelVectors]:
    """The vectors of each model for `texts`, the normalised sentences of `dataset`: of all models the same sentences.

    Left out is what one of the models cannot read and, where `settings` say so, the only sentence of a class. Raises
    InputError when fewer than two classes remain.
    """
    layers_of = {
        facts.name: list(range(facts.n_layers + 1))
        if settings.layer_curve and not facts.vectors
        else [layers[facts.name]]
        for facts in all_facts
    }
    outside = {facts.name for facts in all_facts if facts.vectors}
    pieces_of = {
        model: session.sentence_vectors(
            model, texts, layers=asked, precision=settings.precision, **requests[model].arguments
        )
        for model, asked in layers_of.items()
    }
    kept = _kept(settings, dataset, pieces_of)
    return [
        _of_model(settings, model, layers[model], layers_of[model], pieces, kept, dataset, model not in outside)
        for model, pieces in pieces_of.items()
    ]


def _kept(settings: Settings, dataset: LabelledSentences, pieces_of: Mapping[str, Sequence[Piece]]) -> _Kept:
    readable = [
        index
        for index, pieces in enumerate(zip(*pieces_of.values(), strict=True))
        if not any("excluded" in piece for piece in pieces)
    ]
    sizes = Counter(dataset.labels[index] for index in readable)
    several = [index for index in readable if sizes[dataset.labels[index]] > 1]
    lone = tuple(sorted(label for label, n in sizes.items() if n == 1))
    excludes = settings.lone_classes == EXCLUDE
    places, otherwise = (several, readable) if excludes else (readable, several)
    if (n_classes := len({dataset.labels[index] for index in places})) < 2:
        _refuse(pieces_of, len(readable), len(lone) if excludes else 0, n_classes)
    return _Kept(places, sorted({*readable} - {*several}) if excludes else [], lone, otherwise)


def _of_model(
    settings: Settings,
    model: str,
    layer: int,
    layers: list[int],
    pieces: Sequence[Piece],
    kept: _Kept,
    dataset: LabelledSentences,
    has_layers: bool,
) -> ModelVectors:
    def at(layer: int, places: list[int] = kept.places) -> np.ndarray:
        return corrected(
            settings, np.stack([np.asarray(pieces[index]["vectors"])[layers.index(layer)] for index in places])
        )  # (n, hidden)

    labels = tuple(dataset.labels[index] for index in kept.places)
    too_long = [(index, str(piece["excluded"])) for index, piece in enumerate(pieces) if "excluded" in piece]
    lone = [
        (index, Message("It is the only sentence of the class '{index}'.", index=dataset.labels[index]))
        for index in kept.lone_places
    ]
    vectors = at(layer)
    of_otherwise = [dataset.labels[index] for index in kept.otherwise]
    return ModelVectors(
        model=model,
        kept=np.array(kept.places),
        labels=labels,
        vectors=vectors,
        placed=centred(vectors) if settings.centre else vectors,
        layers=_layer_rows(model, layers if settings.layer_curve and has_layers else [], at, labels),
        excluded=tuple(sorted([*too_long, *lone])),
        n_too_long=len(too_long),
        lone_classes=kept.lone_classes,
        score_otherwise=(
            dispersion(at(layer, kept.otherwise), of_otherwise).score
            if kept.lone_classes and len(set(of_otherwise)) > 1
            else float("nan")
        ),
        cut=cut_notice(model, pieces, dataset.rows),
    )


def corrected(settings: Settings, vectors: np.ndarray) -> np.ndarray:
    """Vectors (n, hidden) with the correction of `settings`, float32. Raises InputError where it leaves nothing."""
    if settings.correction == "whitening":
        return in_one_order(lambda rows: whitened(rows, settings.whitened_dims), vectors).astype(np.float32)
    if settings.correction == "all-but-the-top":
        return in_one_order(lambda rows: without_top(rows, settings.removed_components), vectors).astype(np.float32)
    return vectors


def centred(vectors: np.ndarray) -> np.ndarray:
    """Vectors (n, d) less their mean, float32; 0 where that is all that is left but rounding.

    >>> centred(np.float32([[0.1, 2.0], [0.1, 4.0], [0.1, 6.0]])).tolist()
    [[0.0, -2.0], [0.0, 0.0], [0.0, 2.0]]
    """
    wide = vectors.astype(np.float64)
    moved = wide - wide[canonical_order(wide)].mean(axis=0)
    moved[np.abs(moved) <= 4 * np.finfo(np.float64).eps * np.abs(wide).max()] = 0.0
    return np.asarray(moved, dtype=np.float32)


def _layer_rows(
    model: str, layers: Sequence[int], at: Callable[[int], np.ndarray], labels: tuple[str, ...]
) -> pd.DataFrame:
    dispersions = [dispersion(at(layer), labels) for layer in layers]
    return LAYERS.frame(
        [
            (model, layer, layer_dispersion.in_class, layer_dispersion.out_of_class, layer_dispersion.score)
            for layer, layer_dispersion in zip(layers, dispersions, strict=True)
        ]
    )


def _refuse(pieces_of: Mapping[str, Sequence[Piece]], n_readable: int, n_lone: int, n_classes: int) -> None:
    """Raise InputError: fewer than two classes remain. n_lone: classes of one sentence that were left out."""
    [model, *others] = pieces_of
    if n_lone:
        remain = Message(
            "those that are the only one of their class ({n_lone}) are left out; the number of classes is then "
            "{n_classes}, and clustering needs at least 2. Add sentences to those classes, or keep classes of one "
            "sentence.",
            n_lone=n_lone,
            n_classes=n_classes,
        )
        raise InputError(
            Message(
                "Of {n_readable} sentences that every model can read, {remain}", n_readable=n_readable, remain=remain
            )
            if others
            else Message(
                "{model}: of {n_readable} sentences that it can read, {remain}",
                model=model,
                n_readable=n_readable,
                remain=remain,
            )
        )
    n_sentences = len(pieces_of[model])
    if not others:
        raise InputError(
            Message(
                "{model} can read {n_readable} of {n_sentences} sentences, of {n_classes} classes; "
                "clustering needs at least 2. Shorten the sentences, or choose a model that reads "
                "longer ones.",
                model=model,
                n_readable=n_readable,
                n_sentences=n_sentences,
                n_classes=n_classes,
            )
        )
    each = ", ".join(
        f"{name} {sum('excluded' not in piece for piece in pieces):,}" for name, pieces in pieces_of.items()
    )
    raise InputError(
        Message(
            "{n_readable} of {n_sentences} sentences can be read by every model ({each}), of "
            "{n_classes} classes; clustering needs at least 2. Shorten the sentences, or leave out "
            "the model that reads only short ones.",
            n_readable=n_readable,
            n_sentences=n_sentences,
            each=each,
            n_classes=n_classes,
        )
    )
