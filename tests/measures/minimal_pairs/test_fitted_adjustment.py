"""MORCELA's coefficients: by hand, as scikit-learn's regression has them, and their properties."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression

from engine.errors import InputError
from engine.measures.minimal_pairs.fitted_adjustment import cross_fitted, fitted_adjustment
from tests.measures.minimal_pairs.normalized import normalized


def sentences(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sums, unigram sums and lengths of sentences that cost some 3 and 6 nats a token."""
    random = np.random.default_rng(seed)
    lengths = random.integers(3, 20, n)
    return -random.exponential(3, n) * lengths, -random.normal(6, 1, n) * lengths, lengths


def test_by_hand() -> None:
    # Judgements that are 0.25 · (LP - 0.5 · LP_u + 4) / |S| - 2, of which four sentences are
    #   LP -8, LP_u -12, |S| 4: 0.25 · (-8 + 6 + 4) / 4 - 2 = -1.875   and so on: the fit finds 0.5 and 4 again.
    sums, unigrams, lengths = [-8.0, -9.0, -20.0, -6.0], [-12.0, -30.0, -36.0, -14.0], [4, 5, 8, 2]
    judgements = [-1.875, -1.5, -1.9375, -1.375]
    np.testing.assert_allclose(judgements, 0.25 * (np.array(sums) - 0.5 * np.array(unigrams) + 4) / lengths - 2)
    fit = fitted_adjustment(sums * 5, unigrams * 5, lengths * 5, judgements * 5)
    assert fit.beta == pytest.approx(0.5, rel=1e-9) and fit.gamma == pytest.approx(4, rel=1e-9) and fit.n == 20


def test_the_fit_is_the_regression_of_the_authors_code() -> None:
    # lindiatjuatja/morcela, linking_functions.py: LinearRegression on the columns log P, log P_u and 1, each by |S|
    sums, unigrams, lengths = sentences(200)
    judgements = np.random.default_rng(1).normal(size=200) + 0.2 * sums / lengths
    columns = np.stack([sums, unigrams, np.ones(200)], axis=1) / lengths[:, None]
    model = LinearRegression().fit(columns, judgements)
    fit = fitted_adjustment(sums, unigrams, lengths, judgements)
    assert fit.beta == pytest.approx(-model.coef_[1] / model.coef_[0], rel=1e-8)
    assert fit.gamma == pytest.approx(model.coef_[2] / model.coef_[0], rel=1e-8)
    scores = normalized(sums, lengths, "MORCELA", unigrams=unigrams, beta=fit.beta, gamma=fit.gamma)
    np.testing.assert_allclose(model.coef_[0] * scores + model.intercept_, model.predict(columns), atol=1e-9)


@settings(max_examples=40)
@given(seed=st.integers(0, 10**6), scale=st.floats(0.1, 50), zero=st.floats(-20, 20))
def test_the_unit_of_the_judgements_does_not_count(seed: int, scale: float, zero: float) -> None:
    sums, unigrams, lengths = sentences(60, seed)
    judgements = np.random.default_rng(seed + 1).normal(0, 0.3, 60) + sums / lengths
    fit = fitted_adjustment(sums, unigrams, lengths, judgements)
    again = fitted_adjustment(sums, unigrams, lengths, scale * judgements + zero)
    assert again.beta == pytest.approx(fit.beta, rel=1e-6, abs=1e-8)
    assert again.gamma == pytest.approx(fit.gamma, rel=1e-6, abs=1e-8)


def test_slor_is_found_where_people_judge_by_it() -> None:
    sums, unigrams, lengths = sentences(100)
    fit = fitted_adjustment(sums, unigrams, lengths, normalized(sums, lengths, "SLOR", unigrams=unigrams))
    assert fit.beta == pytest.approx(1, rel=1e-9) and fit.gamma == pytest.approx(0, abs=1e-7)


def test_a_sentence_is_scored_without_its_own_judgement() -> None:
    sums, unigrams, lengths = sentences(200)
    pairs = np.tile(np.arange(100), 2)
    judgements = np.random.default_rng(1).normal(0, 0.3, 200) + sums / lengths
    fit = cross_fitted(sums, unigrams, lengths, judgements, pairs)
    np.testing.assert_array_equal(fit.beta[:100], fit.beta[100:])  # both sentences of a pair are in one part
    assert len(np.unique(fit.beta)) == 5 and 0.8 < fit.correlation < 1
    changed = judgements.copy()
    changed[7] += 40
    again = cross_fitted(sums, unigrams, lengths, changed, pairs)
    same = fit.beta == fit.beta[7]
    assert same.sum() == 40
    np.testing.assert_array_equal(again.beta[same], fit.beta[same])
    assert (again.beta[~same] != fit.beta[~same]).all()


def test_noise_is_not_predicted() -> None:
    # Judgements that nothing explains correlate within the fit, and with sentences left out they do not.
    sums, unigrams, lengths = sentences(400)
    judgements = np.random.default_rng(3).normal(size=400) + 1e-3 * sums / lengths
    fit = cross_fitted(sums, unigrams, lengths, judgements, np.tile(np.arange(200), 2))
    assert fit.reason or abs(fit.correlation) < 0.2


def test_what_was_not_judged_is_left_out() -> None:
    sums, unigrams, lengths = sentences(80)
    judgements = np.random.default_rng(1).normal(0, 0.3, 80) + sums / lengths
    missing = np.where(np.arange(80) < 40, judgements, np.nan)
    assert fitted_adjustment(sums, unigrams, lengths, missing) == fitted_adjustment(
        sums[:40], unigrams[:40], lengths[:40], judgements[:40]
    )


def test_without_a_fit_there_is_a_reason() -> None:
    sums, unigrams, lengths = sentences(40)
    few = fitted_adjustment(sums[:9], unigrams[:9], lengths[:9], sums[:9])
    assert math.isnan(few.beta) and few.reason == "MORCELA needs 20 judged sentences; there are 9"
    alike = fitted_adjustment(sums, unigrams, np.full(40, 5), sums)
    assert math.isnan(alike.gamma) and alike.reason == "the lengths and frequencies of the sentences are too alike"
    falling = fitted_adjustment(sums, unigrams, lengths, -sums / lengths)
    assert math.isnan(falling.beta) and "do not rise" in falling.reason
    parts = cross_fitted(sums, unigrams, lengths, sums, np.arange(40) // 5)
    assert np.isnan(parts.beta).all() and parts.reason == "5 parts need at least 10 pairs; there are 8"
    assert "do not rise" in cross_fitted(sums, unigrams, lengths, -sums / lengths, np.arange(40)).reason


def test_what_cannot_be_fitted_is_refused() -> None:
    with pytest.raises(InputError, match="a judgement; got 2, 1, 2, 2"):
        fitted_adjustment([-1.0, -2.0], [-1.0], [1, 2], [0.0, 1.0])
    with pytest.raises(InputError, match="at least one token"):
        fitted_adjustment([-1.0], [-1.0], [0], [0.0])
    with pytest.raises(InputError, match="finite"):
        fitted_adjustment([-math.inf], [-1.0], [1], [0.0])
    with pytest.raises(InputError, match="belongs to one pair; got 2 and 1"):
        cross_fitted([-1.0, -2.0], [-1.0, -1.0], [1, 2], [0.0, 1.0], [0])
