"""Unigram probabilities: by hand, as the rule of succession has them, and they add up to 1."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import InputError
from engine.measures.unigrams import unigram_log_probabilities


def test_by_hand() -> None:
    # "the cat saw the dog": 5 tokens, 4 types; the: (2 + 1) / (5 + 4 + 1), unseen: 1 / 10
    found = unigram_log_probabilities([2, 1, 0], 5, 4)
    assert found == pytest.approx([math.log(0.3), math.log(0.2), math.log(0.1)], rel=1e-12)


def test_one_type_is_laplaces_rule_of_succession() -> None:
    # Laplace 1774: after n successes in n trials the next is one with probability (n + 1) / (n + 2)
    assert np.exp(unigram_log_probabilities([9], 9, 1))[0] == pytest.approx(10 / 11, rel=1e-12)


@settings(max_examples=60)
@given(counts=st.lists(st.integers(1, 1000), min_size=1, max_size=30))
def test_all_types_and_the_unseen_one_add_up_to_1(counts: list[int]) -> None:
    found = np.exp(unigram_log_probabilities([*counts, 0], sum(counts), len(counts)))
    assert found.sum() == pytest.approx(1, rel=1e-12)
    assert (np.diff(found[np.argsort([*counts, 0], kind="stable")]) >= 0).all()


def test_edges() -> None:
    assert unigram_log_probabilities([], 0, 0).tolist() == []
    assert unigram_log_probabilities([0], 0, 0).tolist() == [0.0]  # nothing was seen: one unseen type is all there is
    for counts, n_tokens in (([-1], 5), ([6], 5)):
        with pytest.raises(InputError, match=r"between 0 and the number of tokens \(5\)"):
            unigram_log_probabilities(counts, n_tokens, 2)
