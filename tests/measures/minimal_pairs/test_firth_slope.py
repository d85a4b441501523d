"""Firth's penalised slope: by hand, against the penalised likelihood itself, in the limit, its symmetries."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.stats import chi2

from engine.errors import InputError
from engine.measures.minimal_pairs.firth_slope import firth_slope
from engine.measures.minimal_pairs.length_slope import length_slope

pairs = st.lists(st.tuples(st.sampled_from([-1, 1]), st.integers(-4, 4)), min_size=3, max_size=30)


def penalised(decided: list[int], differences: list[int], intercept: float, slope: float) -> float:
    """The penalised log-likelihood, pair by pair as it is defined."""
    x, right = np.array(differences, dtype=float), np.array(decided) == 1
    log_odds = intercept + slope * x
    p = 1 / (1 + np.exp(-log_odds))
    design = np.stack([np.ones_like(x), x], axis=1)
    information = design.T @ (design * (p * (1 - p))[:, None])
    return float(
        np.where(right, -np.logaddexp(0, -log_odds), -np.logaddexp(0, log_odds)).sum()
        + 0.5 * np.linalg.slogdet(information)[1]
    )


@pytest.mark.parametrize("counts", [(10, 0, 0, 10), (0, 7, 7, 0), (5, 0, 9, 0), (30, 10, 15, 25)])
def test_by_hand_two_differences_are_a_table_with_a_half_added_to_each_count(counts: tuple[int, ...]) -> None:
    # Firth's penalty is Jeffreys' prior: for a table of four counts it adds 1/2 to each (Heinze and Schemper 2002).
    #   slope = log((right at 1 + 1/2) / (wrong at 1 + 1/2)) - log((right at 0 + 1/2) / (wrong at 0 + 1/2))
    right_0, wrong_0, right_1, wrong_1 = counts
    fit = firth_slope(
        [1] * right_0 + [-1] * wrong_0 + [1] * right_1 + [-1] * wrong_1,
        [0] * (right_0 + wrong_0) + [1] * (right_1 + wrong_1),
    )
    at_0, at_1 = math.log((right_0 + 0.5) / (wrong_0 + 0.5)), math.log((right_1 + 0.5) / (wrong_1 + 0.5))
    assert (fit.intercept, fit.slope, fit.n) == (
        pytest.approx(at_0, abs=1e-7),
        pytest.approx(at_1 - at_0, abs=1e-7),
        sum(counts),
    )


@pytest.mark.parametrize(
    ("decided", "differences"),
    [
        ([1, 1, 1, -1, -1, -1], [-2, -1, -1, 0, 1, 3]),
        ([1, 1, -1, 1, -1, -1], [-2, -1, 0, 0, 1, 3]),
        ([1, 1, 1, 1, 1], [-1, 0, 0, 1, 5]),
    ],
)
def test_the_estimate_is_the_maximum_and_the_interval_is_where_its_profile_has_fallen(
    decided: list[int], differences: list[int]
) -> None:
    fit = firth_slope(decided, differences)
    best = minimize(
        lambda beta: -penalised(decided, differences, *beta),
        [0, 0],
        method="Nelder-Mead",
        options={"xatol": 1e-9, "fatol": 1e-12, "maxiter": 4000},
    )
    assert (fit.intercept, fit.slope) == pytest.approx(tuple(best.x), abs=1e-5)  # the simplex stops at 1e-9 of l*
    for end in (fit.ci_low, fit.ci_high):
        profile = minimize(
            lambda beta, end=end: -penalised(decided, differences, beta[0], end),
            [fit.intercept],
            method="Nelder-Mead",
            options={"xatol": 1e-9, "fatol": 1e-12},
        )
        assert 2 * (profile.fun - best.fun) == pytest.approx(chi2.ppf(0.95, 1), abs=1e-4)
    assert fit.ci_low < fit.slope < fit.ci_high


def test_it_is_finite_and_clearly_negative_where_the_bias_is_total() -> None:
    decided, differences = [1] * 20 + [-1] * 20, [*range(-20, 0), *range(1, 21)]
    assert length_slope(decided, differences).reason.startswith("one difference parts")
    fit = firth_slope(decided, differences)
    assert math.isfinite(fit.ci_low) and fit.ci_low < fit.slope < fit.ci_high < 0


def test_with_many_pairs_it_is_the_maximum_likelihood_slope() -> None:
    random = np.random.default_rng(3)
    difference = random.integers(-4, 5, 20_000)
    decided = np.where(random.random(20_000) < 1 / (1 + np.exp(-(0.7 - 0.4 * difference))), 1, -1)
    fit, plain = firth_slope(decided, difference), length_slope(decided, difference)
    assert fit.slope == pytest.approx(plain.slope, abs=1e-4)  # the penalty's effect is of the order 1 / n
    assert (fit.ci_low, fit.ci_high) == pytest.approx((plain.ci_low, plain.ci_high), abs=1e-3)


@settings(max_examples=30, deadline=None)
@given(rows=pairs, moved=st.integers(-50, 50))
def test_symmetries(rows: list[tuple[int, int]], moved: int) -> None:
    decided, differences = [one for one, _ in rows], [other for _, other in rows]
    assume(len(set(differences)) > 1)
    fit = firth_slope(decided, differences)
    turned = firth_slope([-one for one in decided], [-one for one in differences])
    elsewhere = firth_slope([*decided, 0], [*(one + moved for one in differences), 900])  # the tie is left out
    assert turned.slope == pytest.approx(fit.slope, abs=1e-5)
    assert elsewhere.slope == pytest.approx(fit.slope, abs=1e-5) and elsewhere.n == fit.n
    assert fit.ci_low < fit.slope < fit.ci_high


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(InputError, match="got 2 pairs and 1 decisions"):
        firth_slope([1], [1, 2])
    with pytest.raises(InputError, match=r"1 \(right\), 0 \(tie\) or -1 \(wrong\)"):
        firth_slope([2, 1], [1, 2])
    with pytest.raises(InputError, match="at least 2 differences; there are 1"):
        firth_slope([1, -1, 0], [1, 1, 2])
