"""Every table of accuracies takes the clusters of its pairs; without them its numbers are of independent pairs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from engine.errors import InputError
from engine.evaluations.minimal_pairs.clustered.intervals import few_clusters
from engine.evaluations.minimal_pairs.comparison import comparisons, ranking
from engine.evaluations.minimal_pairs.fair_subsets import beside
from engine.evaluations.minimal_pairs.files import file_tables
from engine.evaluations.minimal_pairs.length_effects import slopes
from engine.evaluations.minimal_pairs.levels import checkpoints, clustered_comparisons
from engine.evaluations.minimal_pairs.records import EQUAL, MATCHED, Result
from engine.evaluations.minimal_pairs.views import (
    by_category,
    by_difference,
    cluster_columns,
    decided,
    of_model,
    summary,
)
from engine.evaluations.shared.rank_ranges import ranges_of
from engine.measures.minimal_pairs.length_bias import STRATA
from engine.measures.minimal_pairs.length_slope import length_slope
from engine.measures.statistics.clustered import clustered_share
from engine.measures.statistics.intervals import wilson_interval
from tests.support.minimal_results import from_margins, synthetic

RESULT = synthetic(600)
TEMPLATES = [f"t{i // 12}" for i in range(600)]
RESULT = replace(RESULT, items=RESULT.items.assign(**{"field:template": TEMPLATES}))


def chosen(model: str) -> pd.DataFrame:
    """The pairs of a model, with whether each is right, its stratum, its difference, and its cluster."""
    pairs = of_model(RESULT, model)
    gap = (pairs["acceptable_tokens"] - pairs["unacceptable_tokens"]).to_numpy()
    return pd.DataFrame(
        {
            "right": decided(pairs, "PenLP") == 1,
            "gap": gap,
            "cluster": TEMPLATES,
            "category": pairs["category"].to_numpy(),
            "stratum": np.select([gap == 0, gap > 0], ["A=U", "A>U"], "A<U"),
        }
    )


def assert_over(line: dict[str, object], pairs: pd.DataFrame) -> None:
    """A row of a table has the interval of these pairs over their clusters."""
    expected = clustered_share(pairs["right"].to_numpy(), pairs["cluster"].to_numpy())
    assert (line["n"], line["n_clusters"], line["clustered_by"]) == (len(pairs), expected.n_clusters, "template")
    assert line["accuracy"] == expected.share
    assert (line["ci_low"], line["ci_high"]) == pytest.approx((expected.ci_low, expected.ci_high))


def test_strata_categories_and_differences() -> None:
    n_checked = 0
    for line in summary(RESULT, ("PenLP",), clustered_by="template").to_dict("records"):
        pairs = chosen(line["model"])
        assert_over(line, pairs if line["stratum"] == "all" else pairs[pairs["stratum"] == line["stratum"]])
        n_checked += 1
    for line in by_category(RESULT, "PenLP", clustered_by="template").to_dict("records"):
        pairs = chosen(line["model"]).query("category == @line['category']")
        assert_over(line, pairs if line["stratum"] == "all" else pairs[pairs["stratum"] == line["stratum"]])
        n_checked += 1
    differences = by_difference(RESULT, "PenLP", least=60, clustered_by="template")
    for line in differences.to_dict("records"):
        pairs = chosen(line["model"])
        own = differences.query("model == @line['model']")["difference"]
        assert_over(line, pairs[pairs["gap"].clip(own.min(), own.max()) == line["difference"]])
        n_checked += 1
    assert n_checked == 2 * 4 + 2 * 3 * 4 + len(differences) and len(differences) >= 10


@pytest.mark.parametrize(
    "table",
    [
        lambda by: summary(RESULT, ("LP", "PenLP"), **by),
        lambda by: by_category(RESULT, "LP", **by),
        lambda by: by_difference(RESULT, "LP", **by),
        lambda by: ranking(RESULT, "LP", **by),
        lambda by: slopes(RESULT, ("LP",), **by),
        lambda by: beside(RESULT, MATCHED, "LP", **by),
    ],
)
def test_clusters_change_intervals_and_tests_but_no_accuracy(table) -> None:  # type: ignore[no-untyped-def]
    plain, over = table({}), table({"clustered_by": "template"})
    assert set(plain["clustered_by"]) == {""} and set(over["clustered_by"]) == {"template"}
    changed = [name for name in plain if not plain[name].equals(over[name])]
    assert (
        {"clustered_by"}
        < set(changed)
        <= {
            "clustered_by",
            "n_clusters",
            "note",
            "ci_low",
            "ci_high",
            "standard_error",
            "fair_ci_low",
            "fair_ci_high",
            "slope_low",
            "slope_high",
        }
    )


def test_without_clusters_the_intervals_are_wilsons() -> None:
    table = summary(RESULT, ("LP",))
    low, high = wilson_interval(table["n_correct"], table["n"])
    assert table["ci_low"].tolist() == list(low) and table["ci_high"].tolist() == list(high)
    assert table["n_clusters"].tolist() == table["n"].tolist() and set(table["note"]) == {""}


def one_template_apart() -> Result:
    """b loses to a in one template only, in all of its 30 pairs: pairs part them, templates do not."""
    return from_margins(
        {"a": [1.0] * 300, "b": [-1.0] * 30 + [1.0] * 270}, [(3, 3)] * 300, [f"t{i // 30}" for i in range(300)]
    )


def test_ranges_and_groups_are_those_of_the_test_over_clusters() -> None:
    result = one_template_apart()
    assert ranking(result, "LP")["rank_group"].tolist() == [1, 2]
    over = ranking(result, "LP", clustered_by="category")
    assert over["rank_group"].tolist() == [1, 1] and over["rank"].tolist() == [1, 2]
    assert ranges_of(ranking(result, "LP")) == [(1, 1), (2, 2)] and ranges_of(over) == [(1, 2), (1, 2)]
    # one group as `clustered_comparisons` has it; McNemar's table stays beside it
    assert not clustered_comparisons(result, "LP", "category")["separable"].any()
    assert comparisons(result, "LP")["separable"].all()
    assert over["n_clusters"].tolist() == [10, 10] and over["note"].tolist() == ["few clusters: a rough interval"] * 2


def test_the_ranking_over_clusters_is_of_the_pairs_that_all_models_scored() -> None:
    result = one_template_apart()
    kept = result.pairs[~((result.pairs["model"] == "b") & (result.pairs["row"] <= 30))]
    over = ranking(replace(result, pairs=kept), "LP", clustered_by="category")
    assert over["n"].tolist() == [270, 270] and over["n_clusters"].tolist() == [9, 9]
    assert over["rank_group"].tolist() == [1, 1]


def test_slopes_over_clusters_are_the_measures() -> None:
    (line,) = slopes(RESULT, ("LP",), clustered_by="template").query("model == 'm'").to_dict("records")
    pairs = of_model(RESULT, "m")
    gap = pairs["acceptable_tokens"] - pairs["unacceptable_tokens"]
    fit = length_slope(decided(pairs, "LP"), gap, clusters=TEMPLATES)
    assert (line["slope"], line["standard_error"], line["n_clusters"]) == (fit.slope, fit.standard_error, 50)
    assert line["standard_error"] != length_slope(decided(pairs, "LP"), gap).standard_error


def test_clusters_that_all_decide_alike_have_no_interval_of_the_slope_and_a_note() -> None:
    pairs = of_model(RESULT, "m")
    place = pairs["item"].to_numpy() % 12
    alike = pairs.assign(
        acceptable_log_likelihood=np.where(place % 3, 1.0, -1.0),
        unacceptable_log_likelihood=0.0,
        acceptable_tokens=5 + place % 4,
        unacceptable_tokens=6,
        identical=False,
    )
    result = replace(RESULT, pairs=alike, settings=replace(RESULT.settings, models=("m",)))
    (line,) = slopes(result, ("LP",), clustered_by="template").to_dict("records")
    assert np.isfinite(line["slope"]) and np.isnan([line["ci_low"], line["ci_high"]]).all()
    assert (line["note"], line["reason"]) == ("no spread between clusters", "")


@pytest.mark.parametrize(
    ("n", "said"),
    [
        (1, "template has one value in these pairs: intervals are for it alone"),
        (3, "fewer than 5 have no interval"),
        (12, "intervals and tests are rough"),
        (20, ""),
    ],
)
def test_what_few_clusters_mean_is_said(n: int, said: str) -> None:
    text = few_clusters(pd.DataFrame({"clustered_by": ["template"], "n_clusters": [n]}))
    assert said in text and bool(said) == bool(text)


def test_checkpoints_over_clusters() -> None:
    names = {"m@step1": "m", "m@step2": "n"}
    pairs = pd.concat([of_model(RESULT, old).assign(model=new) for new, old in names.items()], ignore_index=True)
    result = replace(RESULT, pairs=pairs, settings=replace(RESULT.settings, models=tuple(names)))
    table = checkpoints(result, "LP", 1.0, "category", clustered_by="template")
    first = table.query("stratum == 'all'").iloc[0]
    whole = summary(result, ("LP",), clustered_by="template").query("stratum == 'all'").iloc[0]
    assert (first["ci_low"], first["ci_high"]) == (whole["ci_low"], whole["ci_high"])


def test_the_files_over_clusters_have_the_promised_columns_first() -> None:
    result = replace(RESULT, pairs=RESULT.pairs.assign(scored_in="fp32", first_token_differs=False))
    tables = file_tables(result, ("LP",), 0.8, "category", 0, clustered_by="template")
    table = tables["summary"]
    assert list(table)[:9] == [
        "model",
        "normalization",
        "stratum",
        "n",
        "n_correct",
        "n_tied",
        "accuracy",
        "ci_low",
        "ci_high",
    ]
    assert list(table)[-3:] == ["clustered_by", "n_clusters", "note"]
    for name in ("summary", "categories", "differences", "ranking", "bias"):
        assert set(tables[name]["clustered_by"]) == {"template"}, name


def test_subsets_without_a_pair_and_unknown_columns() -> None:
    longer = replace(RESULT, pairs=RESULT.pairs.assign(acceptable_tokens=RESULT.pairs["unacceptable_tokens"] + 1))
    empty = beside(longer, EQUAL, "LP", clustered_by="template")
    assert empty["fair_n"].eq(0).all() and empty["fair_ci_low"].isna().all()
    for table in (summary, slopes):
        with pytest.raises(InputError, match="no column 'nothing'"):
            table(RESULT, ("LP",), clustered_by="nothing")
    assert set(summary(longer, ("LP",), clustered_by="template")["stratum"]) == set(STRATA)


def test_a_pair_without_a_cluster_is_one_of_its_own() -> None:
    named = ["" if i % 100 == 0 else name for i, name in enumerate(TEMPLATES)]
    result = replace(RESULT, items=RESULT.items.assign(**{"field:template": named}))
    over = summary(result, ("LP",), clustered_by="template").query("stratum == 'all'")
    assert over["n_clusters"].tolist() == [56, 56]  # 50 templates and six pairs of none
    expected = clustered_share(
        decided(of_model(result, "m"), "LP") == 1, [name or f"of row {i}" for i, name in enumerate(named)]
    )
    assert over["ci_low"].iloc[0] == pytest.approx(expected.ci_low)


def test_what_can_name_clusters() -> None:
    many = [f"t{i // 2}" for i in range(600)]
    items = RESULT.items.assign(
        **{
            "field:lemma": many,
            "field:pairID": [str(i) for i in range(600)],
            "field:nearly": [str(i // 2 if i < 590 else i) for i in range(600)],
        }
    )
    # 300 lemmas are too many for categories; an own value for (nearly) every pair names no clusters, nor do two or
    # three values, of which no interval could be made.
    assert cluster_columns(replace(RESULT, items=items)) == ("template", "lemma")
    files = [f"file {i // 100}" for i in range(600)]
    assert cluster_columns(replace(RESULT, items=items.assign(source=files))) == ("template", "source", "lemma")
