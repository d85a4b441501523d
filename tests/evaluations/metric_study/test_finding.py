"""The finding of a metric study, of correlations written by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pandas as pd
import pytest

from engine.evaluations.metric_study.finding import finding
from engine.evaluations.metric_study.records import BERTSCORE, HUMAN, VECTORS, Result
from engine.messages.languages import in_language, translated


def study(beside: float) -> Result:
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
    return cast(Result, SimpleNamespace(correlations=table, excluded=()))


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
