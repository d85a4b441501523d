"""Critical regions: which words of two sentences differ, and which tokens lie in a part of a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.errors import InputError
from engine.messages.message import Message

Span = tuple[int, int]


def differing_words(
    texts: tuple[str, str], words: tuple[Sequence[Span], Sequence[Span]]
) -> tuple[list[Span], list[Span]]:
    """Which words of each sentence has the other one not, at that place?

    The words before and after the part in which the sentences differ are equal; in that part the words are held
    together by Ratcliff and Obershelp's matching blocks, and those outside of the blocks differ.

    Parameters
    ----------
    texts : both sentences.
    words : the words of each as (start, end) in characters, in order.

    Returns the spans of the differing words of each sentence; none for equal sentences, and none on one side where the
    other only has words more.

    Source: the critical region of Warstadt et al. 2020 (BLiMP, TACL 8), section 4.1, for any two sentences; the
    matching by words is ours, Python's difflib (Ratcliff and Metzener 1988).

    >>> differing_words(("the keys are here", "the keys is here"),
    ...                 ([(0, 3), (4, 8), (9, 12), (13, 17)], [(0, 3), (4, 8), (9, 11), (12, 16)]))
    ([(9, 12)], [(9, 11)])
    """
    first, second = ([text[start:end] for start, end in of_text] for text, of_text in zip(texts, words, strict=True))
    most = min(len(first), len(second))
    before = 0
    while before < most and first[before] == second[before]:
        before += 1
    after = 0
    while after < most - before and first[-1 - after] == second[-1 - after]:
        after += 1
    parts = first[before : len(first) - after], second[before : len(second) - after]
    inside = words[0][before : len(first) - after], words[1][before : len(second) - after]
    if set(parts[0]).isdisjoint(parts[1]):
        return list(inside[0]), list(inside[1])
    differing: tuple[list[Span], list[Span]] = [], []
    for change, start, end, other_start, other_end in SequenceMatcher(None, *parts, autojunk=False).get_opcodes():
        if change != "equal":
            differing[0].extend(inside[0][start:end])
            differing[1].extend(inside[1][other_start:other_end])
    return differing


def tokens_by_region(
    text: str, tokens: ArrayLike, regions: Sequence[tuple[int, Span]]
) -> tuple[NDArray[np.int16], NDArray[np.bool_]]:
    """Which region of a sentence does each token begin in? White space belongs to what follows it.

    Parameters
    ----------
    text : the sentence.
    tokens : int (n_tokens, 2), the characters of each token.
    regions : the number of each region and its characters, in order and without overlaps.

    Returns the number of each token's region, int16 (n_tokens,), 0 for none, and which tokens reach beyond theirs.
    Source: SyntaxGym (Gauthier et al. 2020, ACL demonstrations) sums a region's surprisal over its tokens; which region
    a token of two is of is ours.

    >>> tokens_by_region("The woman plays", [(0, 3), (3, 9), (9, 15)], [(1, (0, 9)), (2, (10, 15))])
    (array([1, 1, 2], dtype=int16), array([False, False, False]))
    """
    spans = np.asarray(tokens, dtype=np.int64).reshape(-1, 2)
    numbers, beyond = np.zeros(len(spans), dtype=np.int16), np.zeros(len(spans), dtype=bool)
    for index, (start, end) in enumerate(spans.tolist()):
        place = start + len(text[start:]) - len(text[start:].lstrip())
        for number, (first, after) in regions:
            if first <= place < after:
                numbers[index], beyond[index] = number, len(text[:end].rstrip()) > after
    return numbers, beyond


def tokens_of_sentences(tokens: ArrayLike, sentences: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Tokens as arrays: the characters of each, int (n_tokens, 2), and its sentence, int (n_tokens,).

    Raises InputError for spans that are not (n, 2) and for columns of different lengths.
    """
    spans, of_sentence = np.asarray(tokens), np.asarray(sentences, dtype=np.int64)
    spans = spans if spans.size else spans.reshape(-1, 2).astype(np.int64)
    if spans.ndim != 2 or spans.shape[1] != 2:
        raise InputError(
            Message("Spans of tokens have a start and an end each; got an array of shape {shape}.", shape=spans.shape)
        )
    if len(spans) != len(of_sentence):
        raise InputError(
            Message(
                "Each token is of one sentence; got {spans} tokens and {of_sentence} sentences.",
                spans=len(spans),
                of_sentence=len(of_sentence),
            )
        )
    return spans, of_sentence


def tokens_inside(tokens: ArrayLike, sentences: ArrayLike, regions: Sequence[Sequence[Span]]) -> NDArray[np.bool_]:
    """Which tokens touch the region of their sentence? One that reaches beyond it counts, too.

    Parameters
    ----------
    tokens : int (n_tokens, 2), the characters of each token; one without a character touches nothing.
    sentences : int (n_tokens,), the sentence of each token, ascending.
    regions : of each sentence the spans of its region, in order and without overlaps.

    Returns bool (n_tokens,). Raises InputError for spans that are not (n, 2) and for columns of different lengths.
    Source: ours.

    >>> tokens_inside([(0, 3), (3, 8), (8, 12), (0, 3)], [0, 0, 0, 1], [[(9, 12)], []]).tolist()
    [False, False, True, False]
    """
    spans, of_sentence = tokens_of_sentences(tokens, sentences)
    flat = [(number, start, end) for number, of_one in enumerate(regions) for start, end in of_one]
    if not flat or not len(spans):
        return np.zeros(len(spans), dtype=bool)
    numbers, starts, ends = np.array(flat, dtype=np.int64).T
    # All sentences concatenated on one line, each with room for the longest.
    width = int(max(spans.max(), ends.max())) + 1
    begun = np.searchsorted(starts + numbers * width, spans[:, 1] + of_sentence * width, side="left")
    over = np.searchsorted(ends + numbers * width, spans[:, 0] + of_sentence * width, side="right")
    return (begun > over) & (spans[:, 0] < spans[:, 1])
