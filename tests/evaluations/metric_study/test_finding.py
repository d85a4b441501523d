"""The finding of a metric study, of correlations written by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pandas as pd
import pytest

from engine.evaluations.metric_study.finding import above_ceiling, finding
from engine.evaluations.metric_study.records import BERTSCORE, HUMAN, VECTORS, Result
from engine.messages.languages import in_language, translated


def study(beside: float, ceiling: float | None = None) -> Result:
    """Two settings of one model, with 0.6 and 0.5, a method beside them, and people among each other."""
    rows = [
        (BERTSCORE, "references", "reading", 0.6),
        (BERTSCORE, "none", "none", 0.5),
        (VECTORS, "", "", beside),
        (HUMAN, "", "", 0.9),
    ]
    table: Any = pd.DataFrame(rows, columns=["kind", "idf", "penalty", "pearson"]).assign(
        model="builtin/bert-mini-ja", n=20, ci_low=float("nan"), ci_high=float("nan"), williams_holm_p=float("nan")
    )
    table["spearman"] = table["pearson"] - 0.2
    people: Any = pd.DataFrame({"annotator": ["a", ""], "pearson": [0.9, ceiling], "spearman": [0.9, ceiling]})
    human_ceiling = people if ceiling is not None else people[:0]
    return cast(Result, SimpleNamespace(correlations=table, excluded=(), human_ceiling=human_ceiling))


@pytest.mark.parametrize(("beside", "is_above"), [(0.7, True), (0.6, False), (0.3, False), (float("nan"), False)])
def test_a_method_beside_that_follows_them_better_is_named(beside: float, is_above: bool) -> None:
    text = translated(finding(study(beside)))
    assert text.startswith(
        "Of the settings of BERTScore bert-mini-ja, idf references, with penalty follows the human scores best"
    )
    assert ("The best method besides BERTScore has a higher one, 0.700." in text) == is_above
    assert ("besides BERTScore" in text) == is_above


def test_weights_that_no_dictionary_gives_are_named_in_the_readers_language() -> None:
    with in_language("ja"):
        text = translated(finding(study(0.7)))
    assert "idf 参照文" in text and "idf なし" in text and "references" not in text


@pytest.mark.parametrize(
    ("beside", "ceiling", "said"),
    [
        (0.3, 0.5, "(r 0.600) is above the human ceiling, 0.500: that is no strict bound"),
        (0.7, 0.65, "(r 0.700) is above the human ceiling, 0.650"),
        (0.3, 0.6, ""),
        (0.3, 0.8, ""),
        (0.3, None, ""),
        (0.3, float("nan"), ""),
    ],
)
def test_a_correlation_above_the_human_ceiling_is_told_and_only_then(
    beside: float, ceiling: float | None, said: str
) -> None:
    result = study(beside, ceiling)
    text = translated(finding(result))
    assert said in text and ("ceiling" in text) == bool(said)
    told = " ".join(above_ceiling(result, "spearman"))
    highest = max(beside, 0.6) - 0.2
    assert bool(told) == (ceiling is not None and highest > ceiling)
