"""engine.measures.classification and paired_difference: by hand, against the paper and scikit-learn, and properties."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_rel
from sklearn.dummy import DummyClassifier
from sklearn.metrics import confusion_matrix

from engine.errors import InputError
from engine.measures.classification import (
    accuracy,
    confusion_counts,
    majority_baseline,
    n_test_of,
    stratified_split,
    tail_split,
)
from engine.measures.statistics.paired_difference import PairedDifference, paired_difference

LABELS = st.lists(st.sampled_from("甲乙丙丁"), min_size=1, max_size=60)
SHARES = st.floats(0.01, 0.99)


def test_the_papers_split_of_900_titles_leaves_720_to_train_on() -> None:
    # Section 5.2: nine categories of 100 titles, the last 20% of each for the test, "the remaining 720".
    labels = [category for category in "abcdefghi" for _ in range(100)]
    test = tail_split(labels)
    assert (~test).sum() == 720
    assert np.flatnonzero(test[:100]).tolist() == list(range(80, 100))
    assert (~stratified_split(labels, seed=0)).sum() == 720


def test_the_papers_accuracies_are_whole_numbers_of_180_sentences() -> None:
    # Table 3: 70.00% = 126 / 180, 68.89% = 124 / 180, 71.11% = 128 / 180; nothing lies between two such numbers.
    for right, printed in ((126, 70.00), (124, 68.89), (128, 71.11), (119, 66.11)):
        truth, said = np.zeros(180, dtype=int), np.repeat([0, 1], [right, 180 - right])
        assert round(100 * accuracy(truth, said), 2) == printed


def test_the_tail_is_the_last_of_each_class_wherever_it_stands() -> None:
    # classes of 5, 3 and 2 at 40%: 2.0 -> 2, 1.2 -> 1, 0.8 -> 1; the last of each in the order given
    labels = ["a", "b", "a", "c", "a", "b", "a", "c", "b", "a"]
    assert np.flatnonzero(tail_split(labels, 0.4)).tolist() == [6, 7, 8, 9]


@given(labels=LABELS, share=SHARES, seed=st.integers(0, 2**32 - 1))
def test_every_class_that_can_has_both_parts_and_its_share(labels: list[str], share: float, seed: int) -> None:
    for test in (tail_split(labels, share), stratified_split(labels, share, seed=seed)):
        for label in set(labels):
            own = test[[one == label for one in labels]]
            assert own.sum() == n_test_of(len(own), share)
            assert (0 < own.sum() < len(own)) if len(own) > 1 else own.sum() == 0


@given(labels=LABELS, seed=st.integers(0, 2**32 - 1))
def test_a_seed_gives_one_split_and_names_of_classes_do_not_matter(labels: list[str], seed: int) -> None:
    once = stratified_split(labels, seed=seed)
    assert np.array_equal(once, stratified_split(labels, seed=seed))
    # other names in the same alphabetical order
    assert np.array_equal(once, stratified_split([f"x{ord(label)}" for label in labels], seed=seed))


def test_a_random_split_is_another_with_another_seed_and_takes_each_equally_often() -> None:
    labels = ["a"] * 10
    times = np.sum([stratified_split(labels, 0.3, seed=seed) for seed in range(1000)], axis=0)
    # 3 of 10 in 1,000 draws: 300, standard deviation sqrt(1000 · 0.3 · 0.7) = 14.5; 4.5 of them aside
    assert (np.abs(times - 300) < 65).all()


@pytest.mark.parametrize("share", [0.0, 1.0, -0.1, float("nan")])
def test_a_share_that_is_none_is_refused(share: float) -> None:
    for split in (lambda: tail_split(["a", "a"], share), lambda: stratified_split(["a", "a"], share, seed=0)):
        with pytest.raises(InputError, match="between 0 and 1"):
            split()


def test_no_sentence_no_test() -> None:
    assert tail_split([]).tolist() == [] and np.isnan(accuracy([], [])) and np.isnan(majority_baseline([], []))


def test_accuracy_and_confusion_by_hand() -> None:
    # true 0 0 0 1 1 2, said 0 1 0 1 1 0: right are the 1st, 3rd, 4th and 5th, 4 of 6
    truth, said = [0, 0, 0, 1, 1, 2], [0, 1, 0, 1, 1, 0]
    assert accuracy(truth, said) == pytest.approx(4 / 6)
    # class 0: twice right, once called 1; class 1: twice right; class 2: once called 0
    assert confusion_counts(truth, said, 3).tolist() == [[2, 1, 0], [0, 2, 0], [1, 0, 0]]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=50))
def test_the_confusion_is_scikit_learns_and_its_diagonal_the_accuracy(answers: list[tuple[int, int]]) -> None:
    truth, said = zip(*answers, strict=True)
    counts = confusion_counts(truth, said, 4)
    assert np.array_equal(counts, confusion_matrix(truth, said, labels=range(4)))
    assert counts.trace() / counts.sum() == pytest.approx(accuracy(truth, said), abs=1e-15)
    assert np.array_equal(counts.T, confusion_counts(said, truth, 4))


@given(train=LABELS, test=LABELS)
def test_the_baseline_is_the_best_that_saying_one_frequent_class_reaches(train: list[str], test: list[str]) -> None:
    dummy = DummyClassifier(strategy="most_frequent").fit(np.zeros((len(train), 1)), train)
    by_sklearn = dummy.score(np.zeros((len(test), 1)), test)  # the first of equally frequent classes
    ours = majority_baseline(train, test)
    assert ours >= by_sklearn - 1e-15
    if len({train.count(label) for label in set(train)}) == len(set(train)):
        assert ours == pytest.approx(by_sklearn)


@pytest.mark.parametrize(
    "broken",
    [
        lambda: accuracy([1, 2], [1]),
        lambda: accuracy([[1]], [[1]]),
        lambda: confusion_counts([0], [0, 1], 2),
        lambda: confusion_counts([0, 1], [0, 2], 2),
        lambda: confusion_counts([-1], [0], 2),
    ],
)
def test_columns_that_do_not_fit_are_refused(broken) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InputError):
        broken()


RIGHT = st.lists(st.tuples(*[st.integers(0, 5).map(lambda n: n / 5)] * 2), min_size=3, max_size=40)


def once(first: object, second: object) -> PairedDifference:
    """Every item asked once, in one run."""
    n = len(first)  # type: ignore[arg-type]
    return paired_difference(first, second, np.arange(n), np.zeros(n))  # type: ignore[arg-type]


def test_a_paired_difference_by_hand() -> None:
    # differences 1, 0, 0, 1: mean 0.5, deviations ±0.5, s² = 4/3 · 4 · 0.25 / 16 = 1/12, so s = 0.288675;
    # t of 3 degrees of freedom at 97.5% is 3.182446: 0.5 ± 0.918693
    found = once([1, 1, 0, 1], [0, 1, 0, 0])
    assert (found.difference, found.n, found.separable) == (0.5, 4, False)
    assert (found.ci_low, found.ci_high) == pytest.approx((-0.418693, 1.418693), abs=1e-6)


def test_several_runs_by_hand() -> None:
    # items 1 1 2 2 in runs 1 2 1 2, differences 1, 1, 0, 0: mean 0.5, deviations ½ ½ -½ -½.
    # By items the sums are 1 and -1: 2/1 · 2 / 16 = 1/4. By runs 0 and 0: 0. By answers: 4/3 · 1 / 16 = 1/12.
    # The runs had no luck (0 - 1/12 < 0), so s² = 1/4; t of 1 degree of freedom is 12.7062: 0.5 ± 6.3531
    found = paired_difference([1, 1, 0, 0], [0, 0, 0, 0], [1, 1, 2, 2], [1, 2, 1, 2])
    assert (found.ci_low, found.ci_high) == pytest.approx((-5.8531, 6.8531), abs=1e-4)
    # The same with items and runs exchanged: by items 0, luck 1/4 - 1/12 = 1/6, one degree of freedom again:
    # 0.5 ± 12.7062 · 0.408248 = 0.5 ± 5.1873
    found = paired_difference([1, 1, 0, 0], [0, 0, 0, 0], [1, 2, 1, 2], [1, 1, 2, 2])
    assert (found.ci_low, found.ci_high) == pytest.approx((-4.6873, 5.6873), abs=1e-4)


@given(RIGHT)
def test_with_one_run_it_is_scipys_paired_t_test(answers: list[tuple[float, float]]) -> None:
    first, second = map(np.array, zip(*answers, strict=True))
    found = once(first, second)
    if np.ptp(first - second) > 1e-9:
        wanted = ttest_rel(first, second).confidence_interval(0.95)
        # the same arithmetic in another order
        assert (found.ci_low, found.ci_high) == pytest.approx((wanted.low, wanted.high), abs=1e-9)


@given(RIGHT, st.data())
def test_turning_the_models_turns_the_interval(answers, data) -> None:  # type: ignore[no-untyped-def]
    first, second = map(np.array, zip(*answers, strict=True))
    numbers = st.lists(st.integers(0, 4), min_size=len(first), max_size=len(first))
    items, runs = data.draw(numbers), data.draw(numbers)
    found, turned = (paired_difference(*pair, items, runs) for pair in ((first, second), (second, first)))
    assert found.difference == pytest.approx((first - second).mean(), abs=1e-12)
    assert (turned.ci_low, turned.ci_high) == pytest.approx((-found.ci_high, -found.ci_low), abs=1e-12, nan_ok=True)
    assert turned.separable == found.separable
    # what items and runs are called does not matter, only which belong together
    named = paired_difference(first, second, [f"sentence {one}" for one in items], [-one for one in runs])
    assert (named.ci_low, named.ci_high) == pytest.approx((found.ci_low, found.ci_high), abs=1e-12, nan_ok=True)


def covered(*, run_luck: float, by_runs: bool, n_tests: int = 1000) -> float:
    """How often the interval holds the true difference of 0.1: 180 sentences of differing difficulty, 5 runs.

    Each training shifts a model's chance to be right on all sentences by a normal of `run_luck`.
    """
    random = np.random.default_rng(0)
    items, runs = np.tile(np.arange(180), 5), np.repeat(np.arange(5), 180)
    held = 0
    for _ in range(n_tests):
        easy = np.tile(random.uniform(0.35, 0.85, 180), 5)
        luck = [np.repeat(random.normal(0, run_luck, 5), 180) for _ in range(2)]
        first, second = (
            (random.random(900) < easy - worse + one).astype(float) for worse, one in zip((0.0, 0.1), luck, strict=True)
        )
        found = paired_difference(first, second, items, runs if by_runs else np.zeros(900))
        held += found.ci_low <= 0.1 <= found.ci_high
    return held / n_tests


def test_the_interval_covers_the_truth_though_trainings_have_luck() -> None:
    # In 1,000 simulated tests the 95% interval held the true difference 96.1% of the time when trainings had no luck,
    # 93.3% when one shifted the accuracy by 3 points (standard deviation), 90.3% at 6 points: five runs say little
    # of their own spread. By the sentences alone it would have been 95.0, 87.7 and 69.0%. The standard deviation of
    # such a share is 0.7%.
    assert 0.94 < covered(run_luck=0.0, by_runs=True) < 0.98
    assert 0.91 < covered(run_luck=0.03, by_runs=True) < 0.97
    assert covered(run_luck=0.03, by_runs=False) < 0.90


def test_edges_of_a_paired_difference() -> None:
    assert np.isnan(once([], []).difference)
    one = paired_difference([1.0, 1.0], [0.5, 0.0], [7, 7], [0, 1])
    assert one.difference == 0.75 and np.isnan(one.ci_low) and not one.separable
    same = once([0.5, 1.0], [0.5, 1.0])
    assert (same.difference, same.ci_low, same.ci_high, same.separable) == (0, 0, 0, False)


@pytest.mark.parametrize(
    ("first", "second", "items", "runs", "confidence"),
    [
        ([1], [1, 2], [1], [1], 0.95),
        ([np.nan], [1], [1], [1], 0.95),
        ([1], [np.inf], [1], [1], 0.95),
        ([1, 2], [1, 2], [1], [1, 1], 0.95),
        ([1, 2], [1, 2], [1, 2], [1, 1], 1.0),
        ([[1]], [[1]], [[1]], [[1]], 0.95),
    ],
)
def test_what_cannot_be_compared_is_refused(first, second, items, runs, confidence) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InputError):
        paired_difference(first, second, items, runs, confidence)
