"""The records of clusters: what is asked (Settings) and what is found (Result)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd

from engine.evaluations.shared.common_columns import CLASS, MODEL, OTHER, RANK_GROUP, REASON, ROW, SEPARABLE, interval
from engine.evaluations.shared.declared_tables import Column, Table, declared, documented, measured
from engine.measures.cards.catalog import CARDS

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


# The columns by which the rows of several tables are known.
SENTENCE = Column("text", "text", "the sentence")
INTERVAL = interval("by resampling")
AXES = tuple(Column(axis, "number", f"coordinate {axis} on the map{undefined}")
             for axis, undefined in (("x", ""), ("y", ""), ("z", "; NaN where it is a plane")))
SCORE = measured("dispersion_score", "score")

MODELS = Table("models", "A row for each model.", (
    MODEL,
    Column("n_sentences", "integer", "sentences that the model was scored on", "sentences"),
    Column("n_classes", "integer", "classes of these sentences", "classes"),
    measured("in_class_dispersion"), measured("out_of_class_dispersion"), SCORE,
    Column("rank", "integer or none", "1 is the best score, equal scores share a rank; none without a score",
           better="lower"),
    replace(RANK_GROUP, type="integer or none"),
    measured("in_class_variance"), measured("out_of_class_variance"),
), promised=6)
CLASSES = Table("classes", "A row for each class under each model.", (
    MODEL, CLASS, Column("n", "integer", "sentences of the class", "sentences"),
    Column("dispersion", "number", "its part of the in-class dispersion A_m", "squared vector entries", "lower"),
    Column("centroid_distance", "number", "distance of its centroid to the mean of all centroids; the square is its "
           "part of the out-of-class dispersion B_m", "vector entries", "higher"),
), promised=5)
INTERVALS = Table("intervals", "A row for each measure of each model.", (
    MODEL, Column("measure", "text", "key of a measure card"), Column("value", "number", "the measure"), *INTERVAL,
))
COMPARISONS = Table("comparisons", "Each two models once, over the sentences that both read, resampled alike.", (
    MODEL, OTHER, Column("difference", "number", "score of the model less that of the other"), *INTERVAL,
    SEPARABLE,
))
NULL = Table("null", "A row for each model: its score when labels are permuted.", (
    MODEL, SCORE, Column("null_mean", "number", "mean of the score under permuted labels"),
    Column("null_low", "number", "lower end of the middle 95 % of these scores"),
    Column("null_high", "number", "upper end of the middle 95 % of these scores"),
    measured("permutation_p_value", "p_value"),
))
# A card that names its function is a measure that the worker computes: a line here is all that it takes.
VALIDITY = Table("validity", "A row for each model: what other indices say of its classes.", (
    MODEL, measured("silhouette"), measured("calinski_harabasz"), measured("davies_bouldin"), measured("v_measure"),
    measured("ari"), measured("nmi"),
    Column("sample_size", "integer", "sentences that the silhouette was taken over", "sentences"),
    Column("n_starts", "integer", "starts of k-means, of which the best is taken", "starts"),
))
VALIDITY_FUNCTIONS = {column.name: CARDS[column.card].function for column in VALIDITY.columns if column.card}
LAYERS = Table("layers", "A row for each layer of each model; none without `layer_curve`.", (
    MODEL, Column("layer", "integer", "hidden state, 0 the embeddings"), measured("in_class_dispersion"),
    measured("out_of_class_dispersion"), SCORE,
))
POINTS = Table("points", "A row for each sentence under each model; distances are of the vectors, not of the map.", (
    MODEL, ROW, SENTENCE, Column("label", "text", "its class"), *AXES,
    Column("own_distance", "number", "distance to the centroid of its class", "vector entries"),
    Column("nearest_class", "text", "the class whose centroid is nearest; its own where two are"),
    Column("nearest_distance", "number", "distance to that centroid", "vector entries"),
))
CENTROIDS = Table("centroids", "A row for each class on each map: the mean of its points.", (MODEL, CLASS, *AXES))
CENTROID_DISTANCES = Table(
    "centroid_distances", "A row for each ordered pair of classes under each model, a class with itself too.", (
        MODEL, CLASS, Column("other", "text", "the other class"),
        Column("distance", "number", "distance of the two centroids in the full space", "vector entries"),
    ))
NEIGHBOURS = Table("neighbours", "A row for each sentence and each of its nearest neighbours under each model.", (
    MODEL, ROW, Column("rank", "integer", "1 is the nearest", dtype="int32"),
    Column("neighbour", "integer", "row of the neighbour in the file"),
    Column("distance", "number", "1 less the cosine, or the Euclidean distance in vector entries, as `metric` says",
           dtype="float32"),
))
OVERLAP = Table("overlap", "Each two models once: do they name the same neighbours?", (
    MODEL, OTHER, measured("neighbour_overlap", "mean_overlap"),
    Column("expected", "number", "the overlap that chance would give"),
))
EXCLUDED = Table("excluded", "A row for each sentence that a model left out.", (
    MODEL, ROW, SENTENCE, REASON,
))
# What the command writes and a page's archive holds.
FILES = (MODELS, CLASSES, INTERVALS, COMPARISONS, NULL, VALIDITY, LAYERS, POINTS, CENTROIDS, CENTROID_DISTANCES,
         NEIGHBOURS, OVERLAP, EXCLUDED)


@documented
@dataclass(frozen=True)
class Result:
    """Everything the clusters page draws. Undefined numbers are NaN (ranks: NA), `notices` say why."""

    settings: Settings
    dataset_name: str
    models: pd.DataFrame = field(metadata=declared(MODELS))
    classes: pd.DataFrame = field(metadata=declared(CLASSES))
    intervals: pd.DataFrame = field(metadata=declared(INTERVALS))
    comparisons: pd.DataFrame = field(metadata=declared(COMPARISONS))
    null: pd.DataFrame = field(metadata=declared(NULL))
    validity: pd.DataFrame = field(metadata=declared(VALIDITY))
    layers: pd.DataFrame = field(metadata=declared(LAYERS))
    points: pd.DataFrame = field(metadata=declared(POINTS))
    centroids: pd.DataFrame = field(metadata=declared(CENTROIDS))
    centroid_distances: pd.DataFrame = field(metadata=declared(CENTROID_DISTANCES))
    neighbours: pd.DataFrame = field(metadata=declared(NEIGHBOURS))
    overlap: pd.DataFrame = field(metadata=declared(OVERLAP))
    excluded: pd.DataFrame = field(metadata=declared(EXCLUDED))
    notices: tuple[str, ...] = ()
    signature: dict[str, Any] = field(default_factory=dict)
