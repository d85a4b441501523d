"""How sure are the scores of clusters? Intervals, paired comparisons, the null of permuted labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd

from engine.evaluations.clusters.records import COMPARISONS, INTERVALS, NULL, Settings
from engine.evaluations.clusters.vectors import ModelVectors
from engine.inference.gateway import GatewaySession
from engine.measures.clusters.dispersion import Dispersion
from engine.measures.clusters.resampling import Resamples, percentile_interval
from engine.measures.statistics.rank_groups import is_separable
from engine.messages.message import Message

UNDEFINED = (float("nan"), float("nan"))


@dataclass(frozen=True, eq=False)
class Certainty:
    """The tables of `Result` that say how sure its scores are; `separable`: bool (n_models, n_models), who differs."""

    intervals: pd.DataFrame
    comparisons: pd.DataFrame
    null: pd.DataFrame
    separable: np.ndarray


def certainty(
    settings: Settings, all_vectors: Sequence[ModelVectors], dispersions: Sequence[Dispersion], session: GatewaySession
) -> Certainty:
    """Bootstrap every model, compare every two, permute every model's labels: all over the same sentences."""
    drawn = [_bootstrap(vectors, settings, session) for vectors in all_vectors]
    compared = []
    separable = np.zeros((len(all_vectors), len(all_vectors)), dtype=bool)
    for a, b in combinations(range(len(all_vectors)), 2):
        difference = dispersions[a].score - dispersions[b].score
        low, high = UNDEFINED if np.isnan(difference) else percentile_interval(_difference(drawn[a], drawn[b]))
        separable[a, b] = separable[b, a] = is_separable(difference, low, high)
        compared.append((all_vectors[a].model, all_vectors[b].model, difference, low, high, bool(separable[a, b])))
    return Certainty(
        intervals=_intervals(all_vectors, dispersions, drawn),
        comparisons=COMPARISONS.frame(compared),
        null=_null(settings, all_vectors, dispersions, session),
        separable=separable,
    )


def _bootstrap(vectors: ModelVectors, settings: Settings, session: GatewaySession) -> Resamples:
    """The resamples of a model's sentences. Equal labels have equal draws, so models are paired."""
    piece = session.on_vectors(
        "bootstrap",
        vectors.vectors,
        label=Message("Bootstrap: {model}", model=vectors.model),
        n_resamples=settings.resamples,
        seed=settings.seed,
        class_of=vectors.class_of,
    )
    return Resamples(piece["in_class"], piece["out_of_class"])


def _difference(first: Resamples, second: Resamples) -> np.ndarray:
    """Of every resample; nan where both scores are infinite, which no interval survives."""
    with np.errstate(invalid="ignore"):
        return first.score - second.score


def _intervals(
    all_vectors: Sequence[ModelVectors], dispersions: Sequence[Dispersion], drawn: Sequence[Resamples]
) -> pd.DataFrame:
    rows = []
    for vectors, observed, resamples in zip(all_vectors, dispersions, drawn, strict=True):
        defined = not np.isnan(observed.score)
        rows += [
            (vectors.model, "in_class_dispersion", observed.in_class, *percentile_interval(resamples.in_class)),
            (
                vectors.model,
                "out_of_class_dispersion",
                observed.out_of_class,
                *(percentile_interval(resamples.out_of_class) if defined else UNDEFINED),
            ),
            (
                vectors.model,
                "dispersion_score",
                observed.score,
                *(percentile_interval(resamples.score) if defined else UNDEFINED),
            ),
        ]
    return INTERVALS.frame(rows)


def _null(
    settings: Settings, all_vectors: Sequence[ModelVectors], dispersions: Sequence[Dispersion], session: GatewaySession
) -> pd.DataFrame:
    rows = []
    for vectors, observed in zip(all_vectors, dispersions, strict=True):
        piece = session.on_vectors(
            "label_permutation",
            vectors.vectors,
            label=Message("Permuted labels: {model}", model=vectors.model),
            class_of=vectors.class_of,
            n_permutations=settings.resamples,
            seed=settings.seed,
        )
        scores = piece["scores"]
        finite = scores[np.isfinite(scores)]
        ends = percentile_interval(scores) if len(scores) else UNDEFINED
        rows.append(
            (
                vectors.model,
                observed.score,
                float(finite.mean()) if len(finite) else float("nan"),
                *(end if np.isfinite(end) else float("nan") for end in ends),
                piece["p_value"],
            )
        )
    return NULL.frame(rows)
