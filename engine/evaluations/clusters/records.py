"""The records of clusters: what is asked (Settings) and what is found (Result)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pandas as pd

POOLINGS = ("cls", "mean")
PROJECTIONS = ("umap", "pca")
METRICS = ("cosine", "euclidean")
DIMENSIONS = (2, 3)
LONE_CLASSES = ("keep", "exclude")
MOST_RESAMPLES = 10_000
SEEDS = 2**32  # what umap and scikit-learn take


@dataclass(frozen=True)
class Settings:
    """What to weigh and how.

    layer: None is the last hidden state, 0 the embeddings, negative from the end. layer_curve: weigh every layer
    too, in the same forward pass. normalize: steps of `engine.language.normalize`. centre: take the mean vector off
    before cosines (map, neighbours); A_m, B_m and M_m do not depend on it. projection, dimensions (2 or 3),
    n_neighbors, min_dist: of the map. metric: of the map and of the nearest neighbours. seed: of every random step.
    resamples: of the bootstrap and of the label permutations. lone_classes: "keep" or "exclude" the sentence of
    a class that has one.
    """

    models: tuple[str, ...]
    layer: int | None = None
    pooling: str = "cls"
    normalize: tuple[str, ...] = ()
    centre: bool = False
    layer_curve: bool = False
    projection: str = "umap"
    dimensions: int = 2
    n_neighbors: int = 15
    min_dist: float = 0.1
    metric: str = "cosine"
    seed: int = 0
    resamples: int = 1000
    lone_classes: str = "keep"


@dataclass(frozen=True)
class Result:
    """Everything the clusters page draws. Undefined numbers are NaN (ranks: NA), `notices` say why.

    models: model, n_sentences, n_classes, in_class_dispersion, out_of_class_dispersion, score, rank, rank_group,
        in_class_variance (A_m / sentences), out_of_class_variance (B_m / classes).
    classes: model, class, n, dispersion, centroid_distance.
    intervals: model, measure (key of a measure card), value, ci_low, ci_high; 95 %, by resampling.
    comparisons: model, other, difference (model's score minus other's), ci_low, ci_high, separable (0 is not between
        them); over the sentences both weigh, resampled alike; each pair of models once, in their order.
    null: model, score, null_mean, null_low, null_high, p_value; of the score under permuted labels.
    validity: model, silhouette, calinski_harabasz, davies_bouldin, v_measure, ari, nmi, sample_size (sentences that
        the silhouette was taken over), n_starts (of k-means).
    layers: model, layer, in_class_dispersion, out_of_class_dispersion, score; no rows without `layer_curve`.
    points: model, row, text, label, x, y, z (NaN on a plane; all NaN without a map), own_distance (to its class's
        centroid), nearest_class (whose centroid is nearest; its own where two are), nearest_distance; full space.
    centroids: model, class, x, y, z; the mean of the class's points on the map.
    centroid_distances: model, class, other, distance (full space); every ordered pair of classes, itself at 0 too.
    neighbours: model, row, rank (1 = nearest, 10 at most), neighbour (its row), distance (1 - cosine, or euclidean).
    overlap: model, other, mean_overlap, expected; each pair of models once, as in `comparisons`.
    excluded: model, row, text, reason.
    """

    settings: Settings
    dataset_name: str
    models: pd.DataFrame
    classes: pd.DataFrame
    intervals: pd.DataFrame
    comparisons: pd.DataFrame
    null: pd.DataFrame
    validity: pd.DataFrame
    layers: pd.DataFrame
    points: pd.DataFrame
    centroids: pd.DataFrame
    centroid_distances: pd.DataFrame
    neighbours: pd.DataFrame
    overlap: pd.DataFrame
    excluded: pd.DataFrame
    notices: tuple[str, ...] = ()
    signature: dict[str, Any] = field(default_factory=dict)
