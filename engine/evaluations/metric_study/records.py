"""The records of metric study: what is asked (Settings) and what is found (Result)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from engine.evaluations.alignment import records as alignment
from engine.evaluations.alignment.records import Scoring
from engine.options import option, option_of

# The paper's two dictionaries, with and without the penalty: with its four models 16 settings.
IDFS = ("novel", "wiki")
PENALTIES = option_of(Scoring, "penalty").choices
# Kinds of lines: settings of BERTScore, and what stands beside them.
BERTSCORE, SURFACE, VECTORS = "bertscore", "surface", "vectors"


@dataclass(frozen=True)
class Settings:
    """The grid: every model with every dictionary, without and with the penalty.

    scoring: the choices that all settings of the grid share; its idf and penalty do not count.
    """

    models: tuple[str, ...]
    layer: int | None = option(None, "Hidden state that is compared: 0 = embeddings, -1 = the last.", unset="the last")
    all_layers: bool = option(False, "Correlate at every layer, too: no second forward pass, but more memory.")
    idfs: tuple[str, ...] = option(
        IDFS, "Dictionaries of idf weights: none, references, novel, wiki (the paper has the last two) or the file of "
        "one. A model whose tokenizer a dictionary does not fit goes without it.", flag="idf", metavar="D",
        unset="none, references, and novel and wiki where they fit a model's tokenizer")
    penalties: tuple[str, ...] = option(
        tuple(PENALTIES), "Penalties by the readings of low-frequency tokens; without a dictionary there is none.",
        choices=PENALTIES, flag="penalty")
    score: str = option("f1", "Score that is held against the humans.", choices=("f1", "precision", "recall"))
    scoring: Scoring = field(default_factory=Scoring)
    surface: bool = option(True, "SentBLEU and chrF beside.", off="no-surface")
    pooling: str = option("mean", "Sentence vectors whose cosine stands beside.", choices={
        "mean": "the mean over the tokens", "cls": "the first token's vector", "none": "no cosine"})
    precision: str = option("fp32", alignment.PRECISION_HELP, choices=alignment.PRECISIONS)


@dataclass(frozen=True)
class Result:
    """Everything the metric study page draws.

    correlations: a line for each setting, `metric_grid.correlations`. scores: float64 (n_settings, n_pairs), the scores
    behind its lines, nan where a pair has none. pairs: row, reference, candidate, category, gold, and human:<name> and
    z:<name> for each annotator. annotators, agreement, mean_agreement: `human_gold.HumanGold`. layers: model, layer,
    idf, penalty, n, pearson, ci_low, ci_high (empty unless all_layers). left_out: model, idf, reason, of settings.
    excluded: model, row, reason, of pairs.
    """

    settings: Settings
    dataset_name: str
    correlations: pd.DataFrame
    scores: np.ndarray
    pairs: pd.DataFrame
    annotators: pd.DataFrame
    agreement: pd.DataFrame
    mean_agreement: float
    layers: pd.DataFrame
    left_out: pd.DataFrame
    excluded: pd.DataFrame
    notices: tuple[str, ...] = ()
    signature: dict[str, Any] = field(default_factory=dict)

    def scores_of(self, model: str, idf: str, penalty: str) -> np.ndarray | None:
        """The scores (n_pairs,) of one setting of the grid; None when there is no such setting."""
        table = self.correlations
        found = np.flatnonzero((table["kind"] == BERTSCORE) & (table["model"] == model) & (table["idf"] == idf)
                               & (table["penalty"] == penalty))
        return self.scores[found[0]] if found.size else None
