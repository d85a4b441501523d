"""What the readings of names do to a pair's F1, in one sentence. Pure: no streamlit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

MAX_NAMED = 3  # pairs of names that the sentence names; the others are counted


def names_summary(pair: Mapping[str, Any] | pd.Series, tokens: pd.DataFrame) -> str:
    """The names that were compared, how alike they are, and what that does to F1.

    `pair` is the pair's row of `Scores.pairs`, `tokens` what `charts.pair_tokens` returns.
    """
    if pd.isna(pair["f1"]):
        return "This pair has no score: a sentence has no token with a weight above 0, or none with a match."
    compared = tokens[tokens["penalised"]]
    if compared.empty:
        named = " No name has a counterpart." if tokens["name"].any() else " Neither sentence has a name."
        return f"Names by reading change nothing.{named}"
    parts = list(dict.fromkeys(_part(token) for token in compared.sort_values("agreement").to_dict("records")
                               if token["side"] == "reference")) or list(dict.fromkeys(
        _part(token) for token in compared.to_dict("records")))
    more = f"; and {len(parts) - MAX_NAMED} more" if len(parts) > MAX_NAMED else ""
    return f"{'; '.join(parts[:MAX_NAMED])}{more}: {_effect(pair['penalized_f1'] - pair['f1'])}."


def _part(token: Mapping[Any, Any]) -> str:
    readings = f"readings {token['reading']} / {token['match_reading']}"
    compared = readings if token["by_reading"] else "as written"
    return f"{token['name_text']} / {token['match_name']}: {compared}, M = {token['agreement']:.2f}"


def _effect(change: float) -> str:
    if pd.isna(change):
        return "F1 with names by reading is undefined"
    if abs(change) < 0.005:
        return "names by reading change F1 by less than 0.01"
    return f"names by reading {'lift' if change > 0 else 'lower'} F1 by {abs(change):.2f}"
