"""The sentence vectors of each model that clusters are scored on, and which sentences are left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from engine.datasets.labelled.labelled_sentences import LabelledSentences
from engine.errors import InputError
from engine.evaluations.clusters.records import LAYERS, Settings
from engine.evaluations.shared.sentence_vectors import VectorRequest, cut_notice
from engine.inference.gateway import GatewaySession
from engine.measures.clusters.correction import whitened, without_top
from engine.measures.clusters.dispersion import dispersion
from engine.models.sources.facts import ModelFacts


@dataclass(frozen=True, eq=False)
class ModelVectors:
    """What one model says of the sentences it can read.

    kept: their places in the dataset, ascending. vectors: as the model gives them, or corrected, float32 (n, dims).
    placed: those that cosines are taken of, `vectors` or the same mean-centred. excluded: (place in the dataset,
    reason). lone_classes: the classes with one sentence among those that the model can read. cut: which sentences it
    read in part, in words.
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
    cut: tuple[str, ...]

    @property
    def class_of(self) -> list[int]:
        """Class numbers, in the order of the labels."""
        return [int(number) for number in np.unique(np.array(self.labels), return_inverse=True)[1]]

    def has_directions(self) -> bool:
        """Whether every placed vector has a length, so that cosines are defined."""
        return bool(np.any(self.placed, axis=1).all())


def model_vectors(settings: Settings, facts: ModelFacts, layer: int, dataset: LabelledSentences,
                  texts: Sequence[str], request: VectorRequest, session: GatewaySession) -> ModelVectors:
    """The vectors of one model for `texts`, the normalised sentences of `dataset`.

    Left out is what the model cannot read and, where `settings` say so, the only sentence of a class. Raises
    InputError when fewer than two classes remain.
    """
    layers = list(range(facts.n_layers + 1)) if settings.layer_curve else [layer]
    pieces = session.sentence_vectors(facts.name, texts, layers=layers, precision=settings.precision,
                                      **request.arguments)
    excluded = [(index, str(piece["excluded"])) for index, piece in enumerate(pieces) if "excluded" in piece]
    n_too_long = len(excluded)
    kept = [index for index, piece in enumerate(pieces) if "excluded" not in piece]
    sizes = Counter(dataset.labels[index] for index in kept)
    lone = tuple(sorted(label for label, n in sizes.items() if n == 1))
    if settings.lone_classes == "exclude":
        excluded += [(index, f"It is the only sentence of the class '{dataset.labels[index]}'.")
                     for index in kept if sizes[dataset.labels[index]] == 1]
        kept = [index for index in kept if sizes[dataset.labels[index]] > 1]
    labels = tuple(dataset.labels[index] for index in kept)
    if len(set(labels)) < 2:
        _refuse(facts.name, len(texts), n_too_long, lone, labels, settings)

    def at(layer: int) -> np.ndarray:
        return corrected(settings, np.stack([np.asarray(pieces[index]["vectors"])[layers.index(layer)]
                                             for index in kept]))  # (n, hidden)

    vectors = at(layer)
    return ModelVectors(
        model=facts.name, kept=np.array(kept), labels=labels, vectors=vectors,
        placed=centred(vectors) if settings.centre else vectors,
        layers=_layer_rows(facts.name, layers if settings.layer_curve else [], at, labels),
        excluded=tuple(sorted(excluded)), n_too_long=n_too_long, lone_classes=lone,
        cut=cut_notice(facts.name, pieces, dataset.rows),
    )


def corrected(settings: Settings, vectors: np.ndarray) -> np.ndarray:
    """Vectors (n, hidden) with the correction of `settings`, float32. Raises InputError where it leaves nothing."""
    if settings.correction == "whitening":
        return whitened(vectors, settings.whitened_dims).astype(np.float32)
    if settings.correction == "all-but-the-top":
        return without_top(vectors, settings.removed_components).astype(np.float32)
    return vectors


def centred(vectors: np.ndarray) -> np.ndarray:
    """Vectors (n, d) less their mean, float32; 0 where that is all that is left but rounding.

    >>> centred(np.float32([[0.1, 2.0], [0.1, 4.0], [0.1, 6.0]])).tolist()
    [[0.0, -2.0], [0.0, 0.0], [0.0, 2.0]]
    """
    wide = vectors.astype(np.float64)
    moved = wide - wide.mean(axis=0)
    moved[np.abs(moved) <= 4 * np.finfo(np.float64).eps * np.abs(wide).max()] = 0.0
    return moved.astype(np.float32)


def _layer_rows(model: str, layers: Sequence[int], at: Callable[[int], np.ndarray],
                labels: tuple[str, ...]) -> pd.DataFrame:
    dispersions = [dispersion(at(layer), labels) for layer in layers]
    return LAYERS.frame([(model, layer, layer_dispersion.in_class, layer_dispersion.out_of_class,
                          layer_dispersion.score) for layer, layer_dispersion in zip(layers, dispersions, strict=True)])


def _refuse(model: str, n_sentences: int, n_too_long: int, lone: tuple[str, ...], labels: tuple[str, ...],
            settings: Settings) -> None:
    n_read = n_sentences - n_too_long
    if settings.lone_classes == "exclude" and lone:
        raise InputError(f"{model}: of {n_read} sentences that it can read, {len(lone)} are the only one of their "
                         f"class; without them {len(set(labels))} classes remain, and clustering needs at least 2. Add "
                         "sentences to those classes, or keep classes of one sentence.")
    raise InputError(f"{model} can read {n_read} of {n_sentences} sentences, of {len(set(labels))} classes; "
                     "clustering needs at least 2. Shorten the sentences, or choose a model that reads longer ones.")
