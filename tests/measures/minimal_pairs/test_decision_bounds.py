"""Decisions that no error can turn: by hand, and tried with errors as large as the bound allows."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import InputError
from engine.measures.minimal_pairs.acceptability import decisions
from engine.measures.minimal_pairs.decision_bounds import BOUNDED, largest_error, least_margins, ratios, standard_margin
from tests.measures.minimal_pairs.normalized import normalized


def least(
    a: float,
    u: float,
    *normalizations: str,
    tokens: tuple[int, int] = (5, 5),
    characters: tuple[int, int] = (9, 9),
    size: tuple[int, int] = (9, 9),
    unigrams: tuple[float, float] | None = None,
    alpha: float = 0.8,
) -> float:
    """The least margin of one pair."""
    corpora = [] if unigrams is None else [[[unigrams[0]], [unigrams[1]]]]
    margins = least_margins(
        [[a], [u]],
        [[tokens[0]], [tokens[1]]],
        [[characters[0]], [characters[1]]],
        [[size[0]], [size[1]]],
        normalizations=normalizations or BOUNDED,
        alpha=alpha,
        unigrams=corpora,
    )
    return float(margins[0])


def test_by_hand() -> None:
    # Equal lengths: every ratio is 1, the margin 1 nat over sqrt(5 + 5)
    assert least(-10, -11) == pytest.approx(1 / math.sqrt(10))
    # 5 and 6 tokens. LP: 1 nat over sqrt(5 + 6) = 0.3015. MeanLP: ratio 5/6, -10 + 9.1667 = -0.8333 nats over
    # sqrt(5 + 25/36 · 6) = 0.2752. PenLP at alpha 0.5: ratio (10/11)^0.5 = 0.9535, -10 + 10.4881 = 0.4881 over
    # sqrt(5 + 10/11 · 6) = 0.1510; per character as LP
    assert least(-10, -11, "LP", tokens=(5, 6)) == pytest.approx(1 / math.sqrt(11))
    assert least(-10, -11, "LP", "MeanLP", tokens=(5, 6)) == pytest.approx(0.2752, abs=5e-5)
    assert least(-10, -11, "LP", "MeanLP", "PenLP", tokens=(5, 6), alpha=0.5) == pytest.approx(0.1510, abs=5e-5)
    # At alpha 0 PenLP is LP
    assert least(-10, -11, "PenLP", tokens=(5, 6), alpha=0) == pytest.approx(1 / math.sqrt(11))
    # SLOR: (-10 + 30) - (-11 + 30.9) = 0.1 nats over sqrt(10), and only where it is asked for
    assert least(-10, -11, unigrams=(-30, -30.9)) == pytest.approx(0.1 / math.sqrt(10))
    assert least(-10, -11, "LP", unigrams=(-30, -30.9)) == pytest.approx(1 / math.sqrt(10))
    assert least(-10, -11, "SLOR") == math.inf  # no corpus, no score


def test_characters_count_too() -> None:
    # 10 / 10 characters against 11 / 12: A loses by -10 + 10/12 · 11 = -0.8333 nats; 11 / 11 is a tie.
    assert least(-10, -11, "per character", characters=(10, 12)) == pytest.approx(
        (10 - 110 / 12) / math.sqrt(5 + 5 * 100 / 144)
    )
    assert least(-10, -11, characters=(10, 11)) == pytest.approx(0, abs=1e-12)
    assert least(-10, -11, size=(20, 22)) == pytest.approx(0, abs=1e-12)  # so are 11 bytes for each nat


def test_the_square_root_of_the_lengths_counts_under_slln_lp() -> None:
    # 4 and 9 tokens: ratio sqrt(4 / 9) = 2/3, -10 + 2/3 · 12 = -2 nats over sqrt(4 + 4/9 · 9) = sqrt 8
    assert least(-10, -12, "SLLN-LP", tokens=(4, 9)) == pytest.approx(2 / math.sqrt(8))


@pytest.mark.parametrize("empty", range(3))
def test_a_sentence_has_one_token_one_character_and_one_byte_at_least(empty: int) -> None:
    counts = [[[1], [1]] for _ in range(3)]
    assert all(ratio.tolist() == [1.0] for ratio in ratios(*counts).values())
    counts[empty] = [[1], [0]]
    with pytest.raises(InputError, match="at least one token and one character"):
        ratios(*counts)


def test_a_standard_margin_is_the_decision_whatever_the_normalisation() -> None:
    random = np.random.default_rng(0)
    tokens = random.integers(1, 12, (2, 300))
    characters, unigrams = tokens + random.integers(1, 9, (2, 300)), -random.exponential(6, (2, 300)) * tokens
    scores = -random.exponential(3, (2, 300)) * tokens
    for which, ratio in ratios(tokens, characters, 3 * characters).items():
        margin = standard_margin(scores - unigrams if which == "SLOR" else scores, tokens, ratio)
        decided = decisions(
            *(
                normalized(
                    scores[side],
                    tokens[side],
                    which,
                    unigrams=unigrams[side],
                    characters=characters[side],
                    bytes=3 * characters[side],
                )
                for side in (0, 1)
            ),
            np.zeros(300, dtype=bool),
        )
        np.testing.assert_array_equal(np.sign(margin), decided)


@settings(max_examples=200)
@given(
    seed=st.integers(0, 10**6),
    size=st.sampled_from([1e-3, 0.05, 0.5]),
    same=st.booleans(),
    alpha=st.sampled_from([0.0, 0.35, 0.8, 2.0]),
    names=st.lists(st.sampled_from(BOUNDED), min_size=1, unique=True),
)
def test_no_error_below_the_least_margin_turns_a_pair(
    seed: int, size: float, same: bool, alpha: float, names: list[str]
) -> None:
    random = np.random.default_rng(seed)
    n = 60
    tokens = random.integers(1, 9, (2, n))
    if same:
        tokens[1] = tokens[0]
    characters = tokens + random.integers(1, 9, (2, n))
    true = -random.exponential(3, (2, n)) * tokens
    unigrams = -random.exponential(6, (2, n)) * tokens
    coarse = true + random.normal(0, size, (2, n)) * np.sqrt(tokens)
    bound = largest_error(coarse, true, tokens, characters, 3 * characters, names, alpha)
    robust = (
        least_margins(
            coarse, tokens, characters, 3 * characters, normalizations=names, alpha=alpha, unigrams=[unigrams]
        )
        > bound
    )
    for which in names:
        decided = [
            decisions(
                *(
                    normalized(
                        sums[side],
                        tokens[side],
                        which,
                        alpha=alpha,
                        unigrams=unigrams[side],
                        characters=characters[side],
                        bytes=3 * characters[side],
                    )
                    for side in (0, 1)
                ),
                np.zeros(n),
            )
            for sums in (true, coarse)
        ]
        np.testing.assert_array_equal(decided[0][robust], decided[1][robust])


def test_small_errors_settle_most_and_large_ones_none() -> None:
    random = np.random.default_rng(1)
    tokens = np.tile(random.integers(3, 12, 500), (2, 1))
    scores = -random.exponential(3, (2, 500)) * tokens
    margins = least_margins(scores, tokens, tokens * 3, tokens * 3)
    shares = [(margins > bound).mean() for bound in (0.0, 0.01, 1.0, 1e3)]
    assert shares[0] == 1 and shares[1] > 0.97 and shares[1] > shares[2] > shares[3] == 0


def test_the_largest_error_by_hand_and_its_scale() -> None:
    # 0.3 nats off in A of 4 tokens, 0.1 the other way in U of 9, 9 characters each, alpha 1:
    #   LP 0.4 / sqrt(13) = 0.1109; MeanLP (0.3 + 4/9 · 0.1) / sqrt(4 + 16/81 · 9) = 0.1433; PenLP 9/14: 0.1319
    found = largest_error([[-10.0], [-20.0]], [[-10.3], [-19.9]], [[4], [9]], [[9], [9]], [[9], [9]], BOUNDED, 1.0)
    assert found == pytest.approx((0.3 + 4 / 90) / math.sqrt(4 + 16 / 9), rel=1e-9)
    # Errors of one size per square root of a token have one size as margins, however long the sentences are.
    random = np.random.default_rng(2)
    sizes = []
    for n_tokens in (5, 50):
        tokens = np.full((2, 4000), n_tokens)
        scores = -3.0 * tokens
        off = random.normal(0, 0.02, (2, 4000)) * np.sqrt(tokens)
        sizes.append(largest_error(scores + off, scores, tokens, tokens, tokens))
    assert sizes[0] == pytest.approx(sizes[1], rel=0.25) and 0.05 < sizes[0] < 0.1  # the largest of 4,000, 3.5 sigma


def test_what_is_not_finite_settles_nothing() -> None:
    assert least(-math.inf, -5) == least(math.nan, -5) == least(-5, -5) == 0
    assert largest_error([[math.nan], [-1.0]], [[-2.0], [-1.0]], [[3], [3]], [[5], [5]], [[5], [5]]) == math.inf
    assert largest_error([[-math.inf], [-1.0]], [[-math.inf], [-1.0]], [[3], [3]], [[5], [5]], [[5], [5]]) == math.inf
    empty = np.empty((2, 0))
    assert least_margins(empty, empty, empty, empty).tolist() == []
    assert largest_error(empty, empty, empty, empty, empty) == 0


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(InputError, match=r"arrays of shape \(2, n_pairs\)"):
        least_margins([-1.0], [3], [5], [5])
    with pytest.raises(InputError, match="alpha is 0 or more"):
        least(-1, -2, alpha=-0.5)
    with pytest.raises(InputError, match="Unknown normalisation 'P'"):
        least(-1, -2, "P")
    with pytest.raises(InputError, match="at least one token"):
        least(-1, -2, tokens=(0, 3))
    with pytest.raises(InputError, match="and a ratio each"):
        standard_margin([[-1.0], [-2.0]], [[1], [1]], [1.0, 1.0])
