"""Critical regions: the words that differ, and the tokens that touch a region, by hand and against a plain loop."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import InputError
from engine.measures.minimal_pairs.regions import Span, differing_words, tokens_inside


def spans(words: list[str]) -> tuple[str, list[Span]]:
    """The words with a space between, and where each stands."""
    starts = np.cumsum([0, *(len(word) + 1 for word in words)]).tolist()
    return " ".join(words), [(start, start + len(word)) for start, word in zip(starts, words, strict=False)]


def differing(first: str, second: str) -> tuple[list[str], list[str]]:
    texts, words = zip(*(spans(text.split()) for text in (first, second)), strict=True)
    ours, theirs = differing_words((texts[0], texts[1]), (words[0], words[1]))
    return [first[start:end] for start, end in ours], [second[start:end] for start, end in theirs]


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("the keys are here", "the keys is here", (["are"], ["is"])),
        ("he likes it", "he likes it", ([], [])),
        ("he likes it", "he likes it now", ([], ["now"])),
        ("a b c d e", "a x c y e", (["b", "d"], ["x", "y"])),  # c stands in both and is no part of the region
        ("who did he see", "he did see who", None),
        ("b b a", "b a", (["b"], [])),
    ],
)
def test_the_words_that_differ(first: str, second: str, expected: tuple[list[str], list[str]] | None) -> None:
    ours, theirs = differing(first, second)
    if expected is not None:
        assert (ours, theirs) == expected
    else:  # an order that differs: what is left is equal in both
        left = [[word for word in text.split() if word not in part] for text, part in ((first, ours), (second, theirs))]
        assert left[0] == left[1]


@given(st.lists(st.sampled_from("abc"), max_size=8), st.lists(st.sampled_from("abc"), max_size=8))
def test_without_the_words_that_differ_the_sentences_are_equal(first: list[str], second: list[str]) -> None:
    texts, words = zip(*(spans(each) for each in (first, second)), strict=True)
    regions = differing_words((texts[0], texts[1]), (words[0], words[1]))
    left = [
        [text[start:end] for start, end in of_text if (start, end) not in region]
        for text, of_text, region in zip(texts, words, regions, strict=True)
    ]
    assert left[0] == left[1]
    assert (regions == ([], [])) == (first == second)


@given(
    st.lists(
        st.tuples(
            st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3)), max_size=5),
            st.sets(st.integers(0, 3), max_size=3),
        ),
        max_size=4,
    )
)
def test_tokens_inside_are_those_of_a_plain_loop(sentences: list[tuple[list[Span], set[int]]]) -> None:
    tokens = [(start, start + length) for of_one, _ in sentences for start, length in of_one]
    numbers = [number for number, (of_one, _) in enumerate(sentences) for _ in of_one]
    regions = [[(3 * place, 3 * place + 2) for place in sorted(places)] for _, places in sentences]
    expected = [
        start < end and any(start < stop and end > begin for begin, stop in regions[number])
        for (start, end), number in zip(tokens, numbers, strict=True)
    ]
    assert tokens_inside(tokens, numbers, regions).tolist() == expected


def test_columns_of_different_lengths_are_refused() -> None:
    with pytest.raises(InputError, match="2 tokens and 1 sentences"):
        tokens_inside([(0, 1), (1, 2)], [0], [[]])


def test_tokens_that_are_no_spans_or_of_no_sentence_are_refused() -> None:
    with pytest.raises(InputError, match=r"a start and an end each; got an array of shape \(1, 4\)"):
        tokens_inside([(0, 1, 1, 2)], [0, 0], [[(0, 1)]])
    with pytest.raises(InputError, match="Each token is of one sentence; got 1 tokens and 2 sentences"):
        tokens_inside([(0, 1)], [0, 0], [[(0, 1)]])
