"""The alignment view in a file: the pairs as the page shows them, one chosen at a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from dashboard.alignment.pair import aligned_pair
from dashboard.alignment.view import HTML, script, style, view_data
from dashboard.alignment.view_texts import view_texts
from dashboard.shared.exports.live import LiveView, within
from engine.evaluations.alignment.records import Result
from engine.evaluations.alignment.rescoring import Scores
from engine.messages.languages import tr

MOST_PAIRS = 200
MOST_BYTES = 1_000_000
DIGITS = 6  # the view shows two or three
LONGEST = 60  # characters of a sentence in the list


def live_pairs(
    run_id: str, result: Result, scores: Scores, pairs: pd.DataFrame, model: str, layer: int, chosen: int | None
) -> list[LiveView]:
    """A view of the first of `pairs` (`pair_choice.pair_table`) under one model and scoring, as many as fit.

    chosen: the row of the pair that is shown first, where it is among them.
    """
    shown = [_choice(run_id, result, scores, pair, model, layer) for _, pair in pairs.head(MOST_PAIRS).iterrows()]
    kept = within(shown, MOST_BYTES)
    rows = [int(row) for row in pairs["row"].head(len(kept))]
    return [
        LiveView(
            tr("Alignment of a pair"),
            HTML,
            style(),
            script(),
            kept,
            {"texts": view_texts(), "asks": False},
            rows.index(chosen) if chosen in rows else 0,
            tr("The first {n:,} of {total:,} pairs.", n=len(kept), total=len(pairs)) if len(kept) < len(pairs) else "",
        )
    ]


def _choice(
    run_id: str, result: Result, scores: Scores, pair: pd.Series, model: str, layer: int
) -> tuple[str, Mapping[str, Any]]:
    aligned = aligned_pair(run_id, result, scores, pair, model, layer)
    data = view_data(aligned.tokens, aligned.similarities, aligned.threshold, aligned.scoring)
    sentences = " / ".join(_cut(str(pair[side])) for side in ("reference", "candidate"))
    return f"{pair['row']}: {sentences}", _rounded(data)


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def _rounded(data: Any) -> Any:
    """The same with its numbers rounded: a file of many pairs is a third smaller."""
    if isinstance(data, dict):
        return {name: _rounded(value) for name, value in data.items()}
    if isinstance(data, list):
        return [_rounded(value) for value in data]
    return round(data, DIGITS) if isinstance(data, float) else data
