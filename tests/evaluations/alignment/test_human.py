"""Human scores beside a score of pairs: worked by hand, and equal to a metric study's."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from engine.evaluations.alignment.human import agreement, disagreement, human_scores, offered_scales
from engine.evaluations.metric_study.human_gold import human_gold
from engine.measures.statistics.correlations.correlation import pearson


def pairs(**human: list[float]) -> pd.DataFrame:
    n = len(next(iter(human.values())))
    return pd.DataFrame({"row": range(1, n + 1), **{f"human:{name}": values for name, values in human.items()}})


def test_one_annotator_is_shown_in_the_files_units() -> None:
    found = human_scores(pairs(a=[1.0, 3.0, np.nan, 5.0]))
    assert found is not None and found.names == ("a",) and found.unit == "on the scale 1-5"
    assert found.mean[[0, 1, 3]].tolist() == [1.0, 3.0, 5.0] and np.isnan(found.mean[2]) and np.isnan(found.gold[2])


def test_several_annotators_are_their_mean_and_the_gold_is_a_studys() -> None:
    a, b = [1.0, 2.0, 5.0, np.nan], [2.0, 4.0, 5.0, 1.0]
    found = human_scores(pairs(a=a, b=b))
    assert found is not None and found.mean.tolist() == [1.5, 3.0, 5.0, 1.0]
    assert found.gold == pytest.approx(human_gold({"a": a, "b": b}).gold, nan_ok=True)


def test_scales_that_differ_are_not_averaged() -> None:
    found = human_scores(pairs(a=[0.0, 5.0, 2.0], b=[0.0, 100.0, 30.0]))
    assert found is not None and "different scales" in found.unit and (found.mean == found.gold).all()


def test_an_annotator_who_gave_no_0_has_the_others_scale() -> None:
    found = human_scores(pairs(a=[0.0, 5.0, 2.0], b=[1.0, 5.0, 3.0]))
    assert found is not None and found.unit == "on the scale 0-5" and found.mean.tolist() == [0.5, 5.0, 2.5]


def test_without_scores_there_is_nothing() -> None:
    assert human_scores(pairs(a=[np.nan, np.nan])) is None
    assert human_scores(pd.DataFrame({"row": [1]})) is None


def test_disagreement_is_the_difference_of_z_scores() -> None:
    found = human_scores(pairs(a=[1.0, 2.0, 3.0, np.nan]))
    assert found is not None
    values = np.array([0.9, 0.5, 0.7, 0.1])
    seen = disagreement(found, values)
    # the same numbers less their mean over their standard deviation, by hand
    root = np.sqrt(2 / 3)
    human, score = np.array([-1, 0, 1]) / root, np.array([0.2, -0.2, 0.0]) / (0.2 * root)
    assert seen[:3] == pytest.approx(score - human) and np.isnan(seen[3])
    correlation = agreement(found, values).pearson
    assert correlation.value == pytest.approx(pearson([1, 2, 3], [0.9, 0.5, 0.7]).value) and correlation.n == 3
    assert np.isnan(disagreement(found, np.full(4, np.nan))).all()


def test_a_scale_that_was_told_wrongly_is_named() -> None:
    scored = pairs(a=[1.0, 3.0, 4.0], b=[1.0, 5.0, 4.0])
    assert offered_scales(scored) == ("0-5", "1-5", "0-7", "1-7", "0-10", "1-10", "0-100")
    told, named = human_scores(scored), human_scores(scored, "0-5")
    assert told is not None and named is not None
    assert (told.unit, named.unit) == ("on the scale 1-5", "on the scale 0-5")
    assert named.gold.tolist() == told.gold.tolist() and named.mean.tolist() == [1.0, 4.0, 4.0]
    assert offered_scales(pairs(a=[-0.5, 0.5])) == () and offered_scales(pd.DataFrame({"row": [1]})) == ()


def test_annotators_on_one_named_scale_are_averaged() -> None:
    scored = pairs(a=[0.0, 5.0, 2.0], b=[0.0, 7.0, 3.0])  # told apart, because one never gave a 7
    told, named = human_scores(scored), human_scores(scored, "0-7")
    assert told is not None and named is not None
    assert "different scales" in told.unit and named.mean.tolist() == [0.0, 6.0, 2.5]
