"""Decisions that no error can turn: by hand, and tried with every error there is."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import InputError
from engine.measures.acceptability import NORMALIZATIONS, decisions, normalized
from engine.measures.settled import ALPHAS, settled


def one(a: float, u: float, error: float, tokens: tuple[int, int] = (5, 5), characters: tuple[int, int] = (9, 9),
        unigrams: tuple[float, float] | None = None, alphas: tuple[float, float] = ALPHAS) -> bool:
    sums = [] if unigrams is None else [[[unigrams[0]], [unigrams[1]]]]
    found = settled([[a], [u]], [[error], [error]], [[tokens[0]], [tokens[1]]], [[characters[0]], [characters[1]]],
                    unigrams=sums, alphas=alphas)
    return bool(found[0])


def test_by_hand() -> None:
    # Equal lengths: only the difference counts. 10 against 11 with 0.4 off each: 10.4 < 10.6 holds; with 0.5 it ties.
    assert one(-10, -11, 0.4) and not one(-10, -11, 0.5) and not one(-10, -11, 0.6)
    # Lengths 5 and 6: LP prefers A (10 < 11), MeanLP does not (2.0 > 1.83): settled each for itself, but PenLP ties at
    # alpha = log(10/11) / log(10/11) = 1, so that no error but 0 is small enough.
    assert not one(-10, -11, 1e-6, tokens=(5, 6)) and one(-10, -11, 0.0, tokens=(5, 6))
    # Up to alpha 0.8 its thresholds are (10/11)^0.8 = 0.9266 to 1, and 10.05/10.95 = 0.9178 lies below them, as
    # 9.95/11.05 = 0.9005 above MeanLP's 5/6 = 0.8333; with 0.1 off 10.1/10.9 = 0.9266 touches.
    assert one(-10, -11, 0.05, tokens=(5, 6), alphas=(0.0, 0.8)) and not one(-10, -11, 0.11, (5, 6), alphas=(0.0, 0.8))
    # SLOR: (-10 + 30) / 5 against (-11 + 30.9) / 5: 4.0 against 3.98, a margin of 0.02; errors of 0.1 are 0.04
    assert not one(-10, -11, 0.1, unigrams=(-30, -30.9)) and one(-10, -11, 0.04, unigrams=(-30, -30.9))


def test_characters_count_too() -> None:
    # 10 / 10 characters against 11 / 12: per character A loses although LP prefers it; 11 / 11 is a tie.
    assert one(-10, -11, 0.01, characters=(10, 12))
    assert not one(-10, -11, 0.01, characters=(10, 11))


@settings(max_examples=300, deadline=None)
@given(seed=st.integers(0, 10**6), size=st.sampled_from([1e-3, 0.05, 0.5, 3.0]), same=st.booleans())
def test_no_error_within_its_bound_turns_a_settled_pair(seed: int, size: float, same: bool) -> None:
    random = np.random.default_rng(seed)
    n = 40
    tokens = random.integers(1, 9, (2, n))
    if same:
        tokens[1] = tokens[0]
    characters = tokens + random.integers(1, 9, (2, n))
    true = -random.exponential(3, (2, n)) * tokens
    bounds = random.exponential(size, (2, n))
    unigrams = -random.exponential(6, (2, n)) * tokens
    # errors anywhere within the bounds, at their ends most of all
    given_ = np.minimum(true + bounds * random.choice([-1, 1, 0.3], (2, n)), 0)
    found = settled(given_, bounds, tokens, characters, unigrams=[unigrams])
    same_tokens = np.zeros(n, dtype=bool)
    for which in NORMALIZATIONS:
        for alpha in (0.0, 0.37, 0.8, 1.0, 1.9, 2.0) if which == "PenLP" else (0.8,):
            decided = [decisions(*(normalized(sums[side], tokens[side], which, alpha=alpha, unigrams=unigrams[side],
                                              n_characters=characters[side]) for side in (0, 1)), same_tokens)
                       for sums in (true, given_)]
            np.testing.assert_array_equal(decided[0][found], decided[1][found])


def test_small_errors_settle_most_and_large_ones_none() -> None:
    random = np.random.default_rng(1)
    tokens = np.tile(random.integers(3, 12, 500), (2, 1))
    scores = -random.exponential(3, (2, 500)) * tokens
    shares = [settled(scores, np.full((2, 500), error), tokens, tokens * 3).mean() for error in (0.0, 0.01, 1.0, 1e3)]
    assert shares[0] == 1 and shares[1] > 0.97 and shares[1] > shares[2] > shares[3] == 0


def test_what_is_not_finite_settles_nothing() -> None:
    assert not one(-math.inf, -5, 0.0) and not one(math.nan, -5, 0.1) and not one(-4, -5, math.inf)
    assert not one(-4, -5, 0.0, tokens=(0, 5)) and not one(-4, -5, 0.0, characters=(3, 0))
    assert one(-5, -5, 0.0)  # a tie without error is a tie
    assert settled(np.empty((2, 0)), np.empty((2, 0)), np.empty((2, 0)), np.empty((2, 0))).tolist() == []


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(InputError, match=r"of shape \(2, n_pairs\) each"):
        settled([-1.0], [0.1], [3], [5])
    with pytest.raises(InputError, match="An error is 0 or more"):
        one(-1, -2, -0.1)
    with pytest.raises(InputError, match="the least first"):
        one(-1, -2, 0.1, alphas=(2.0, 1.0))
