"""What the reading penalty did to a pair, in one sentence. Pure: no streamlit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

NAMED = 2  # names that a sentence holds before it only counts the others


def penalty_sentence(pair: Mapping[str, Any] | pd.Series, tokens: pd.DataFrame, *, joined: bool = False) -> str:
    """Why the penalised F1 of a pair is what it is: which rare tokens are read otherwise, by how much, and the cost.

    `pair` is the pair's row of `Scores.pairs`, `tokens` what `charts.alignment.pair_tokens` gives; with `joined` the
    distances are those of all rare tokens of a side together.
    """
    rare = tokens[tokens["low_frequency"]]
    if pd.isna(pair["f1"]):
        return "This pair has no score: a sentence has no token with a weight above 0, or none with a match."
    if rare.empty:
        return "No token is low-frequency under this dictionary and threshold, so the penalty takes nothing."
    guilty = rare[rare["agreement"] < 1]
    if guilty.empty:
        return (f"{_counted(len(rare), 'low-frequency token')}, each read like its match (M = 1): "
                "the penalty takes nothing.")
    told = _joined(guilty, rare) if joined else _apart(guilty)
    return f"{told}: {_cost(pair)}."


def _apart(guilty: pd.DataFrame) -> str:
    """The worst tokens, each with its match; a pair that two sides blame on each other is told once."""
    told: list[str] = []
    seen: set[frozenset[str]] = set()
    worst_first = guilty.sort_values(["agreement", "side", "position"], ascending=[True, False, True])
    for token in worst_first.to_dict("records"):
        match = token["match_surface"] or "nothing"
        names = frozenset((token["surface"], match))
        if names in seen:
            continue
        seen.add(names)
        readings = token["reading"], token["match_reading"]
        told.append(f"{token['surface']} → {match}: {_read(*readings)}, {int(token['reading_distance'])} of "
                    f"{max(map(len, readings))} kana differ, M = {_m(token['agreement'])}")
    more = len(told) - NAMED
    return "; ".join(told[:NAMED]) + (f"; and {more} more" if more > 0 else "")


def _joined(guilty: pd.DataFrame, rare: pd.DataFrame) -> str:
    told = []
    for side in ("reference", "candidate"):
        of_side = rare[rare["side"] == side]
        if side not in set(guilty["side"]):
            continue
        own, other = "".join(of_side["reading"]), "".join(of_side["match_reading"])
        first = of_side.iloc[0]
        told.append(f"the {side}'s rare tokens {' · '.join(of_side['surface'])} together: {_read(own, other)}, "
                    f"{int(first['reading_distance'])} of {max(len(own), len(other))} kana differ, "
                    f"M = {_m(first['agreement'])}")
    sentence = "; ".join(told)
    return sentence[0].upper() + sentence[1:]


def _read(own: str, other: str) -> str:
    return f"read {own or '(nothing)'} / {other or '(nothing)'}"


def _cost(pair: Mapping[str, Any] | pd.Series) -> str:
    lost = pair["f1"] - pair["penalized_f1"]
    if pd.isna(lost):
        return "nothing of P and R is left, and F1 has no value"
    return f"the penalty takes {lost:.2f} off F1" if abs(lost) >= 0.005 else "the penalty takes less than 0.01 off F1"


def _counted(n: int, what: str) -> str:
    return f"{n} {what}{'s' if n != 1 else ''}"


def _m(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if value else "0"
