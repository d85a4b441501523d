"""The bootstrap of A_m, B_m and M_m: by hand, against theory, and whether its intervals cover what they say."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from engine.errors import InputError
from engine.measures.clusters.dispersion import dispersion
from engine.measures.clusters.resampling import Resamples, bootstrap, percentile_interval


def gaussians(n_classes: int, n: int, n_dims: int, apart: float, random: np.random.Generator) -> dict[str, np.ndarray]:
    """Classes of n sentences whose dimensions and whose spreads differ, and their true A*, B*."""
    variances = np.exp(-5 * np.arange(n_dims) / n_dims)
    means = np.random.default_rng(1).normal(size=(n_classes, n_dims)) * np.sqrt(variances) * apart
    spreads = np.linspace(0.7, 1.3, n_classes)
    class_of = np.repeat(np.arange(n_classes), n)
    noise = random.normal(size=(n_classes * n, n_dims)) * np.sqrt(variances) * spreads[class_of][:, None]
    traces = variances.sum() * spreads**2
    return {
        "vectors": means[class_of] + noise,
        "class_of": class_of,
        "noise": noise,
        "means": means,
        "in_class": np.float64((n - 1) * traces.sum()),
        "out_of_class": np.square(means - means.mean(axis=0)).sum() + (1 - 1 / n_classes) * (traces / n).sum(),
    }


def coverage(
    n_classes: int, n: int, n_dims: int, apart: float, *, n_samples: int, n_resamples: int
) -> dict[str, float]:
    """How often the 95 % intervals of A_m, B_m, M_m, and of the difference of two models' M_m, hold the truth."""
    random = np.random.default_rng(0)
    held: dict[str, list[bool]] = {"A": [], "B": [], "M": [], "difference": []}
    for sample in range(n_samples):
        made = gaussians(n_classes, n, n_dims, apart, random)
        # A second model of the same sentences: the means half as far apart, and the half of the noise its own.
        own = gaussians(n_classes, n, n_dims, apart, random)["noise"]
        other = made["means"][made["class_of"]] / 2 + (made["noise"] + own) / np.sqrt(2)
        first, second = (
            bootstrap(vectors, made["class_of"], n_resamples=n_resamples, seed=sample)
            for vectors in (made["vectors"], other)
        )
        in_class, out_of_class = made["in_class"], made["out_of_class"]
        signal = np.square(made["means"] - made["means"].mean(axis=0)).sum()
        score, other_score = in_class / out_of_class, in_class / (out_of_class - signal * 3 / 4)
        for name, resampled, truth in (
            ("A", first.in_class, in_class),
            ("B", first.out_of_class, out_of_class),
            ("M", first.score, score),
            ("difference", first.score - second.score, score - other_score),
        ):
            low, high = percentile_interval(resampled)
            held[name].append(bool(low <= truth <= high))
    return {name: float(np.mean(values)) for name, values in held.items()}


def test_intervals_cover_the_truth_at_their_nominal_rate() -> None:
    # The whole simulation (1,000 samples of Gaussian classes, 1,000 resamples each; 500 in 400 dimensions; the last row
    # 400 samples of 500), the share of 95 % intervals that hold A*, B*, M* and the true difference of two models:
    #   classes  n each  dimensions  apart  noise in B*     A     B     M   difference
    #      5       20        20       0.5       20 %      .946  .941  .947     .961
    #      9       20        60       0.3       38 %      .963  .959  .961     .965
    #      9       20        60       0.1       85 %      .963  .948  .961     .960
    #      4       10        10       1.0       14 %      .945  .927  .945     .958
    #      9      100        60       0.3       11 %      .956  .963  .963     .953
    #      9       20       400       0.2       57 %      .957  .951  .960     .968
    #      9      100       768       0.2       20 %      .955  .938  .940     .950
    # Here the first row with 200 samples of 200 resamples: a share of 0.95 has the standard error 0.0154, 3.3 of
    # which are 0.05.
    covered = coverage(5, 20, 20, 0.5, n_samples=200, n_resamples=200)
    for name, share in covered.items():
        assert 0.90 <= share <= 1.0, name


def test_by_hand() -> None:
    # a: 0, 2 and b: 10, 12. Centroids 1 and 11, their mean 6, so B = 25 + 25 = 50, A = 2 + 2 = 4.
    # noise = (1 - 1/2)(2/2 + 2/2) = 1: centroids go to ∓5 sqrt(1 - 1/50) = ∓sqrt(24.5), vectors to ±sqrt(2) from them.
    # A class drawn (1,1): its mean stays, q = 0 + e, e = (1/2 + 1/2) 2/4 = 1/2, and A gets 4 - 2 (1/2) = 3.
    # Drawn (2,0) or (0,2): the mean moves by ∓sqrt(2), e = (1/2 - 2 + 1/2) 2/4 = -1/2, q = 3/2; A gets 4 - 3 = 1.
    # B = Σ q + 2 Σ move · centroid + 49 - (square of the sum of moves + Σ e) / 2, and 2 sqrt(2) sqrt(24.5) = 14:
    # neither moves 1 + 49 - 1/2 = 49.5; one towards the other 2 - 14 + 49 - 1 = 36, or away 64;
    # both the same way 3 + 49 - 7/2 = 48.5; both inwards 3 - 28 + 49 + 1/2 = 24.5, or outwards 80.5.
    resamples = bootstrap([[0.0], [2.0], [10.0], [12.0]], ["a", "a", "b", "b"], n_resamples=2000)
    pairs = set(zip(resamples.in_class.round(9).tolist(), resamples.out_of_class.round(9).tolist(), strict=True))
    assert pairs == {(6.0, 49.5), (4.0, 36.0), (4.0, 64.0), (2.0, 48.5), (2.0, 24.5), (2.0, 80.5)}
    # 1/4 · 49.5 + 1/2 · 50 + 1/8 · 48.5 + 1/8 · 52.5 = 50 = B; A likewise 4. Standard errors of 2,000: 0.03 and 0.3.
    assert resamples.in_class.mean() == pytest.approx(4.0, abs=0.1)
    assert resamples.out_of_class.mean() == pytest.approx(50.0, abs=1.0)


