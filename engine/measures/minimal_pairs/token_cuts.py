"""Are pairs cut into tokens alike? Shared words that are cut differently, and tokens that are a part of a character."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.measures.minimal_pairs.regions import Span, tokens_of_sentences

Words = Sequence[Sequence[Span]]
BLOCK_PAIRS = 4096  # compared at once: their tokens take a few megabytes
_KEYS_PER_PAIR = 2**31  # more than a block has words


def words_cut_differently(
    texts: tuple[Sequence[str], Sequence[str]],
    words: tuple[Words, Words],
    tokens: tuple[ArrayLike, ArrayLike],
    sentences: tuple[ArrayLike, ArrayLike],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """How many words do the two sentences of each pair share, and how many of these are not cut into the same pieces?

    A cut of a word: where the tokens that touch it begin and end, counted from the word's first character. A token that
    reaches beyond the word is part of its cut, so that a word that is a token of its own in one sentence and the
    beginning of a longer one in the other is cut differently.

    Parameters
    ----------
    texts : the first and the second sentences, n_pairs each.
    words : the words of each sentence as (start, end) in characters, in order.
    tokens : of the first and of the second sentences int (n_tokens, 2), the characters of each scored token, a
        sentence's in order; tokens without a character (a mark of a word's beginning, special tokens) are ignored.
    sentences : int (n_tokens,) each, the pair of each token, ascending.

    Returns int64 (n_pairs,) twice: the shared words, each as often as both sentences hold it, and those of them that
    are cut differently. Range of the second: [0, n shared]; neither end is better: it says which pairs compare more
    than what they differ by.

    Edges: no shared word: 0 and 0. A word that occurs several times is compared in all its cuts, in any order.

    Raises InputError for spans that are not (n, 2) and for columns of different lengths.

    Source: after Gambardella et al. 2025 (arXiv 2505.19599), who compare sentences that a tokenizer cuts uniformly with
    others; the definition by words is ours.

    >>> words = [[(0, 1), (1, 2), (2, 4)]]
    >>> tokens = [(0, 2), (2, 4)], [(0, 1), (1, 2), (2, 4)]
    >>> words_cut_differently((["猫が鳴く"], ["猫を鳴く"]), (words, words), tokens, ([0, 0], [0, 0, 0]))
    (array([2]), array([1]))
    """
    n_pairs = len(texts[0])
    columns = [_with_text(*of_side) for of_side in zip(tokens, sentences, strict=True)]
    counts = np.zeros((2, n_pairs), dtype=np.int64)
    for start in range(0, n_pairs, BLOCK_PAIRS):
        block, numbers = slice(start, start + BLOCK_PAIRS), dict[str, int]()
        sides = []
        for of_text, of_words, (spans, of_sentence) in zip(texts, words, columns, strict=True):
            inside = slice(*np.searchsorted(of_sentence, (block.start, block.stop)))
            sides.append(_Side.of(of_text[block], of_words[block], spans[inside], of_sentence[inside] - start, numbers))
        counts[:, block] = _compared(sides[0], sides[1], counts[:, block].shape[1])
    return counts[0], counts[1]


def parts_of_characters(tokens: ArrayLike, sentences: ArrayLike, n_sentences: int) -> NDArray[np.int64]:
    """How many of each sentence's tokens are a part of a character, such as bytes of a byte-level vocabulary?

    tokens: int (n_tokens, 2), the characters of each, a sentence's in order; tokens without a character are ignored.
    sentences: int (n_tokens,), the sentence of each token, ascending. Counted are the tokens that share a character
    with another. Returns int64 (n_sentences,), in [0, tokens of the sentence]. Raises InputError for spans that are
    not (n, 2) and for columns of different lengths. Source: ours.

    >>> tokens = [(0, 1), (1, 2), (1, 2), (1, 2), (2, 4), (0, 2)]  # the second character is three bytes
    >>> parts_of_characters(tokens, [0, 0, 0, 0, 0, 1], 2)
    array([3, 0])
    """
    spans, of_sentence = _with_text(tokens, sentences)
    overlaps = (spans[1:, 0] < spans[:-1, 1]) & (of_sentence[1:] == of_sentence[:-1])  # (n_tokens - 1,)
    are_parts = np.append(overlaps, False) | np.append(False, overlaps)  # one more than tokens where there are none
    return np.bincount(of_sentence[are_parts[: len(of_sentence)]], minlength=n_sentences)


def _with_text(tokens: ArrayLike, sentences: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The tokens that have characters, and their sentences."""
    spans, of_sentence = tokens_of_sentences(tokens, sentences)
    with_text = spans[:, 0] < spans[:, 1]
    return (spans, of_sentence) if with_text.all() else (spans[with_text], of_sentence[with_text])


