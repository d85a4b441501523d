"""The effect of the reading penalty on a pair, in one sentence. Pure: no streamlit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from dashboard.alignment.names_summary import listed
from engine.messages.languages import mark, tr, tr_n

MAX_NAMED = 2  # tokens that the sentence names; the others are counted
NONE_PENALISED = {
    "idf": mark("No token is low-frequency under this dictionary and threshold, so the penalty has no effect."),
    "proper-nouns": mark("No token is a proper noun, so the penalty has no effect."),
    "either": mark(
        "No token is a proper noun, or low-frequency under this dictionary and threshold, so the penalty has no effect."
    ),
    "names": mark("No word is a proper noun, unknown, or a number, so the penalty has no effect."),
    "both": mark(
        "No token is a proper noun and low-frequency under this dictionary and threshold, so the penalty has no effect."
    ),
}
# The penalised tokens of a sentence, by the criterion of the penalty.
TOKENS = {
    "idf": mark("low-frequency tokens"),
    "proper-nouns": mark("proper nouns"),
    "either": mark("low-frequency tokens and proper nouns"),
    "both": mark("low-frequency proper nouns"),
    "names": mark("names"),
}


def penalty_summary(
    pair: Mapping[str, Any] | pd.Series, tokens: pd.DataFrame, *, joined: bool = False, criterion: str = "idf"
) -> str:
    """The tokens whose readings differ from those of their matches, by how much, and the loss of F1.

    `pair` is the pair's row of `Scores.pairs`, `tokens` what `charts.pair_tokens` returns; with `joined` the distances
    are those of all penalised tokens of a side together. `criterion`: which tokens the penalty applies to.
    """
    penalised = tokens[tokens["penalised"]]
    if pd.isna(pair["f1"]):
        return tr("This pair has no score: a sentence has no token with a weight above 0, or none with a match.")
    if penalised.empty:
        return tr(NONE_PENALISED[criterion])
    differing = penalised[penalised["agreement"] < 1]
    if differing.empty:
        return tr(
            "{tokens}, each with the same reading as its match (M = 1): the penalty has no effect.",
            tokens=_counted(criterion, len(penalised)),
        )
    readings = _joined(differing, penalised, tokens, tr(TOKENS[criterion])) if joined else _token_by_token(differing)
    return tr("{names}: {effect}.", names=readings, effect=_loss(pair))


def _counted(criterion: str, n: int) -> str:
    return {
        "idf": tr_n("{n} low-frequency token", "{n:,} low-frequency tokens", n),
        "proper-nouns": tr_n("{n} proper noun", "{n:,} proper nouns", n),
        "either": tr_n("{n} low-frequency token or proper noun", "{n:,} low-frequency tokens or proper nouns", n),
        "both": tr_n("{n} low-frequency proper noun", "{n:,} low-frequency proper nouns", n),
        "names": tr_n("{n} name", "{n:,} names", n),
    }[criterion]


def _token_by_token(differing: pd.DataFrame) -> str:
    """The tokens with the lowest M, each with its match; two tokens that match each other are named once."""
    parts: list[str] = []
    seen: set[frozenset[str]] = set()
    lowest_first = differing.sort_values(["agreement", "side", "position"], ascending=[True, False, True])
    for token in lowest_first.to_dict("records"):
        match = token["match_surface"] or tr("no match")
        names = frozenset((token["surface"], match))
        if names in seen:
            continue
        seen.add(names)
        compared = _readings(token["reading"], token["match_reading"]) if token["by_reading"] else tr("as written")
        parts.append(f"{token['surface']} → {match}: {compared}, {_difference(token)}")
    return listed(parts, MAX_NAMED)


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
        values = {
            "tokens": noun,
            "texts": " · ".join(of_side["surface"]),
            "readings": _readings(own, other),
            "difference": _difference(of_side.iloc[0]),
        }
        parts.append(
            tr("the reference's {tokens} {texts} together: {readings}, {difference}", **values)
            if side == "reference"
            else tr("the candidate's {tokens} {texts} together: {readings}, {difference}", **values)
        )
    sentence = "; ".join(parts)
    return sentence[0].upper() + sentence[1:]


def _joined_readings(readings: pd.Series, words: pd.Series) -> str:
    """Readings joined; where adjacent tokens of one word all have the word's reading, it is included once."""
    pairs = list(zip(words, readings, strict=True))
    return "".join(
        reading for index, (word, reading) in enumerate(pairs) if not index or pairs[index - 1] != (word, reading)
    )


def _difference(token: Mapping[Any, Any] | pd.Series) -> str:
    """Distance and M; the longer reading has distance / (1 - M) kana, or characters where words are compared."""
    distance, agreement = int(token["reading_distance"]), token["agreement"]
    values = {"distance": distance, "longest": round(distance / (1 - agreement)), "agreement": _m(agreement)}
    if token["by_reading"]:
        return tr("{distance} of {longest} kana differ, M = {agreement}", **values)
    return tr("{distance} of {longest} characters differ, M = {agreement}", **values)


def _readings(own: str, other: str) -> str:
    return tr("readings {own} / {other}", own=own or tr("(nothing)"), other=other or tr("(nothing)"))


def _loss(pair: Mapping[str, Any] | pd.Series) -> str:
    loss = pair["f1"] - pair["penalized_f1"]
    if pd.isna(loss):
        return tr("penalised P and R are 0, and penalised F1 is undefined")
    if abs(loss) < 0.005:
        return tr("the penalty lowers F1 by less than 0.01")
    return tr("the penalty lowers F1 by {loss:.2f}", loss=loss)


def _m(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if value else "0"
