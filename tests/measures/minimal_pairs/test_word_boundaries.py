"""Terms of the boundaries of words: by hand, telescoping, and in regions."""

from __future__ import annotations

from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import InputError
from engine.measures.minimal_pairs.word_boundaries import boundary_terms

NAN = np.nan


def test_by_hand() -> None:
    # Two words of two tokens and one; a sentence of one word whose first token was not scored.
    before, after, lengths = [-1.0, NAN, -2.0, NAN, NAN], [-4.0, -8.0], [3, 2]
    terms, begins = boundary_terms(before, after, lengths)
    assert terms.tolist() == [1.0, -2.0, -2.0, 0.0, -8.0] and begins.tolist() == [True, False, True, True, False]
    # In the region the first word; the last one; the second token of the first word, which ends there.
    for inside, expected, n_words in (
        ([1, 1, 0, 0, 0], [1, -2, 0, 0, 0], 1),
        ([0, 0, 1, 0, 0], [0, 0, -2, 0, 0], 1),
        ([0, 1, 1, 1, 0], [0, -2, -2, 0, 0], 3),
        ([1, 0, 0, 0, 1], [1, 0, 0, 0, -8], 2),
    ):
        terms, begins = boundary_terms(before, after, lengths, np.array(inside, dtype=bool))
        assert terms.tolist() == expected and begins.sum() == n_words


@given(st.lists(st.lists(st.one_of(st.just(NAN), st.floats(-9, 0)), min_size=0, max_size=6), max_size=5))
def test_of_a_sentence_the_last_and_the_first_remain(sentences: list[list[float]]) -> None:
    lengths = [len(sentence) for sentence in sentences]
    terms, begins = boundary_terms(list(chain.from_iterable(sentences)), [-0.5] * len(sentences), lengths)
    cuts = np.cumsum(lengths)
    for sentence, own, starts in zip(sentences, np.split(terms, cuts), np.split(begins, cuts), strict=False):
        if sentence:
            assert own.sum() == pytest.approx(-0.5 - np.nan_to_num(sentence[0]))
            assert starts.sum() == np.isfinite(sentence).sum() + np.isnan(sentence[0])


def test_numbers_that_do_not_fit_are_refused() -> None:
    with pytest.raises(InputError, match="got 3 tokens, 2 boundaries, 1 sentences and 1 ends"):
        boundary_terms([-1.0, NAN], [-1.0], [3])
    with pytest.raises(InputError, match="2 sentences and 1 ends"):
        boundary_terms([-1.0, NAN], [-1.0], [1, 1])
