"""Names by reading: how alike two names are by their readings takes the place of the cosine of their tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.errors import InputError
from engine.measures.bertscore import PRF, BestMatches, sentence_sums
from engine.measures.reading_penalty import Agreement, agreement
from engine.messages.message import Message, named

# How much more a name weighs than its tokens do elsewhere, and the power of M: the study of names in the documents.
NAME_WEIGHT = 3.0
NAME_POWER = 2
LEAST_SHARE = 0.5  # of a sentence's weight that its names have together, numbers apart

# M from which two names are taken for one, and up to which for two; between them nobody could tell (阿部, 安部).
SAME_FROM, ANOTHER_TO = 0.9, 0.7
SAME, UNSURE, ANOTHER = named("same name"), named("unsure"), named("another name")

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class BestAgreement:
    """The greatest agreement of two names, and the number of the reading of each that has it."""

    agreement: Agreement
    own: int
    other: int


def best_agreement(
    readings: Sequence[Sequence[str]],
    other_readings: Sequence[Sequence[str]],
    by: Callable[[Sequence[str], Sequence[str]], Agreement] = agreement,
) -> BestAgreement:
    """Are two names, each of which may be read in several ways, the same name?

        M = max over the readings a of the one and b of the other of agreement(a, b)

    Parameters
    ----------
    readings, other_readings : of each name one or more, as `by` takes them.
    by : how alike two readings are; names by reading take the distance of their sounds in morae.

    Range: [0, 1], no unit, higher is better. Edges: of equally good readings the first. Raises InputError where a name
    has none. Source: ours; a reader who knows that 幸子 may be さちこ or ゆきこ takes it for the same as either.

    >>> best_agreement(["ひがし", "あずま"], ["あずま"])
    BestAgreement(agreement=Agreement(distance=0, longest=3, value=1.0), own=1, other=0)
    """
    if not readings or not other_readings:
        raise InputError(Message("Each name needs at least one reading, or how it is written."))
    candidates = [BestAgreement(by(a, b), i, j) for i, a in enumerate(readings) for j, b in enumerate(other_readings)]
    return max(candidates, key=lambda candidate: candidate.agreement.value)


def verdict(agreement: float) -> str:
    """What M says of two names: SAME, UNSURE or ANOTHER.

    The bounds are those of the study of names, where on the 600 pairs that chose them what is decided is right.

    >>> verdict(1.0), verdict(0.75), verdict(0.5)
    ('same name', 'unsure', 'another name')
    """
    return SAME if agreement >= SAME_FROM else ANOTHER if agreement <= ANOTHER_TO else UNSURE


def matched_names(
    matches: BestMatches, compared: ArrayLike, positions: ArrayLike, agreements: ArrayLike
) -> BestMatches:
    """Which tokens of names match which, and how alike are they, by reading?

        similarity_i = M_i ** 2        for a token of a name that is compared with one of the other sentence
        similarity_i = as in `best_matches`        for every other token

    Parameters
    ----------
    matches : of all tokens, by their vectors.
    compared : bool (n_tokens,), tokens of a name that has a counterpart: a name in the other sentence that it could be,
        which for a number is one with the same counter. A name without one is left to its vectors.
    positions : int (n_tokens,), the token of the best counterpart in the other sentence that it is shown beside. Read
        only where compared.
    agreements : (n_tokens,), M of `best_agreement` with that counterpart. Read only where compared.

    Range: similarities of names in [0, 1], of other tokens in [-1, 1]; higher is better. M is squared so that names
    that merely sound alike (さとう and かとう, M = 0.67) stay apart from the same name. Raises InputError when the
    lengths differ.

    Source: ours. A penalty that only lowers leaves the same name in two spellings below two names in one spelling,
    because vectors tell spellings apart better than names (study of names, in the documents).

    >>> by_vector = BestMatches(np.array([1, 0]), np.array([0.4, 0.9]))
    >>> by_name = matched_names(by_vector, [True, False], [0, -1], [1.0, 0.0])
    >>> by_name.position.tolist(), by_name.similarity.tolist()
    ([0, 0], [1.0, 0.9])
    """
    is_compared = np.asarray(compared, dtype=bool)
    place, value = np.asarray(positions, dtype=np.int64), np.asarray(agreements, dtype=np.float64)
    if not len(matches.position) == len(is_compared) == len(place) == len(value):
        raise InputError(
            Message(
                "{position} tokens need as many flags, positions and agreements; got {is_compared}, "
                "{place} and {value}.",
                position=len(matches.position),
                is_compared=len(is_compared),
                place=len(place),
                value=len(value),
            )
        )
    return replace(
        matches,
        position=np.where(is_compared, place, matches.position),
        similarity=np.where(is_compared, value**NAME_POWER, matches.similarity),
    )


def ratios(after: PRF, before: PRF) -> Floats:
    """By what the readings of names change P and R: after / before, (2 n_pairs,), of each pair recall's, precision's.

    Above 1 where they lift the score. nan where either is undefined, or the score before is 0.

    >>> one, other = (PRF(np.array([p]), np.array([r]), np.array([0.5])) for p, r in ((0.8, 0.3), (0.4, 0.6)))
    >>> ratios(one, other).tolist()
    [0.5, 2.0]
    """
    quotients = np.full(2 * len(before.f1), np.nan)
    for place, (new, old) in enumerate(((after.recall, before.recall), (after.precision, before.precision))):
        np.divide(new, old, out=quotients[place::2], where=old != 0)
    return quotients


def name_weights(weights: ArrayLike, compared: ArrayLike, proper: ArrayLike, lengths: ArrayLike) -> Floats:
    """The weights of tokens, those of names that are compared NAME_WEIGHT times as great, or more in a long sentence.

        w'_i = NAME_WEIGHT * w_i        for a token of a name that is compared
        w'_i = max(NAME_WEIGHT, f) * w_i        where that is no number; f gives all of these in the sentence
                                                the share LEAST_SHARE of its weight

    Parameters
    ----------
    weights : (n_tokens,), not negative.
    compared : bool (n_tokens,), as in `matched_names`.
    proper : bool (n_tokens,), which of them are of other names than numbers.
    lengths : (n_sentences,), tokens of each sentence.

    Returns (n_tokens,). Edges: where all other weights are 0, f is 0. Raises InputError when the lengths do not go
    together. Source: ours; one name among forty tokens would not be heard otherwise, and who acts decides what a
    sentence says. Numbers keep their weight: captions count people and things that human scores hardly look at.

    >>> name_weights([1.0, 0.5], [True, False], [True, False], [2]).tolist()
    [3.0, 0.5]
    >>> name_weights([1.0] * 12, [True] + [False] * 11, [True] + [False] * 11, [12])[0].round(2).item()
    11.0
    """
    weight, is_compared = np.asarray(weights, dtype=np.float64), np.asarray(compared, dtype=bool)
    counts = np.asarray(lengths, dtype=np.int64)
    named = is_compared & np.asarray(proper, dtype=bool)
    if counts.sum() != len(weight):
        raise InputError(
            Message("Sentences of {n} tokens need as many weights; got {size}.", n=int(counts.sum()), size=len(weight))
        )
    raised = np.where(is_compared, NAME_WEIGHT * weight, weight)
    others, own = (
        sentence_sums(np.where(flags, values, 0.0), counts) for flags, values in ((~named, raised), (named, weight))
    )
    factors = LEAST_SHARE / (1 - LEAST_SHARE) * np.divide(others, own, out=np.zeros(len(counts)), where=own > 0)
    return np.where(named, np.maximum(NAME_WEIGHT, np.repeat(factors, counts)) * weight, raised)
