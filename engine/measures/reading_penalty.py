"""A penalty on BERTScore where rare tokens (names, above all) are matched with tokens read otherwise.

The tokens of all sentences lie end to end, as in `engine.measures.bertscore`: `lengths` int64 (n_sentences,) are their
numbers, and of each pair the reference comes first, then the candidate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import ArrayLike, NDArray
from rapidfuzz.distance import Levenshtein

from engine.errors import InputError
from engine.measures.bertscore import PRF, divided, harmonic_mean, sentence_sums
from engine.messages.message import Message

Floats = NDArray[np.float64]
Texts = NDArray[np.object_]


@dataclass(frozen=True)
class Agreement:
    """How alike two readings are: their edit distance, the longer length, and M."""

    distance: float
    longest: int
    value: float


@dataclass(frozen=True)
class TokenAgreements:
    """M of every token, 1 where no readings were compared, and the edit distance, nan there."""

    distance: Floats  # (n_tokens,)
    value: Floats  # (n_tokens,)


def agreement(reading_a: Sequence[str], reading_b: Sequence[str]) -> Agreement:
    """Are two readings the same word, perhaps written otherwise?

        M = 1 - editdistance(a, b) / max(len(a), len(b))        in characters of hiragana

    Parameters
    ----------
    reading_a, reading_b : hiragana, as `engine.language.readings.by_pykakasi.reading` gives it. Where one of the two
        words has no reading as a whole (digits, Latin letters, other scripts), both as they are written: sequences of
        characters, with a number as one of them, as `engine.language.readings.words.as_written` gives them.

    Range: M in [0, 1], no unit, higher is better: 1 the same reading, 0 nothing in common.

    Edges: one empty sequence, of a token without a match: M is 0. Two empty ones are 0/0: M is 1 by definition; no
    token of a text is without both a reading and characters.

    Raises nothing. Source: the Japanese novel paper, section 3 (its displayed equation is lost in our
    copy; the prose around it defines M). The paper does not say what is compared where there is no reading: the
    characters, and 0/0, are ours.

    >>> agreement("さいとう", "おざき")
    Agreement(distance=4, longest=4, value=0.0)
    >>> agreement("さいとう", "さとう").value
    0.75
    """
    distance = Levenshtein.distance(reading_a, reading_b)
    longest = max(len(reading_a), len(reading_b))
    return Agreement(distance, longest, 1 - distance / longest if longest else 1.0)


def token_agreements(readings: ArrayLike, match_readings: ArrayLike, penalised: ArrayLike) -> TokenAgreements:
    """Is each rare token read like the token it was matched with?

        M_i = agreement(reading of token i, reading of its best match)   for a penalised token
        M_i = 1                                                          for every other token

    Parameters
    ----------
    readings : (n_tokens,), each token's own reading, or how it is written (`agreement`). Read only where penalised.
    match_readings : (n_tokens,), the same of each token's best match; "" where it has none or the match is a special
        token, so that a token without a counterpart has M = 0. Read only where penalised.
    penalised : bool (n_tokens,), idf above the dictionary's threshold; or whatever other tokens the penalty is to
        concern, such as proper nouns, which the paper suggests next (section 5). Special tokens are not among them.

    Range, edges: as `agreement`. Raises InputError when the three do not have one length.

    Source: the Japanese novel paper, section 3. One M per token is our reading of it; `joined_agreements` is the
    other.

    >>> token_agreements(["は", "さいとう"], ["は", "さとう"], [False, True]).value.tolist()
    [1.0, 0.75]
    """
    own, other, chosen = _tokens(readings, match_readings, penalised)
    compared = list(zip(own[chosen].tolist(), other[chosen].tolist(), strict=True))
    by_readings = {pair: agreement(*pair) for pair in set(compared)}  # a corpus repeats its names
    distance, value = np.full(len(own), np.nan), np.ones(len(own))
    distance[chosen] = [by_readings[pair].distance for pair in compared]
    value[chosen] = [by_readings[pair].value for pair in compared]
    return TokenAgreements(distance, value)


def joined_agreements(
    readings: ArrayLike, match_readings: ArrayLike, penalised: ArrayLike, lengths: ArrayLike
) -> TokenAgreements:
    """The same, with one M for all rare tokens of a sentence together.

        M = agreement(all readings of penalised tokens joined, the readings of their matches joined)

    Every penalised token of the sentence has this M and its distance; all else as in `token_agreements`. Joining
    follows the order of the sentence's tokens, and a match taken by two tokens is joined twice. So pieces of
    one name count as the name, and a long name weighs more than a short one. Where readings are those of whole words,
    `read_once` leaves the reading of a word to the first of its pieces, and that of a match to the first piece of each
    word that it is the match of.

    Parameters, range, edges and errors: those of `token_agreements`; lengths : (n_sentences,), their sum n_tokens.

    Source: the Japanese novel paper, section 3, read literally: x(LFT) is "the entire reading string
    of the low-frequency token in the reference sentence".

    >>> joined_agreements(["さい", "とう"], ["さ", "いとう"], [True, True], [2]).value.tolist()
    [1.0, 1.0]
    """
    own, other, chosen = _tokens(readings, match_readings, penalised)
    sentence = _sentences(lengths, len(own))[chosen]
    joined_own, joined_other = (np.full(len(own), "", dtype=object) for _ in range(2))
    begins = np.flatnonzero(np.r_[True, sentence[1:] != sentence[:-1]]) if len(chosen) else chosen
    n_chosen = np.diff(begins, append=len(chosen))  # penalised tokens of each sentence that has some
    for joined, values in ((joined_own, own[chosen]), (joined_other, other[chosen])):
        whole = np.empty(len(begins), dtype=object)
        whole[:] = [_in_a_row(run.tolist()) for run in np.split(values, begins[1:])] if len(chosen) else []
        joined[chosen] = np.repeat(whole, n_chosen)
    return token_agreements(joined_own, joined_other, penalised)


def read_once(readings: ArrayLike, words: ArrayLike, penalised: ArrayLike, lengths: ArrayLike) -> Texts:
    """The readings with "" for each penalised token whose penalised neighbour before it is of the same word.

    Parameters
    ----------
    readings : str (n_tokens,), of the whole word that each token belongs to.
    words : int (n_tokens,), the number of the word within its sentence.
    penalised, lengths : as in `joined_agreements`.

    Returns str (n_tokens,), a copy; tokens that are not penalised keep their reading. Raises InputError when the
    lengths differ. Source: ours, so that `joined_agreements` counts a word of several pieces once.

    >>> read_once(["さいとう", "さいとう", "は"], [0, 0, 1], [True, True, False], [3]).tolist()
    ['さいとう', '', 'は']
    """
    own, numbers, chosen = _tokens(readings, words, penalised)
    sentence, word = _sentences(lengths, len(own))[chosen], numbers[chosen]
    repeated = (sentence[1:] == sentence[:-1]) & (word[1:] == word[:-1])
    kept = own.copy()
    kept[chosen[1:][repeated]] = ""
    return kept


def sentence_penalties(agreements: ArrayLike, scored: ArrayLike, lengths: ArrayLike) -> Floats:
    """How far do a sentence's rare tokens keep their reading in the other sentence?

        penalty = mean of M_i over the scored tokens

    That of a reference is recall's penalty, that of a candidate is precision's.

    Parameters
    ----------
    agreements : (n_tokens,), M of `token_agreements` or `joined_agreements`.
    scored : bool (n_tokens,), False for special tokens: they are in no mean.
    lengths : (n_sentences,).

    Returns (n_sentences,). Range: [0, 1], no unit, higher is better; 1 means no penalty.

    Edges: no penalised token: 1. No scored token (an empty sentence): nan.

    Raises InputError when the lengths do not go together.

    Source: the Japanese novel paper, section 3: "dividing the sum of these by the length of the
    sentence", where the length is taken as the number of tokens without special ones.

    >>> sentence_penalties([1.0, 0.75, 1.0], [True, True, False], [2, 1]).tolist()
    [0.875, nan]
    """
    value, counted = np.asarray(agreements, dtype=np.float64), np.asarray(scored, dtype=bool)
    counts = np.asarray(lengths, dtype=np.int64)
    if not value.size == counted.size == counts.sum():
        raise InputError(
            Message(
                "Sentences of {n} tokens need as many agreements and scored flags; got {size} and {other_size}.",
                n=int(counts.sum()),
                size=value.size,
                other_size=counted.size,
            )
        )
    return divided(sentence_sums(np.where(counted, value, 0.0), counts), sentence_sums(counted.astype(float), counts))


def penalized(score: PRF, penalties: ArrayLike) -> PRF:
    """P' = P * precision penalty, R' = R * recall penalty, F1' their harmonic mean, each (n_pairs,).

    penalties: (2 n_pairs,), of `sentence_penalties`: of each pair recall's, then precision's.

    Range: as P, R and F1; higher is better; F1' is 0 where both P' and R' are. A nan penalty or score stays nan.
    Raises InputError when there are not two penalties for each pair. Source: the Japanese novel paper, section 3
    ("reflected as a penalty in the precision and recall").

    >>> score = PRF(np.array([0.8]), np.array([0.6]), np.array([0.686]))
    >>> penalised = penalized(score, [1.0, 0.5])
    >>> penalised.precision.tolist(), penalised.recall.tolist(), penalised.f1.tolist()
    ([0.4], [0.6], [0.48])
    """
    factors = np.asarray(penalties, dtype=np.float64)
    if factors.shape != (2 * len(score.f1),):
        raise InputError(
            Message("{f1} pairs need two penalties each; got {size}.", f1=len(score.f1), size=factors.size)
        )
    precision, recall = score.precision * factors[1::2], score.recall * factors[::2]
    return PRF(precision, recall, harmonic_mean(precision, recall))


def _in_a_row(readings: Sequence[Sequence[str]]) -> Sequence[str]:
    """Readings, and words as they are written, one after the other."""
    if all(isinstance(reading, str) for reading in readings):
        return "".join(readings)  # type: ignore[arg-type]
    return tuple(chain.from_iterable(readings))


def _tokens(readings: ArrayLike, others: ArrayLike, penalised: ArrayLike) -> tuple[Texts, Texts, NDArray[np.int64]]:
    """Two values of each token as objects, and which tokens are penalised."""
    own, other = np.asarray(readings, dtype=object), np.asarray(others, dtype=object)
    flags = np.asarray(penalised, dtype=bool)
    sizes = own.size, other.size, flags.size
    if len(set(sizes)) != 1:
        raise InputError(
            Message(
                "Each token needs one reading, one value to go with it and one penalised flag; got {sizes}.",
                sizes=sizes,
            )
        )
    return own, other, np.flatnonzero(flags)


def _sentences(lengths: ArrayLike, n_tokens: int) -> NDArray[np.int64]:
    """The sentence of each token, (n_tokens,)."""
    counts = np.asarray(lengths, dtype=np.int64)
    if counts.sum() != n_tokens:
        raise InputError(
            Message(
                "Sentences of {n} tokens need as many readings; got {n_tokens}.", n=int(counts.sum()), n_tokens=n_tokens
            )
        )
    return np.repeat(np.arange(len(counts)), counts)
