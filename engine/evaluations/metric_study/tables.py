"""The tables of a metric study as files and pages show them."""

from __future__ import annotations

import numpy as np
import pandas as pd

from engine.evaluations.metric_study.cases import CASES, all_cases
from engine.evaluations.metric_study.records import (
    AGREEMENT,
    ANNOTATORS,
    BERTSCORE,
    CORRELATIONS,
    EXCLUDED,
    LAYERS,
    LEFT_OUT,
    PAIRS,
    Result,
)
from engine.evaluations.shared.common_columns import ROW
from engine.evaluations.shared.declared_tables import Column, Table, returns

CELL = ["model", "idf", "penalty"]

_FIRST = [*CELL, "n", "pearson", "ci_low", "ci_high", "spearman", "kendall"]
SETTINGS = CORRELATIONS.reduced(
    [*_FIRST, *(name for name in CORRELATIONS.headers if name not in (*_FIRST, "kind"))], name="settings",
    meaning="A row for each setting of BERTScore.", promised=len(_FIRST))
METHODS = CORRELATIONS.reduced([name for name in CORRELATIONS.headers if name not in ("idf", "penalty", "best")],
                               name="methods", meaning="A row for each method beside BERTScore.")
SCORES = Table("pairs", "A row for each pair under each setting and method.", (
    *(CORRELATIONS[name] for name in ("kind", *CELL)), ROW, Column("score", "number", "the score; NaN where the pair "
                                                                   "has none"), PAIRS["gold"],
))
FILES = (SETTINGS, METHODS, ANNOTATORS, AGREEMENT, SCORES, CASES, LAYERS, LEFT_OUT, EXCLUDED)


def tables(result: Result) -> dict[str, pd.DataFrame]:
    """The tables of FILES by name."""
    return {"settings": grid_table(result), "methods": method_table(result), "annotators": result.annotators,
            "agreement": result.agreement, "pairs": score_table(result), "cases": all_cases(result),
            "layers": result.layers, "left_out": result.left_out, "excluded": result.excluded}


@returns(SETTINGS)
def grid_table(result: Result) -> pd.DataFrame:
    """The settings of BERTScore."""
    table = result.correlations
    return SETTINGS.selected(table[table["kind"] == BERTSCORE]).reset_index(drop=True)


@returns(METHODS)
def method_table(result: Result) -> pd.DataFrame:
    """The methods beside."""
    table = result.correlations
    return METHODS.selected(table[table["kind"] != BERTSCORE]).reset_index(drop=True)


@returns(SCORES)
def score_table(result: Result) -> pd.DataFrame:
    """Every score of every pair, setting by setting."""
    n_settings, n_pairs = result.scores.shape
    of_setting = np.repeat(np.arange(n_settings), n_pairs)
    # as categories: the words of a setting once, not with every pair
    cells = result.correlations[["kind", *CELL]].astype("category").iloc[of_setting].reset_index(drop=True)
    return cells.assign(row=np.tile(result.pairs["row"].to_numpy(), n_settings), score=result.scores.ravel(),
                        gold=np.tile(result.pairs["gold"].to_numpy(), n_settings))
