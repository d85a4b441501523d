"""Rank agreement: ranks by the better end, and agreement that does not care which end that is."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau, rankdata, spearmanr

from engine.errors import InputError
from engine.measures.statistics.correlations.rank_agreement import rank_agreement, ranks

VALUES = st.lists(st.integers(-50, 50).map(float), min_size=3, max_size=12)
BOTH = {"x": "higher", "y": "higher"}


def test_ranks_by_hand() -> None:
    # 5 is best, then the two 3s share place 2, and place 3 stays empty
    assert ranks([3, 1, 5, 3], "higher").tolist() == [2, 4, 1, 2]
    assert ranks([3, 1, 5, 3], "lower").tolist() == [2, 1, 4, 2]
    placed = ranks([2.0, np.nan, 1.0], "lower")
    assert placed[[0, 2]].tolist() == [2, 1] and np.isnan(placed[1])


@given(VALUES)
def test_ranks_are_scipys_and_turn_with_the_end(values: list[float]) -> None:
    assert ranks(values, "lower").tolist() == rankdata(values, method="min").tolist()
    assert ranks(values, "higher").tolist() == ranks([-value for value in values], "lower").tolist()


def test_agreement_by_hand() -> None:
    # Of 3 models the score (smaller is better) gives the order a b c, the accuracy (larger is better) b a c.
    # Rank differences 1, 1, 0: rho = 1 - 6 · 2 / (3 · 8) = 0.5. Of 3 couples 2 agree and 1 does not: tau = 1/3.
    (found,) = rank_agreement(
        {"score": [1, 2, 3], "accuracy": [0.8, 0.9, 0.1]}, {"score": "lower", "accuracy": "higher"}
    )
    assert (found.first, found.second, found.spearman.n) == ("score", "accuracy", 3)
    assert found.spearman.value == pytest.approx(0.5) and found.kendall.value == pytest.approx(1 / 3)


@given(VALUES, st.randoms())
def test_the_coefficients_are_scipys_of_the_turned_columns(values: list[float], random) -> None:  # type: ignore[no-untyped-def]
    other = [random.randint(0, 9) for _ in values]
    (found,) = rank_agreement({"x": values, "y": other}, {"x": "lower", "y": "higher"})
    if len(set(values)) > 1 and len(set(other)) > 1:
        turned = [-value for value in values]
        # sums in another order
        assert found.spearman.value == pytest.approx(spearmanr(turned, other).statistic, abs=1e-12)
        assert found.kendall.value == pytest.approx(kendalltau(turned, other).statistic, abs=1e-12)
    else:
        assert np.isnan(found.spearman.value) and found.spearman.reason


@given(VALUES)
def test_calling_the_other_end_better_turns_the_sign_and_both_keep_it(values: list[float]) -> None:
    other = [value**3 + i for i, value in enumerate(values)]
    (plain,) = rank_agreement({"x": values, "y": other}, BOTH)
    (turned,) = rank_agreement({"x": values, "y": other}, {"x": "lower", "y": "higher"})
    (twice,) = rank_agreement({"x": values, "y": other}, {"x": "lower", "y": "lower"})
    for name in ("spearman", "kendall"):
        once, negated, again = (getattr(one, name).value for one in (plain, turned, twice))
        assert negated == pytest.approx(-once, abs=1e-12, nan_ok=True)
        assert again == pytest.approx(once, abs=1e-12, nan_ok=True)


def test_only_models_that_both_have_count() -> None:
    (found,) = rank_agreement({"x": [1, 2, np.nan, 4, 5], "y": [1, 2, 3, np.nan, 5]}, BOTH)
    assert found.spearman.n == 3 and found.spearman.value == 1.0


@pytest.mark.parametrize(
    ("x", "y", "reason"),
    [
        ([1.0, 2.0], [1.0, 2.0], "at least 3 pairs; there are 2"),
        ([1.0, np.nan, 3.0], [1, 2, 3], "there are 2"),
        ([1.0, 1.0, 1.0], [1, 2, 3], "x is 1 in all 3 pairs"),
        ([], [], "there are 0"),
    ],
)
def test_too_few_or_equal_models_have_no_agreement_and_it_is_said_why(x, y, reason: str) -> None:  # type: ignore[no-untyped-def]
    (found,) = rank_agreement({"x": x, "y": y}, BOTH)
    for coefficient in (found.spearman, found.kendall):
        assert np.isnan(coefficient.value) and reason in coefficient.reason


def test_every_two_evaluations_are_compared_once() -> None:
    columns = {"a": [1, 2, 3], "b": [3, 2, 1], "c": [1, 3, 2]}
    found = rank_agreement(columns, dict.fromkeys(columns, "higher"))
    assert [(one.first, one.second) for one in found] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert rank_agreement({"a": [1, 2, 3]}, {"a": "lower"}) == () == rank_agreement({}, {})


@pytest.mark.parametrize(
    "broken",
    [
        lambda: ranks([1, 2], "neither"),
        lambda: ranks([[1, 2]], "lower"),
        lambda: rank_agreement({"x": [1, 2, 3], "y": [1, 2]}, BOTH),
        lambda: rank_agreement({"z": [1]}, BOTH),
        lambda: rank_agreement({"x": [1, 2, np.inf], "y": [1, 2, 3]}, BOTH),
    ],
)
def test_what_cannot_be_ranked_is_refused(broken) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InputError):
        broken()


def test_nothing_is_written_into_the_columns() -> None:
    given_values = np.array([3.0, 1.0, 2.0])
    ranks(given_values, "lower")
    rank_agreement({"x": given_values, "y": given_values}, {"x": "lower", "y": "higher"})
    assert given_values.tolist() == [3.0, 1.0, 2.0]
