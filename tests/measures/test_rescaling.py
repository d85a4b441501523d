"""Rescaling of BERTScore with a baseline: by hand, by its properties, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from engine.errors import InputError
from engine.measures.bertscore import PRF
from engine.measures.rescaling import baseline_of, rescaled

NAN = np.nan


def test_by_hand() -> None:
    # The baseline file of bert_score for roberta-large has 0.8315 or so at layer 17: (0.9 - 0.8) / (1 - 0.8) = 0.5.
    np.testing.assert_allclose(rescaled([0.9, 0.8, 0.7, 1.0, NAN], 0.8), [0.5, 0.0, -0.5, 1.0, NAN], atol=1e-15)
    # A negative baseline: (0.25 + 0.25) / 1.25 = 0.4.
    assert rescaled([0.25], -0.25)[0] == pytest.approx(0.4)


def test_order_and_correlation_stay() -> None:
    random = np.random.default_rng(0)
    scores, gold = random.normal(size=(2, 50)) / 9
    after = rescaled(scores, 0.4)
    assert (np.argsort(after) == np.argsort(scores)).all()
    assert np.corrcoef(after, gold)[0, 1] == pytest.approx(np.corrcoef(scores, gold)[0, 1])


def test_a_baseline_is_the_mean_of_each_score_of_its_own() -> None:
    found = baseline_of(PRF(np.array([0.2, 0.4, 0.9]), np.array([0.4, 0.8, 0.9]), np.array([0.25, 0.5, NAN])))
    assert (found.precision, found.recall, found.f1, found.n) == (pytest.approx(0.3), pytest.approx(0.6), 0.375, 2)
    # Two numbers that differ by δ have s = δ / √2, and their mean the error δ / 2.
    assert (found.precision_error, found.recall_error, found.f1_error) == pytest.approx((0.1, 0.2, 0.125))
    one = np.array([0.5])
    assert np.isnan(baseline_of(PRF(one, one, one)).f1_error)
    nothing = np.array([NAN])
    with pytest.raises(InputError, match="no baseline"):
        baseline_of(PRF(nothing, nothing, nothing))


@pytest.mark.parametrize("baseline", [1.0, 1.5, NAN, -np.inf])
def test_a_baseline_that_cannot_be_is_refused(baseline: float) -> None:
    with pytest.raises(InputError, match="below 1"):
        rescaled([0.5], baseline)
