"""Labels of the settings of a metric study, and their numbers as text. Pure: no streamlit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from dashboard.shared.theme import measure_name
from engine.evaluations.alignment.scoring import idf_words
from engine.evaluations.metric_study.records import BERTSCORE, ENTITY, METRIC, SURFACE, Result, Settings
from engine.evaluations.shared.finding import bound_of_p
from engine.measures.cards.catalog import CARDS
from engine.messages.languages import tr, translated
from engine.models.sources.names import shown_name
from engine.options import option_of

PENALTY_NAMES = option_of(Settings, "penalties").labels
MEASURES = {"pearson": "Pearson", "spearman": "Spearman", "kendall": "Kendall"}
INTERVALS = {
    "pearson": ("ci_low", "ci_high"),
    "spearman": ("spearman_low", "spearman_high"),
    "kendall": ("kendall_low", "kendall_high"),
}
SAME_MARK = "•"  # of the best setting and those not significantly different from it
BETTER_MARK = "▲"  # of a method beside that is significantly better than the best setting


def cell_key(line: Mapping[Any, Any]) -> str:
    """The key that identifies a row of `Result.correlations`."""
    return "\n".join(str(line[name]) for name in ("kind", "model", "idf", "penalty"))


def method_name(kind: str, model: str) -> str:
    """The name of the method of a row of `Result.correlations`: the model, or a method of another kind.

    >>> method_name("surface", "sentbleu"), method_name("vectors", "builtin/bert-mini-ja")
    ('SentBLEU', 'Cosine of sentence vectors, builtin/bert-mini-ja')
    """
    if kind in (SURFACE, ENTITY):
        return measure_name(model)
    if kind == METRIC:
        return model
    name = shown_name(model)
    return name if kind == BERTSCORE else f"{translated(CARDS['vector_cosine'].name)}, {name}"


def setting_name(line: Mapping[Any, Any]) -> str:
    """The label of one setting or method.

    >>> setting_name({"kind": "bertscore", "model": "m", "idf": "novel", "penalty": "reading"})
    'm, idf novel, with penalty'
    """
    name = method_name(line["kind"], line["model"])
    if line["kind"] != BERTSCORE:
        return name
    return tr(
        "{model}, idf {idf}, {penalty}",
        model=name,
        idf=idf_name(line["idf"]),
        penalty=tr(PENALTY_NAMES[line["penalty"]]),
    )


def scoring_name(idf: str, penalty: str) -> str:
    """What a setting is called beside its model's name.

    >>> scoring_name("novel", "none")
    'idf novel, without penalty'
    """
    return tr("idf {idf}, {penalty}", idf=idf_name(idf), penalty=tr(PENALTY_NAMES[penalty]))


def idf_name(idf: str) -> str:
    """What the idf weights of a setting are called.

    >>> idf_name("novel"), idf_name("none"), idf_name("/data/mine.json.gz")
    ('novel', 'none', 'mine.json.gz')
    """
    return translated(idf_words(idf))


def is_marked(line: Mapping[Any, Any]) -> bool:
    """Whether a row is the best or not significantly different from it; published rows are neither."""
    is_defined = not pd.isna(line.get("pearson", float("nan")))
    return bool(line.get("best")) or (is_defined and not line.get("separable", True))


def is_better(line: Mapping[Any, Any]) -> bool:
    """Whether a row, of a method beside, follows the humans significantly better than the best setting."""
    return bool(line.get("separable")) and line["williams_t"] < 0


def mark_of(line: Mapping[Any, Any]) -> str:
    """The mark of a row beside its number; "" for one that is significantly worse than the best, or published."""
    return SAME_MARK if is_marked(line) else BETTER_MARK if is_better(line) else ""


def ceiling(result: Result) -> dict[Any, Any] | None:
    """The row of the mean of `Result.human_ceiling`; None where there is no human ceiling."""
    means = result.human_ceiling[(result.human_ceiling["annotator"] == "") & result.human_ceiling["pearson"].notna()]
    return means.to_dict("records")[0] if len(means) else None


def number(value: float, digits: int = 3) -> str:
    """A correlation as text with a minus sign; "undefined" where there is none.

    >>> number(-0.0217), number(float("nan"))
    ('−0.022', 'undefined')
    """
    return tr("undefined") if pd.isna(value) else f"{value:z.{digits}f}".replace("-", "−")


def interval(low: float, high: float, digits: int = 3) -> str:
    """An interval; "" where there is none.

    >>> interval(-0.0217, 0.4601)
    '[−0.022, 0.460]'
    """
    return "" if pd.isna(low) else f"[{number(low, digits)}, {number(high, digits)}]"


def p_value(p: float) -> str:
    """A p-value as text; "" where there is none.

    >>> p_value(0.00004), p_value(0.0392), p_value(0.0497), p_value(0.41)
    ('< 0.001', '0.039', '< 0.05', '0.41')
    """
    if pd.isna(p):
        return ""
    if (bound := bound_of_p(p)) is not None:
        return f"< {bound}"
    return f"{p:.3f}" if p < 0.1 else f"{p:.2f}"
