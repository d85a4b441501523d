"""The slope of being right on the token difference: by hand, as published, as scikit-learn has it, its properties."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from engine.errors import InputError
from engine.measures.minimal_pairs.length_slope import SEPARATION, length_slope

pairs = st.lists(st.tuples(st.sampled_from([-1, 0, 1]), st.integers(-4, 4)), min_size=1, max_size=40)


def columns(rows: list[tuple[int, int]]) -> tuple[list[int], list[int]]:
    return [decided for decided, _ in rows], [difference for _, difference in rows]


def test_by_hand_from_a_table_of_four_numbers() -> None:
    # Two differences make the curve pass through both shares: 0 tokens 30 right, 10 wrong; 1 token 15 right, 25 wrong.
    #   slope = log(15 / 25) - log(30 / 10) = -1.609438; standard error = sqrt(1/30 + 1/10 + 1/15 + 1/25) = 0.489898
    #   interval = -1.609438 -+ 1.959964 · 0.489898;  intercept = log 3
    decided = [1] * 30 + [-1] * 10 + [1] * 15 + [-1] * 25
    fit = length_slope(decided, [0] * 40 + [1] * 40)
    assert fit.slope == pytest.approx(math.log(15 / 25) - math.log(3), rel=1e-9)
    assert fit.standard_error == pytest.approx(math.sqrt(1 / 30 + 1 / 10 + 1 / 15 + 1 / 25), rel=1e-9)
    assert (fit.ci_low, fit.ci_high) == pytest.approx((-2.569620, -0.649256), abs=1e-6)
    assert fit.intercept == pytest.approx(math.log(3), rel=1e-9)
    assert (fit.n, fit.n_tied, fit.reason) == (80, 0, "")


def test_the_published_fit_of_the_space_shuttles_rings() -> None:
    # Dalal, Fowlkes, Hoadley 1989 (JASA 84), the 23 launches: distress of an O-ring against the temperature in °F.
    # As R's glm gives it: intercept 15.0429 (7.3786), slope -0.2322 (0.1082).
    temperature = [66, 70, 69, 68, 67, 72, 73, 70, 57, 63, 70, 78, 67, 53, 67, 75, 70, 81, 76, 79, 75, 76, 58]
    distress = [0, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 1]
    fit = length_slope([1 if one else -1 for one in distress], temperature)
    assert [round(value, 4) for value in (fit.intercept, fit.slope, fit.standard_error)] == [15.0429, -0.2322, 0.1082]


@settings(max_examples=40)
@given(rows=pairs)
def test_equals_scikit_learn(rows: list[tuple[int, int]]) -> None:
    decided, differences = columns(rows)
    fit = length_slope(decided, differences)
    if fit.reason:
        return
    kept = np.array(decided) != 0
    x, right = np.array(differences)[kept, None], np.array(decided)[kept] == 1
    with warnings.catch_warnings():
        # Where it starts at the optimum it finds no better point, says so, and goes on with another solver.
        warnings.simplefilter("ignore", ConvergenceWarning)
        reference = LogisticRegression(C=np.inf, solver="newton-cholesky", tol=1e-9, max_iter=1000).fit(x, right)
    # its solver stops at a gradient of 1e-9; flat curves turn that into digits of the slope
    assert fit.slope == pytest.approx(reference.coef_[0, 0], abs=1e-4, rel=1e-4)
    assert fit.intercept == pytest.approx(reference.intercept_[0], abs=1e-3, rel=1e-3)


@settings(max_examples=80)
@given(rows=pairs, moved=st.integers(-50, 50))
def test_symmetries(rows: list[tuple[int, int]], moved: int) -> None:
    decided, differences = columns(rows)
    fit = length_slope(decided, differences)
    turned = length_slope([-one for one in decided], [-one for one in differences])
    elsewhere = length_slope(decided, [one + moved for one in differences])
    if fit.reason:
        assert all(math.isnan(value) for value in (fit.slope, fit.standard_error, fit.ci_low, fit.intercept))
        assert turned.reason and elsewhere.reason
        return
    # Sides exchanged: wrong is right and longer is shorter, so the bias is the same.
    assert turned.slope == pytest.approx(fit.slope, abs=1e-6)
    assert elsewhere.slope == pytest.approx(fit.slope, abs=1e-6)
    assert elsewhere.standard_error == pytest.approx(fit.standard_error, rel=1e-5)
    assert fit.ci_low < fit.slope < fit.ci_high


def test_it_finds_the_slope_that_was_put_in() -> None:
    random = np.random.default_rng(3)
    difference = random.integers(-4, 5, 20_000)
    right = random.random(20_000) < 1 / (1 + np.exp(-(0.7 - 0.4 * difference)))
    fit = length_slope(np.where(right, 1, -1), difference)
    assert fit.ci_low < -0.4 < fit.ci_high and fit.ci_high - fit.ci_low < 0.06


def test_ties_are_left_out_and_counted() -> None:
    decided, differences = [1, 1, -1, 1, -1, -1], [-1, 0, 0, 1, 1, 2]
    plain = length_slope(decided, differences)
    tied = length_slope([*decided, 0, 0], [*differences, 9, -9])
    assert (tied.slope, tied.n, tied.n_tied) == (plain.slope, 6, 2)


def test_over_clusters_by_hand() -> None:
    # Five clusters of two pairs at 0 and two at 1; right at 0: 2 2 1 2 1 (8 of 10), at 1: 1 0 1 0 1 (3 of 10).
    # Both shares are fitted, so the sandwich is that of a difference of two log-odds:
    #   u_g = (right_1 - 2 · 0.3) / (10 · 0.3 · 0.7) - (right_0 - 2 · 0.8) / (10 · 0.8 · 0.2)
    #       = 0.4/2.1 - 0.4/1.6, -0.6/2.1 - 0.4/1.6, 0.4/2.1 + 0.6/1.6, -0.6/2.1 - 0.4/1.6, 0.4/2.1 + 0.6/1.6
    #       = -0.059524, -0.535714, 0.565476, -0.535714, 0.565476
    #   s² = 5/4 · Σ u_g² = 5/4 · 1.217049 = 1.521311; s = 1.233415
    at_0, at_1 = ([1, 1], [1, 1], [1, -1], [1, 1], [1, -1]), ([1, -1], [-1, -1], [1, -1], [-1, -1], [1, -1])
    decided = [one for cluster in zip(at_0, at_1, strict=True) for pair in cluster for one in pair]
    fit = length_slope(decided, [0, 0, 1, 1] * 5, clusters=np.repeat(list("abcde"), 4))
    assert fit.slope == pytest.approx(math.log(0.3 / 0.7) - math.log(0.8 / 0.2)) and fit.n_clusters == 5
    assert fit.standard_error == pytest.approx(1.233415, abs=1e-6)
    # Student's t of 4 degrees at 97.5% is 2.776445 (tables)
    assert fit.ci_high - fit.slope == pytest.approx(2.776445 * 1.233415, abs=1e-5)
    assert fit.slope - fit.ci_low == pytest.approx(2.776445 * 1.233415, abs=1e-5)


def test_whole_clusters_that_repeat_a_pair_count_once() -> None:
    random = np.random.default_rng(5)
    difference = random.integers(-3, 4, 400)
    decided = np.where(random.random(400) < 1 / (1 + np.exp(0.5 * difference)), 1, -1)
    each = length_slope(decided, difference, clusters=np.arange(400))
    repeated = length_slope(np.repeat(decided, 9), np.repeat(difference, 9), clusters=np.repeat(np.arange(400), 9))
    assert repeated.standard_error == pytest.approx(each.standard_error)
    assert each.standard_error == pytest.approx(length_slope(decided, difference).standard_error, rel=0.1)
    # nine times the pairs as if they were new ones: a third of the error
    naive = length_slope(np.repeat(decided, 9), np.repeat(difference, 9))
    assert naive.standard_error == pytest.approx(length_slope(decided, difference).standard_error / 3)


@pytest.mark.parametrize("n_templates", [2, 8, 30])
def test_clusters_that_all_decide_alike_have_no_interval(n_templates: int) -> None:
    decided, difference = [1, 1, -1, 1, -1, -1], [-2, -1, -1, 0, 0, 1]
    fit = length_slope(
        decided * n_templates, difference * n_templates, clusters=np.repeat(np.arange(n_templates), len(decided))
    )
    assert np.isfinite(fit.slope) and fit.n_clusters == n_templates
    assert np.isnan([fit.standard_error, fit.ci_low, fit.ci_high]).all()
    # One pair less in one of them, and they differ.
    other = length_slope(
        ([-1, *decided[1:]] + decided * (n_templates - 1)),
        difference * n_templates,
        clusters=np.repeat(np.arange(n_templates), len(decided)),
    )
    assert other.standard_error > 0.01


def test_few_clusters_claim_nothing_and_ties_leave_theirs() -> None:
    decided, differences = [1, 1, -1, 1, -1, -1, 1, -1], [-1, 0, 0, 1, 1, 2, -1, 0]
    four = length_slope(decided, differences, clusters=[1, 1, 2, 2, 3, 3, 4, 4])
    assert four.standard_error > 0 and math.isnan(four.ci_low) and math.isnan(four.ci_high) and not four.reason
    one = length_slope(decided, differences, clusters=[7] * 8)
    assert one.slope == four.slope and math.isnan(one.standard_error) and one.n_clusters == 1
    tied = length_slope([*decided, 0], [*differences, 5], clusters=[1, 1, 2, 2, 3, 3, 4, 4, 5])
    assert (tied.n_clusters, tied.standard_error) == (4, four.standard_error)


def test_the_interval_over_clusters_covers_the_slope() -> None:
    # Answers of one template agree (a normal copula, 0.2), and its pairs often have one difference; the slope over all
    # pairs is -0.3. Of independent pairs the interval covers it in 83%.
    random, n, covered, naive = np.random.default_rng(1), 1000, 0, 0
    clusters = np.repeat(np.arange(40), 20)
    for _ in range(n):
        own = random.integers(-3, 4, (40, 20))
        x = np.where(random.random((40, 20)) < 0.7, random.integers(-3, 4, (40, 1)), own)
        latent = np.sqrt(0.2) * random.normal(size=(40, 1)) + np.sqrt(0.8) * random.normal(size=(40, 20))
        right = np.where(norm.cdf(latent) < 1 / (1 + np.exp(-(0.8 - 0.3 * x))), 1, -1).ravel()
        over, plain = length_slope(right, x.ravel(), clusters=clusters), length_slope(right, x.ravel())
        covered += over.ci_low <= -0.3 <= over.ci_high
        naive += plain.ci_low <= -0.3 <= plain.ci_high
    assert 0.93 <= covered / n <= 0.97 and naive / n < 0.88


@pytest.mark.parametrize(
    ("decided", "differences", "reason"),
    [
        ([1, -1], [0, 1], "a curve needs at least 3 decided pairs; there are 2"),
        ([], [], "a curve needs at least 3 decided pairs; there are 0"),
        ([0, 0, 0, 0], [0, 1, 2, 3], "a curve needs at least 3 decided pairs; there are 0"),
        ([1, -1, 1], [2, 2, 2], "the difference is 2 in every pair"),
        ([1, 1, 1], [0, 1, 2], "every pair that is no tie is right"),
        ([-1, -1, -1], [0, 1, 2], "every pair that is no tie is wrong"),
        ([1, 1, -1, -1], [-1, 0, 1, 2], SEPARATION),
        ([1, 1, -1, -1], [-1, 0, 0, 2], SEPARATION),
        ([-1, 1, 1], [-3, -3, 1], SEPARATION),
    ],
)
def test_no_polite_lies(decided: list[int], differences: list[int], reason: str) -> None:
    fit = length_slope(decided, differences)
    assert math.isnan(fit.slope) and fit.reason == reason


def test_far_outliers_do_not_break_the_fit() -> None:
    decided = [1, -1] * 500 + [1, -1, -1]
    # 500 pairs say "one token more, and it is wrong"; one right at +900 and one wrong at -900 allow no steep curve
    assert abs(length_slope(decided, [0, 1] * 500 + [900, -900, 2]).slope) < 0.01
    # near to separation the curve is steep but there
    assert length_slope([1, -1] * 501, [0, 1] * 500 + [1, 0]).slope == pytest.approx(2 * math.log(1 / 500), rel=1e-9)
    assert abs(length_slope([1, -1, 1, -1], [0, 0, 5, 5]).slope) < 1e-9  # nothing to find


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(InputError, match="got 2 pairs and 1 decisions"):
        length_slope([1], [1, 2])
    with pytest.raises(InputError, match=r"1 \(right\), 0 \(tie\) or -1 \(wrong\)"):
        length_slope([2], [1])
    with pytest.raises(InputError, match="between 0 and 1; got 95"):
        length_slope([1], [1], 95)
    with pytest.raises(InputError, match="got 2 pairs and 1 clusters"):
        length_slope([1, -1], [1, 2], clusters=["t"])
