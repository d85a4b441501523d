"""Thresholds, MCC and calibration of scores against judgements: by hand, beside scikit-learn, and by properties."""

from __future__ import annotations

import math
import warnings
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.calibration import calibration_curve
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, matthews_corrcoef

from engine.errors import InputError
from engine.measures.minimal_pairs.judged_sentences import (
    HeldOut,
    best_threshold,
    brier_score,
    calibration_error,
    held_out,
    matthews_correlation,
    partition_spread,
    reliability,
)

scored = st.lists(st.tuples(st.sampled_from([-4.0, -3.0, -2.5, -1.0, 0.5]), st.booleans()), min_size=2, max_size=20)


def reference_mcc(acceptable: np.ndarray, predicted: np.ndarray) -> float:
    """scikit-learn's, which warns where all are alike."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return float(matthews_corrcoef(acceptable, predicted))


def sample(n: int = 200, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    acceptable = random.random(n) < 0.7
    return random.normal(np.where(acceptable, -40, -45), 5), acceptable


@given(scored)
def test_no_threshold_has_a_higher_mcc(rows: list[tuple[float, bool]]) -> None:
    scores, acceptable = (np.array(column) for column in zip(*rows, strict=True))
    every = [-np.inf, *(scores + 1e-6)]
    threshold = best_threshold(scores, acceptable)
    assert reference_mcc(acceptable, scores >= threshold) == pytest.approx(
        max(0.0, *(reference_mcc(acceptable, scores >= cut) for cut in every)), abs=1e-9
    )


@pytest.mark.parametrize("counts", list(product([0, 3, 7], repeat=4))[1:])
def test_mcc_is_that_of_scikit_learn(counts: tuple[int, ...]) -> None:
    predicted = np.repeat([True, True, False, False], counts)
    acceptable = np.repeat([True, False, True, False], counts)
    value, low, high = matthews_correlation(predicted, acceptable)
    assert value == pytest.approx(reference_mcc(acceptable, predicted), abs=1e-12)
    assert -1 <= low <= value + 1e-9 and value - 1e-9 <= high <= 1


def test_mcc_by_hand_and_its_interval_by_resampling_the_sentences() -> None:
    # TP 6, FP 1, FN 2, TN 3: (18 - 2) / √(7 · 8 · 4 · 5) = 16 / √1120
    predicted, acceptable = np.repeat([True, True, False, False], [6, 1, 2, 3]), np.repeat([1, 0, 1, 0], [6, 1, 2, 3])
    value, low, high = matthews_correlation(predicted, acceptable, resamples=20000)
    assert value == pytest.approx(16 / math.sqrt(1120), rel=1e-12)
    random = np.random.default_rng(1)
    drawn = [reference_mcc(acceptable[rows], predicted[rows]) for rows in random.integers(12, size=(2000, 12))]
    # two bootstraps of the same sentences: their quantiles differ by chance
    assert (low, high) == (
        pytest.approx(np.quantile(drawn, 0.025), abs=0.06),
        pytest.approx(np.quantile(drawn, 0.975), abs=0.03),
    )


def test_each_part_is_judged_by_the_others() -> None:
    scores, acceptable = sample()
    fit = held_out(scores, acceptable, 4, seed=3)
    sizes = np.bincount(fit.part)
    assert sizes.tolist() == [50] * 4
    assert np.ptp(np.bincount(fit.part, weights=acceptable)) <= 1
    for number in range(4):
        own, other = fit.part == number, fit.part != number
        threshold = best_threshold(scores[other], acceptable[other])
        assert (fit.threshold[own] == threshold).all()
        np.testing.assert_array_equal(fit.predicted[own], scores[own] >= threshold)
        # Platt's targets are a logistic regression in which every sentence is both classes, by its target
        n, n_other = acceptable[other].sum(), (~acceptable[other]).sum()
        targets = np.where(acceptable[other], (n + 1) / (n + 2), 1 / (n_other + 2))
        x = (scores[other, None] + 42) / 5
        reference = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(
            np.concatenate([x, x]), np.repeat([1, 0], len(x)), sample_weight=np.concatenate([targets, 1 - targets])
        )
        # the tolerance of scikit-learn's solver
        np.testing.assert_allclose(
            fit.probability[own], reference.predict_proba((scores[own, None] + 42) / 5)[:, 1], atol=1e-5
        )


def test_parts_follow_the_seed_and_a_rising_line_changes_nothing() -> None:
    scores, acceptable = sample()
    first, moved, other = (
        held_out(scores, acceptable),
        held_out(3 * scores + 7, acceptable),
        held_out(scores, acceptable, seed=1),
    )
    np.testing.assert_array_equal(first.part, moved.part)
    np.testing.assert_array_equal(first.predicted, moved.predicted)
    np.testing.assert_allclose(first.probability, moved.probability, rtol=1e-8)
    assert (first.part != other.part).any()


def test_edges_of_the_parts() -> None:
    acceptable = np.array([True] * 6 + [False] * 4)
    constant = held_out(np.full(10, -3.0), acceptable, 2)
    assert constant.predicted.all() and np.isneginf(constant.threshold).all() and np.ptp(constant.probability) == 0
    separated = held_out(np.arange(10.0)[::-1], acceptable, 2)
    assert np.isfinite(separated.probability).all()  # without Platt's targets the slope would be infinite
    few = held_out(np.arange(10.0), acceptable, 5)
    assert few.reason == "5 parts need 5 sentences of each judgement; there are 4 of one"
    assert np.isnan(few.probability).all() and (few.part == -1).all()
    with pytest.raises(InputError, match="at least 2 parts; got 1"):
        held_out([1.0, 2.0], [True, False], 1)
    with pytest.raises(InputError, match="1 of 2 scores are not finite"):
        held_out([1.0, -np.inf], [True, False])
    with pytest.raises(InputError, match="one number and one judgement; got 2 and 1"):
        best_threshold([1.0, 2.0], [True])
    with pytest.raises(InputError, match="one judgement; got 2 and 1"):
        matthews_correlation([True, False], [True])


def test_calibration_is_that_of_scikit_learn() -> None:
    scores, acceptable = sample(500)
    p = held_out(scores, acceptable).probability
    assert brier_score(p, acceptable) == pytest.approx(brier_score_loss(acceptable, p), rel=1e-12)
    bins = reliability(p, acceptable)
    share, mean = calibration_curve(acceptable, p, n_bins=10, strategy="uniform")
    filled = bins.n > 0
    np.testing.assert_allclose(bins.share[filled], share, rtol=1e-12)
    np.testing.assert_allclose(bins.probability[filled], mean, rtol=1e-12)
    assert calibration_error(bins) == pytest.approx(float(np.abs(share - mean) @ bins.n[filled] / 500), rel=1e-12)
    assert bins.n.sum() == 500 and bins.n_acceptable.sum() == acceptable.sum()
    # drawn from the model that is fitted: nearly calibrated, and better than the share alone
    assert calibration_error(bins) < 0.06 and brier_score(p, acceptable) < acceptable.mean() * (1 - acceptable.mean())


def test_the_ends_of_the_bins() -> None:
    bins = reliability([0.0, 0.5, 1.0], [False, True, True], bins=2)
    assert bins.n.tolist() == [1, 2] and bins.share.tolist() == [0.0, 1.0]
    assert math.isnan(brier_score([], [])) and math.isnan(calibration_error(reliability([], [])))


def test_the_spread_is_that_of_the_numbers_of_each_partition() -> None:
    scores, acceptable = sample(120)
    inside = np.arange(120) % 3 > 0
    fits = [held_out(scores, acceptable, seed=seed) for seed in range(4)]
    each = np.array(
        [
            (
                matthews_correlation(fit.predicted[inside], acceptable[inside])[0],
                (fit.predicted == acceptable)[inside].mean(),
                fit.threshold.mean(),
                brier_score(fit.probability[inside], acceptable[inside]),
                calibration_error(reliability(fit.probability[inside], acceptable[inside])),
            )
            for fit in fits
        ]
    )  # (4, 5)
    spread = partition_spread(fits, acceptable, inside)
    np.testing.assert_allclose(
        [spread.mcc, spread.accuracy, spread.threshold, spread.brier, spread.ece], each.std(axis=0, ddof=1), atol=1e-12
    )
    assert spread.brier > 0 and spread.mcc > 0


def test_by_hand_two_partitions_differ_by_one_verdict() -> None:
    # 3 of 4 and 4 of 4 right: half their difference times the root of 2.
    def fit(predicted: list[bool]) -> HeldOut:
        return HeldOut(np.arange(4) % 2, np.zeros(4), np.array(predicted), np.full(4, 0.5))

    spread = partition_spread(
        [fit([True, True, False, False]), fit([True, True, True, False])], [True, True, False, False]
    )
    assert spread.accuracy == pytest.approx(0.25 / math.sqrt(2)) and spread.threshold == spread.brier == spread.ece == 0
    assert spread.mcc == pytest.approx((1 - 1 / math.sqrt(3)) / math.sqrt(2))  # 2 / √12 and 1


def test_a_spread_without_a_fit_or_a_second_partition_is_none() -> None:
    scores, acceptable = sample(30)
    one = held_out(scores, acceptable)
    with pytest.raises(InputError, match="at least 2"):
        partition_spread([one], acceptable)
    with pytest.raises(InputError, match="one part in every partition"):
        partition_spread([one, one], acceptable[:5])
    none = partition_spread([one, held_out(scores, np.ones(30, dtype=bool))], acceptable)
    nobody = partition_spread([one, one], acceptable, np.zeros(30, dtype=bool))
    assert np.isnan([none.mcc, none.brier, nobody.accuracy, nobody.ece]).all()
    one_judgement = partition_spread([one, one], acceptable, acceptable)
    assert math.isnan(one_judgement.mcc) and one_judgement.accuracy == 0
