"""What the readings of names do to a pair's F1, in one sentence. Pure: no streamlit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from engine.measures.name_agreement import verdict
from engine.messages.languages import tr, tr_n

MAX_NAMED = 3  # pairs of names that the sentence names; the others are counted


def names_summary(pair: Mapping[str, Any] | pd.Series, tokens: pd.DataFrame) -> str:
    """The names that were compared, how alike they are, and what that does to F1.

    `pair` is the pair's row of `Scores.pairs`, `tokens` what `charts.pair_tokens` returns.
    """
    if pd.isna(pair["f1"]):
        return tr("This pair has no score: a sentence has no token with a weight above 0, or none with a match.")
    compared = tokens[tokens["penalised"]]
    if compared.empty:
        return (
            tr("Comparing names by reading has no effect: no name has a counterpart.")
            if tokens["name"].any()
            else tr("Comparing names by reading has no effect: neither sentence has a name.")
        )
    parts = list(
        dict.fromkeys(
            _part(token)
            for token in compared.sort_values("agreement", kind="stable").to_dict("records")
            if token["side"] == "reference"
        )
    ) or list(dict.fromkeys(_part(token) for token in compared.to_dict("records")))
    effect = _effect(pair["penalized_f1"] - pair["f1"])
    return tr("{names}: {effect}.", names=listed(parts, MAX_NAMED), effect=effect)


def listed(parts: Sequence[str], most: int) -> str:
    """The first `most` parts of a sentence, and how many are left out."""
    shown = "; ".join(parts[:most])
    n_more = len(parts) - most
    return tr_n("{parts}; and {n} more", "{parts}; and {n} more", n_more, parts=shown) if n_more > 0 else shown


def _part(token: Mapping[Any, Any]) -> str:
    names = {"name": token["name_text"], "match": token["match_name"], "agreement": token["agreement"]}
    names["verdict"] = tr(verdict(token["agreement"]))
    if not token["by_reading"]:
        return tr("{name} / {match}: as written, M = {agreement:.2f}, {verdict}", **names)
    return tr(
        "{name} / {match}: readings {reading} / {match_reading}, M = {agreement:.2f}, {verdict}",
        **names,
        reading=token["reading"],
        match_reading=token["match_reading"],
    )


def _effect(change: float) -> str:
    if pd.isna(change):
        return tr("F1 with names by reading is undefined")
    if abs(change) < 0.005:
        return tr("names by reading change F1 by less than 0.01")
    if change > 0:
        return tr("names by reading raise F1 by {change:.2f}", change=change)
    return tr("names by reading lower F1 by {change:.2f}", change=-change)
