"""Clusters: how far do a model's sentence vectors keep labelled sentences apart?

Sentences and labels in; for each model in-class dispersion A_m, out-of-class dispersion B_m and their ratio M_m out,
how sure they are, what lies behind them, and a map. Paper: Shibayama et al., PACLIC 34 (2020), section 3.1.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import pandas as pd

from engine.datasets.labelled_sentences import LabelledSentences
from engine.errors import InputError
from engine.evaluations import clusters_tables as tables
from engine.evaluations.clusters_certainty import certainty
from engine.evaluations.clusters_maps import coordinates, nearest
from engine.evaluations.clusters_notices import notices
from engine.evaluations.clusters_vectors import model_vectors, require_vectors
from engine.evaluations.signature import require_models, resolve_layer, signature
from engine.inference.gateway import GatewaySession
from engine.language.normalize import normalize
from engine.measures.centroids import centroid_distances
from engine.measures.dispersion import dispersion
from engine.measures.resampling import FEWEST_RESAMPLES

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
    intervals: model, measure (key of a measure card), value, ci_low, ci_high; 95 %, `engine.measures.resampling`.
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


def evaluate(settings: Settings, dataset: LabelledSentences, session: GatewaySession) -> Result:
    """Weigh each model of `settings` on `dataset`.

    Sentences beyond a model's length are left out for that model and listed in `excluded`. Raises
    InputError for settings that cannot be, and when fewer than two classes remain; ModelError
    from the model, and at once where one has no CLS token to take.
    """
    _check(settings)
    facts = [session.describe(model) for model in settings.models]
    layers = {one.name: resolve_layer(settings.layer, one) for one in facts}
    require_vectors(facts, settings.pooling)
    texts = [normalize(text, settings.normalize) for text in dataset.texts]
    read = [model_vectors(settings, one, layers[one.name], dataset, texts, session) for one in facts]
    weighed = [dispersion(one.vectors, one.labels) for one in read]
    distances = [centroid_distances(one.vectors, one.labels) for one in read]
    sure = certainty(settings, read, weighed, session)
    validity = [session.on_vectors("cluster_validity", one.vectors, label=f"Cluster validity: {one.model}",
                                   class_of=one.class_of, seed=settings.seed) for one in read]
    neighbours = {one.model: found for one in read if (found := nearest(one, settings, session)) is not None}
    points = tables.stacked([tables.points_table(one, dataset, coordinates(one, settings, session), apart)
                             for one, apart in zip(read, distances, strict=True)])
    return Result(
        settings=settings, dataset_name=dataset.name,
        models=tables.models_table(read, weighed, sure.groups),
        classes=tables.stacked([tables.classes_table(one.model, its) for one, its in zip(read, weighed, strict=True)]),
        intervals=sure.intervals, comparisons=sure.comparisons, null=sure.null,
        validity=tables.typed([(one.model, *(piece[name] for name in tables.VALIDITY))
                               for one, piece in zip(read, validity, strict=True)], model="str", **tables.VALIDITY),
        layers=tables.stacked([one.layers for one in read]),
        points=points, centroids=tables.centroids_table(points),
        centroid_distances=tables.stacked([tables.centroid_distances_table(one.model, its)
                                           for one, its in zip(read, distances, strict=True)]),
        neighbours=tables.stacked([
            tables.neighbours_table(one, dataset, *neighbours.get(one.model, tables.NO_NEIGHBOURS)) for one in read]),
        overlap=tables.typed([tables.overlap_row(a, b, neighbours[a.model][0], neighbours[b.model][0])
                              for a, b in combinations(read, 2) if {a.model, b.model} <= set(neighbours)],
                             model="str", other="str", mean_overlap="float64", expected="float64"),
        excluded=tables.excluded_table(read, dataset),
        notices=(*dataset.notices, *notices(settings, read, weighed, validity, len(texts)), *sure.notices),
        signature=signature(settings, facts, dataset.content_hash, libraries=("umap-learn", "scikit-learn", "scipy"),
                            layers=layers),
    )


def _check(settings: Settings) -> None:
    require_models(settings.models)
    for name, given, allowed in (
        ("pooling", settings.pooling, POOLINGS), ("metric", settings.metric, METRICS),
        ("projection", settings.projection, PROJECTIONS), ("dimensions", settings.dimensions, DIMENSIONS),
        ("lone_classes", settings.lone_classes, LONE_CLASSES),
    ):
        if given not in allowed:
            raise InputError(f"{name} is one of {', '.join(map(str, allowed))}; got {given!r}.")
    if settings.n_neighbors < 2:
        raise InputError(f"n_neighbors is at least 2; got {settings.n_neighbors}.")
    if not 0 <= settings.min_dist <= 1:
        raise InputError(f"min_dist lies between 0 and 1; got {settings.min_dist}.")
    if not FEWEST_RESAMPLES <= settings.resamples <= MOST_RESAMPLES:
        raise InputError(f"resamples lie between {FEWEST_RESAMPLES} and {MOST_RESAMPLES:,}; got {settings.resamples}.")
    if not 0 <= settings.seed < SEEDS:
        raise InputError(f"A seed is a whole number from 0 to {SEEDS - 1}; got {settings.seed}.")
