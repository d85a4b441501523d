"""The gain of a predictor of reading times: the challenge's arithmetic, by hand, held-out likelihoods, properties."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from engine.errors import InputError
from engine.measures.reading_times import NO_SPREAD, NOT_FURTHER, NOT_HELD_OUT, TOO_FEW, gain


def words(n_items: int = 12, n_words: int = 9, effect: float = 4.0, seed: int = 0) -> dict[str, np.ndarray]:
    """Reading times that depend on surprisal, frequency and length, with a share that the words of an item have."""
    draw = np.random.default_rng(seed)
    n = n_items * n_words
    items = np.repeat(np.arange(n_items), n_words)
    frequency, length, place = (
        draw.normal(3, 1, n),
        draw.integers(1, 12, n).astype(float),
        np.tile(np.arange(n_words), n_items),
    )
    surprisal = 9 - 1.5 * frequency + draw.normal(0, 2, n)
    times = (
        220
        + effect * surprisal
        + 3 * length
        - 5 * frequency
        + draw.normal(0, 25, n)
        + draw.normal(0, 5, n_items)[items]
    )
    return {
        "times": times,
        "surprisal": surprisal,
        "frequency": frequency,
        "length": length,
        "place": place.astype(float),
        "items": items,
    }


def least_squares(y: np.ndarray, columns: list[np.ndarray]) -> tuple[float, np.ndarray, np.ndarray, float]:
    """R², coefficients, t values and AIC of y on a constant and columns, by the normal equations alone."""
    design = np.column_stack([np.ones(len(y)), *columns])
    inverse = np.linalg.inv(design.T @ design)
    weights = inverse @ design.T @ y
    left = ((y - design @ weights) ** 2).sum()
    n, k = design.shape
    errors = np.sqrt(left / (n - k) * np.diag(inverse))
    log_likelihood = -n / 2 * (np.log(2 * np.pi * left / n) + 1)
    return 1 - left / ((y - y.mean()) ** 2).sum(), weights, weights / errors, 2 * k - 2 * log_likelihood


def with_products(columns: list[np.ndarray]) -> list[np.ndarray]:
    return [*columns, *(first * second for first, second in combinations(columns, 2))]


@pytest.mark.parametrize("controls", [("frequency", "length", "place"), ("frequency",), ()])
def test_it_is_the_arithmetic_of_the_challenge(controls: tuple[str, ...]) -> None:
    data = words()
    baseline = with_products([data[name] for name in controls])
    r2_baseline, _, _, aic_baseline = least_squares(data["times"], baseline)
    r2_full, weights, t_values, aic_full = least_squares(data["times"], [*baseline, data["surprisal"]])
    found = gain(data["times"], data["surprisal"], [data[name] for name in controls], data["items"])
    assert (found.n, found.n_items, found.reason) == (108, 12, "")
    assert found.baseline_r2 == pytest.approx(r2_baseline, abs=1e-9)
    assert 100 * found.share == pytest.approx(100 * (r2_full - r2_baseline) / (1 - r2_baseline), rel=1e-7)
    assert found.coefficient == pytest.approx(weights[-1], rel=1e-7)
    assert found.t == pytest.approx(t_values[-1], rel=1e-7)
    n_left = 108 - len(weights)
    assert found.p == pytest.approx(2 * stats.t.sf(abs(t_values[-1]), n_left), rel=1e-6)
    assert found.aic_change == pytest.approx(aic_full - aic_baseline, rel=1e-6)


def test_by_hand() -> None:
    """Residuals of y = (0, 0, 1, 3) from their mean 1: RSS 6; x = (−1, −1, 1, 1) explains slope 1, 4 of them."""
    found = gain([0.0, 0.0, 1.0, 3.0], [-1.0, -1.0, 1.0, 1.0], [], [0, 0, 1, 1], folds=2)
    assert (found.baseline_r2, found.share, found.coefficient) == pytest.approx((0.0, 4 / 6, 1.0))
    assert found.t == pytest.approx(1.0 / np.sqrt(2 / 2 / 4))
    assert found.aic_change == pytest.approx(4 * np.log(2 / 6) + 2)
    assert np.isnan([*found.share_interval, *found.coefficient_interval]).all()  # of two items


def test_held_out_likelihoods_are_of_regressions_that_have_not_seen_the_item() -> None:
    data = words(n_items=6)
    found = gain(data["times"], data["surprisal"], [data["length"]], data["items"], folds=6, seed=3)
    changes = []
    for item in range(6):  # as many parts as items: each is left out once, whatever the draw
        out, fitted = data["items"] == item, []
        for columns in ([data["length"]], [data["length"], data["surprisal"]]):
            design = np.column_stack([np.ones(54), *columns])
            weights = np.linalg.solve(design[~out].T @ design[~out], design[~out].T @ data["times"][~out])
            residuals = data["times"] - design @ weights
            variance = np.mean(residuals[~out] ** 2)
            fitted.append(-0.5 * np.log(2 * np.pi * variance) - residuals[out] ** 2 / (2 * variance))
        changes.append(fitted[1] - fitted[0])
    every = np.concatenate(changes)
    assert found.delta == pytest.approx(every.mean(), rel=1e-7)
    totals = np.array([(of_item - every.mean()).sum() for of_item in changes])
    half = stats.t.ppf(0.975, 5) * np.sqrt(6 / 5 * (totals**2).sum()) / 54
    assert found.delta_interval == pytest.approx((every.mean() - half, every.mean() + half), rel=1e-6)


def test_intervals_are_those_of_leaving_each_item_out() -> None:
    data = words(n_items=7)
    controls = [data["frequency"], data["length"]]
    found = gain(data["times"], data["surprisal"], controls, data["items"])
    betas, roots = [], []
    for item in range(7):
        kept = data["items"] != item
        of_rest = gain(
            *(data[name][kept] for name in ("times", "surprisal")), [one[kept] for one in controls], data["items"][kept]
        )
        betas.append(of_rest.coefficient)
        roots.append(np.arctanh(np.sqrt(of_rest.share) * np.sign(of_rest.coefficient)))
    quantile = stats.t.ppf(0.975, 6)
    half = quantile * np.sqrt(6 / 7 * ((np.array(betas) - np.mean(betas)) ** 2).sum())
    assert found.coefficient_interval == pytest.approx((found.coefficient - half, found.coefficient + half), rel=1e-6)
    half = quantile * np.sqrt(6 / 7 * ((np.array(roots) - np.mean(roots)) ** 2).sum())
    ends = np.tanh(np.arctanh(np.sqrt(found.share)) + np.array([-half, half]))
    assert found.share_interval == pytest.approx((0.0 if ends[0] < 0 else ends[0] ** 2, ends[1] ** 2), rel=1e-6)


def test_units_and_scale_change_nothing_but_the_coefficient() -> None:
    data = words()
    controls = [data["frequency"], data["length"]]
    first = gain(data["times"], data["surprisal"], controls, data["items"])
    second = gain(data["times"] / 1000, 7 - 3 * data["surprisal"], [1e4 + 50 * one for one in controls], data["items"])
    assert second.share == pytest.approx(first.share, rel=1e-6) and second.delta == pytest.approx(first.delta, rel=1e-5)
    assert second.coefficient == pytest.approx(-first.coefficient / 3000, rel=1e-6)
    assert second.share_interval == pytest.approx(first.share_interval, rel=1e-5)


def test_a_predictor_of_nothing_gains_nothing_and_its_interval_says_so() -> None:
    over_nothing, from_nothing = [], []
    for seed in range(40):
        data = words(effect=0.0, seed=seed)
        noise = np.random.default_rng(1000 + seed).normal(size=108)
        found = gain(data["times"], noise, [data["frequency"], data["length"]], data["items"])
        over_nothing.append(found.coefficient_interval[0] <= 0 <= found.coefficient_interval[1])
        from_nothing.append(found.share_interval[0] == 0)
    assert np.mean(over_nothing) > 0.85 and np.mean(from_nothing) > 0.85
    real = words(effect=8.0)
    found = gain(real["times"], real["surprisal"], [real["frequency"], real["length"]], real["items"])
    assert found.delta_interval[0] > 0 and found.share_interval[0] > 0


def test_words_that_lack_a_number_are_left_out_of_both_regressions() -> None:
    data = words()
    controls = [data["frequency"], data["length"]]
    lacking = [data["times"].copy(), data["surprisal"].copy(), controls[0].copy()]
    for column, place in zip(lacking, (0, 20, 50), strict=True):
        column[place] = np.nan
    found = gain(lacking[0], lacking[1], [lacking[2], controls[1]], data["items"])
    kept = np.delete(np.arange(108), [0, 20, 50])
    again = gain(data["times"][kept], data["surprisal"][kept], [one[kept] for one in controls], data["items"][kept])
    assert found == again and found.n == 105


def test_what_cannot_be_fitted_says_why() -> None:
    data = words()
    times, surprisal, items = data["times"], data["surprisal"], data["items"]
    assert gain(times, np.full(108, 2.0), [data["length"]], items).reason == NOT_FURTHER
    assert gain(times, 2 * data["length"] + 1, [data["length"]], items).reason == NOT_FURTHER
    assert gain(np.full(108, 300.0), surprisal, [], items).reason == NO_SPREAD
    assert gain(times[:4], surprisal[:4], [data["length"][:4]], items[:4]).reason == NOT_HELD_OUT
    assert gain(times[:3], surprisal[:3], [data["length"][:3]], items[:3]).reason == TOO_FEW
    assert gain(times[:2], surprisal[:2], [data["length"][:2]], items[:2]).reason == TOO_FEW
    assert gain([], [], [], []).reason == TOO_FEW and np.isnan(gain([], [], [], []).share)
    # Without its last item nothing of y is left, and no coefficient without an item has an interval.
    of_one = gain([0.0] * 22 + [1.0, 3.0], surprisal[:24], [], np.arange(24) // 2)
    assert of_one.coefficient and np.isnan([*of_one.share_interval, *of_one.coefficient_interval]).all()
    same = gain(times, surprisal, [data["length"], data["length"]], items)
    assert same.reason == "" and same.n == 108  # a control twice
    with pytest.raises(InputError, match="differ in number"):
        gain(times, surprisal[:5], [], items)
    with pytest.raises(InputError, match="2 parts"):
        gain(times, surprisal, [], items, folds=1)
