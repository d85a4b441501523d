"""Slopes and correlations of a result: what was put in comes out, normalisation by normalisation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import pearsonr, spearmanr

from engine.evaluations.minimal_pairs.length_effects import length_correlations, length_points, slopes
from engine.evaluations.minimal_pairs.views import of_model, scores
from engine.measures.minimal_pairs.firth_slope import firth_slope
from engine.measures.minimal_pairs.normalizations import NORMALIZATIONS
from tests.support.minimal_results import from_margins, synthetic

RESULT = synthetic(3000)


def test_a_model_that_likes_short_sentences_has_a_slope_below_0_until_length_is_set_aside() -> None:
    table = slopes(RESULT).set_index(["model", "normalization"])
    for model in ("m", "n"):
        lp, mean = table.loc[(model, "LP")], table.loc[(model, "MeanLP")]
        assert lp["ci_high"] < 0 and abs(mean["slope"]) < abs(lp["slope"]) / 4
        assert lp["n"] + lp["n_tied"] == 3000 and lp["n_tied"] == 60
    assert table.index.get_level_values("normalization").unique().tolist() == list(NORMALIZATIONS)


def test_what_cannot_be_fitted_says_why() -> None:
    table = slopes(from_margins({"m": [1.0, 2.0, 3.0]}, [(3, 4)] * 3), ["LP"])
    assert np.isnan(table["slope"][0]) and table["reason"][0] == "the difference is -1 in every pair"


def test_only_under_perfect_separation_there_is_firths_estimate() -> None:
    lengths = [(3, 4), (3, 5), (3, 3), (4, 3), (5, 3), (6, 3)]
    result = from_margins(
        {"total": [1.0, 1.0, 1.0, -1.0, -1.0, -1.0], "partly": [1.0, -1.0, 1.0, -1.0, 1.0, -1.0], "right": [1.0] * 6},
        lengths,
    )
    table = slopes(result, ["LP"]).set_index("model")
    firth = firth_slope([1, 1, 1, -1, -1, -1], [-1, -2, 0, 1, 2, 3])
    assert table.loc["total", ["firth_slope", "firth_low", "firth_high"]].tolist() == [
        firth.slope,
        firth.ci_low,
        firth.ci_high,
    ]
    assert table.loc[["partly", "right"], "firth_slope"].isna().all() and np.isfinite(table.loc["partly", "slope"])


@pytest.mark.parametrize("normalization", NORMALIZATIONS)
def test_correlations_equal_scipy(normalization: str) -> None:
    line = length_correlations(RESULT, [normalization]).set_index("model").loc["n"]
    pairs = of_model(RESULT, "n")
    lengths = np.concatenate([pairs["acceptable_tokens"], pairs["unacceptable_tokens"]])
    values = np.concatenate(scores(pairs, normalization))
    assert line["n"] == 6000 and line["reason"] == ""
    assert line["pearson"] == pytest.approx(pearsonr(lengths, values).statistic, rel=1e-9)
    assert line["spearman"] == pytest.approx(spearmanr(lengths, values).statistic, rel=1e-9)
    assert line["pearson_low"] < line["pearson"] < line["pearson_high"]


def test_lp_falls_with_length_and_meanlp_hardly() -> None:
    table = length_correlations(RESULT).query("model == 'm'").set_index("normalization")
    assert table.loc["LP", "pearson"] < -0.9 and abs(table.loc["MeanLP", "pearson"]) < 0.2


def test_sentences_of_one_length_have_no_correlation_and_say_so() -> None:
    table = length_correlations(from_margins({"m": [1.0, 2.0, 3.0]}, [(4, 4)] * 3), ["LP"])
    assert np.isnan(table["pearson"][0]) and table["reason"][0] == "|S| is 4 in all 6 pairs"


def test_points_are_sentences_of_the_result() -> None:
    points = length_points(RESULT, "m", "MeanLP", most=500, seed=3)
    assert len(points) == 500 and set(points["side"]) == {"acceptable", "unacceptable"}
    pairs = of_model(RESULT, "m").set_index("row")
    by_side = dict(zip(("acceptable", "unacceptable"), scores(pairs, "MeanLP"), strict=True))
    for line in points.head(20).to_dict("records"):
        assert line["tokens"] == pairs.loc[line["row"], f"{line['side']}_tokens"]
        assert line["score"] == by_side[line["side"]][line["row"] - 1]
    assert points.equals(length_points(RESULT, "m", "MeanLP", most=500, seed=3))
    assert len(length_points(RESULT, "m", "LP", most=10_000)) == 6000
