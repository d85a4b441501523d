"""Benchmarks' tables: levels with micro and macro averages, two scores of one model, tests over clusters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from engine.datasets.minimal_pairs.files import read_pairs
from engine.errors import InputError
from engine.evaluations.minimal_pairs.comparison import comparisons
from engine.evaluations.minimal_pairs.files import file_tables
from engine.evaluations.minimal_pairs.levels import (
    CLUSTERED,
    CONDITIONS,
    LEVELS,
    clustered_comparisons,
    conditions,
    level_columns,
    levels,
    template_column,
)
from engine.evaluations.minimal_pairs.records import Result
from engine.evaluations.minimal_pairs.tables import item_table
from engine.evaluations.minimal_pairs.views import decided, of_model, summary
from engine.measures.statistics.clustered import (
    clustered_difference,
    clustered_share,
    detectable_difference,
    mean_share,
)
from engine.measures.statistics.intervals import wilson_interval
from engine.measures.statistics.paired_tests import mcnemar
from tests.support.minimal_results import from_margins, synthetic
from tests.support.shared_data import shared_data


def sorted_pairs(paradigms: Sequence[str], phenomena: Sequence[str], right: Sequence[int]) -> Result:
    """Pairs of one model that are right or not, with two columns."""
    result = from_margins({"m": [1.0 if value else -1.0 for value in right]}, [(3, 3)] * len(right))
    columns = {"field:phenomenon": list(phenomena), "field:UID": list(paradigms)}
    return replace(result, items=result.items.assign(**columns))


def test_micro_and_macro_averages_by_hand() -> None:
    # p: 3 of 4 right; q: 1 of 2; r: 0 of 2. Phenomenon X holds p and q, Y holds r.
    result = sorted_pairs("ppppqqrr", "XXXXXXYY", [1, 1, 1, 0, 1, 0, 0, 0])
    table = levels(result, "LP", ("phenomenon", "UID"))
    assert table["value"].tolist() == ["all", "X", "Y", "X / p", "X / q", "Y / r"]
    assert table["level"].tolist() == ["all", "phenomenon", "phenomenon", "UID", "UID", "UID"]
    assert table["accuracy"].tolist() == pytest.approx([4 / 8, 4 / 6, 0, 3 / 4, 1 / 2, 0])
    # macro: all (3/4 + 1/2 + 0) / 3; X (3/4 + 1/2) / 2
    assert table["macro_accuracy"].tolist() == pytest.approx([5 / 12, 5 / 8, 0, 3 / 4, 1 / 2, 0])
    assert table["n_groups"].tolist() == [3, 2, 1, 1, 1, 1] and table["n_correct"].tolist() == [4, 4, 0, 3, 1, 0]
    # Three values are too few for an interval over values.
    assert table["macro_low"].isna().all() and set(table["macro_note"]) == {"too few values"}
    assert (table["ci_low"].iloc[0], table["ci_high"].iloc[0]) == pytest.approx(wilson_interval(4, 8))
    assert table["n_clusters"].tolist() == [8, 6, 2, 4, 2, 2] and table["design_effect"].isna().all()


def test_intervals_over_clusters() -> None:
    templates, right = "ppppqqrrsstt", [1, 1, 1, 0, 1, 0, 0, 0, 1, 1, 0, 1]
    result = sorted_pairs(templates, "XXXXXXYYYYYY", right)
    table = levels(result, "LP", ("phenomenon", "UID"), clustered_by="UID").set_index("value")
    whole = clustered_share(right, list(templates))
    assert tuple(table.loc["all", ["ci_low", "ci_high", "design_effect"]]) == pytest.approx(
        (whole.ci_low, whole.ci_high, whole.design_effect)
    )
    assert table["n_clusters"].tolist() == [5, 2, 3, 1, 1, 1, 1, 1] and set(table["clustered_by"]) == {"UID"}
    assert table.loc["all", "note"] == "few clusters: a rough interval"
    # Two templates: no interval, and the reason.
    assert table.loc["X", ["ci_low", "ci_high"]].isna().all() and table.loc["X", "note"] == "too few clusters"
    # One template: how sure its own accuracy is, by Wilson, and no design effect.
    assert tuple(table.loc["X / p", ["ci_low", "ci_high"]]) == pytest.approx(wilson_interval(3, 4))
    assert table.loc[["X / p"], "design_effect"].isna().all()
    assert table.loc["X / p", "note"] == "one cluster: for it alone"


def test_two_paradigms_of_40_pairs_claim_nothing_beyond_the_range_of_a_difference() -> None:
    right = [*[True] * 30, *[False] * 10] * 2
    result = sorted_pairs("p" * 40 + "q" * 40, "X" * 80, right)
    table = conditions(result, ("LP", "MeanLP"), clustered_by="UID")
    assert table[["ci_low", "ci_high", "p_value", "p_holm", "detectable"]].isna().all(axis=None)
    assert table["note"].tolist() == ["too few clusters"] and table["n_clusters"].tolist() == [2]
    # Both paradigms have an accuracy of 75%: two equal numbers do not make the macro average exact.
    macro = levels(result, "LP", ("UID",), clustered_by="UID").iloc[0]
    assert macro["macro_accuracy"] == 0.75 and np.isnan(macro["macro_low"]) and np.isnan(macro["macro_high"])


def test_equal_accuracies_of_all_values_leave_a_macro_interval_with_a_width() -> None:
    result = sorted_pairs("".join(name * 40 for name in "pqrst"), "X" * 200, [*[1] * 30, *[0] * 10] * 5)
    macro = levels(result, "LP", ("UID",)).iloc[0]
    expected = mean_share(np.tile(np.arange(40) < 30, 5), np.repeat(np.arange(5), 40))
    assert (macro["macro_low"], macro["macro_high"]) == (expected.ci_low, expected.ci_high)
    assert 0 < macro["macro_low"] < 0.7 and 0.8 < macro["macro_high"] < 1
    assert macro["macro_note"] == "few values: a rough interval" and macro["note"] == ""


def test_a_value_is_one_only_under_the_same_levels_above() -> None:
    table = levels(sorted_pairs("pppp", "XXYY", [1, 1, 0, 0]), "LP", ("phenomenon", "UID"))
    assert table["value"].tolist() == ["all", "X", "Y", "X / p", "Y / p"]
    assert table["n_groups"].iloc[0] == 2


def test_without_columns_the_table_is_that_of_all_pairs() -> None:
    result = synthetic(200)
    table, whole = levels(result, "MeanLP", ()), summary(result, ("MeanLP",)).query("stratum == 'all'")
    for name in ("model", "n", "n_correct", "accuracy", "ci_low", "ci_high"):
        assert table[name].tolist() == whole[name].tolist()
    with pytest.raises(InputError, match="no column 'nothing'"):
        levels(result, "LP", ("nothing",))


def test_two_scores_of_one_model_by_mcnemar() -> None:
    result = synthetic(400)
    table = conditions(result, ("LP", "PenLP", "MeanLP"), alpha=0.5)
    assert list(zip(table["normalization"], table["other_normalization"], strict=True)) == 2 * [
        ("LP", "PenLP"),
        ("LP", "MeanLP"),
        ("PenLP", "MeanLP"),
    ]
    for line in table.to_dict("records"):
        pairs = of_model(result, line["model"])
        right = [decided(pairs, line[name], 0.5) == 1 for name in ("normalization", "other_normalization")]
        test = mcnemar(*right)
        assert (line["n_only_first"], line["n_only_second"], line["p_value"], line["ci_low"]) == (
            test.n_only_first,
            test.n_only_second,
            test.p_value,
            test.ci_low,
        )
        error = np.std(right[0].astype(float) - right[1], ddof=1) / 20  # of 400 independent pairs
        assert line["detectable"] == pytest.approx(detectable_difference(error, 400))
    templates = [str(i // 20) for i in range(400)]
    result = replace(result, items=result.items.assign(**{"field:UID": templates}))
    over = conditions(result, ("LP", "PenLP"), clustered_by="UID")
    first = of_model(result, "m")
    student = clustered_difference(decided(first, "LP") == 1, decided(first, "PenLP") == 1, templates)
    assert over["p_value"].iloc[0] == pytest.approx(student.p_value) and over["n_clusters"].tolist() == [20, 20]
    assert over["note"].tolist() == ["", ""] and (over["ci_low"] >= -1).all()
    assert conditions(result, ("LP",)).empty


def test_two_models_over_clusters() -> None:
    # b loses to a in one template only, in all of its 30 pairs: pairs part them, templates do not.
    templates = [f"t{i // 30}" for i in range(300)]
    result = from_margins({"a": [1.0] * 300, "b": [-1.0] * 30 + [1.0] * 270}, [(3, 3)] * 300, templates)
    assert comparisons(result, "LP")["p_value"].iloc[0] < 1e-6
    (line,) = clustered_comparisons(result, "LP", "category").to_dict("records")
    # differences by template: 1, then nine 0: mean 0.1, s = 0.1, t = 1 with 9 degrees: p = 0.3434 (tables)
    assert line["difference"] == pytest.approx(0.1) and line["p_value"] == pytest.approx(0.343436, abs=1e-6)
    assert not line["separable"] and line["n_clusters"] == 10
    assert line["detectable"] == pytest.approx(0.1 * (2.262157 + 0.883404), abs=1e-6)
    kept = result.pairs[~((result.pairs["model"] == "b") & (result.pairs["row"] <= 30))]
    (line,) = clustered_comparisons(replace(result, pairs=kept), "LP", "category").to_dict("records")
    assert line["n"] == 270 and line["p_value"] == 1 and np.isnan(line["detectable"])
    assert np.isnan(line["ci_low"]) and line["note"] == "no spread between clusters"
    with pytest.raises(InputError, match="choose the column"):
        clustered_comparisons(result, "LP", "")


def test_one_cluster_has_no_test() -> None:
    result = from_margins({"a": [1.0] * 9, "b": [-1.0] * 9}, [(3, 3)] * 9, ["one"] * 9)
    (line,) = clustered_comparisons(result, "LP", "category").to_dict("records")
    assert np.isnan(line["p_value"]) and np.isnan(line["p_holm"]) and not line["separable"]


def test_the_tables_are_as_declared_and_written_only_where_asked_for() -> None:
    result = synthetic(60)
    result = replace(result, pairs=result.pairs.assign(scored_in="fp32", first_token_differs=False))
    tables = file_tables(
        result, ("LP", "PenLP"), 0.8, "category", 0, level_columns=("level", "theme"), clustered_by="theme"
    )
    for table in (LEVELS, CONDITIONS, CLUSTERED):
        assert len(tables[table.name]) and table.arranged(tables[table.name]) is tables[table.name]
    assert not {"levels", "conditions", "clustered_comparisons"} & set(file_tables(result, ("LP",), 0.8, "category", 0))


def test_blimps_own_columns_are_its_levels() -> None:
    paths = sorted(shared_data("blimp").glob("*.jsonl"))
    dataset = read_pairs([(path.name, path) for path in paths])
    items = item_table(dataset, ())
    names = [str(name).removeprefix("field:") for name in items.columns]
    assert level_columns(names) == ("field", "linguistics_term", "UID") and template_column(names) == "UID"
    right = np.random.default_rng(3).random(dataset.n) < 0.8
    made = from_margins({"m": np.where(right, 1.0, -1.0).tolist()}, [(5, 5)] * dataset.n)
    table = levels(replace(made, items=items), "LP", level_columns(names), clustered_by="UID")
    per_level = table.groupby("level", sort=False)["n"].agg(["size", "sum"])
    assert per_level["sum"].tolist() == [10_000] * 4 and per_level["size"].to_dict()["UID"] == 10
    # Paradigms of one size: macro is micro, as in BLiMP's overall number.
    assert table["macro_accuracy"].tolist() == pytest.approx(table["accuracy"].tolist())