def test_the_spread_of_a_is_that_of_chi_square() -> None:
    # For Gaussian classes of one variance A_m / variance is chi-square with (n - N) dimensions degrees of freedom.
    random = np.random.default_rng(5)
    class_of = np.repeat([0, 1, 2], 200)
    resamples = bootstrap(random.normal(size=(600, 5)) + class_of[:, None], class_of, n_resamples=4000)
    expected = stats.chi2(597 * 5).std() / (597 * 5)
    # 4,000 resamples give a standard deviation to 1.1 %, 600 sentences the fourth moment to some 3 %
    assert resamples.in_class.std() / resamples.in_class.mean() == pytest.approx(expected, rel=0.1)


@pytest.mark.parametrize("apart", [0.0, 0.3, 3.0])
def test_resamples_lie_about_what_was_observed(apart: float) -> None:
    made = gaussians(4, 15, 30, apart, np.random.default_rng(2))
    observed = dispersion(made["vectors"], made["class_of"].tolist())
    resamples = bootstrap(made["vectors"], made["class_of"], n_resamples=4000)
    # by construction; the standard errors of 4,000 are 0.1 % and 0.4 %
    assert resamples.in_class.mean() == pytest.approx(observed.in_class, rel=0.005)
    assert resamples.out_of_class.mean() == pytest.approx(observed.out_of_class, rel=0.02)


def test_models_share_their_draws_whatever_their_vectors() -> None:
    made = gaussians(3, 12, 6, 1.0, np.random.default_rng(3))
    vectors, labels = made["vectors"], [f"class {number}" for number in made["class_of"]]
    first = bootstrap(vectors, labels, n_resamples=600, seed=4)
    rotation, _ = np.linalg.qr(np.random.default_rng(8).normal(size=(9, 9)))
    wider = np.hstack([vectors * 2 + 5, np.zeros((36, 3))]) @ rotation  # another width, place, unit and axes
    second = bootstrap(wider, labels, n_resamples=600, seed=4)
    np.testing.assert_allclose(second.in_class, 4 * first.in_class, rtol=1e-9)
    np.testing.assert_allclose(second.score, first.score, rtol=1e-9)
    assert not np.allclose(bootstrap(vectors, labels, n_resamples=600, seed=5).score, first.score)
    np.testing.assert_allclose(bootstrap(vectors, labels, n_resamples=300, seed=4).score, first.score[:300])


def test_a_class_of_one_sentence_is_drawn_as_it_is() -> None:
    vectors = [[0.0, 0.0], [1.0, 0.0], [9.0, 3.0]]
    resamples = bootstrap(vectors, ["a", "a", "b"], n_resamples=100)
    assert np.isfinite(resamples.score).all() and resamples.in_class.max() <= 1.0
    alone = bootstrap(vectors[1:], ["a", "b"], n_resamples=100)
    assert (alone.in_class == 0).all() and np.ptp(alone.out_of_class) == 0 and (alone.score == 0).all()


def test_classes_with_one_centroid_have_no_score_in_any_resample() -> None:
    resamples = bootstrap(np.full((6, 3), 0.1), list("aaabbb"), n_resamples=100)
    assert (resamples.out_of_class == 0).all() and not np.isfinite(resamples.score).any()
    coincide = bootstrap([[0.1], [0.2], [0.6], [0.3], [0.3], [0.3]], list("aaabbb"), n_resamples=100)
    assert (coincide.in_class > 0).any() and not np.isfinite(coincide.score).any()


def test_identical_sentences_are_sure_of_themselves() -> None:
    resamples = bootstrap([[0.0], [0.0], [3.0], [3.0]], list("aabb"), n_resamples=100)
    assert percentile_interval(resamples.score) == (0.0, 0.0)
    assert percentile_interval(resamples.out_of_class) == pytest.approx((4.5, 4.5))


def test_what_is_asked_for_wrongly_is_refused() -> None:
    with pytest.raises(InputError, match="at least 100 resamples; got 99"):
        bootstrap(np.eye(4), list("aabb"), n_resamples=99)
    with pytest.raises(InputError, match="at least 2 labels; got 1"):
        bootstrap(np.eye(4), list("aaaa"))


def test_a_percentile_interval_leaves_as_much_out_at_either_end() -> None:
    values = np.random.default_rng(0).permutation(np.arange(1, 1001.0))
    assert percentile_interval(values) == (25.0, 976.0)  # 2.5 % of 999 steps is 24.975: down to 25, up to 976
    assert percentile_interval(values, 0.5) == (250.0, 751.0)
    assert percentile_interval(np.array([1.0, 2.0, np.inf])) == (1.0, np.inf)
    assert np.isnan(percentile_interval(np.array([1.0, np.nan]))).all()
    assert Resamples(np.array([2.0]), np.array([4.0])).score.tolist() == [0.5]
