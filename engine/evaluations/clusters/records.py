"""The records of clusters: what is asked (Settings) and what is found (Result)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from engine.language.normalize import STEP_MEANINGS
from engine.measures.clusters.resampling import FEWEST_RESAMPLES
from engine.options import option

SEEDS = 2**32  # what umap and scikit-learn take


@dataclass(frozen=True)
class Settings:
    """What to evaluate and how."""

    models: tuple[str, ...]
    layer: int | None = option(None, "Hidden state that the vectors are taken from: 0 = embeddings, -1 = the last.",
                               unset="the last")
    pooling: str = option("cls", "Vector of a sentence.", choices={
        "cls": "the first token's vector; a model without a CLS token has none",
        "mean": "the mean over the vectors of all tokens"})
    normalize: tuple[str, ...] = option((), "Normalisation of the texts before any model reads them.",
                                        choices=STEP_MEANINGS, separator=",", metavar="STEPS", unset="none")
    centre: bool = option(False, "Subtract the mean vector before cosines are taken (map, neighbours): raw CLS vectors "
                                 "share one dominant direction. A_m, B_m and M_m do not depend on it.")
    layer_curve: bool = option(False, "Score every layer too, in the same forward pass.")
    projection: str = option("umap", "Projection of the map.", choices={
        "umap": "shows neighbourhoods", "pca": "linear and stable, and needs no settings"})
    dimensions: int = option(2, "Dimensions of the map.", choices=(2, 3))
    n_neighbors: int = option(15, "n_neighbors of UMAP: few show local detail, many the broad shape.", least=2,
                              shown_most=100)
    min_dist: float = option(0.1, "min_dist of UMAP, how near to each other points may lie: small values give tight "
                                  "clumps.", least=0, most=1, metavar="D")
    metric: str = option("cosine", "Distance of the map (PCA is always euclidean) and of the nearest neighbours.",
                         choices=("cosine", "euclidean"))
    seed: int = option(0, "Seed of every random step: the same seed gives the same numbers and the same map.", least=0,
                       most=SEEDS - 1)
    resamples: int = option(1000, "Resamples of the bootstrap, and permutations of the labels.",
                            least=FEWEST_RESAMPLES, most=10_000)
    lone_classes: str = option("keep", "What becomes of a class with one sentence: it adds nothing to A_m, and its "
                                       "centroid counts in B_m.",
                               choices={"keep": "", "exclude": "leave its sentence out"})


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
