"""Ranks of models and intervals as tables show them. Pure: no streamlit."""

from __future__ import annotations

import pandas as pd

from engine.evaluations.shared.rank_ranges import ranges_of

UNBROKEN = "\u2060–\u2060"  # an interval stays on one line: word joiners on both sides


def rank_labels(ranked: pd.DataFrame, comparisons: pd.DataFrame | None = None, *, of: str = "") -> list[str]:
    """The places of each model of a table with ranks, in the order given; what is known of them as in `ranges_of`.

    >>> rank_labels(pd.DataFrame({"rank": [1, 2, 3, None], "rank_first": [1, 1, 3, None], "rank_last": [2, 2, 3, None]}))
    ['1–2', '1–2', '3', '–']
    """
    return [
        "–" if places is None else "–".join(map(str, dict.fromkeys(places)))
        for places in ranges_of(ranked, comparisons, of=of)
    ]
