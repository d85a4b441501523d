"""The records of metric study: what is asked (Settings) and what is found (Result)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from engine.evaluations.alignment.records import UNNAMED_IDF, Scoring
from engine.evaluations.shared.common_columns import LEFT_OUT_BY, MODEL, REASON, ROW, WHY_UNDEFINED, interval
from engine.evaluations.shared.declared_tables import MESSAGE, Column, Table, declared, documented, measured
from engine.evaluations.shared.precision import precision_option
from engine.evaluations.shared.vectors.vector_settings import (
    pooling_option,
    prompt_name_option,
    prompt_option,
    truncate_dim_option,
    upgraded,
)
from engine.messages.message import Message
from engine.options import Choice, option, option_of

# The paper's two dictionaries, with and without the penalty: with its four models 16 settings.
IDFS = ("novel", "wiki")
_MEANINGS = option_of(Scoring, "penalty").choices
PENALTIES = (
    Choice("none", "without penalty"),
    Choice("reading", "with penalty", _MEANINGS["reading"]),
    Choice("names", "names by reading", _MEANINGS["names"]),
)
# Kinds of lines: settings of BERTScore, and what stands beside them.
BERTSCORE, SURFACE, VECTORS, METRIC, ENTITY, HUMAN = "bertscore", "surface", "vectors", "metric", "entity", "human"


@dataclass(frozen=True)
class Settings:
    """The grid: every model with every dictionary, without and with the penalty.

    scoring: the choices that all settings of the grid share; its idf and penalty do not count.
    """

    models: tuple[str, ...]
    layer: int | None = option(None, "Hidden state that is compared: 0 = embeddings, -1 = the last.", unset="the last")
    all_layers: bool = option(False, "Correlate at every layer, too: no second forward pass, but more memory.")
    idfs: tuple[str, ...] = option(
        IDFS,
        "Dictionaries of idf weights: none, references, novel, wiki (the paper has these two), novel-words, "
        "wiki-words (counted in words) or the file of one. A model whose tokenizer a dictionary does not fit goes "
        "without it.",
        flag="idf",
        metavar="D",
        names_file=True,
        unset="none, references, and novel and wiki where they fit a model's tokenizer",
    )
    penalties: tuple[str, ...] = option(
        ("none", "reading"),
        "Penalties by readings; without a dictionary there is none of low-frequency tokens. The "
        "paper has the first two.",
        choices=PENALTIES,
        flag="penalty",
    )
    score: str = option(
        "f1",
        "Score that is correlated with the human scores.",
        choices=(Choice("f1", "F1"), Choice("precision", "P"), Choice("recall", "R")),
    )
    scoring: Scoring = field(default_factory=Scoring)
    surface: bool = option(True, "SentBLEU and chrF beside.", off="no-surface")
    pooling: str = pooling_option(
        Message("Sentence vectors whose cosine is shown beside."),
        otherwise="mean-without-special",
        more=(Choice("none", meaning="no cosine"),),
    )
    prompt: str | None = prompt_option()
    prompt_name: str | None = prompt_name_option()
    truncate_dim: int | None = truncate_dim_option()
    precision: str = precision_option()
    metric_columns: tuple[str, ...] = option(
        (),
        "Columns with the scores of other metrics, computed elsewhere (COMET, MetricX, BLEURT); an empty cell is a "
        "missing score. Higher is taken to be better.",
        flag="metric-column",
        metavar="COLUMN",
    )
    system_column: str | None = option(
        None,
        "Column that names the system of each candidate: how metrics rank systems.",
        metavar="COLUMN",
        unset='the column "system", where there is one',
    )
    entity_column: str | None = option(
        None,
        "Column with the accepted forms of an entity, separated by vertical bars or as a list in JSON: whether "
        "the candidate has one of them (M-ETA); an empty cell is a pair without an entity.",
        metavar="COLUMN",
        unset="that of the mentions in XC-Translate",
    )
    annotators: tuple[str, ...] = option(
        (),
        "Columns of the annotators whose agreement is the human ceiling: each against the mean of the others.",
        separator=",",
        metavar="A,B,C",
        unset="all human scores, where there are two columns or more",
    )
    lower_columns: tuple[str, ...] = option(
        (),
        "Of the columns with scores of other metrics, those where lower is better (MetricX, TER): their scores are "
        "taken with the opposite sign.",
        flag="lower-is-better",
        metavar="COLUMN",
    )

    upgraded = staticmethod(upgraded)


_PENALTY_LABELS = {str(choice.value): choice.label for choice in PENALTIES}
IDF = Column("idf", "text", "the idf dictionary", words=lambda idf: UNNAMED_IDF.get(idf, idf.rpartition("/")[2]))
PENALTY = Column("penalty", "text", "the penalty", words=lambda penalty: _PENALTY_LABELS.get(penalty, penalty))
PAIR = (
    ROW,
    Column("reference", "text", "the reference"),
    Column("candidate", "text", "the candidate"),
    Column("category", "text", 'the category; "" where the file names none'),
)
N_PAIRS = Column("n", "integer", "pairs that have this score and a human one", "pairs")
PEARSON = (measured("pearson"), *interval(Message("Fisher's")))

CORRELATIONS = Table(
    "correlations",
    Message("A row for each setting of BERTScore, then for each method beside."),
    (
        Column(
            "kind",
            "text",
            Message(
                "{BERTSCORE}, {SURFACE} (of the texts alone), {VECTORS} (of sentence vectors), "
                "{METRIC} (a column of scores computed elsewhere) or {ENTITY} (an entity right or "
                "wrong)",
                BERTSCORE=BERTSCORE,
                SURFACE=SURFACE,
                VECTORS=VECTORS,
                METRIC=METRIC,
                ENTITY=ENTITY,
            ),
        ),
        Column("model", "text", "the model; of the surface the method, of a column its name"),
        IDF,
        PENALTY,
        N_PAIRS,
        *PEARSON,
        measured("spearman"),
        *interval(Message("by the infinitesimal jackknife, below 20 pairs by simulation"), "spearman"),
        measured("kendall"),
        *interval(Message("by the infinitesimal jackknife, below 20 pairs by simulation"), "kendall"),
        measured(
            "williams",
            "williams_t",
            "Williams' test of the best setting against this one, above 0 where the best follows the humans better",
        ),
        Column("williams_p", "number", "its two-sided p-value"),
        Column(
            "williams_holm_p",
            "number",
            "the same corrected by Holm over every two settings and methods, so valid after the choice of the best",
            since="0.3.0",
        ),
        Column("williams_n", "integer", "pairs that both have and the humans", "pairs"),
        Column("best", "boolean", "whether it is the setting of BERTScore with the greatest Pearson correlation"),
        Column("separable", "boolean", "whether williams_p is below 0.05"),
        WHY_UNDEFINED,
    ),
)
PAIRS = Table(
    "pairs",
    Message("A row for each pair of the dataset."),
    (
        *PAIR,
        Column("gold", "number", "mean of the annotators' z-scores; NaN where there is no score", better="higher"),
        Column("human:<name>", "number", "the score of an annotator; NaN where there is none", better="higher"),
        Column("z:<name>", "number", "its z-score among the scores of the annotator", better="higher"),
    ),
)
ANNOTATORS = Table(
    "annotators",
    Message("A row for each annotator."),
    (
        Column("annotator", "text", "the annotator"),
        Column("n", "integer", "pairs scored", "pairs"),
        Column("missing", "integer", "pairs not scored", "pairs"),
        Column("minimum", "number", "the least score"),
        Column("maximum", "number", "the greatest score"),
        Column(
            "scale",
            "text",
            "the scale that the scores are taken to be on, by the least and the greatest",
            dtype=MESSAGE,
        ),
        Column("mean", "number", "mean score"),
        Column("deviation", "number", "standard deviation of the scores"),
        measured("annotator_agreement", "agreement", "mean Pearson correlation with the other annotators"),
        Column("reason", "text", 'why the annotator does not count, "" for one who does', dtype=MESSAGE),
    ),
)
AGREEMENT = Table(
    "agreement",
    Message("Each two annotators once."),
    (
        Column("annotator", "text", "the annotator"),
        Column("other", "text", "the other annotator"),
        Column("n", "integer", "pairs that both scored", "pairs"),
        *PEARSON,
        WHY_UNDEFINED,
    ),
)
HUMAN_CEILING = Table(
    "human_ceiling",
    Message(
        "A row for each annotator, compared with the mean of the others; last the mean over the "
        "annotators, which is the ceiling. None with fewer than two annotators."
    ),
    (
        Column("annotator", "text", 'the annotator; "" in the row of the mean'),
        Column(
            "n",
            "integer",
            "pairs that the annotator and another one scored; of the mean, pairs that count for any",
            "pairs",
        ),
        Column("missing", "integer", "the other pairs", "pairs"),
        measured("human_ceiling", "pearson", "Pearson's r"),
        *interval(Message("Fisher's; empty for the mean")),
        Column("spearman", "number", "Spearman's ρ", better="higher", digits=3),
        *interval(Message("by the infinitesimal jackknife, below 20 pairs by simulation"), "spearman"),
        Column("kendall", "number", "Kendall's τ_b", better="higher", digits=3),
        *interval(Message("by the infinitesimal jackknife, below 20 pairs by simulation"), "kendall"),
        WHY_UNDEFINED,
    ),
    since="0.3.0",
)
LAYERS = Table(
    "layers",
    Message("A row for each setting of BERTScore at each layer; none without `all_layers`."),
    (
        MODEL,
        Column("layer", "integer", "hidden state, 0 the embeddings"),
        IDF,
        PENALTY,
        N_PAIRS,
        *PEARSON,
    ),
)
OF_CELL = (CORRELATIONS["kind"], CORRELATIONS["model"], IDF, PENALTY)


def _errors(*names: str) -> tuple[Column, ...]:
    return tuple(
        Column(
            f"{name}_error",
            "number",
            Message("standard error of {name} from drawing resamples at random, that is over seeds", name=name),
            better="lower",
            digits=3,
        )
        for name in names
    )


SYSTEM_AGREEMENT = Table(
    "system_agreement",
    Message("A row for each setting and method: how it ranks the systems; none without systems."),
    (
        *OF_CELL,
        Column("n_systems", "integer", "systems with scores", "systems"),
        Column("n_system_pairs", "integer", "pairs of systems with a common segment", "pairs"),
        measured("pairwise_accuracy"),
        measured("soft_pairwise_accuracy"),
        measured("tie_calibrated_accuracy"),
        Column("tie_threshold", "number", "differences of scores up to it count as ties in acc_eq"),
        Column("n_segments", "integer", "segments with two systems or more", "segments"),
        measured(
            "perm_both", "perm_both_difference", "Pearson's r over the pairs of the best setting minus that of this one"
        ),
        Column("perm_both_p", "number", "its one-sided p-value: small where the best follows the humans better"),
        Column("perm_both_systems_p", "number", "the same with Pearson's r between the means of the systems"),
        WHY_UNDEFINED,
        *_errors("soft_pairwise_accuracy", "perm_both_p", "perm_both_systems_p"),
    ),
    since="0.3.0",
)
SYSTEM_SCORES = Table(
    "system_scores",
    Message("A row for each system under the human score and each setting and method."),
    (
        *OF_CELL,
        Column("system", "text", "the system"),
        Column("n", "integer", "scored pairs", "pairs"),
        Column("score", "number", "mean score over the pairs that also have a human score", better="higher"),
    ),
    since="0.3.0",
)
SYSTEM_TESTS = Table(
    "system_tests",
    Message("Each two systems once, under the human score and the best setting of BERTScore."),
    (
        *OF_CELL,
        Column("system", "text", "the system"),
        Column("other", "text", "the other system"),
        Column("n", "integer", "segments that both have", "segments"),
        Column("difference", "number", "mean score of the system minus that of the other over these segments"),
        *interval(Message("of the paired bootstrap")),
        Column("p_value", "number", "two-sided p-value of the paired bootstrap, not corrected for their number"),
        Column(
            "permutation_p",
            "number",
            "one-sided p-value of the paired permutation test, as SPA takes it: near 0 "
            "where the system is better, near 1 where the other is",
        ),
        WHY_UNDEFINED,
        *_errors("p_value", "permutation_p"),
    ),
    since="0.3.0",
)
ENTITY_ACCURACY = Table(
    "entity_accuracy",
    Message("A row for each system, last all pairs: how many entities are right; none without `entity_column`."),
    (
        Column("system", "text", 'the system; "" in the row of all pairs'),
        Column("n", "integer", "pairs that have an entity", "pairs"),
        Column("n_right", "integer", "those whose candidate has an accepted form", "pairs"),
        measured("entity_accuracy", "accuracy"),
        *interval("Wilson's"),
        Column(
            "n_right_by_case",
            "integer or none",
            "those whose candidate has one after case folding alone, as the code of XC-Translate's authors counts",
            "pairs",
        ),
        measured("entity_accuracy", "accuracy_by_case", "M-ETA as that code gives it: n_right_by_case / n"),
    ),
    since="0.3.0",
)
LEFT_OUT = Table("left_out", Message("A row for each setting that was left out."), (MODEL, IDF, REASON))
EXCLUDED = Table(
    "excluded",
    Message("A row for each pair that a model left out, and for each row of the file that could not be used."),
    (
        LEFT_OUT_BY,
        ROW,
        REASON,
    ),
)


@documented
@dataclass(frozen=True)
class Result:
    """Everything the metric study page draws.

    scores: float64 (n_settings, n_pairs), the scores behind the rows of `correlations`, nan where a pair has none.
    mean_agreement: mean Pearson correlation over every two annotators.
    """

    settings: Settings
    dataset_name: str
    correlations: pd.DataFrame = field(metadata=declared(CORRELATIONS))
    scores: np.ndarray
    pairs: pd.DataFrame = field(metadata=declared(PAIRS))
    annotators: pd.DataFrame = field(metadata=declared(ANNOTATORS))
    agreement: pd.DataFrame = field(metadata=declared(AGREEMENT))
    mean_agreement: float
    layers: pd.DataFrame = field(metadata=declared(LAYERS))
    left_out: pd.DataFrame = field(metadata=declared(LEFT_OUT))
    excluded: pd.DataFrame = field(metadata=declared(EXCLUDED))
    notices: tuple[str, ...] = ()
    signature: dict[str, Any] = field(default_factory=dict)
    system_agreement: pd.DataFrame = field(metadata=declared(SYSTEM_AGREEMENT), default_factory=SYSTEM_AGREEMENT.frame)
    system_scores: pd.DataFrame = field(metadata=declared(SYSTEM_SCORES), default_factory=SYSTEM_SCORES.frame)
    system_tests: pd.DataFrame = field(metadata=declared(SYSTEM_TESTS), default_factory=SYSTEM_TESTS.frame)
    human_ceiling: pd.DataFrame = field(metadata=declared(HUMAN_CEILING), default_factory=HUMAN_CEILING.frame)
    entity_accuracy: pd.DataFrame = field(metadata=declared(ENTITY_ACCURACY), default_factory=ENTITY_ACCURACY.frame)

    def scores_of(self, model: str, idf: str, penalty: str) -> np.ndarray | None:
        """The scores (n_pairs,) of one setting of the grid; None when there is no such setting."""
        table = self.correlations
        indices = np.flatnonzero(
            (table["kind"] == BERTSCORE)
            & (table["model"] == model)
            & (table["idf"] == idf)
            & (table["penalty"] == penalty)
        )
        return self.scores[indices[0]] if indices.size else None
