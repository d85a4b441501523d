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


def certainty(settings: Settings, read: Sequence[ModelVectors], weighed: Sequence[Dispersion],
              session: GatewaySession) -> Certainty:
    """Bootstrap every model, compare every two over the sentences that both read, permute every model's labels."""
    drawn = [_bootstrap(one, np.arange(len(one.kept)), settings, session) for one in read]
    compared, notices = [], []
    separable = np.zeros((len(read), len(read)), dtype=bool)
    for a, b in combinations(range(len(read)), 2):
        both = np.intersect1d(read[a].kept, read[b].kept)
        if len(both) == len(read[a].kept) == len(read[b].kept):
            scores, resamples = (weighed[a].score, weighed[b].score), (drawn[a], drawn[b])
        else:
            notices.append(f"{read[a].model} and {read[b].model} are compared over the {len(both)} sentences that both "
                           "models include.")
            found = [_on_both(one, both, settings, session) for one in (read[a], read[b])]
            scores, resamples = (found[0][0], found[1][0]), (found[0][1], found[1][1])
        difference = scores[0] - scores[1]
        low, high = UNDEFINED if np.isnan(difference) else percentile_interval(_difference(*resamples))
        separable[a, b] = separable[b, a] = low > 0 or high < 0
        compared.append((read[a].model, read[b].model, difference, low, high, bool(separable[a, b])))
    return Certainty(
        intervals=_intervals(read, weighed, drawn),
        comparisons=COMPARISONS.frame(compared),
        null=_null(settings, read, weighed, session),
        groups=rank_groups([one.score for one in weighed], separable), notices=tuple(notices),
    )


def _bootstrap(one: ModelVectors, places: np.ndarray, settings: Settings, session: GatewaySession) -> Resamples:
    """The resamples of some of a model's sentences. Equal labels have equal draws, so models are paired."""
    class_of = np.array(one.class_of)[places]
    piece = session.on_vectors(
        "bootstrap", one.vectors[places], label=f"Bootstrap: {one.model}", n_resamples=settings.resamples,
        seed=settings.seed, class_of=[int(number) for number in class_of])
    return Resamples(piece["in_class"], piece["out_of_class"])


def _on_both(one: ModelVectors, both: np.ndarray, settings: Settings,
             session: GatewaySession) -> tuple[float, Resamples]:
    """Score and resamples over some sentences of the dataset; nan where they are of fewer than two classes."""
    places = np.searchsorted(one.kept, both)
    labels = [one.labels[place] for place in places]
    if len(set(labels)) < 2:
        return float("nan"), Resamples(np.empty(0), np.empty(0))
    return dispersion(one.vectors[places], labels).score, _bootstrap(one, places, settings, session)


def _difference(first: Resamples, second: Resamples) -> np.ndarray:
    """Of every resample; nan where both scores are infinite, which no interval survives."""
    with np.errstate(invalid="ignore"):
        return first.score - second.score


def _intervals(read: Sequence[ModelVectors], weighed: Sequence[Dispersion], drawn: Sequence[Resamples]) -> pd.DataFrame:
    rows = []
    for vectors, one, resamples in zip(read, weighed, drawn, strict=True):
        defined = not np.isnan(one.score)
        rows += [
            (vectors.model, "in_class_dispersion", one.in_class, *percentile_interval(resamples.in_class)),
            (vectors.model, "out_of_class_dispersion", one.out_of_class,
             *(percentile_interval(resamples.out_of_class) if defined else UNDEFINED)),
            (vectors.model, "dispersion_score", one.score,
             *(percentile_interval(resamples.score) if defined else UNDEFINED)),
        ]
    return INTERVALS.frame(rows)


def _null(settings: Settings, read: Sequence[ModelVectors], weighed: Sequence[Dispersion],
          session: GatewaySession) -> pd.DataFrame:
    rows = []
    for vectors, one in zip(read, weighed, strict=True):
        piece = session.on_vectors(
            "label_permutation", vectors.vectors, label=f"Permuted labels: {vectors.model}",
            class_of=vectors.class_of, n_permutations=settings.resamples, seed=settings.seed)
        scores = piece["scores"]
        finite = scores[np.isfinite(scores)]
        rows.append((vectors.model, one.score, float(finite.mean()) if len(finite) else float("nan"),
                     *(percentile_interval(scores) if len(scores) else UNDEFINED), piece["p_value"]))
    return NULL.frame(rows)
