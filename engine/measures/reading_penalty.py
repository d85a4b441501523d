"""A penalty on BERTScore where rare tokens (names, above all) are matched with tokens read otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from rapidfuzz.distance import Levenshtein

from engine.errors import InputError
from engine.measures.matching import PRF, harmonic_mean


@dataclass(frozen=True)
class Agreement:
    """How alike two readings are: their edit distance, the longer length, and M."""

    distance: int
    longest: int
    value: float


@dataclass(frozen=True)
class ReadingPenalty:
    """M of every token of one sentence, and their mean, which scales precision or recall.

    Distances are nan where no readings were compared (tokens that are not low-frequency).
    """

    agreements: NDArray[np.float64]  # (n_tokens,) M; nan for tokens that are not scored
    distances: NDArray[np.float64]  # (n_tokens,) edit distance
    value: float  # mean of M over the scored tokens


def agreement(reading_a: str, reading_b: str) -> Agreement:
    """Are two readings the same word, perhaps written otherwise?

        M = 1 - editdistance(a, b) / max(len(a), len(b))        in characters of hiragana

    Parameters
    ----------
    reading_a, reading_b : hiragana, as `engine.language.readings.reading` gives it.

    Range: M in [0, 1], no unit, higher is better: 1 the same reading, 0 nothing in common.

    Edges: two empty readings (digits, symbols, Latin letters) are 0/0: M is 1 by definition, since
    what has no reading cannot be shown to differ in it. One empty reading: M is 0.

    Raises nothing. Source: the Japanese novel paper, section 3 (its displayed equation is lost in our
    copy; the prose around it defines M). 0/0 is our definition.

    >>> agreement("さいとう", "おざき")
    Agreement(distance=4, longest=4, value=0.0)
    >>> agreement("さいとう", "さとう").value
    0.75
    """
    distance = Levenshtein.distance(reading_a, reading_b)
    longest = max(len(reading_a), len(reading_b))
    return Agreement(distance, longest, 1 - distance / longest if longest else 1.0)


def penalty(low_frequency: ArrayLike, readings: Sequence[str], match_readings: Sequence[str], scored: ArrayLike
            ) -> ReadingPenalty:
    """How far do a sentence's rare tokens keep their reading in the other sentence?

        M_i = agreement(reading of token i, reading of its best match)   for a low-frequency token
        M_i = 1                                                          for every other token
        penalty = mean of M_i over the scored tokens

    Call it with the candidate's tokens for the precision penalty, the reference's for recall's.

    Parameters
    ----------
    low_frequency : bool (n_tokens,), idf above the dictionary's threshold; or whatever other tokens the penalty is to
        concern, such as proper nouns, which the paper suggests next (section 5).
    readings : (n_tokens,), each token's own reading. Read only where low_frequency.
    match_readings : (n_tokens,), the reading of each token's best match; "" where it has none or the
        match is a special token. Read only where low_frequency.
    scored : bool (n_tokens,), False for special tokens: they are in no mean, and have M nan.

    Range: [0, 1], no unit, higher is better; 1 means no penalty.

    Edges: no low-frequency token: 1. No scored token (an empty sentence): nan.

    Raises InputError when the four do not have one length.

    Source: the Japanese novel paper, section 3: "dividing the sum of these by the length of the
    sentence", where the length is taken as the number of tokens without special ones. One M per token
    is our reading of it; `joined_penalty` is the other.

    >>> penalty([False, True], ["は", "さいとう"], ["は", "さとう"], [True, True]).value
    0.875
    """
    rare, counted = _flags(low_frequency, readings, match_readings, scored)
    agreements, distances = _unpenalized(counted)
    for index in np.flatnonzero(rare).tolist():
        compared = agreement(readings[index], match_readings[index])
        agreements[index], distances[index] = compared.value, compared.distance
    return ReadingPenalty(agreements, distances, _mean(agreements, counted))


def joined_penalty(low_frequency: ArrayLike, readings: Sequence[str], match_readings: Sequence[str], scored: ArrayLike
                   ) -> ReadingPenalty:
    """The same, with one M for all rare tokens of the sentence together.

        M = agreement(all readings of low-frequency tokens joined, the readings of their matches joined)

    Every low-frequency token has this M and its distance; all else as in `penalty`. Joining follows
    the order of the sentence's tokens, and a match taken by two tokens is joined twice. So pieces of
    one name count as the name, and a long name weighs more than a short one. Where readings are those of whole words,
    give the reading of a word with its first piece and "" with those that follow it.

    Parameters, range, edges and errors: those of `penalty`.

    Source: the Japanese novel paper, section 3, read literally: x(LFT) is "the entire reading string
    of the low-frequency token in the reference sentence".

    >>> joined_penalty([True, True], ["さい", "とう"], ["さ", "いとう"], [True, True]).value
    1.0
    """
    rare, counted = _flags(low_frequency, readings, match_readings, scored)
    agreements, distances = _unpenalized(counted)
    indices = np.flatnonzero(rare).tolist()
    if indices:
        compared = agreement("".join(readings[i] for i in indices), "".join(match_readings[i] for i in indices))
        agreements[indices], distances[indices] = compared.value, compared.distance
    return ReadingPenalty(agreements, distances, _mean(agreements, counted))


def penalized(score: PRF, precision_penalty: float, recall_penalty: float) -> PRF:
    """P' = P * precision penalty, R' = R * recall penalty, F1' their harmonic mean.

    Range: as P, R and F1; higher is better. A nan penalty or score stays nan.
    Source: the Japanese novel paper, section 3 ("reflected as a penalty in the precision and recall").

    >>> penalized(PRF(0.8, 0.6, 0.686), 0.5, 1.0)
    PRF(precision=0.4, recall=0.6, f1=0.48)
    """
    precision, recall = score.precision * precision_penalty, score.recall * recall_penalty
    return PRF(precision, recall, harmonic_mean(precision, recall))


def _flags(low_frequency: ArrayLike, readings: Sequence[str], match_readings: Sequence[str], scored: ArrayLike
           ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    rare, counted = np.asarray(low_frequency, dtype=bool), np.asarray(scored, dtype=bool)
    lengths = (rare.size, len(readings), len(match_readings), counted.size)
    if len(set(lengths)) != 1:
        raise InputError("Each token needs one low-frequency flag, reading, match reading and scored flag; "
                         f"got {lengths}.")
    return rare & counted, counted


def _unpenalized(counted: NDArray[np.bool_]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return np.where(counted, 1.0, np.nan), np.full(counted.size, np.nan)


def _mean(agreements: NDArray[np.float64], counted: NDArray[np.bool_]) -> float:
    return float(agreements[counted].mean()) if counted.any() else float("nan")
