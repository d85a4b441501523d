"""The records of metric study: what is asked (Settings) and what is found (Result)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from engine.evaluations.alignment.records import Scoring

SCORES = ("f1", "precision", "recall")
POOLINGS = ("mean", "cls", "none")
# The paper's two dictionaries, with and without the penalty: with its four models 16 settings.
IDFS = ("novel", "wiki")
PENALTIES = ("none", "reading")
# Kinds of lines: settings of BERTScore, and what stands beside them.
BERTSCORE, SURFACE, VECTORS = "bertscore", "surface", "vectors"


@dataclass(frozen=True)
class Settings:
    """The grid: every model with every dictionary, without and with the penalty; `layer` None is the last.

    score: which of BERTScore's numbers is held against the humans. scoring: the choices that all settings share; its
    idf and penalty do not count. all_layers: correlate at every layer, too. surface: SentBLEU and chrF beside.
    pooling: the sentence vectors whose cosine stands beside ("none": none).
    """

    models: tuple[str, ...]
    layer: int | None = None
    all_layers: bool = False
    idfs: tuple[str, ...] = IDFS
    penalties: tuple[str, ...] = PENALTIES
    score: str = "f1"
    scoring: Scoring = field(default_factory=Scoring)
    surface: bool = True
    pooling: str = "mean"
    precision: str = "fp32"


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
