"""Words that two sentences share and a tokenizer cuts differently: by hand, their definition, and properties."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.errors import InputError
from engine.measures.minimal_pairs import token_cuts
from engine.measures.minimal_pairs.token_cuts import parts_of_characters, words_cut_differently

Spans = list[tuple[int, int]]
texts = st.lists(st.sampled_from(["ab", "abc", "d", "ee"]), min_size=1, max_size=6).map(" ".join)


def words(text: str) -> Spans:
    return [match.span() for match in re.finditer(r"\S+", text)]


def cut(text: str, seed: int, share: float = 0.5) -> Spans:
    """Each word cut at random."""
    random, spans = np.random.default_rng(seed), []
    for start, end in words(text):
        edges = [start, *(i for i in range(start + 1, end) if random.random() < share), end]
        spans += list(pairwise(edges))
    return spans


def compared(first: str, second: str, both: tuple[Spans, Spans], tokens: tuple[Spans, Spans]) -> tuple[int, int]:
    """Of one pair."""
    shared, different = words_cut_differently(
        ([first], [second]), ([both[0]], [both[1]]), tokens, ([0] * len(tokens[0]), [0] * len(tokens[1]))
    )
    return int(shared[0]), int(different[0])


def by_definition(first: str, second: str, both: tuple[Spans, Spans], tokens: tuple[Spans, Spans]) -> tuple[int, int]:
    """Word by word and token by token."""
    cuts: list[dict[str, Counter[tuple[tuple[int, int], ...]]]] = [{}, {}]
    for side, text, of_text, pieces in zip(cuts, (first, second), both, tokens, strict=True):
        for start, end in of_text:
            cut = tuple((b - start, e - start) for b, e in pieces if b < e and b < end and e > start)
            side.setdefault(text[start:end], Counter())[cut] += 1
    words_of_both = cuts[0].keys() & cuts[1].keys()
    n_both = {word: min(cuts[0][word].total(), cuts[1][word].total()) for word in words_of_both}
    alike = sum((cuts[0][word] & cuts[1][word]).total() for word in words_of_both)
    return sum(n_both.values()), sum(n_both.values()) - alike


def test_by_hand() -> None:
    # the cats sleep / the cat sleep: "the" and "sleep" are shared. In the second, sleep is one token, in the first two.
    first, second = "the cats sleep", "the cat sleep"
    both = words(first), words(second)
    assert compared(first, second, both, ([(0, 3), (4, 8), (9, 11), (11, 14)], [(0, 3), (4, 7), (8, 13)])) == (2, 1)
    assert compared(first, second, both, both) == (2, 0)


def test_a_token_that_reaches_into_the_next_word_is_part_of_the_cut() -> None:
    # に within the token of 行く, against に as a token of its own: に and 行く are cut differently, 東京 is not
    spans = [(0, 2), (2, 3), (3, 5)]
    text = "東京に行く"
    assert compared(text, text, (spans, spans), ([(0, 2), (2, 5)], spans)) == (3, 2)


def test_a_word_that_occurs_twice_is_compared_in_both_cuts() -> None:
    # ab is cut once whole and once into letters in the first sentence, whole both times in the second
    text = "ab ab"
    spans = words(text)
    assert compared(text, text, (spans, spans), ([(0, 2), (3, 4), (4, 5)], spans)) == (2, 1)
    assert compared(text, text, (spans, spans), ([(0, 2), (3, 4), (4, 5)], [(0, 1), (1, 2), (3, 5)])) == (2, 0)
    # twice against once: the cut of the second occurrence is the one that is shared
    once = ([(0, 2), (3, 4), (4, 5)], [(0, 1), (1, 2)])
    assert compared(text, "ab", (spans, [(0, 2)]), once) == (1, 0)


@settings(max_examples=60)
@given(first=texts, second=texts, seed=st.integers(0, 1000))
def test_the_sentences_exchanged_differ_in_as_many_words(first: str, second: str, seed: int) -> None:
    both, tokens = (words(first), words(second)), (cut(first, seed), cut(second, seed + 1))
    n_shared, n_different = compared(first, second, both, tokens)
    assert compared(second, first, (both[1], both[0]), (tokens[1], tokens[0])) == (n_shared, n_different)
    assert n_different <= n_shared
    # The same sentence cut the same way has no such word.
    assert compared(first, first, (both[0],) * 2, (tokens[0],) * 2) == (len(words(first)), 0)


@pytest.mark.parametrize("block", [1, 3, 4096])
@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    pairs=st.lists(st.tuples(texts, texts, st.booleans()), max_size=8),
    seed=st.integers(0, 50),
    share=st.sampled_from([0.0, 0.2, 0.5, 1.0]),
    bridged=st.booleans(),
)
def test_many_pairs_at_once_are_each_what_the_definition_says(
    monkeypatch: pytest.MonkeyPatch,
    block: int,
    pairs: list[tuple[str, str, bool]],
    seed: int,
    share: float,
    bridged: bool,
) -> None:
    monkeypatch.setattr(token_cuts, "BLOCK_PAIRS", block)
    sides = (
        [first for first, _, _ in pairs],
        [f"{first} {second}" if prefixed else second for first, second, prefixed in pairs],
    )
    spans = [[words(text) for text in side] for side in sides]
    tokens: list[list[Spans]] = [
        [cut(text, seed + i + side, share) for i, text in enumerate(of_side)] for side, of_side in enumerate(sides)
    ]
    for of_text in tokens[1]:
        if bridged and len(of_text) > 1:  # a token over two pieces, and one without a character
            of_text[:2] = [(of_text[0][0], of_text[1][1]), (of_text[1][1], of_text[1][1])]
    flat = [[span for of_text in side for span in of_text] for side in tokens]
    numbers = [[i for i, of_text in enumerate(side) for _ in of_text] for side in tokens]
    found = words_cut_differently(sides, (spans[0], spans[1]), (flat[0], flat[1]), (numbers[0], numbers[1]))
    assert list(zip(*map(np.ndarray.tolist, found), strict=True)) == [
        by_definition(first, second, both, of_pair)
        for first, second, both, of_pair in zip(
            *sides, zip(*spans, strict=True), zip(*tokens, strict=True), strict=True
        )
    ]
    # A sentence without scored tokens, and no pairs at all.
    assert [
        column.tolist()
        for column in words_cut_differently((["a b"], ["a"]), ([words("a b")], [words("a")]), ([], [(0, 1)]), ([], [0]))
    ] == [[1], [1]]


def parts(*tokens: Spans) -> list[int]:
    return parts_of_characters(
        [span for of_text in tokens for span in of_text],
        [i for i, of_text in enumerate(tokens) for _ in of_text],
        len(tokens),
    ).tolist()


def test_parts_of_characters_by_hand() -> None:
    assert parts([(0, 1), (1, 2), (1, 2), (2, 3)]) == [2]
    assert parts([(0, 1), (1, 1), (1, 2)]) == [0]  # a mark without characters
    assert parts([(-1, -1), (0, 2), (0, 2), (-1, -1)]) == [2]
    assert parts() == [] and parts([]) == [0]
    # the next sentence begins at its first character again: that is no overlap
    assert parts([(0, 5)], [], [(0, 2), (1, 2)], [(0, 1)]) == [0, 0, 2, 0]


def test_what_is_no_span_is_refused() -> None:
    with pytest.raises(InputError, match=r"a start and an end each; got an array of shape \(3,\)"):
        parts_of_characters([1, 2, 3], [0, 0, 0], 1)
    with pytest.raises(InputError, match="Each token is of one sentence; got 1 tokens and 2 sentences"):
        parts_of_characters([(0, 1)], [0, 0], 1)
