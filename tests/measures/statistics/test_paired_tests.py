"""Sign test, McNemar and Holm: by hand, on published tables, as scipy gives them, and by their properties."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from engine.errors import InputError
from engine.measures.statistics.paired_tests import holm, mcnemar, sign_test


def cells(both: int, only_first: int, only_second: int, neither: int) -> tuple[list[bool], list[bool]]:
    counts = [both, only_first, only_second, neither]
    return (
        np.repeat([True, True, False, False], counts).tolist(),
        np.repeat([True, False, True, False], counts).tolist(),
    )


def test_sign_test_by_hand() -> None:
    # 2 against 6: 2 · (C(8,0) + C(8,1) + C(8,2)) / 2^8 = 2 · 37 / 256
    assert sign_test(2, 6) == sign_test(6, 2) == pytest.approx(74 / 256, rel=1e-12)
    assert sign_test(0, 0) == sign_test(4, 4) == 1.0
    assert sign_test(0, 1) == 1.0 and sign_test(0, 6) == 2 / 64


@settings(max_examples=100)
@given(first=st.integers(0, 3000), second=st.integers(0, 3000))
def test_sign_test_equals_scipy(first: int, second: int) -> None:
    if first + second:
        # scipy says 0 of some numbers below 1e-280 already
        assert sign_test(first, second) == pytest.approx(binomtest(first, first + second).pvalue, rel=1e-8, abs=1e-200)


def test_mcnemar_on_a_published_table() -> None:
    # Agresti 2002 (Categorical Data Analysis, table 10.1): approval of the prime minister at two surveys, 1,600
    # Britons: 794 both, 150 only at the first, 86 only at the second, 570 neither. Chi-square 17.36 = z 4.17^2; the
    # exact test gives p = 3.7e-05 (R's exact2x2). Difference (150 - 86) / 1600 = 0.04; published 95% interval
    # 0.02 to 0.06.
    found = mcnemar(*cells(794, 150, 86, 570))
    assert (found.n, found.n_only_first, found.n_only_second) == (1600, 150, 86)
    assert found.difference == pytest.approx(0.04)
    assert [round(end, 2) for end in (found.ci_low, found.ci_high)] == [0.02, 0.06]
    assert found.p_value == pytest.approx(3.7e-5, rel=0.02)


def test_the_interval_by_hand() -> None:
    # 6 against 2 of 20: b' = 6.5, c' = 2.5, N = 22; d = 4 / 22 = 0.181818
    # half = 1.959964 · sqrt(9 - 16 / 22) / 22 = 1.959964 · 2.876235 / 22 = 0.256241
    found = mcnemar(*cells(10, 6, 2, 2))
    assert (found.ci_low, found.ci_high) == pytest.approx((0.181818 - 0.256241, 0.181818 + 0.256241), abs=1e-6)


def test_interval_and_test_say_the_same() -> None:
    # 9 against 2 of 120: d = 7 / 122 = 0.057377; half = 1.959964 · sqrt(12 - 49 / 122) / 122 = 0.054713, so the interval
    # by Agresti and Min would begin at 0.0027; but p = 2 · (1 + 11 + 55) / 2048 = 0.0654.
    found = mcnemar(*cells(60, 9, 2, 49))
    assert found.p_value == pytest.approx(0.0654, abs=1e-4)
    assert (found.ci_low, found.ci_high) == (0.0, pytest.approx(0.112090, abs=1e-6))
    for first_only, second_only in itertools.product(range(16), repeat=2):
        for neither in (0, 1, 60):
            each = mcnemar(*cells(3, first_only, second_only, neither))
            assert (each.ci_low > 0 or each.ci_high < 0) == (each.p_value < 0.05)


@settings(max_examples=60)
@given(rows=st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=60))
def test_exchanged_models_exchange_the_difference(rows: list[tuple[bool, bool]]) -> None:
    first, second = [one for one, _ in rows], [other for _, other in rows]
    found, turned = mcnemar(first, second), mcnemar(second, first)
    assert turned.difference == -found.difference and turned.p_value == found.p_value
    assert (turned.ci_low, turned.ci_high) == pytest.approx((-found.ci_high, -found.ci_low), abs=1e-12)
    assert found.difference == pytest.approx(np.mean(first) - np.mean(second), abs=1e-12)
    assert found.ci_low <= found.ci_high and 0 < found.p_value <= 1
    assert mcnemar(first, first).p_value == 1.0


def test_no_pairs() -> None:
    found = mcnemar([], [])
    assert math.isnan(found.difference) and math.isnan(found.ci_low) and found.p_value == 1.0


def test_holm_by_hand_and_its_bounds() -> None:
    # Holm 1979, the procedure: sorted 0.005, 0.01, 0.03, 0.04 times 4, 3, 2, 1 = 0.02, 0.03, 0.06, 0.04 -> 0.06
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]).tolist() == [] and holm([0.7, 0.9]).tolist() == [1.0, 1.0]


@settings(max_examples=60)
@given(p=st.lists(st.floats(0, 1), min_size=1, max_size=12), seed=st.integers(0, 9))
def test_holm_lies_between_none_and_bonferroni_and_keeps_the_order(p: list[float], seed: int) -> None:
    found, order = holm(p), np.random.default_rng(seed).permutation(len(p))
    assert (found >= np.array(p)).all() and (found <= np.minimum(1, np.array(p) * len(p)) + 1e-15).all()
    assert (np.diff(found[np.argsort(p, kind="stable")]) >= 0).all()
    np.testing.assert_allclose(holm(np.array(p)[order]), found[order], atol=1e-15)


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(InputError, match="got 2 and 1"):
        mcnemar([True, False], [True])
    with pytest.raises(InputError, match="counted from 0"):
        sign_test(-1, 2)
    with pytest.raises(InputError, match="must be between 0 and 1"):
        holm([0.5, 1.2])
    with pytest.raises(InputError, match="must be between 0 and 1"):
        mcnemar([True], [True], 1.0)
