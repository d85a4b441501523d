"""The tables of a clusters result, from the numbers of each model; nothing is computed but ranks and means."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from engine.datasets.labelled.labelled_sentences import LabelledSentences
from engine.evaluations.clusters import records
from engine.evaluations.clusters.vectors import ModelVectors
from engine.evaluations.shared.unknown_tokens import UnknownTokens
from engine.measures.clusters.centroids import CentroidDistances
from engine.measures.clusters.dispersion import Dispersion
from engine.measures.clusters.neighbours import expected_overlap, neighbour_overlap
from engine.measures.statistics.rank_groups import rank_groups, rank_ranges

AXES = ("x", "y", "z")
# Of a model for which none are defined: no row, in the types of those that have some.
NO_NEIGHBOURS = (np.empty((0, 0), dtype=np.int32), np.empty((0, 0), dtype=np.float32))


def stacked(tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """One table under another."""
    return pd.concat(list(tables), ignore_index=True)


def models_table(
    all_vectors: Sequence[ModelVectors],
    dispersions: Sequence[Dispersion],
    separable: np.ndarray,
    unknown: Sequence[UnknownTokens],
) -> pd.DataFrame:
    """A row for each model; a model without a score, or to which most tokens are unknown, has no rank.

    separable: bool (n_models, n_models), which two differ.
    """
    scores = pd.Series(
        [
            np.nan if tokens.are_most_unknown else dispersion.score
            for dispersion, tokens in zip(dispersions, unknown, strict=True)
        ],
        dtype="float64",
    )
    ranks = scores.rank(method="min").astype("Int64")
    groups = rank_groups(scores.tolist(), separable).tolist()
    ranges = rank_ranges(ranks.to_numpy(dtype=np.float64, na_value=np.nan), separable)
    return records.MODELS.frame(
        [
            (
                vectors.model,
                len(vectors.kept),
                len(dispersion.classes),
                dispersion.in_class,
                dispersion.out_of_class,
                dispersion.score,
                rank,
                group if group > 0 else pd.NA,
                *(places or (pd.NA, pd.NA)),
                dispersion.in_class_variance,
                dispersion.out_of_class_variance,
                tokens.unknown_share,
            )
            for vectors, dispersion, rank, group, places, tokens in zip(
                all_vectors, dispersions, ranks, groups, ranges, unknown, strict=True
            )
        ]
    )


def classes_table(model: str, dispersion: Dispersion) -> pd.DataFrame:
    """A row for each class of one model."""
    return records.CLASSES.frame(
        [(model, part.label, part.n, part.dispersion, part.centroid_distance) for part in dispersion.classes]
    )


def points_table(
    vectors: ModelVectors, dataset: LabelledSentences, coordinates: np.ndarray, distances: CentroidDistances
) -> pd.DataFrame:
    """A row for each sentence; `coordinates` (n, 2 or 3), z is NaN where there are two."""
    names = np.array(distances.names, dtype=object)
    return pd.DataFrame(
        {
            "model": pd.Series([vectors.model] * len(vectors.kept), dtype="str"),
            "row": _rows(dataset, vectors),
            "text": pd.Series([dataset.texts[index] for index in vectors.kept], dtype="str"),
            "label": pd.Series(vectors.labels, dtype="str"),
            **{
                axis: coordinates[:, i] if i < coordinates.shape[1] else np.float32("nan")
                for i, axis in enumerate(AXES)
            },
            "own_distance": distances.own,
            "nearest_class": pd.Series(names[distances.nearest_class], dtype="str"),
            "nearest_distance": distances.nearest,
        }
    ).astype(dict.fromkeys(AXES, "float32"))


def centroids_table(points: pd.DataFrame) -> pd.DataFrame:
    """The mean of each class's points on each map."""
    means = points.groupby(["model", "label"], sort=False)[list(AXES)].mean().reset_index()
    return means.rename(columns={"label": "class"})


def centroid_distances_table(model: str, distances: CentroidDistances) -> pd.DataFrame:
    """A row for each ordered pair of classes, of a class with itself too."""
    n, names = len(distances.names), np.array(distances.names, dtype=object)
    return pd.DataFrame(
        {
            "model": pd.Series([model] * n**2, dtype="str"),
            "class": pd.Series(np.repeat(names, n), dtype="str"),
            "other": pd.Series(np.tile(names, n), dtype="str"),
            "distance": distances.between.ravel(),
        }
    )


def neighbours_table(
    vectors: ModelVectors, dataset: LabelledSentences, neighbours: np.ndarray, distances: np.ndarray
) -> pd.DataFrame:
    """A row for each sentence and neighbour, (n, k) of them, the nearest of each sentence first."""
    n, k = neighbours.shape
    rows = _rows(dataset, vectors)
    return pd.DataFrame(
        {
            "model": pd.Series([vectors.model] * (n * k), dtype="str"),
            "row": np.repeat(rows[:n], k),
            "rank": np.tile(np.arange(1, k + 1, dtype=np.int32), n),
            "neighbour": rows[neighbours].ravel(),
            "distance": distances.ravel(),
        }
    )


def overlap_row(
    first: ModelVectors, second: ModelVectors, first_neighbours: np.ndarray, second_neighbours: np.ndarray
) -> tuple[str, str, float, float]:
    """Two models' mean overlap, and what chance would give; nan without neighbours."""
    if not first_neighbours.size or not second_neighbours.size:
        return first.model, second.model, float("nan"), float("nan")
    n, k = first_neighbours.shape
    return (first.model, second.model, neighbour_overlap(first_neighbours, second_neighbours), expected_overlap(n, k))


def excluded_table(all_vectors: Sequence[ModelVectors], dataset: LabelledSentences) -> pd.DataFrame:
    """A row for each sentence that a model left out, and why."""
    return records.EXCLUDED.frame(
        [
            (vectors.model, dataset.rows[index], dataset.texts[index], reason)
            for vectors in all_vectors
            for index, reason in vectors.excluded
        ]
    )


def _rows(dataset: LabelledSentences, vectors: ModelVectors) -> np.ndarray:
    return np.asarray(np.asarray(dataset.rows, dtype=np.int64)[vectors.kept])
