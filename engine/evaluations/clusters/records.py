"""The records of clusters: what is asked (Settings) and what is found (Result)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd

from engine.evaluations.shared.common_columns import (
    CLASS,
    LEFT_OUT_BY,
    MODEL,
    OTHER,
    RANK_FIRST,
    RANK_GROUP,
    RANK_LAST,
    REASON,
    ROW,
    SEPARABLE,
    WHY_UNDEFINED,
    best_in_bold,
    interval,
    separable_in_bold,
)
from engine.evaluations.shared.declared_tables import Column, Table, declared, documented, measured
from engine.evaluations.shared.precision import precision_option
from engine.evaluations.shared.vectors.vector_settings import (
    pooling_option,
    prompt_name_option,
    prompt_option,
    truncate_dim_option,
    upgraded,
)
from engine.language.normalize import STEP_MEANINGS
from engine.measures.cards.catalog import CARDS
from engine.measures.clusters.resampling import FEWEST_RESAMPLES
from engine.measures.clusters.validity_inputs import SILHOUETTE_SENTENCES
from engine.messages.message import Message
from engine.options import Choice, option

KEEP, EXCLUDE = "keep", "exclude"  # classes of one sentence
SIGNED_LONE = "classes_of_one_sentence"  # in a signature: those that were left out
# In a signature: to how many sentences UMAP was fitted, the others placed by its transform; absent where to all of them.
SIGNED_FITTED = "umap_fitted_to"
UNRANKED = Message(
    "An earlier version scored these models over different sentences, whose M_m cannot be ranked: M_m "
    "grows with the number of sentences per class. Run it again to score all models over the same "
    "sentences."
)
SEEDS = 2**32  # what umap and scikit-learn take


@dataclass(frozen=True)
class Settings:
    """What to evaluate and how."""

    models: tuple[str, ...]
    layer: int | None = option(
        None, "Hidden state that the vectors are taken from: 0 = embeddings, -1 = the last.", unset="the last"
    )
    pooling: str = pooling_option(Message("Vector of a sentence."), otherwise="cls")
    prompt: str | None = prompt_option()
    prompt_name: str | None = prompt_name_option()
    truncate_dim: int | None = truncate_dim_option()
    precision: str = precision_option()
    normalize: tuple[str, ...] = option(
        (),
        "Normalisation of the texts before any model reads them.",
        choices=STEP_MEANINGS,
        separator=",",
        metavar="STEPS",
        unset="none",
    )
    centre: bool = option(
        False,
        "Subtract the mean vector before cosines are taken (map, neighbours): raw CLS vectors "
        "share one dominant direction. A_m, B_m and M_m do not depend on it.",
    )
    correction: str = option(
        "none",
        "Correction of the vectors before every measure, map and neighbour, fitted to all "
        "sentences that a model reads.",
        choices=(
            Choice("none", "None"),
            Choice(
                "whitening", "Whitening", "the leading principal components, each divided by its standard deviation"
            ),
            Choice("all-but-the-top", "All-but-the-top", "the mean and the leading principal components are taken off"),
        ),
    )
    whitened_dims: int | None = option(
        None,
        "Principal components that whitening keeps; fewer than sentences less 1.",
        least=1,
        metavar="K",
        unset="256, and at most half as many as sentences",
    )
    removed_components: int | None = option(
        None,
        "Principal components that all-but-the-top takes off.",
        least=1,
        metavar="D",
        unset="a hundredth of the dimensions",
    )
    layer_curve: bool = option(False, "Score every layer too, in the same forward pass.")
    projection: str = option(
        "umap",
        "Projection of the map.",
        choices=(
            Choice("umap", "UMAP", "shows neighbourhoods"),
            Choice("pca", "PCA", "linear and stable, and needs no settings"),
        ),
    )
    dimensions: int = option(2, "Dimensions of the map.", choices=(Choice(2, "2-D"), Choice(3, "3-D")))
    n_neighbors: int = option(
        15, "n_neighbors of UMAP: few show local detail, many the broad shape.", least=2, shown_most=100
    )
    min_dist: float = option(
        0.1,
        "min_dist of UMAP, how near to each other points may lie: small values give tight clumps.",
        least=0,
        most=1,
        metavar="D",
    )
    metric: str = option(
        "cosine",
        "Distance of the map (PCA is always euclidean) and of the nearest neighbours.",
        choices=(Choice("cosine", "cosine"), Choice("euclidean", "Euclidean")),
    )
    seed: int = option(
        0,
        "Seed of every random step: on one machine the same seed gives the same numbers and the same map.",
        least=0,
        most=SEEDS - 1,
    )
    resamples: int = option(
        1000, "Resamples of the bootstrap, and permutations of the labels.", least=FEWEST_RESAMPLES, most=10_000
    )
    lone_classes: str = option(
        EXCLUDE,
        "What becomes of a class with one sentence: it adds nothing to A_m, and its "
        "centroid counts in B_m as much as that of a large class.",
        choices=(
            Choice(KEEP, "Include", "include it, as the paper's formulas do"),
            Choice(EXCLUDE, "Leave out", "leave its sentence out"),
        ),
    )

    clusterings: int = option(
        0,
        "Seeds that k-means, and mini-batch k-means as MTEB runs it, are repeated with; 0 for no repetition.",
        least=0,
        most=100,
        shown_most=50,
    )
    class_columns: tuple[str, ...] = option(
        (),
        "Further columns of the file whose values are scored as classes too, beside the labels.",
        flag="class-column",
        metavar="COLUMN",
    )

    @staticmethod
    def upgraded(stored: Mapping[str, Any]) -> Mapping[str, Any]:
        """The stored settings of an earlier version, in which a class of one sentence was kept unless they say so."""
        return {"lone_classes": KEEP, **upgraded(stored)}


# The columns by which the rows of several tables are known.
SENTENCE = Column("text", "text", "the sentence")
INTERVAL = interval(Message("by resampling"))
AXES = (
    Column("x", "number", "coordinate x on the map"),
    Column("y", "number", "coordinate y on the map"),
    Column("z", "number", "coordinate z on the map; NaN where it is a plane"),
)
SCORE = measured("dispersion_score", "score")
RANKS = ("rank", RANK_GROUP.name, RANK_FIRST.name, RANK_LAST.name)

MODELS = Table(
    "models",
    Message("A row for each model."),
    (
        MODEL,
        Column("n_sentences", "integer", "sentences that the model was scored on", "sentences"),
        Column("n_classes", "integer", "classes of these sentences", "classes"),
        measured("in_class_dispersion"),
        measured("out_of_class_dispersion"),
        SCORE,
        Column(
            "rank",
            "integer or none",
            "1 is the best score, equal scores share a rank; none without a score, and where "
            "half of the tokens or more are unknown",
            better="lower",
        ),
        *(replace(column, type="integer or none") for column in (RANK_GROUP, RANK_FIRST, RANK_LAST)),
        measured("in_class_variance"),
        measured("out_of_class_variance"),
        Column(
            "unknown_share",
            "number",
            "share of the tokens of all sentences that stand for text out of the vocabulary",
            better="lower",
            digits=3,
            since="0.3.0",
        ),
    ),
    promised=6,
    bold=best_in_bold("score", Message("bootstrap of the sentences")),
)
CLASSES = Table(
    "classes",
    Message("A row for each class under each model."),
    (
        MODEL,
        CLASS,
        Column("n", "integer", "sentences of the class", "sentences"),
        Column("dispersion", "number", "its part of the in-class dispersion A_m", "squared vector entries", "lower"),
        Column(
            "centroid_distance",
            "number",
            "distance of its centroid to the mean of all centroids; the square is its "
            "part of the out-of-class dispersion B_m",
            "vector entries",
            "higher",
        ),
    ),
    promised=5,
)
INTERVALS = Table(
    "intervals",
    Message("A row for each measure of each model."),
    (
        MODEL,
        Column("measure", "text", "key of a measure card"),
        Column("value", "number", "the measure"),
        *INTERVAL,
    ),
)
COMPARISONS = Table(
    "comparisons",
    Message("Each two models once, over the sentences that all read, resampled alike."),
    (
        MODEL,
        OTHER,
        Column("difference", "number", "score of the model less that of the other"),
        *INTERVAL,
        SEPARABLE,
    ),
    bold=separable_in_bold("difference", Message("95% interval of a paired bootstrap")),
)
NULL = Table(
    "null",
    Message("A row for each model: its score when labels are permuted."),
    (
        MODEL,
        SCORE,
        Column("null_mean", "number", "mean of the score under permuted labels"),
        Column("null_low", "number", "lower end of the middle 95% of these scores"),
        Column(
            "null_high",
            "number",
            "upper end of the middle 95% of these scores; NaN where classes of "
            "these labels have one centroid that often",
        ),
        measured("permutation_p_value", "p_value"),
    ),
)
SILHOUETTE_ERROR = "silhouette_error"


def _sample_error(name: str) -> Column:
    return Column(
        f"{name}_error",
        "number",
        Message(
            "standard error of {name} over samples of the sentences, that is over seeds; NaN where all are taken",
            name=name,
        ),
        better="lower",
        digits=4,
        since="0.3.0",
    )


# A card that names its function is a measure that the worker computes: a line here is all that it takes.
VALIDITY = Table(
    "validity",
    Message("A row for each model: what other indices say of its classes."),
    (
        MODEL,
        measured("silhouette"),
        measured("calinski_harabasz"),
        measured("davies_bouldin"),
        measured("v_measure"),
        measured("ari"),
        measured("nmi"),
        measured("isoscore", since="0.3.0"),
        measured("class_alignment", since="0.3.0"),
        measured("uniformity", since="0.3.0"),
        Column("sample_size", "integer", "sentences that the silhouette was taken over", "sentences"),
        Column("n_starts", "integer", "starts of k-means, of which the best is taken", "starts"),
        _sample_error("silhouette"),
    ),
)
VALIDITY_FUNCTIONS = {column.name: CARDS[column.card].function for column in VALIDITY.columns if column.card}
_SAMPLED_FUNCTIONS = {SILHOUETTE_ERROR: "engine.measures.clusters.silhouette_sample:silhouette_error"}
LAYERS = Table(
    "layers",
    Message("A row for each layer of each model; none without `layer_curve`."),
    (
        MODEL,
        Column("layer", "integer", "hidden state, 0 the embeddings"),
        measured("in_class_dispersion"),
        measured("out_of_class_dispersion"),
        SCORE,
    ),
)
POINTS = Table(
    "points",
    Message("A row for each sentence under each model; distances are of the vectors, not of the map."),
    (
        MODEL,
        ROW,
        SENTENCE,
        Column("label", "text", "its class"),
        *AXES,
        Column("own_distance", "number", "distance to the centroid of its class", "vector entries"),
        Column("nearest_class", "text", "the class whose centroid is nearest; its own where two are"),
        Column("nearest_distance", "number", "distance to that centroid", "vector entries"),
    ),
)
CENTROIDS = Table(
    "centroids", Message("A row for each class on each map: the mean of its points."), (MODEL, CLASS, *AXES)
)
CENTROID_DISTANCES = Table(
    "centroid_distances",
    Message("A row for each ordered pair of classes under each model, a class with itself too."),
    (
        MODEL,
        CLASS,
        Column("other", "text", "the other class"),
        Column("distance", "number", "distance of the two centroids in the full space", "vector entries"),
    ),
)
NEIGHBOURS = Table(
    "neighbours",
    Message("A row for each sentence and each of its nearest neighbours under each model."),
    (
        MODEL,
        ROW,
        Column("rank", "integer", "1 is the nearest", dtype="int32"),
        Column("neighbour", "integer", "row of the neighbour in the file"),
        Column(
            "distance",
            "number",
            "1 less the cosine, or the Euclidean distance in vector entries, as `metric` says",
            dtype="float32",
        ),
    ),
)
OVERLAP = Table(
    "overlap",
    Message("Each two models once: do they name the same neighbours?"),
    (
        MODEL,
        OTHER,
        measured("neighbour_overlap", "mean_overlap"),
        Column("expected", "number", "the overlap that chance would give"),
        measured("linear_cka", "cka", since="0.3.0"),
        Column(
            "expected_cka", "number", "the mean of CKA over all orders of the sentences of one model", since="0.3.0"
        ),
        measured("distance_correlation", "rsa", since="0.3.0"),
        Column("n_rsa", "integer", "sentences that the distances were taken over", "sentences", since="0.3.0"),
        _sample_error("rsa"),
    ),
)
CLUSTERINGS = Table(
    "clusterings",
    Message("A row for each measure of k-means of each model, over seeds; none without `clusterings`."),
    (
        MODEL,
        Column("measure", "text", "key of a measure card"),
        Column("n_seeds", "integer", "seeds: `seed` and those after it", "seeds"),
        Column("mean", "number", "mean over the seeds"),
        Column("deviation", "number", "standard deviation over the seeds, divided by n; NaN for one seed"),
        Column("minimum", "number", "the smallest of them"),
        Column("maximum", "number", "the largest of them"),
    ),
    since="0.3.0",
)
CLASS_COLUMNS = Table(
    "class_columns",
    Message(
        "A row for each column of classes under each model, that of the labels first; none without `class_columns`."
    ),
    (
        MODEL,
        Column("column", "text", 'the column of the file, "" for the labels'),
        Column("n_sentences", "integer", "sentences scored: those with a value there", "sentences"),
        Column("n_classes", "integer", "different values of these", "classes"),
        measured("in_class_dispersion"),
        measured("out_of_class_dispersion"),
        SCORE,
        measured("permutation_p_value", "p_value"),
        WHY_UNDEFINED,
    ),
    since="0.3.0",
)
EXCLUDED = Table(
    "excluded",
    Message("A row for each sentence that a model left out, and for each row of the file that could not be used."),
    (
        LEFT_OUT_BY,
        ROW,
        SENTENCE,
        REASON,
    ),
)
# What the command writes and a page's downloads hold.
FILES = (
    MODELS,
    CLASSES,
    INTERVALS,
    COMPARISONS,
    NULL,
    VALIDITY,
    LAYERS,
    POINTS.with_input(),
    CENTROIDS,
    CENTROID_DISTANCES,
    NEIGHBOURS,
    OVERLAP,
    CLUSTERINGS,
    CLASS_COLUMNS,
    EXCLUDED,
)


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
    clusterings: pd.DataFrame = field(metadata=declared(CLUSTERINGS), default_factory=CLUSTERINGS.frame)
    class_columns: pd.DataFrame = field(metadata=declared(CLASS_COLUMNS), default_factory=CLASS_COLUMNS.frame)

    def reopened(self) -> Result:
        """The result as it is shown: without ranks where an earlier version scored models over different sentences."""
        if are_of_the_same_sentences(self.points):
            return self
        return replace(self, models=without_ranks(self.models), notices=(*self.notices, UNRANKED))


def are_of_the_same_sentences(points: pd.DataFrame) -> bool:
    """Whether the models of a table `POINTS`, of which model and row are read, have the same rows."""
    return len({tuple(rows) for _, rows in points.groupby("model", sort=False)["row"]}) < 2


def without_ranks(models: pd.DataFrame) -> pd.DataFrame:
    """A table `MODELS` in which no model has a rank."""
    none = pd.array([None] * len(models), dtype="Int64")
    return models.assign(**{name: none for name in RANKS if name in models})


def validity_functions(n_sentences: int) -> dict[str, str]:
    """What computes each number of VALIDITY, "module:function" by its name; the error only where there is a sample."""
    return VALIDITY_FUNCTIONS | (_SAMPLED_FUNCTIONS if n_sentences > SILHOUETTE_SENTENCES else {})
