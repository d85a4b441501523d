"""The tables of a metric study as files and pages show them."""

from __future__ import annotations

import numpy as np
import pandas as pd

from engine.evaluations.alignment import records as alignment_records
from engine.evaluations.metric_study.cases import CASES, METHOD_CASES, all_cases, all_method_cases
from engine.evaluations.metric_study.records import (
    AGREEMENT,
    ANNOTATORS,
    BERTSCORE,
    CORRELATIONS,
    ENTITY_ACCURACY,
    EXCLUDED,
    HUMAN_CEILING,
    LAYERS,
    LEFT_OUT,
    PAIRS,
    SYSTEM_AGREEMENT,
    SYSTEM_SCORES,
    SYSTEM_TESTS,
    Result,
)
from engine.evaluations.shared.common_columns import ROW
from engine.evaluations.shared.declared_tables import Column, Emphasis, Table, frames_of, returns
from engine.messages.message import Message

CELL = ["model", "idf", "penalty"]


def _not_below_the_best(settings: pd.DataFrame) -> pd.Series:
    tested = settings["williams_p"].notna() & bool(settings["separable"].any())
    return (settings["best"] & bool(settings["separable"].any())) | (tested & ~settings["separable"])


_FIRST = [*CELL, "n", "pearson", "ci_low", "ci_high", "spearman", "kendall"]
SETTINGS = CORRELATIONS.reduced(
    [*_FIRST, *(name for name in CORRELATIONS.headers if name not in (*_FIRST, "kind"))],
    name="settings",
    meaning=Message("A row for each setting of BERTScore."),
    promised=len(_FIRST),
    bold=Emphasis(
        "pearson",
        _not_below_the_best,
        Message("Bold: the best setting and those not significantly below it (Williams' test, two-sided, 5%)."),
    ),
)
METHODS = CORRELATIONS.reduced(
    [name for name in CORRELATIONS.headers if name not in ("idf", "penalty", "best")],
    name="methods",
    meaning=Message("A row for each method beside BERTScore."),
)
SCORES = Table(
    "pairs",
    Message("A row for each pair under each setting and method."),
    (
        *(CORRELATIONS[name] for name in ("kind", *CELL)),
        ROW,
        Column("score", "number", "the score; NaN where the pair has none"),
        PAIRS["gold"],
    ),
)
_OF_INPUT = tuple(column for column in alignment_records.PAIRS.columns if column.name != ROW.name)
SCORE_FILE = SCORES.with_input(*_OF_INPUT)
CASE_FILE = CASES.with_input(*(column for column in _OF_INPUT if column.name not in CASES.headers))
METHOD_CASE_FILE = METHOD_CASES.with_input(*(column for column in _OF_INPUT if column.name not in METHOD_CASES.headers))
FILES = (
    SETTINGS,
    METHODS,
    ANNOTATORS,
    AGREEMENT,
    SCORE_FILE,
    CASE_FILE,
    METHOD_CASE_FILE,
    LAYERS,
    LEFT_OUT,
    EXCLUDED,
    SYSTEM_AGREEMENT,
    SYSTEM_SCORES,
    SYSTEM_TESTS,
    HUMAN_CEILING,
    ENTITY_ACCURACY,
)


def tables(result: Result) -> dict[str, pd.DataFrame]:
    """The tables of FILES by name."""
    return {
        "settings": grid_table(result),
        "methods": method_table(result),
        "annotators": result.annotators,
        "agreement": result.agreement,
        "pairs": score_table(result),
        "cases": all_cases(result),
        "method_cases": all_method_cases(result),
        "layers": result.layers,
        "left_out": result.left_out,
        "excluded": result.excluded,
        **frames_of(result, (SYSTEM_AGREEMENT, SYSTEM_SCORES, SYSTEM_TESTS, HUMAN_CEILING, ENTITY_ACCURACY)),
    }


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
    return cells.assign(
        row=np.tile(result.pairs["row"].to_numpy(), n_settings),
        score=result.scores.ravel(),
        gold=np.tile(result.pairs["gold"].to_numpy(), n_settings),
    )
