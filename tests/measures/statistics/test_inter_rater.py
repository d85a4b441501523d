"""Krippendorff's alpha: his worked examples, properties, and the coverage of its interval."""

from __future__ import annotations

import math
from typing import Literal

import krippendorff
import numpy as np
import pytest

from engine.errors import InputError
from engine.measures.statistics.inter_rater import krippendorff_alpha

NAN = math.nan
# Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability", example C: 4 observers, 12 units.
EXAMPLE_C = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
    [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
]


@pytest.mark.parametrize(("level", "expected"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_the_published_example_with_missing_ratings(level: str, expected: float) -> None:
    alpha = krippendorff_alpha(EXAMPLE_C, level)
    assert alpha.value == pytest.approx(expected, abs=0.0005)
    assert (alpha.n, alpha.n_ratings) == (11, 40)  # the last unit has one rating only
    assert alpha.ci_low < alpha.value < alpha.ci_high <= 1


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
@pytest.mark.parametrize("missing", [0.0, 0.35, 0.7])
def test_equals_the_package_krippendorff(level: Literal["nominal", "ordinal", "interval"], missing: float) -> None:
    for seed in range(5):
        random = np.random.default_rng(seed)
        ratings = np.clip(random.integers(0, 7, 40) + random.integers(-2, 3, (4, 40)), 0, 6).astype(float)
        ratings[random.random(ratings.shape) < missing] = NAN
        expected = krippendorff.alpha(reliability_data=ratings, level_of_measurement=level)
        assert krippendorff_alpha(ratings, level, resamples=1).value == pytest.approx(expected, abs=1e-12)


def test_two_raters_by_hand() -> None:
    # Values 0, 0, 1, 1 by one and 0, 1, 1, 1 by the other: o_01 = o_10 = 1, n_0 = 3, n_1 = 5, n = 8.
    # D_o = 2/8, D_e = 2 * 15 / 56, alpha = 1 - 14/30.
    for level in ("nominal", "interval"):
        assert krippendorff_alpha([[0, 0, 1, 1], [0, 1, 1, 1]], level).value == pytest.approx(1 - 14 / 30)


def test_who_rates_and_in_which_order_makes_no_difference() -> None:
    ratings = np.array(EXAMPLE_C)
    shuffled = ratings[[2, 0, 3, 1]][:, ::-1]
    assert krippendorff_alpha(shuffled).value == pytest.approx(krippendorff_alpha(ratings).value)
    assert krippendorff_alpha(7 - ratings).value == pytest.approx(krippendorff_alpha(ratings).value)


def test_full_agreement_is_one_and_chance_is_near_zero() -> None:
    drawn = np.random.default_rng(1).integers(0, 6, (2, 4000))
    assert krippendorff_alpha(drawn[[0, 0]]).value == 1.0 == krippendorff_alpha([range(101)] * 2).value
    assert abs(krippendorff_alpha(drawn).value) < 0.05


def test_nothing_in_common_and_nothing_that_differs_are_undefined_with_the_reason() -> None:
    assert krippendorff_alpha([[1, NAN], [NAN, 2]]).reason == "no item was rated by two raters"
    same = krippendorff_alpha([[3, 3], [3, 3]])
    assert math.isnan(same.value) and same.reason == "every rating is the same" and same.n == 2


def test_the_interval_covers_the_alpha_of_many_items() -> None:
    generator = np.random.default_rng(5)

    def rated(n_items: int) -> np.ndarray:
        truth = generator.integers(0, 6, n_items)
        return np.clip(truth + generator.integers(-1, 2, (2, n_items)), 0, 5)

    true_value = krippendorff_alpha(rated(200_000), "interval", resamples=1).value
    intervals = [krippendorff_alpha(rated(60), "interval", resamples=300, seed=i) for i in range(200)]
    covered = np.mean([alpha.ci_low <= true_value <= alpha.ci_high for alpha in intervals])
    assert 0.89 <= covered <= 0.98  # percentile intervals of 60 items are a little short of 95%


@pytest.mark.parametrize(
    ("ratings", "level"),
    [
        ([1, 2], "ordinal"),
        ([[1, math.inf]], "ordinal"),
        ([[1, 2], [1, 2]], "ratio"),
        ([range(102), range(102)], "ordinal"),
    ],
)
def test_what_cannot_be_rated_is_an_error(ratings: object, level: str) -> None:
    with pytest.raises(InputError):
        krippendorff_alpha(ratings, level)  # type: ignore[arg-type]
