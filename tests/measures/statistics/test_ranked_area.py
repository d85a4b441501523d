"""The area under the curve: by hand, beside scikit-learn, and by its symmetry."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from engine.errors import InputError
from engine.measures.statistics.ranked_area import area_under_curve

scored = st.lists(st.tuples(st.sampled_from([0.1, 0.2, 0.3, 0.4]), st.booleans()), min_size=2, max_size=20)


def test_by_hand() -> None:
    # 0.9 beats 0.5 and 0.1, 0.5 ties with 0.5 and beats 0.1: (2 + 1.5) / 4
    assert area_under_curve([0.9, 0.5, 0.5, 0.1], [True, True, False, False]) == 3.5 / 4
    assert math.isnan(area_under_curve([0.1], [True]))
    with pytest.raises(InputError, match="1 of 2 scores are not numbers"):
        area_under_curve([0.1, np.nan], [True, False])
    with pytest.raises(InputError, match="Each score needs one flag"):
        area_under_curve([0.1], [True, False])


@given(scored)
def test_it_is_that_of_scikit_learn_and_turns_with_the_groups(rows: list[tuple[float, bool]]) -> None:
    scores, positive = (np.array(column) for column in zip(*rows, strict=True))
    if positive.all() or not positive.any():
        return
    area = area_under_curve(scores, positive)
    assert area == pytest.approx(roc_auc_score(positive, scores))
    assert area + area_under_curve(scores, ~positive) == pytest.approx(1)
