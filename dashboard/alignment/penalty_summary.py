"""The effect of the reading penalty on a pair, in one sentence. Pure: no streamlit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from engine.language.quantities import count

MAX_NAMED = 2  # tokens that the sentence names; the others are counted
NOUNS = {"idf": "low-frequency token", "proper-nouns": "proper noun", "either": "rare token or name",
         "both": "rare name", "names": "name"}
NONE_PENALISED = {
    "idf": "No token is low-frequency under this dictionary and threshold",
    "proper-nouns": "No token is a proper noun",
    "either": "No token is a proper noun, or low-frequency under this dictionary and threshold",
    "names": "No word is a proper noun, unknown, or a number",
    "both": "No token is a proper noun and low-frequency under this dictionary and threshold",
}


def penalty_summary(pair: Mapping[str, Any] | pd.Series, tokens: pd.DataFrame, *, joined: bool = False,
                     criterion: str = "idf") -> str:
    """The tokens whose readings differ from those of their matches, by how much, and the loss of F1.

    `pair` is the pair's row of `Scores.pairs`, `tokens` what `charts.pair_tokens` returns; with `joined` the distances
    are those of all penalised tokens of a side together. `criterion`: which tokens the penalty applies to.
    """
    penalised = tokens[tokens["penalised"]]
    if pd.isna(pair["f1"]):
        return "This pair has no score: a sentence has no token with a weight above 0, or none with a match."
    if penalised.empty:
        return f"{NONE_PENALISED[criterion]}, so the penalty has no effect."
    differing = penalised[penalised["agreement"] < 1]
    if differing.empty:
        return (f"{count(len(penalised), NOUNS[criterion])}, each with the same reading as its match (M = 1): "
                "the penalty has no effect.")
    readings = _joined(differing, penalised, tokens, NOUNS[criterion]) if joined else _token_by_token(differing)
    return f"{readings}: {_loss(pair)}."


def _token_by_token(differing: pd.DataFrame) -> str:
    """The tokens with the lowest M, each with its match; two tokens that match each other are named once."""
    parts: list[str] = []
    seen: set[frozenset[str]] = set()
    lowest_first = differing.sort_values(["agreement", "side", "position"], ascending=[True, False, True])
    for token in lowest_first.to_dict("records"):
        match = token["match_surface"] or "no match"
        names = frozenset((token["surface"], match))
        if names in seen:
            continue
        seen.add(names)
        compared = _readings(token["reading"], token["match_reading"]) if token["by_reading"] else "as written"
        parts.append(f"{token['surface']} → {match}: {compared}, {_difference(token)}")
    n_more = len(parts) - MAX_NAMED
    return "; ".join(parts[:MAX_NAMED]) + (f"; and {n_more} more" if n_more > 0 else "")


def _joined(differing: pd.DataFrame, penalised: pd.DataFrame, tokens: pd.DataFrame, noun: str) -> str:
    """The readings of all penalised tokens of a side together, for each side on which they differ."""
    parts = []
    for side in ("reference", "candidate"):
        of_side = penalised[penalised["side"] == side]
        if side not in set(differing["side"]):
            continue
        words = tokens[tokens["side"] != side].set_index("position")["word"]
        own = _joined_readings(of_side["reading"], of_side["word"])
        other = _joined_readings(of_side["match_reading"], of_side["match_position"].map(words))
        parts.append(f"the {side}'s {noun}s {' · '.join(of_side['surface'])} together: {_readings(own, other)}, "
                     f"{_difference(of_side.iloc[0])}")
    sentence = "; ".join(parts)
    return sentence[0].upper() + sentence[1:]


def _joined_readings(readings: pd.Series, words: pd.Series) -> str:
    """Readings joined; where adjacent tokens of one word all have the word's reading, it is included once."""
    pairs = list(zip(words, readings, strict=True))
    return "".join(reading for index, (word, reading) in enumerate(pairs)
                   if not index or pairs[index - 1] != (word, reading))


def _difference(token: Mapping[Any, Any] | pd.Series) -> str:
    """Distance and M; the longer reading has distance / (1 - M) kana, or characters where words are compared."""
    distance, agreement = token["reading_distance"], token["agreement"]
    unit = "kana" if token["by_reading"] else "characters"
    return f"{int(distance)} of {round(distance / (1 - agreement))} {unit} differ, M = {_m(agreement)}"


def _readings(own: str, other: str) -> str:
    return f"readings {own or '(nothing)'} / {other or '(nothing)'}"


def _loss(pair: Mapping[str, Any] | pd.Series) -> str:
    loss = pair["f1"] - pair["penalized_f1"]
    if pd.isna(loss):
        return "penalised P and R are 0, and penalised F1 is undefined"
    return f"the penalty lowers F1 by {loss:.2f}" if abs(loss) >= 0.005 else "the penalty lowers F1 by less than 0.01"


def _m(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if value else "0"
