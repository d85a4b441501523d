"""The tables of a metric study as files and pages show them."""

from __future__ import annotations

import numpy as np
import pandas as pd

from engine.evaluations.metric_study.cases import all_cases
from engine.evaluations.metric_study.records import BERTSCORE, Result

CELL = ["model", "idf", "penalty"]


def tables(result: Result) -> dict[str, pd.DataFrame]:
    """Every table of a study, by the name of its file."""
    return {"settings": grid_table(result), "methods": method_table(result), "annotators": result.annotators,
            "agreement": result.agreement, "pairs": score_table(result), "cases": all_cases(result),
            "layers": result.layers, "left_out": result.left_out, "excluded": result.excluded}


def grid_table(result: Result) -> pd.DataFrame:
    """The settings of BERTScore: model, idf, penalty, n, pearson, ci_low, ci_high, spearman, kendall, then the rest."""
    table = result.correlations
    first = [*CELL, "n", "pearson", "ci_low", "ci_high", "spearman", "kendall"]
    rest = [name for name in table.columns if name not in (*first, "kind")]
    return table.loc[table["kind"] == BERTSCORE, [*first, *rest]].reset_index(drop=True)


def method_table(result: Result) -> pd.DataFrame:
    """The methods beside: kind ("surface" or "vectors"), model (the method, or whose vectors), n, pearson, …"""
    table = result.correlations
    return table[table["kind"] != BERTSCORE].drop(columns=["idf", "penalty", "best"]).reset_index(drop=True)


def score_table(result: Result) -> pd.DataFrame:
    """Every score of every pair, setting by setting: kind, model, idf, penalty, row, score (nan = none), gold."""
    n_settings, n_pairs = result.scores.shape
    of_setting = np.repeat(np.arange(n_settings), n_pairs)
    # as categories: the words of a setting once, not with every pair
    cells = result.correlations[["kind", *CELL]].astype("category").iloc[of_setting].reset_index(drop=True)
    return cells.assign(row=np.tile(result.pairs["row"].to_numpy(), n_settings), score=result.scores.ravel(),
                        gold=np.tile(result.pairs["gold"].to_numpy(), n_settings))
