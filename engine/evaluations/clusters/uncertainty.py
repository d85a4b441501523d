"""How sure are the scores of clusters? Intervals, paired comparisons with rank groups, the null of permuted labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd

from engine.evaluations.clusters.records import COMPARISONS, INTERVALS, NULL, Settings
from engine.evaluations.clusters.vectors import ModelVectors
from engine.inference.gateway import GatewaySession
from engine.measures.clusters.dispersion import Dispersion, dispersion
from engine.measures.clusters.resampling import Resamples, percentile_interval
from engine.measures.statistics.rank_groups import rank_groups

UNDEFINED = (float("nan"), float("nan"))


@dataclass(frozen=True, eq=False)
class Certainty:
    """The tables of `Result` that say how sure its scores are; `groups` aligned with the models."""

    intervals: pd.DataFrame
    comparisons: pd.DataFrame
    null: pd.DataFrame
    groups: np.ndarray
    notices: tuple[str, ...]


def certainty(settings: Settings, all_vectors: Sequence[ModelVectors], dispersions: Sequence[Dispersion],
              session: GatewaySession) -> Certainty:
    """Bootstrap every model, compare every two over the sentences that both read, permute every model's labels."""
    drawn = [_bootstrap(vectors, np.arange(len(vectors.kept)), settings, session) for vectors in all_vectors]
    compared, notices = [], []
    separable = np.zeros((len(all_vectors), len(all_vectors)), dtype=bool)
    for a, b in combinations(range(len(all_vectors)), 2):
        first, second = all_vectors[a], all_vectors[b]
        both = np.intersect1d(first.kept, second.kept)
        if len(both) == len(first.kept) == len(second.kept):
            scores, resamples = (dispersions[a].score, dispersions[b].score), (drawn[a], drawn[b])
        else:
            notices.append(f"{first.model} and {second.model} are compared over the {len(both)} sentences that both "
                           "models include.")
            on_both = [_on_both(vectors, both, settings, session) for vectors in (first, second)]
            scores, resamples = (on_both[0][0], on_both[1][0]), (on_both[0][1], on_both[1][1])
        difference = scores[0] - scores[1]
        low, high = UNDEFINED if np.isnan(difference) else percentile_interval(_difference(*resamples))
        separable[a, b] = separable[b, a] = low > 0 or high < 0
        compared.append((first.model, second.model, difference, low, high, bool(separable[a, b])))
    return Certainty(
        intervals=_intervals(all_vectors, dispersions, drawn),
        comparisons=COMPARISONS.frame(compared),
        null=_null(settings, all_vectors, dispersions, session),
        groups=rank_groups([observed.score for observed in dispersions], separable), notices=tuple(notices),
    )


def _bootstrap(vectors: ModelVectors, indices: np.ndarray, settings: Settings, session: GatewaySession) -> Resamples:
    """The resamples of some of a model's sentences. Equal labels have equal draws, so models are paired."""
    class_of = np.array(vectors.class_of)[indices]
    piece = session.on_vectors(
        "bootstrap", vectors.vectors[indices], label=f"Bootstrap: {vectors.model}", n_resamples=settings.resamples,
        seed=settings.seed, class_of=[int(number) for number in class_of])
    return Resamples(piece["in_class"], piece["out_of_class"])


def _on_both(vectors: ModelVectors, both: np.ndarray, settings: Settings,
             session: GatewaySession) -> tuple[float, Resamples]:
    """Score and resamples over some sentences of the dataset; nan where they are of fewer than two classes."""
    indices = np.searchsorted(vectors.kept, both)
    labels = [vectors.labels[index] for index in indices]
    if len(set(labels)) < 2:
        return float("nan"), Resamples(np.empty(0), np.empty(0))
    return dispersion(vectors.vectors[indices], labels).score, _bootstrap(vectors, indices, settings, session)


def _difference(first: Resamples, second: Resamples) -> np.ndarray:
    """Of every resample; nan where both scores are infinite, which no interval survives."""
    with np.errstate(invalid="ignore"):
        return first.score - second.score


def _intervals(all_vectors: Sequence[ModelVectors], dispersions: Sequence[Dispersion],
               drawn: Sequence[Resamples]) -> pd.DataFrame:
    rows = []
    for vectors, observed, resamples in zip(all_vectors, dispersions, drawn, strict=True):
        defined = not np.isnan(observed.score)
        rows += [
            (vectors.model, "in_class_dispersion", observed.in_class, *percentile_interval(resamples.in_class)),
            (vectors.model, "out_of_class_dispersion", observed.out_of_class,
             *(percentile_interval(resamples.out_of_class) if defined else UNDEFINED)),
            (vectors.model, "dispersion_score", observed.score,
             *(percentile_interval(resamples.score) if defined else UNDEFINED)),
        ]
    return INTERVALS.frame(rows)


def _null(settings: Settings, all_vectors: Sequence[ModelVectors], dispersions: Sequence[Dispersion],
          session: GatewaySession) -> pd.DataFrame:
    rows = []
    for vectors, observed in zip(all_vectors, dispersions, strict=True):
        piece = session.on_vectors(
            "label_permutation", vectors.vectors, label=f"Permuted labels: {vectors.model}",
            class_of=vectors.class_of, n_permutations=settings.resamples, seed=settings.seed)
        scores = piece["scores"]
        finite = scores[np.isfinite(scores)]
        rows.append((vectors.model, observed.score, float(finite.mean()) if len(finite) else float("nan"),
                     *(percentile_interval(scores) if len(scores) else UNDEFINED), piece["p_value"]))
    return NULL.frame(rows)
