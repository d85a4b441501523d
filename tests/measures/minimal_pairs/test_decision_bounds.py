"""Decisions that no error can turn: by hand, and tried with errors as large as the bound allows."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import InputError
from engine.measures.minimal_pairs.acceptability import NORMALIZATIONS, decisions, normalized
from engine.measures.minimal_pairs.decision_bounds import (
    ALPHAS,
    largest_error,
    ratios,
    robust_decisions,
    standard_margin,
)


def one(a: float, u: float, bound: float, tokens: tuple[int, int] = (5, 5), characters: tuple[int, int] = (9, 9),
        unigrams: tuple[float, float] | None = None, alphas: tuple[float, float] = ALPHAS) -> bool:
    sums = [] if unigrams is None else [[[unigrams[0]], [unigrams[1]]]]
    found = robust_decisions([[a], [u]], bound, [[tokens[0]], [tokens[1]]], [[characters[0]], [characters[1]]],
                    unigrams=sums, alphas=alphas)
    return bool(found[0])


def test_by_hand() -> None:
    # Equal lengths: every ratio is 1, the margin 1 nat over sqrt(5 + 5): 0.3162
    assert one(-10, -11, 0.3) and not one(-10, -11, 0.32)
    # Lengths 5 and 6: LP prefers A (10 < 11), MeanLP does not (2.0 > 1.83), so some alpha ties: never robust.
    assert not one(-10, -11, 0.0, tokens=(5, 6))
    # Up to alpha 0.5 A wins at both ends: ratio (10/11)^0.5 = 0.9535, -10 + 0.9535 · 11 = 0.4882 nats over sqrt(5 + 6)
    # = 0.1472 (the larger unit of the two); MeanLP: ratio 5/6, -10 + 9.1667 = -0.8333 over sqrt(5 + 25/36 · 6) = 0.2752
    assert one(-10, -11, 0.147, tokens=(5, 6), alphas=(0.0, 0.5))
    assert not one(-10, -11, 0.148, tokens=(5, 6), alphas=(0.0, 0.5))
    # SLOR: (-10 + 30) - (-11 + 30.9) = 0.1 nats over sqrt(10) = 0.0316
    assert one(-10, -11, 0.03, unigrams=(-30, -30.9)) and not one(-10, -11, 0.033, unigrams=(-30, -30.9))


def test_characters_count_too() -> None:
    # 10 / 10 characters against 11 / 12: A loses by -10 + 10/12 · 11 = -0.8333 nats; 11 / 11 is a tie.
    assert one(-10, -11, 0.1, characters=(10, 12)) and not one(-10, -11, 0.0, characters=(10, 11))


def test_a_standard_margin_is_the_decision_whatever_the_normalisation() -> None:
    random = np.random.default_rng(0)
    tokens = random.integers(1, 12, (2, 300))
    characters, unigrams = tokens + random.integers(1, 9, (2, 300)), -random.exponential(6, (2, 300)) * tokens
    scores = -random.exponential(3, (2, 300)) * tokens
    by_name = ratios(tokens, characters, (0.8, 0.8))
    for which in NORMALIZATIONS:
        ratio = by_name[{"PenLP": "PenLP least", "SLOR": "MeanLP"}.get(which, which)]
        margin = standard_margin(scores - unigrams if which == "SLOR" else scores, tokens, ratio)
        decided = decisions(*(normalized(scores[side], tokens[side], which, unigrams=unigrams[side],
                                         n_characters=characters[side]) for side in (0, 1)), np.zeros(300, dtype=bool))
        np.testing.assert_array_equal(np.sign(margin), decided)


@settings(max_examples=200)
@given(seed=st.integers(0, 10**6), size=st.sampled_from([1e-3, 0.05, 0.5]), same=st.booleans())
def test_no_error_within_the_bound_turns_a_settled_pair(seed: int, size: float, same: bool) -> None:
    random = np.random.default_rng(seed)
    n = 60
    tokens = random.integers(1, 9, (2, n))
    if same:
        tokens[1] = tokens[0]
    characters = tokens + random.integers(1, 9, (2, n))
    true = -random.exponential(3, (2, n)) * tokens
    unigrams = -random.exponential(6, (2, n)) * tokens
    coarse = true + random.normal(0, size, (2, n)) * np.sqrt(tokens)
    bound = largest_error(coarse, true, tokens, characters)
    found = robust_decisions(coarse, bound, tokens, characters, unigrams=[unigrams])
    for which in NORMALIZATIONS:
        # at the ends of alpha the bound was measured; between them another error could be a little larger
        for alpha in ALPHAS if which == "PenLP" else (0.8,):
            decided = [decisions(*(normalized(sums[side], tokens[side], which, alpha=alpha, unigrams=unigrams[side],
                                              n_characters=characters[side]) for side in (0, 1)), np.zeros(n))
                       for sums in (true, coarse)]
            np.testing.assert_array_equal(decided[0][found], decided[1][found])


@settings(max_examples=100)
@given(seed=st.integers(0, 10**6), bound=st.sampled_from([0.0, 0.05, 0.5]))
def test_between_the_ends_of_alpha_the_margin_stays_beyond_the_bound(seed: int, bound: float) -> None:
    random = np.random.default_rng(seed)
    tokens = random.integers(1, 15, (2, 60))
    scores = -random.exponential(3, (2, 60)) * tokens
    found = robust_decisions(scores, bound, tokens, tokens)
    winner = np.sign(scores[0] - scores[1])
    for alpha in np.linspace(*ALPHAS, 21):
        margin = standard_margin(scores, tokens, ratios(tokens, tokens, (alpha, alpha))["PenLP most"])
        assert (np.abs(margin[found]) > bound).all()
        np.testing.assert_array_equal(np.sign(margin[found]), winner[found])


def test_small_errors_settle_most_and_large_ones_none() -> None:
    random = np.random.default_rng(1)
    tokens = np.tile(random.integers(3, 12, 500), (2, 1))
    scores = -random.exponential(3, (2, 500)) * tokens
    shares = [robust_decisions(scores, bound, tokens, tokens * 3).mean() for bound in (0.0, 0.01, 1.0, 1e3)]
    assert shares[0] == 1 and shares[1] > 0.97 and shares[1] > shares[2] > shares[3] == 0


def test_the_largest_error_by_hand_and_its_scale() -> None:
    # 0.3 nats off in A of 4 tokens, 0.1 the other way in U of 9, 9 characters each, alpha 1 to 1:
    #   LP 0.4 / sqrt(13) = 0.1109; MeanLP (0.3 + 4/9 · 0.1) / sqrt(4 + 16/81 · 9) = 0.1433; PenLP 9/14: 0.1319
    found = largest_error([[-10.0], [-20.0]], [[-10.3], [-19.9]], [[4], [9]], [[9], [9]], (1.0, 1.0))
    assert found == pytest.approx((0.3 + 4 / 90) / math.sqrt(4 + 16 / 9), rel=1e-9)
    # Errors of one size per square root of a token have one size as margins, however long the sentences are.
    random = np.random.default_rng(2)
    sizes = []
    for n_tokens in (5, 50):
        tokens = np.full((2, 4000), n_tokens)
        scores = -3.0 * tokens
        off = random.normal(0, 0.02, (2, 4000)) * np.sqrt(tokens)
        sizes.append(largest_error(scores + off, scores, tokens, tokens))
    assert sizes[0] == pytest.approx(sizes[1], rel=0.25) and 0.05 < sizes[0] < 0.1  # the largest of 4,000, 3.5 sigma


def test_what_is_not_finite_settles_nothing() -> None:
    assert not one(-math.inf, -5, 0.0) and not one(math.nan, -5, 0.1) and not one(-4, -5, math.inf)
    assert not one(-5, -5, 0.0)  # a tie may turn with any error
    assert largest_error([[math.nan], [-1.0]], [[-2.0], [-1.0]], [[3], [3]], [[5], [5]]) == math.inf
    assert largest_error([[-math.inf], [-1.0]], [[-math.inf], [-1.0]], [[3], [3]], [[5], [5]]) == math.inf
    empty = np.empty((2, 0))
    assert robust_decisions(empty, 0.1, empty, empty).tolist() == [] and largest_error(empty, empty, empty, empty) == 0


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(InputError, match=r"arrays of shape \(2, n_pairs\)"):
        robust_decisions([-1.0], 0.1, [3], [5])
    with pytest.raises(InputError, match="An error is 0 or more"):
        one(-1, -2, -0.1)
    with pytest.raises(InputError, match="the least first"):
        one(-1, -2, 0.1, alphas=(2.0, 1.0))
    with pytest.raises(InputError, match="at least one token"):
        one(-1, -2, 0.1, tokens=(0, 3))
    with pytest.raises(InputError, match="and a ratio each"):
        standard_margin([[-1.0], [-2.0]], [[1], [1]], [1.0, 1.0])
