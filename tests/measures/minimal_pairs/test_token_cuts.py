"""Words that two sentences share and a tokenizer cuts differently: by hand, and their properties."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import InputError
from engine.measures.minimal_pairs import token_cuts
from engine.measures.minimal_pairs.token_cuts import parts_of_characters, words_cut_differently

texts = st.lists(st.sampled_from(["ab", "abc", "d", "ee"]), min_size=1, max_size=6).map(" ".join)


def words(text: str) -> list[tuple[int, int]]:
    return [match.span() for match in re.finditer(r"\S+", text)]


def cut(text: str, seed: int, share: float = 0.5) -> list[tuple[int, int]]:
    """Each word cut at random."""
    random, spans = np.random.default_rng(seed), []
    for start, end in words(text):
        edges = [start, *(i for i in range(start + 1, end) if random.random() < share), end]
        spans += list(pairwise(edges))
    return spans


def test_by_hand() -> None:
    # the cats sleep / the cat sleep: "the" and "sleep" are shared. In the second, sleep is one token, in the first two.
    first, second = "the cats sleep", "the cat sleep"
    tokens = ([(0, 3), (4, 8), (9, 11), (11, 14)], [(0, 3), (4, 7), (8, 13)])
    assert words_cut_differently((first, second), (words(first), words(second)), tokens) == (2, ["sleep"])
    assert words_cut_differently((first, second), (words(first), words(second)), (words(first), words(second))) == (
        2, [])


def test_a_token_that_reaches_into_the_next_word_is_part_of_the_cut() -> None:
    # に within the token of 行く, against に as a token of its own: に and 行く are cut differently, 東京 is not
    spans = [(0, 2), (2, 3), (3, 5)]
    text = "東京に行く"
    assert words_cut_differently((text, text), (spans, spans), ([(0, 2), (2, 5)], spans)) == (3, ["に", "行く"])


def test_a_word_that_occurs_twice_is_compared_in_both_cuts() -> None:
    # ab is cut once whole and once into letters in the first sentence, whole both times in the second
    first = second = "ab ab"
    spans = words(first)
    assert words_cut_differently((first, second), (spans, spans), ([(0, 2), (3, 4), (4, 5)], spans)) == (2, ["ab"])
    turned = [(0, 1), (1, 2), (3, 5)]
    assert words_cut_differently((first, second), (spans, spans), ([(0, 2), (3, 4), (4, 5)], turned)) == (2, [])


@settings(max_examples=60)
@given(first=texts, second=texts, seed=st.integers(0, 1000))
def test_the_sentences_exchanged_differ_in_as_many_words(first: str, second: str, seed: int) -> None:
    tokens = cut(first, seed), cut(second, seed + 1)
    n_shared, different = words_cut_differently((first, second), (words(first), words(second)), tokens)
    back = words_cut_differently((second, first), (words(second), words(first)), (tokens[1], tokens[0]))
    assert back[0] == n_shared and sorted(back[1]) == sorted(different) and len(different) <= n_shared
    # The same sentence cut the same way has no such word.
    assert words_cut_differently((first, first), (words(first),) * 2, (tokens[0],) * 2) == (len(words(first)), [])


def test_parts_of_characters_by_hand() -> None:
    assert parts_of_characters([(0, 1), (1, 2), (1, 2), (2, 3)]) == 2
    assert parts_of_characters([(0, 1), (1, 1), (1, 2)]) == 0  # a mark without characters
    assert parts_of_characters([(-1, -1), (0, 2), (0, 2), (-1, -1)]) == 2
    assert parts_of_characters([]) == parts_of_characters([(0, 5)]) == 0


def test_what_is_no_span_is_refused() -> None:
    with pytest.raises(InputError, match=r"a start and an end each; got an array of shape \(3,\)"):
        parts_of_characters([1, 2, 3])


@settings(max_examples=300)
@given(first=texts, second=texts, seeds=st.tuples(st.integers(0, 3), st.integers(0, 3)), same_start=st.booleans())
def test_what_is_plainly_alike_is_what_the_whole_comparison_finds(first: str, second: str, seeds: tuple[int, int],
                                                                  same_start: bool) -> None:
    second = f"{first} {second}" if same_start else second
    both, spans = (words(first), words(second)), (np.array(cut(first, seeds[0])), np.array(cut(second, seeds[1])))
    n_alike = token_cuts._n_cut_alike((first, second), both, spans)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(token_cuts, "_n_cut_alike", lambda *_: None)
        whole = words_cut_differently((first, second), both, spans)
    assert n_alike is None or whole == (n_alike, [])


def test_most_pairs_are_plainly_alike() -> None:
    first, second = "the cats sleep on the mat", "the cat sleeps on the mat"
    both = (words(first), words(second))
    assert token_cuts._n_cut_alike((first, second), both, (np.array(both[0]), np.array(both[1]))) == 4