@dataclass(frozen=True)
class _Side:
    """The words of one side's sentences, equal ones of one sentence consecutively: (n_words,) each.

    `keys`: ascending, equal for equal words of one pair. `starts`: their first characters. `firsts`, `n_tokens`: the
    run of `tokens` (n_tokens, 2) that touch them.
    """

    keys: NDArray[np.int64]
    starts: NDArray[np.int64]
    firsts: NDArray[np.int64]
    n_tokens: NDArray[np.int64]
    tokens: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        texts: Sequence[str],
        words: Words,
        tokens: NDArray[np.int64],
        sentences: NDArray[np.int64],
        numbers: dict[str, int],
    ) -> _Side:
        """numbers: of the words met so far, to which these are added."""
        pairs = np.repeat(np.arange(len(texts)), [len(of_text) for of_text in words])
        found = np.array(
            [
                numbers.setdefault(text[start:end], len(numbers))
                for text, of_text in zip(texts, words, strict=True)
                for start, end in of_text
            ],
            np.int64,
        )
        starts, ends = np.array([span for of_text in words for span in of_text], np.int64).reshape(-1, 2).T
        # All sentences concatenated on one line. Tokens never go back: those that touch a word are a run.
        width = int(max(tokens.max(initial=0), ends.max(initial=0))) + 1
        firsts = np.searchsorted(tokens[:, 1] + sentences * width, starts + pairs * width, side="right")
        lasts = np.searchsorted(tokens[:, 0] + sentences * width, ends + pairs * width, side="left")
        keys = pairs * _KEYS_PER_PAIR + found
        order = np.argsort(keys, kind="stable")
        return cls(keys[order], starts[order], firsts[order], (lasts - firsts)[order], tokens)

    def distinct(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Each key once, where its words begin, and how many they are."""
        return np.unique(self.keys, return_index=True, return_counts=True)

    def cut(self, word: int) -> tuple[tuple[int, int], ...]:
        """The pieces of a word, counted from its first character."""
        first = self.firsts[word]
        return tuple(map(tuple, (self.tokens[first : first + self.n_tokens[word]] - self.starts[word]).tolist()))


def _compared(first: _Side, second: _Side, n_pairs: int) -> NDArray[np.float64]:
    """Of each pair the shared words and those that are cut differently: (2, n_pairs)."""
    (keys, places, counts), (other_keys, other_places, other_counts) = first.distinct(), second.distinct()
    shared, ours, theirs = np.intersect1d(keys, other_keys, assume_unique=True, return_indices=True)
    places, counts, other_places, other_counts = places[ours], counts[ours], other_places[theirs], other_counts[theirs]
    n_both = np.minimum(counts, other_counts)
    # The first occurrence with the first, and so on; that is all where a word occurs once.
    of_shared, within = _runs(n_both)
    alike = _are_cut_alike(first, places[of_shared] + within, second, other_places[of_shared] + within)
    n_different = np.bincount(of_shared[~alike], minlength=len(shared))
    for word in np.flatnonzero((n_different > 0) & (np.maximum(counts, other_counts) > 1)).tolist():
        cuts, others = (
            Counter(side.cut(place + i) for i in range(n))
            for side, place, n in (
                (first, places[word], counts[word]),
                (second, other_places[word], other_counts[word]),
            )
        )
        n_different[word] = n_both[word] - (cuts & others).total()
    pairs = shared // _KEYS_PER_PAIR
    return np.array([np.bincount(pairs, weights=counted, minlength=n_pairs) for counted in (n_both, n_different)])


def _are_cut_alike(
    first: _Side, ours: NDArray[np.int64], second: _Side, theirs: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Whether words of one side are cut as those of the other: (n,)."""
    alike = np.asarray(first.n_tokens[ours] == second.n_tokens[theirs])
    ours, theirs, words = ours[alike], theirs[alike], np.flatnonzero(alike)
    of_word, within = _runs(first.n_tokens[ours])
    cuts, others = (
        side.tokens[side.firsts[at][of_word] + within] - side.starts[at][of_word, None]
        for side, at in ((first, ours), (second, theirs))
    )
    alike[words[of_word[(cuts != others).any(axis=1)]]] = False
    return alike


def _runs(lengths: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Of consecutive runs: which run each element is of, and its place in it.

    >>> _runs(np.array([2, 0, 1]))
    (array([0, 0, 2]), array([0, 1, 0]))
    """
    of_run = np.repeat(np.arange(len(lengths)), lengths)
    return of_run, np.arange(len(of_run)) - (np.cumsum(lengths) - lengths)[of_run]
