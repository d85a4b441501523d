"""Systems ranked by a metric: pairwise accuracy, soft pairwise accuracy, tie calibration and PERM-BOTH."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from scipy import stats

from engine.errors import InputError
from engine.measures.statistics.monte_carlo import p_value_error
from engine.measures.statistics.paired_bootstrap import paired_bootstrap
from engine.measures.statistics.perm_both import perm_both
from engine.measures.statistics.system_ranking import pairwise_p_values, system_agreement
from engine.measures.statistics.tie_calibration import tie_calibrated_accuracy

NAN = np.nan


def whole_scores(seed: int, shape: tuple[int, int] = (5, 12), missing: float = 0.0) -> np.ndarray:
    """Small whole numbers, whose sums are exact, some of them missing."""
    random = np.random.default_rng(seed)
    return np.where(random.random(shape) < missing, NAN, random.integers(0, 6, shape).astype(float))


def slow_p_value(one: np.ndarray, other: np.ndarray, permutations: int) -> float:
    """The definition: swap single segments, sum both systems anew, count."""
    random = np.random.default_rng(4).random((permutations, len(one)), dtype=np.float32)
    both = [i for i in range(len(one)) if not np.isnan(one[i]) and not np.isnan(other[i])]
    count = 0
    for draw in np.rint(random):
        first = sum(one[i] if draw[i] else other[i] for i in both)
        second = sum(other[i] if draw[i] else one[i] for i in both)
        count += first - second >= sum(one[i] for i in both) - sum(other[i] for i in both)
    return count / permutations


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_soft_pairwise_accuracy_is_its_definition(missing: float) -> None:
    human, metric = whole_scores(1, missing=missing), whole_scores(2)
    metric_where_human = np.where(np.isnan(human), NAN, metric)
    errors, right = [], 0
    for i, j in combinations(range(5), 2):
        p_human, p_metric = (slow_p_value(scores[i], scores[j], 60) for scores in (human, metric_where_human))
        errors.append(abs(p_human - p_metric))
        right += np.sign(np.nansum(human[i] - human[j])) == np.sign(
            np.nansum(metric_where_human[i] - metric_where_human[j])
        )
    found = system_agreement(human, metric, permutations=60)
    assert found.soft_pairwise_accuracy == pytest.approx(1 - np.mean(errors), abs=1e-12)  # the same counts
    assert found.pairwise_accuracy == right / 10 and (found.n_systems, found.n_pairs) == (5, 10)


def test_p_value_by_hand() -> None:
    # Differences 1, 1, 1: only the signs + + + reach their sum 3, so p is the share of draws of these: 1 of 8 expected.
    draws = np.rint(np.random.default_rng(4).random((1000, 3), dtype=np.float32))
    assert (
        pairwise_p_values([[2, 3, 4], [1, 2, 3]]).item() == draws.all(axis=1).mean() == pytest.approx(1 / 8, abs=0.04)
    )
    assert pairwise_p_values([[1, 2], [1, 2]]).item() == 1  # never apart: every draw reaches the sum 0


def test_a_metric_that_turns_every_order_agrees_with_none() -> None:
    human = np.array([[3.0] * 40, [2.0] * 40, [1.0] * 40])
    turned = system_agreement(human, -human)
    assert turned.pairwise_accuracy == 0 and turned.soft_pairwise_accuracy == pytest.approx(0, abs=1e-12)
    same = system_agreement(human, 7 * human + 2)
    assert same.pairwise_accuracy == same.soft_pairwise_accuracy == 1


def test_systems_without_a_common_segment_are_not_ranked() -> None:
    apart = system_agreement([[1, NAN], [NAN, 2]], [[1, 1], [2, 2]])
    assert np.isnan(apart.soft_pairwise_accuracy) and apart.reason
    with pytest.raises(InputError, match="same systems"):
        system_agreement([[1, 2]], [[1]])
    with pytest.raises(InputError, match="matrix"):
        pairwise_p_values([1, 2])


def slow_tie_calibration(human: np.ndarray, metric: np.ndarray) -> tuple[float, float]:
    """Every gap of two metric scores tried as threshold, every segment counted anew."""
    gaps = {0.0} | {
        abs(column[i] - column[j])
        for column in metric.T
        for i, j in combinations(range(len(column)), 2)
        if not np.isnan(column[i] - column[j])
    }
    best = (-1.0, 0.0)
    for threshold in sorted(gaps):
        shares = []
        for golds, values in zip(human.T, metric.T, strict=True):
            systems = [i for i in range(len(golds)) if not np.isnan(golds[i] + values[i])]
            right = [
                golds[i] == golds[j]
                if abs(values[i] - values[j]) <= threshold
                else (golds[i] - golds[j]) * (values[i] - values[j]) > 0
                for i, j in combinations(systems, 2)
            ]
            shares += [np.mean(right)] if right else []
        accuracy = float(np.mean(shares))
        best = (accuracy, threshold) if accuracy > best[0] + 1e-12 else best
    return best


@pytest.mark.parametrize(("seed", "missing"), [(3, 0.0), (4, 0.4), (5, 0.8)])
def test_tie_calibration_is_its_definition(seed: int, missing: float) -> None:
    human = whole_scores(seed, missing=missing)
    metric = np.nan_to_num(human) / 3 + np.random.default_rng(seed).integers(0, 9, human.shape) / 8
    found = tie_calibrated_accuracy(human, metric)
    accuracy, threshold = slow_tie_calibration(human, metric)
    assert found.accuracy == pytest.approx(accuracy, abs=1e-12) and found.threshold == threshold


def test_tie_calibration_by_hand() -> None:
    # Humans 2, 2, 1. Metric 0.9, 0.8, 0.1: gaps 0.1 (tied for humans), 0.8 and 0.7 (in the humans' order).
    # Without ties 2 of 3 are right, with ties up to 0.1 all three, with ties up to 0.7 two.
    found = tie_calibrated_accuracy([[2], [2], [1]], [[0.9], [0.8], [0.1]])
    assert found.accuracy == 1 and found.threshold == pytest.approx(0.1) and (found.n_segments, found.n_pairs) == (1, 3)
    alone = tie_calibrated_accuracy([[2]], [[1]])
    assert np.isnan(alone.accuracy) and alone.reason


def slow_perm_both(
    human: np.ndarray, first: np.ndarray, second: np.ndarray, systems: list[str] | None
) -> tuple[float, float]:
    """All exchanges, not a sample: the share of those that reach the observed difference."""

    def correlation(values: np.ndarray) -> float:
        if systems is None:
            return float(np.corrcoef(human, values)[0, 1])
        rows = [[i for i, name in enumerate(systems) if name == system] for system in sorted(set(systems))]
        return float(np.corrcoef([human[of].mean() for of in rows], [values[of].mean() for of in rows])[0, 1])

    one, other = stats.zscore(first), stats.zscore(second)
    observed = correlation(one) - correlation(other)
    reached = []
    for kept in product([False, True], repeat=len(human)):
        swapped = np.where(kept, one, other), np.where(kept, other, one)
        reached.append(correlation(swapped[0]) - correlation(swapped[1]) >= observed - 1e-12)
    return observed, float(np.mean(reached))


@pytest.mark.parametrize("systems", [None, ["b", "a", "c", "a", "b", "c", "a", "c", "b"]])
def test_perm_both_samples_all_exchanges(systems: list[str] | None) -> None:
    random = np.random.default_rng(6)
    human = random.normal(size=9)
    first, second = human + random.normal(size=9) / 2, human + 2 * random.normal(size=9)
    observed, p_value = slow_perm_both(human, first, second, systems)
    found = perm_both(human, first, second, systems, resamples=20_000)
    assert found.difference == pytest.approx(observed, abs=1e-12)
    assert found.p_value == pytest.approx(p_value, abs=0.015)  # four standard errors of 20,000 draws
    assert found.n == (9 if systems is None else 3)


# sacrerouge 0.2.5, of the authors of the test: `permutation_diff_test` with `permute_both`, one-sided, on the arrays of
# its own test, 40,000 exchanges. An exchange of the systems' means in place of their translations would have 0.248.
@pytest.mark.parametrize(
    ("level", "difference", "p_value"),
    [("global", 0.44533852709893734, 0.026799), ("system", 0.16347300849184992, 0.314642)],
)
def test_perm_both_is_that_of_its_authors(level: str, difference: float, p_value: float) -> None:
    random = np.random.RandomState(12)
    second, first, human = (random.random_sample((9, 5)).ravel() for _ in range(3))
    systems = [str(row) for row in range(9) for _ in range(5)] if level == "system" else None
    found = perm_both(human, first, second, systems, resamples=40_000)
    assert found.difference == pytest.approx(difference, abs=1e-12)
    standard_error = np.sqrt(2 * p_value * (1 - p_value) / 40_000)
    assert found.p_value == pytest.approx(p_value, abs=4 * standard_error)


def test_perm_both_leaves_out_what_is_missing_and_says_what_it_cannot_test() -> None:
    human, first, second = [1, 2, 3, 4, NAN], [1, 3, 2, 4, 9], [4, 1, 3, 2, 0]
    assert perm_both(human, first, second) == perm_both(human[:4], first[:4], second[:4])
    assert "constant" in perm_both([1, 2, 3], [1, 1, 1], [1, 2, 3]).reason
    assert "at least 3" in perm_both([1, 2, 3], [1, 2, 4], [1, 2, 3], ["a", "b", "b"]).reason
    with pytest.raises(InputError, match="same translations"):
        perm_both([1, 2], [1, 2, 3], [1, 2, 3])


def test_the_error_of_soft_pairwise_accuracy_by_hand() -> None:
    # One pair of systems: |p_human - p_metric| is the mean of 1_human - 1_metric, or less it, whose variance is known.
    human, metric = whole_scores(3, (2, 12)), whole_scores(4, (2, 12))
    apart = abs(pairwise_p_values(human).item() - pairwise_p_values(metric).item())
    random = np.random.default_rng(4).random((1000, 12), dtype=np.float32)
    signs = np.where(random > 0.5, 1, -1)
    reached = [signs @ (matrix[0] - matrix[1]) >= (matrix[0] - matrix[1]).sum() for matrix in (human, metric)]
    variance = (reached[0] != reached[1]).mean() - apart**2
    agreement = system_agreement(human, metric)
    assert apart > 0 and agreement.soft_pairwise_accuracy == pytest.approx(1 - apart)
    assert agreement.soft_pairwise_error == pytest.approx(np.sqrt(variance / 1000))


def test_a_metric_that_is_the_human_score_has_no_error() -> None:
    human = whole_scores(5)
    assert system_agreement(human, 2 * human + 1).soft_pairwise_error == 0
    assert np.isnan(system_agreement(human, np.full_like(human, NAN)).soft_pairwise_error)


@pytest.mark.parametrize("sides", [1, 2])
def test_the_error_of_a_p_value_is_its_spread_over_seeds(sides: int) -> None:
    # Two-sided: a doubled share of 200 resamples, whose probability is 0.1.
    drawn = sides * np.random.default_rng(0).binomial(200, 0.1, 20_000) / 200
    assert p_value_error(sides * 0.1, 200, sides=sides) == pytest.approx(drawn.std(), rel=0.03)


def test_the_error_of_perm_both_is_its_spread_over_seeds() -> None:
    random = np.random.default_rng(1)
    human, first, second = random.normal(size=(3, 30))
    p_values = [perm_both(human, first + human / 4, second, resamples=200, seed=seed).p_value for seed in range(200)]
    assert 0.02 < np.mean(p_values) < 0.98
    assert p_value_error(float(np.mean(p_values)), 200) == pytest.approx(np.std(p_values), rel=0.2)


def test_the_error_of_a_bootstrap_p_value_is_its_spread_over_seeds() -> None:
    random = np.random.default_rng(2)
    first, second = random.normal(0.2, 1, 40), random.normal(0, 1, 40)
    p_values = [paired_bootstrap(first, second, resamples=200, seed=seed).p_value for seed in range(200)]
    assert 0.02 < np.mean(p_values) < 0.8
    assert p_value_error(float(np.mean(p_values)), 200, sides=2) == pytest.approx(np.std(p_values), rel=0.2)


def test_a_p_value_of_0_is_not_taken_as_certain() -> None:
    one_away = np.sqrt(1 / 1001 * 1000 / 1001 / 1000)
    assert [p_value_error(p_value, 1000) for p_value in (0, 1)] == pytest.approx([one_away, one_away])
    assert np.isnan(p_value_error(NAN, 1000))
    for p_value, resamples, says in ((0.5, 0, "at least 1"), (1.2, 10, "between 0 and 1")):
        with pytest.raises(InputError, match=says):
            p_value_error(p_value, resamples)
