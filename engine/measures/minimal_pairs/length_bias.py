"""Is a model's preference only a preference for fewer tokens? Accuracy apart by the pair's token lengths."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.errors import InputError
from engine.measures.statistics.intervals import wilson_interval
from engine.messages.message import Message

STRATA = ("all", "A=U", "A>U", "A<U")


@dataclass(frozen=True)
class StratumAccuracy:
    """Accuracy over the pairs of one stratum. `n` counts every pair, ties too."""

    stratum: str
    n: int
    n_correct: int
    n_tied: int
    accuracy: float
    ci_low: float
    ci_high: float


@dataclass(frozen=True)
class DifferenceAccuracy:
    """Accuracy over the pairs whose acceptable sentence is longer by `difference` tokens.

    `merged`: a tail, this difference and all that are farther from 0.
    """

    difference: int
    n: int
    n_correct: int
    n_tied: int
    accuracy: float
    ci_low: float
    ci_high: float
    merged: bool = False


def strata(a_tokens: ArrayLike, u_tokens: ArrayLike) -> NDArray[np.str_]:
    """Which sentence of each pair has more tokens to this model?

        "A=U" as many,  "A>U" the acceptable one,  "A<U" the unacceptable one

    Parameters
    ----------
    a_tokens, u_tokens : (n_pairs,), |S| of the acceptable and the unacceptable sentence. The tokenizer
        decides, so another model has other strata.

    Returns (n_pairs,) strings, the last three of STRATA; neither is better. No pairs: an empty array.

    Raises InputError when the lengths differ. Source: Ueda, Mita, Komachi 2024, section 3.1.

    >>> strata([3, 4, 3], [3, 3, 4]).tolist()
    ['A=U', 'A>U', 'A<U']
    """
    difference = _differences(a_tokens, u_tokens)
    return np.array(STRATA[1:])[np.where(difference == 0, 0, np.where(difference > 0, 1, 2))]


def accuracy_by_stratum(decisions: ArrayLike, a_tokens: ArrayLike, u_tokens: ArrayLike) -> list[StratumAccuracy]:
    """How often is the model right, in all and apart by which sentence is longer?

        accuracy = n_correct / n,    n = n_correct + n_tied + n_wrong

    Without length bias the strata agree; with it A>U falls and A<U rises.

    Parameters
    ----------
    decisions : (n_pairs,), 1 right, 0 tie, -1 wrong, from `acceptability.decisions`.
    a_tokens, u_tokens : (n_pairs,), |S| of the acceptable and the unacceptable sentence.

    Range: accuracy in [0, 1], no unit, higher is better; 0.5 is chance, ties aside. ci_low and ci_high
    are the 95% Wilson interval. Always four records, in the order of STRATA.

    Edges: a tie is not correct, and counts in n. An empty stratum has n = 0 and nan for the rest.

    Raises InputError for lengths that differ and decisions other than -1, 0, 1.

    Source: Ueda, Mita, Komachi 2024, sections 3.1 and 4.3. Counting ties apart is ours.

    >>> [(row.stratum, row.n, row.accuracy) for row in accuracy_by_stratum([1, 0, 1], [3, 3, 2], [3, 3, 4])][:2]
    [('all', 3, 0.6666666666666666), ('A=U', 2, 0.5)]
    """
    difference = _differences(a_tokens, u_tokens)
    decided = _checked(decisions, difference)
    inside = (np.ones(decided.size, dtype=bool), difference == 0, difference > 0, difference < 0)
    n = np.array([mask.sum() for mask in inside])
    n_correct = np.array([(decided[mask] == 1).sum() for mask in inside])
    n_tied = np.array([(decided[mask] == 0).sum() for mask in inside])
    return [StratumAccuracy(stratum, *row) for stratum, row in zip(STRATA, _rows(n, n_correct, n_tied), strict=True)]


def accuracy_by_difference(
    decisions: ArrayLike, a_tokens: ArrayLike, u_tokens: ArrayLike, *, least: int = 1
) -> list[DifferenceAccuracy]:
    """How does accuracy change with the number of tokens by which the acceptable sentence is longer?

        difference = |A| - |U|;    accuracy = n_correct / n over the pairs of that difference

    Parameters, range, edges and errors: those of `accuracy_by_stratum`, and

    least : 1 or more. On either side of 0 the outermost differences are merged inwards until they hold so
        many pairs together, or the whole side is one; such a record is `merged` and named by its innermost
        difference. 0 is never merged.

    One record for each difference that occurs, ascending; few pairs make a wide interval, and most outer
    differences have few.

    Source: Ueda, Mita, Komachi 2024, section 3.1 and figure 2 (acceptable minus unacceptable). Merging the
    tails is ours.

    >>> [(row.difference, row.n, row.n_correct) for row in accuracy_by_difference([1, -1, 1], [3, 5, 2], [3, 3, 4])]
    [(-2, 1, 1), (0, 1, 1), (2, 1, 0)]
    """
    difference = _differences(a_tokens, u_tokens)
    decided = _checked(decisions, difference)
    if least < 1:
        raise InputError(Message("A difference is shown from 1 pair on, or from more; got {least}.", least=least))
    innermost = {sign: _tail(sign * difference, least) for sign in (-1, 1)}
    for sign, start in innermost.items():
        difference = np.where(sign * difference > start, sign * start, difference)
    values, group = np.unique(difference, return_inverse=True)
    n = np.bincount(group, minlength=values.size)
    n_correct = np.bincount(group[decided == 1], minlength=values.size)
    n_tied = np.bincount(group[decided == 0], minlength=values.size)
    present = set(_differences(a_tokens, u_tokens).tolist())
    return [
        DifferenceAccuracy(int(value), *row, merged=_beyond(int(value), present, innermost))
        for value, row in zip(values, _rows(n, n_correct, n_tied), strict=True)
    ]


def _tail(difference: NDArray[np.int64], least: int) -> int:
    """Where the tail of the positive differences begins so that it holds `least` pairs; the least one if it cannot."""
    values, n = np.unique(difference[difference > 0], return_counts=True)
    if not values.size:
        return 0
    enough = np.flatnonzero(np.cumsum(n[::-1])[::-1] >= least)
    return int(values[enough[-1] if enough.size else 0])


def _beyond(value: int, present: set[int], innermost: dict[int, int]) -> bool:
    """Whether a record stands for differences beyond its own."""
    sign = (value > 0) - (value < 0)
    return sign != 0 and abs(value) == innermost[sign] and any(sign * other > abs(value) for other in present)


def _differences(a_tokens: ArrayLike, u_tokens: ArrayLike) -> NDArray[np.int64]:
    a, u = np.asarray(a_tokens, dtype=np.int64), np.asarray(u_tokens, dtype=np.int64)
    if a.shape != u.shape:
        raise InputError(
            Message("Each pair has two token counts; got {size} and {other_size}.", size=a.size, other_size=u.size)
        )
    return a - u


def _checked(decisions: ArrayLike, difference: NDArray[np.int64]) -> NDArray[np.int64]:
    decided = np.asarray(decisions, dtype=np.int64)
    if decided.shape != difference.shape:
        raise InputError(
            Message(
                "Each pair needs one decision; got {size} pairs and {other_size} decisions.",
                size=difference.size,
                other_size=decided.size,
            )
        )
    if not np.isin(decided, (-1, 0, 1)).all():
        raise InputError(Message("A decision is 1 (right), 0 (tie) or -1 (wrong)."))
    return decided


def _rows(
    n: NDArray[np.int64], n_correct: NDArray[np.int64], n_tied: NDArray[np.int64]
) -> list[tuple[int, int, int, float, float, float]]:
    low, high = wilson_interval(n_correct, n)
    accuracy = n_correct / np.where(n > 0, n, np.nan)
    return [
        (int(a), int(b), int(c), float(d), float(e), float(f))
        for a, b, c, d, e, f in zip(n, n_correct, n_tied, accuracy, low, high, strict=True)
    ]
