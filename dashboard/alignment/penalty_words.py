"""What the reading penalty did to a pair, in one sentence. Pure: no streamlit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from engine.language.quantities import count

NAMED = 2  # names that a sentence holds before it only counts the others
NOUNS = {"idf": "low-frequency token", "proper-nouns": "proper noun", "either": "rare token or name",
         "both": "rare name"}
NONE_CONCERNED = {
    "idf": "No token is low-frequency under this dictionary and threshold",
    "proper-nouns": "No token is a proper noun",
    "either": "No token is a proper noun, or low-frequency under this dictionary and threshold",
    "both": "No token is a proper noun and low-frequency under this dictionary and threshold",
}


def penalty_sentence(pair: Mapping[str, Any] | pd.Series, tokens: pd.DataFrame, *, joined: bool = False,
                     criterion: str = "idf") -> str:
    """Why the penalised F1 of a pair is what it is: which tokens are read otherwise, by how much, and the cost.

    `pair` is the pair's row of `Scores.pairs`, `tokens` what `charts.alignment.pair_tokens` gives; with `joined` the
    distances are those of all penalised tokens of a side together. `criterion`: which tokens the penalty concerns.
    """
    concerned = tokens[tokens["penalised"]]
    if pd.isna(pair["f1"]):
        return "This pair has no score: a sentence has no token with a weight above 0, or none with a match."
    if concerned.empty:
        return f"{NONE_CONCERNED[criterion]}, so the penalty takes nothing."
    guilty = concerned[concerned["agreement"] < 1]
    if guilty.empty:
        return (f"{count(len(concerned), NOUNS[criterion])}, each read like its match (M = 1): "
                "the penalty takes nothing.")
    told = _joined(guilty, concerned, tokens, NOUNS[criterion]) if joined else _apart(guilty)
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
        told.append(f"{token['surface']} → {match}: {_read(*readings)}, {_differing(token)}")
    more = len(told) - NAMED
    return "; ".join(told[:NAMED]) + (f"; and {more} more" if more > 0 else "")


def _joined(guilty: pd.DataFrame, concerned: pd.DataFrame, tokens: pd.DataFrame, noun: str) -> str:
    told = []
    for side in ("reference", "candidate"):
        of_side = concerned[concerned["side"] == side]
        if side not in set(guilty["side"]):
            continue
        words = tokens[tokens["side"] != side].set_index("position")["word"]
        own = _once(of_side["reading"], of_side["word"])
        other = _once(of_side["match_reading"], of_side["match_position"].map(words))
        told.append(f"the {side}'s {noun}s {' · '.join(of_side['surface'])} together: {_read(own, other)}, "
                    f"{_differing(of_side.iloc[0])}")
    sentence = "; ".join(told)
    return sentence[0].upper() + sentence[1:]


def _once(readings: pd.Series, words: pd.Series) -> str:
    """Readings joined; where neighbours of one word all have the word's, it is said once."""
    said = list(zip(words, readings, strict=True))
    return "".join(reading for place, (word, reading) in enumerate(said)
                   if not place or said[place - 1] != (word, reading))


def _differing(token: Mapping[Any, Any] | pd.Series) -> str:
    """Distance and M; the longer reading has distance / (1 - M) kana."""
    distance, agreement = token["reading_distance"], token["agreement"]
    return f"{int(distance)} of {round(distance / (1 - agreement))} kana differ, M = {_m(agreement)}"


def _read(own: str, other: str) -> str:
    return f"read {own or '(nothing)'} / {other or '(nothing)'}"


def _cost(pair: Mapping[str, Any] | pd.Series) -> str:
    lost = pair["f1"] - pair["penalized_f1"]
    if pd.isna(lost):
        return "nothing of P and R is left, and F1 has no value"
    return f"the penalty takes {lost:.2f} off F1" if abs(lost) >= 0.005 else "the penalty takes less than 0.01 off F1"


def _m(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if value else "0"
