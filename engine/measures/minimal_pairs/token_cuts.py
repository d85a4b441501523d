"""Is a pair cut into tokens alike? Shared words that are cut differently, and tokens that are a part of a character."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.errors import InputError

Span = tuple[int, int]


def words_cut_differently(texts: tuple[str, str], words: tuple[Sequence[Span], Sequence[Span]],
                          tokens: tuple[ArrayLike, ArrayLike]) -> tuple[int, list[str]]:
    """Which words that both sentences hold are not cut into the same pieces?

    A cut of a word: where the tokens that touch it begin and end, counted from the word's first character. A token that
    reaches beyond the word is part of its cut, so that a word that is a token of its own in one sentence and the
    beginning of a longer one in the other is cut differently.

    Parameters
    ----------
    texts : both sentences.
    words : the words of each as (start, end) in characters, in order.
    tokens : int (n_tokens, 2), the characters of each scored token of a sentence, in order; tokens without a character
        (a mark of a word's beginning, special tokens) are ignored.

    Returns how many words the sentences share, each as often as both hold it, and those of them that are cut
    differently, in the order of the first sentence. Range of their number: [0, n shared]; neither end is better: it
    says which pairs compare more than what they differ by.

    Edges: no shared word: 0 and none. A word that occurs several times is compared in all its cuts, in any order.

    Raises InputError for spans that are not (n, 2).

    Source: after Gambardella et al. 2025 (arXiv 2505.19599), who compare sentences that a tokenizer cuts uniformly with
    others; the definition by words is ours.

    >>> words = ((0, 1), (1, 2), (2, 4))
    >>> tokens = [(0, 2), (2, 4)], [(0, 1), (1, 2), (2, 4)]
    >>> words_cut_differently(("猫が鳴く", "猫を鳴く"), (words, words), tokens)
    (2, ['猫'])
    """
    spans = _spans(tokens[0]), _spans(tokens[1])
    if (n_alike := _n_cut_alike(texts, words, spans)) is not None:
        return n_alike, []
    cuts = [_cuts(text, of_text, pieces) for text, of_text, pieces in zip(texts, words, spans, strict=True)]
    n_shared, different = 0, []
    for word in cuts[0]:
        if word in cuts[1]:
            n_occurrences = min(cuts[0][word].total(), cuts[1][word].total())
            n_shared += n_occurrences
            different += [word] * (n_occurrences - (cuts[0][word] & cuts[1][word]).total())
    return n_shared, different


def parts_of_characters(tokens: ArrayLike) -> int:
    """How many of a sentence's tokens are a part of a character, such as bytes of a byte-level vocabulary?

    tokens: int (n_tokens, 2), the characters of each, in order; tokens without a character are ignored. Counted are the
    tokens that share a character with another. Range: [0, n_tokens]. Raises InputError for spans that are not (n, 2).
    Source: ours.

    >>> parts_of_characters([(0, 1), (1, 2), (1, 2), (1, 2), (2, 4)])  # the second character is three bytes
    3
    """
    spans = _spans(tokens)
    if len(spans) < 2:
        return 0
    overlaps = spans[1:, 0] < spans[:-1, 1]  # (n_tokens - 1,)
    return int((np.append(overlaps, False) | np.append(False, overlaps)).sum())


def _spans(tokens: ArrayLike) -> NDArray[np.int64]:
    """The spans of the tokens that have characters."""
    spans = np.asarray(tokens, dtype=np.int64).reshape(-1, 2) if not np.size(tokens) else np.asarray(tokens, np.int64)
    if spans.ndim != 2 or spans.shape[1] != 2:
        raise InputError(f"Spans of tokens have a start and an end each; got an array of shape {spans.shape}.")
    return spans[spans[:, 0] < spans[:, 1]]


def _n_cut_alike(texts: tuple[str, str], words: tuple[Sequence[Span], Sequence[Span]],
                 spans: tuple[NDArray[np.int64], NDArray[np.int64]]) -> int | None:
    """How many words two sentences share that are equal, tokens and all, around a part in which they share none.

    None where they are not so plainly alike. Most pairs are, and this takes a fraction of the time.
    """
    (first, second), (ours, theirs) = texts, words
    shift, most = len(second) - len(first), min(len(ours), len(theirs))
    before = 0
    while before < most and ours[before] == theirs[before] and _same(first, second, ours[before], 0):
        before += 1
    behind = 0
    while behind < most - before and theirs[-1 - behind] == (
            ours[-1 - behind][0] + shift, ours[-1 - behind][1] + shift) and _same(
            first, second, ours[-1 - behind], shift):
        behind += 1
    outside = [first[start:end] for start, end in (*ours[:before], *ours[len(ours) - behind:])]
    inside = [text[start:end] for text, of_text in zip(texts, words, strict=True)
              for start, end in of_text[before:len(of_text) - behind]]
    if len({*outside, *inside}) < len(set(outside)) + len(inside):
        return None  # a word of the part between stands in the other sentence, or again in this one
    end = ours[before - 1][1] if before else 0
    heads = [each[:np.searchsorted(each[:, 0], end, side="left")] for each in spans]
    start = ours[len(ours) - behind][0] if behind else len(first)
    tails = [each[np.searchsorted(each[:, 1], start + at, side="right"):] - at
             for each, at in zip(spans, (0, shift), strict=True)]
    is_alike = np.array_equal(heads[0], heads[1]) and np.array_equal(tails[0], tails[1])
    return before + behind if is_alike else None


def _same(first: str, second: str, word: Span, shift: int) -> bool:
    return first[word[0]:word[1]] == second[word[0] + shift:word[1] + shift]


def _cuts(text: str, words: Sequence[Span], spans: NDArray[np.int64]) -> dict[str, Counter[tuple[Span, ...]]]:
    """How often each word is cut in each way."""
    starts = np.array([start for start, _ in words], dtype=np.int64)
    ends = np.array([end for _, end in words], dtype=np.int64)
    # Tokens never go back: those that touch a word are a run.
    firsts = np.searchsorted(spans[:, 1], starts, side="right").tolist()
    lasts = np.searchsorted(spans[:, 0], ends, side="left").tolist()
    pieces = spans.tolist()
    cuts: dict[str, Counter[tuple[Span, ...]]] = {}
    for (start, end), first, last in zip(words, firsts, lasts, strict=True):
        cut = tuple((begin - start, stop - start) for begin, stop in pieces[first:last])
        cuts.setdefault(text[start:end], Counter())[cut] += 1
    return cuts
