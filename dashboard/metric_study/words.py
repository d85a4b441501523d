"""What the settings of a metric study and their numbers are called. Pure: no streamlit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from dashboard.shared.theme import measure_name
from engine.evaluations.alignment.records import Scoring
from engine.evaluations.alignment.scoring import dictionary_name
from engine.evaluations.metric_study.records import BERTSCORE, SURFACE
from engine.measures.cards.catalog import CARDS

PENALTY_WORDS = {"none": "without penalty", "reading": "with penalty"}
MEASURES = {"pearson": "Pearson", "spearman": "Spearman", "kendall": "Kendall"}
INTERVALS = {"pearson": ("ci_low", "ci_high"), "spearman": ("spearman_low", "spearman_high"),
             "kendall": ("kendall_low", "kendall_high")}
SAME_MARK = "•"  # shared by the best setting and those that cannot be told from it


def cell_key(line: Mapping[Any, Any]) -> str:
    """What tells a line of `Result.correlations` from the others."""
    return "\n".join(str(line[name]) for name in ("kind", "model", "idf", "penalty"))


def method_name(kind: str, model: str) -> str:
    """What a line of `Result.correlations` is about: the model, or the method of another kind.

    >>> method_name("surface", "sentbleu"), method_name("vectors", "builtin/bert-mini-ja")
    ('SentBLEU', 'Cosine of sentence vectors, builtin/bert-mini-ja')
    """
    if kind == SURFACE:
        return measure_name(model)
    return model if kind == BERTSCORE else f"{CARDS['vector_cosine'].name}, {model}"


def setting_name(line: Mapping[Any, Any]) -> str:
    """One setting or method in words.

    >>> setting_name({"kind": "bertscore", "model": "m", "idf": "novel", "penalty": "reading"})
    'm, idf novel, with penalty'
    """
    name = method_name(line["kind"], line["model"])
    if line["kind"] != BERTSCORE:
        return name
    return f"{name}, idf {dictionary_name(Scoring(line['idf']))}, {PENALTY_WORDS[line['penalty']]}"


def is_marked(line: Mapping[Any, Any]) -> bool:
    """Whether a line is the best or cannot be told from it; published lines are neither."""
    known = not pd.isna(line.get("pearson", float("nan")))
    return bool(line.get("best")) or (known and not line.get("separable", True))


def number(value: float, digits: int = 3) -> str:
    """A correlation with its minus sign, "undefined" where there is none.

    >>> number(-0.0217), number(float("nan"))
    ('−0.022', 'undefined')
    """
    return "undefined" if pd.isna(value) else f"{value:.{digits}f}".replace("-", "−")


def interval(low: float, high: float, digits: int = 3) -> str:
    """An interval; "" where there is none.

    >>> interval(-0.0217, 0.4601)
    '−0.022 to 0.460'
    """
    return "" if pd.isna(low) else f"{number(low, digits)} to {number(high, digits)}"


def p_value(p: float) -> str:
    """A p-value as it is read; "" where there is none.

    >>> p_value(0.00004), p_value(0.0392), p_value(0.41)
    ('< 0.001', '0.039', '0.41')
    """
    return "" if pd.isna(p) else "< 0.001" if p < 0.001 else f"{p:.3f}" if p < 0.1 else f"{p:.2f}"
