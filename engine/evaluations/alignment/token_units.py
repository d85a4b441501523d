"""The units of tokens: each token one, or each word."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from engine.evaluations.alignment.pair_tokens import PairTokens, begins_of_words
from engine.evaluations.alignment.units import Units
from engine.measures.word_similarity import word_similarities


def subword_units(
    tokens: PairTokens,
    similarity: np.ndarray,
    weight: np.ndarray,
    threshold: float,
    engine: str,
    scope: str,
    own: str = "",
) -> Units:
    """Every token a unit; low-frequency where its idf, `weight`, exceeds the threshold, or where it is unknown.

    The idf of an unknown token is that of all text out of the vocabulary, of which [UNK] makes one token. That is its
    weight, as in bert_score; but no document of the dictionary is known to have the text that it stands for.
    """
    token = np.arange(len(tokens.table))
    return Units(
        token,
        token + 1,
        tokens.lengths,
        tokens.sentence,
        tokens.special,
        weight,
        ~tokens.special & ((weight > threshold) | tokens.unknown),
        tokens.unknown,  # nothing exceeds NaN
        tokens.table["proper_noun"].to_numpy(dtype=bool),
        tokens.table["word"].to_numpy(),
        tokens.readings(engine, scope, own),
        similarity,
    )


def word_units(
    tokens: PairTokens,
    similarity: np.ndarray,
    weight: np.ndarray,
    threshold: float,
    engine: str,
    scope: str,
    own: str = "",
    *,
    with_idf: bool,
    of_words: bool = False,
) -> Units:
    """Every word a unit, every special token one, too.

    How alike two words are, `measures.word_similarity` says. With idf the weight of a word is the sum of
    its pieces' weights, so that a sentence has the same weight in either unit, and it is low-frequency when that
    exceeds the threshold, or a piece is unknown: a name cut into frequent characters is rare all the same. Where the
    weights are idf of words (of_words) it has its own, that of the rarest of several that tokens join. Without idf
    its weight is 1; a special token keeps its own. It is a proper noun when one of its pieces is. Its reading is that
    of the word in its sentence (scope "word") or those of its pieces joined (scope "piece"). Source: ours; the sum is
    the idf of a word whose pieces occur independently.
    """
    word, special, sentence = tokens.table["word"].to_numpy(), tokens.special, tokens.sentence
    begins = begins_of_words(word, special, sentence)
    first = np.flatnonzero(begins)
    last = np.append(first[1:], len(word))
    unit = np.cumsum(begins) - 1  # (n_tokens,) the unit of each token
    lengths = np.bincount(sentence[first], minlength=len(tokens.lengths))
    is_special = special[first]
    total = (np.maximum if of_words else np.add).reduceat(weight, first)
    unknown = np.logical_or.reduceat(tokens.unknown, first)
    readings = tokens.readings(engine, "word", own).of_runs(first)
    if scope == "piece":
        pieces = tokens.readings(engine, scope, own)
        kana = pieces.kana[first]
        for number in np.flatnonzero(last - first > 1):
            kana[number] = "".join(pieces.kana[first[number] : last[number]])
        readings = replace(readings, kana=kana, whole=np.logical_and.reduceat(pieces.whole, first))

    of_reference = sentence % 2 == 0
    rows, columns = (_numbered_from_0(unit[side]) for side in (of_reference, ~of_reference))
    return Units(
        first,
        last,
        lengths,
        sentence[first],
        is_special,
        total if with_idf else np.where(is_special, weight[first], 1.0),
        ~is_special & ((total > threshold) | unknown),
        unknown,
        np.logical_or.reduceat(tokens.table["proper_noun"].to_numpy(dtype=bool), first),
        word[first],
        readings,
        word_similarities(similarity, tokens.lengths[::2], tokens.lengths[1::2], rows, columns),
    )


def _numbered_from_0(units: np.ndarray) -> np.ndarray:
    """Numbers that never fall, made to count on without a gap."""
    return np.cumsum(np.r_[0, units[1:] != units[:-1]])
