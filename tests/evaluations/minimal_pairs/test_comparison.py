"""Models against each other: McNemar on common pairs, groups and ranges of ranks, and the pairs that part them."""

from __future__ import annotations

import numpy as np
import pytest

from engine.errors import InputError
from engine.evaluations.minimal_pairs.comparison import comparisons, differing_pairs, margin_unit, ranking
from engine.evaluations.minimal_pairs.views import decided, of_model
from engine.measures.minimal_pairs.normalizations import NORMALIZATIONS
from engine.measures.statistics.paired_tests import holm, mcnemar
from tests.support.minimal_results import from_margins, synthetic


def margins(n_right: int, n: int, start: int = 0) -> list[float]:
    """Right in `n_right` pairs from `start` on, wrong in the others."""
    return [1.0 if start <= i < start + n_right else -1.0 for i in range(n)]


def test_every_two_models_once_by_mcnemar_and_holm() -> None:
    result = synthetic(300, models=("a", "b", "c"))
    table = comparisons(result, "MeanLP")
    assert list(zip(table["model"], table["other"], strict=True)) == [("a", "b"), ("a", "c"), ("b", "c")]
    right = {model: decided(of_model(result, model), "MeanLP") == 1 for model in "abc"}
    for line in table.to_dict("records"):
        found = mcnemar(right[line["model"]], right[line["other"]])
        assert (line["n"], line["n_only_model"], line["n_only_other"], line["p_value"]) == (
            300,
            found.n_only_first,
            found.n_only_second,
            found.p_value,
        )
    np.testing.assert_allclose(table["p_holm"], holm(table["p_value"].to_numpy()))


def test_groups_rather_than_ranks() -> None:
    # 100 pairs. best 90 right, near 88 (the same but two): not separable. low 50 right: 40 pairs part it from best.
    result = from_margins({"low": margins(50, 100), "near": margins(88, 100), "best": margins(90, 100)}, [(3, 3)] * 100)
    table = ranking(result, "LP")
    assert table["model"].tolist() == ["best", "near", "low"]
    assert table["rank"].tolist() == [1, 2, 3] and table["rank_group"].tolist() == [1, 1, 2]
    assert table[["rank_first", "rank_last"]].to_numpy().tolist() == [[1, 2], [1, 2], [3, 3]]
    assert table["accuracy"].tolist() == [0.9, 0.88, 0.5] and set(table["n"]) == {100}
    parted = comparisons(result, "LP").set_index(["model", "other"])["separable"]
    assert parted[("low", "near")] and parted[("low", "best")] and not parted[("near", "best")]


def test_only_pairs_that_all_scored_are_compared() -> None:
    result = from_margins({"a": margins(5, 10), "b": margins(5, 10)}, [(3, 3)] * 10)
    kept = result.pairs[~((result.pairs["model"] == "b") & (result.pairs["row"] <= 3))]
    part = type(result)(result.settings, "part", kept, result.tokens, result.excluded, result.items)
    assert comparisons(part, "LP")["n"].tolist() == [7] and set(ranking(part, "LP")["n"]) == {7}
    assert ranking(part, "LP")["n_correct"].tolist() == [2, 2]


def test_one_model_has_nobody_to_be_compared_with() -> None:
    result = synthetic(50, models=("a",))
    assert comparisons(result, "LP").empty
    columns = ["rank", "rank_group", "rank_first", "rank_last"]
    assert ranking(result, "LP")[columns].to_numpy().tolist() == [[1, 1, 1, 1]]


def test_the_pairs_that_two_models_see_most_differently() -> None:
    result = from_margins({"a": [-9.0, 5.0, -2.0, 0.5], "b": [-0.5, -1.0, 3.0, 0.5]}, [(2, 2)] * 4)
    table = differing_pairs(result, "a", "b", "LP")
    # rows 3 and 2 are decided differently, and come before row 1, which both get wrong by margins far apart
    assert table["row"].tolist() == [3, 2, 1, 4]
    spread_a, spread_b = np.sqrt((81 + 25 + 4 + 0.25) / 4), np.sqrt((0.25 + 1 + 9 + 0.25) / 4)
    assert table["difference"].tolist() == pytest.approx(
        [
            -2 / spread_a - 3 / spread_b,
            5 / spread_a + 1 / spread_b,
            -9 / spread_a + 0.5 / spread_b,
            0.5 / spread_a - 0.5 / spread_b,
        ]
    )
    assert table["margin"].tolist() == [-2.0, 5.0, -9.0, 0.5]
    assert table["decision"].tolist() == [-1, 1, -1, 1] and table["other_decision"].tolist() == [1, -1, -1, 1]
    assert table["acceptable"].tolist()[0] == "a2"
    # another normalisation of equal lengths is another unit, which the spread takes away
    assert differing_pairs(result, "a", "b", "MeanLP", most=1)["difference"].tolist() == pytest.approx(
        table["difference"].tolist()[:1]
    )
    with pytest.raises(InputError, match="holds no model 'z'; it holds a, b"):
        differing_pairs(result, "a", "z", "LP")


def test_every_margin_has_a_named_unit() -> None:
    assert all(margin_unit(which) for which in NORMALIZATIONS) and margin_unit("MeanLP") == "nats per token"
