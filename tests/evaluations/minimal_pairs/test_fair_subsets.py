"""Fair subsets: which pairs, and what accuracies and ranks are there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from engine.errors import InputError
from engine.evaluations.minimal_pairs.fair_subsets import beside, fair_rows, of_subset, restricted
from engine.evaluations.minimal_pairs.records import ALL, EQUAL, EQUAL_FOR_ALL, MATCHED, SUBSETS
from engine.evaluations.minimal_pairs.views import counts, decided, of_model, summary
from tests.support.minimal_results import from_margins, synthetic

RESULT = synthetic(900)


def test_the_equal_pairs_are_each_models_own_or_those_of_all() -> None:
    own, common = fair_rows(RESULT, EQUAL), fair_rows(RESULT, EQUAL_FOR_ALL)
    sets = []
    for model in ("m", "n"):
        pairs = of_model(RESULT, model)
        equal = pairs[pairs["acceptable_tokens"] == pairs["unacceptable_tokens"]]["row"]
        assert own[model].tolist() == equal.tolist()
        sets.append(set(equal))
    assert set(common["m"]) == set(common["n"]) == sets[0] & sets[1] and 0 < len(common["m"]) < len(own["m"])
    assert fair_rows(RESULT, ALL)["m"].tolist() == list(range(1, 901))


def test_the_matched_sample_is_balanced_larger_and_drawn_by_its_seed() -> None:
    rows = fair_rows(RESULT, MATCHED, seed=5)
    for line in counts(restricted(RESULT, rows)).to_dict("records"):
        assert line["A>U"] == line["A<U"] > 0
        assert line["A=U"] == len(fair_rows(RESULT, EQUAL)[line["model"]])
    assert rows["m"].tolist() == fair_rows(RESULT, MATCHED, seed=5)["m"].tolist()
    assert rows["m"].tolist() != fair_rows(RESULT, MATCHED, seed=6)["m"].tolist()


def test_a_restricted_result_holds_those_pairs_alone() -> None:
    fair = restricted(RESULT, fair_rows(RESULT, EQUAL))
    assert set(counts(fair)["A>U"]) == {0} and len(fair.items) == 900
    lp, mean = (decided(fair.pairs, which) for which in ("LP", "MeanLP"))
    np.testing.assert_array_equal(lp, mean)
    np.testing.assert_array_equal(lp, decided(fair.pairs, "PenLP", 1.3))


def test_the_result_of_a_subset_is_drawn_with_the_runs_seed_and_holds_pairs_of_every_model() -> None:
    seeded = replace(RESULT, settings=replace(RESULT.settings, seed=6))
    assert of_subset(seeded, ALL) is seeded
    for model, rows in fair_rows(RESULT, MATCHED, seed=6).items():
        assert of_model(of_subset(seeded, MATCHED), model)["row"].tolist() == rows.tolist()
    longer = replace(
        RESULT,
        pairs=RESULT.pairs.assign(
            acceptable_tokens=RESULT.pairs["unacceptable_tokens"] + (RESULT.pairs["model"] == "n")
        ),
    )
    with pytest.raises(InputError, match="no pair under n"):
        of_subset(longer, EQUAL)


def test_original_beside_fair_by_hand() -> None:
    # Pairs 1 to 4 of category x, 5 and 6 of y. Equal are 1, 2, 3 and 6.
    #   short: right in 1, 4, 5    x: 2/4, fair 1/3    y: 1/2, fair 0/1
    #   good:  right in 1, 2, 6    x: 2/4, fair 2/3    y: 1/2, fair 1/1      ranks: equal before, good first after
    right = {"short": (1, 4, 5), "good": (1, 2, 6)}
    margins = {model: [1.0 if row in rows else -1.0 for row in range(1, 7)] for model, rows in right.items()}
    result = from_margins(margins, [(5, 5), (5, 5), (5, 5), (5, 6), (4, 5), (7, 7)], ["x", "x", "x", "x", "y", "y"])
    for subset in (EQUAL, EQUAL_FOR_ALL):
        table = beside(result, subset, "LP").set_index(["category", "model"])
        shown = table[["n", "n_correct", "fair_n", "fair_n_correct", "rank", "fair_rank", "rank_change"]]
        assert shown.loc[("x", "short")].tolist() == [4, 2, 3, 1, 1, 2, -1]
        assert shown.loc[("x", "good")].tolist() == [4, 2, 3, 2, 1, 1, 0]
        assert shown.loc[("y", "short")].tolist() == [2, 1, 1, 0, 1, 2, -1]
        assert shown.loc[("", "good")].tolist() == [6, 3, 4, 3, 1, 1, 0]
        assert table.loc[("", "good"), "change"] == pytest.approx(3 / 4 - 3 / 6)
        assert table.loc[("", "good"), "overall"] and not table.loc[("x", "good"), "overall"]


def test_a_category_without_a_fair_pair_is_shown_as_empty() -> None:
    result = from_margins({"m": [1.0, 1.0]}, [(5, 5), (5, 6)], ["x", "y"])
    line = beside(result, EQUAL, "LP").set_index("category").loc["y"]
    assert line["fair_n"] == 0 and np.isnan(line["fair_accuracy"]) and pd.isna(line["fair_rank"])


def test_beside_agrees_with_the_summaries() -> None:
    for subset in SUBSETS:
        table = beside(RESULT, subset, "MeanLP", field="level")
        assert len(table) == 2 * (1 + 2)
        fair = summary(restricted(RESULT, fair_rows(RESULT, subset)), ["MeanLP"]).query("stratum == 'all'")
        overall = table[table["overall"]].set_index("model")
        np.testing.assert_allclose(overall.loc[fair["model"], "fair_accuracy"], fair["accuracy"])
    assert (beside(RESULT, ALL, "LP")["change"] == 0).all()


def test_other_subsets_are_refused() -> None:
    with pytest.raises(InputError, match="A=U for all models, matched, cut alike, cut differently; got 'fair'"):
        fair_rows(RESULT, "fair")


def accuracies(rows_by_model: dict[str, np.ndarray]) -> pd.Series:
    """The share of pairs that are right, over all and by category; a table with all its intervals takes far longer."""
    rows = RESULT.pairs.assign(right=decided(RESULT.pairs, "LP") == 1)
    rows = pd.concat([rows[(rows["model"] == model) & rows["row"].isin(kept)] for model, kept in rows_by_model.items()])
    overall = rows.assign(category="", overall=True)
    return pd.concat([overall, rows.assign(overall=False)]).groupby(["overall", "category", "model"])["right"].mean()


def test_only_the_matched_sample_has_a_spread_over_seeds() -> None:
    table = beside(RESULT, MATCHED, "LP")
    keys = ["overall", "category", "model"]
    drawn = pd.concat([accuracies(fair_rows(RESULT, MATCHED, seed)) for seed in range(200)])
    shown = beside(RESULT, MATCHED, "LP", seed=7).set_index(keys)["fair_accuracy"]
    pd.testing.assert_series_equal(accuracies(fair_rows(RESULT, MATCHED, 7)).loc[shown.index], shown, check_names=False)
    seen = drawn.groupby(level=keys).agg(["mean", "std"]).loc[shown.index]
    # Of 200 seeds a standard deviation is known to 5% (1 / sqrt(2 * 200)), a mean to a fourteenth of it.
    np.testing.assert_allclose(table["fair_deviation"], seen["std"], rtol=0.25)
    assert (np.abs(table["fair_mean"] - seen["mean"].to_numpy()) < table["fair_deviation"] / 3).all()
    assert (table["fair_deviation"] > 0).all() and len(table) == 8
    for subset in (ALL, EQUAL):
        assert beside(RESULT, subset, "LP")[["fair_mean", "fair_deviation"]].isna().all(axis=None)
