"""The figures beside figure 2: slopes, correlations, points, fair subsets, a pair's tokens; what a click picks."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from dashboard.minimal_pairs import models
from dashboard.minimal_pairs.benchmark.tables import by_source
from dashboard.minimal_pairs.categories import _category
from dashboard.minimal_pairs.charts import OVERALL, UNDER_CAMERA, fair_figure
from dashboard.minimal_pairs.fair_subsets import beside_table
from dashboard.minimal_pairs.figure_selection import PointSelection, selection_label, selection_mask
from dashboard.minimal_pairs.length.charts import correlation_figure, points_figure, slope_figure
from dashboard.minimal_pairs.length.sections import undefined_slopes
from dashboard.minimal_pairs.pair_table import CLOSEST, IN_FILE, MOST_RIGHT, MOST_WRONG, ordered, pair_table
from dashboard.minimal_pairs.tokens.charts import contribution_figure, token_figure
from dashboard.shared.theme import ACROSS, measure_name
from engine.evaluations.minimal_pairs.fair_subsets import beside
from engine.evaluations.minimal_pairs.length_effects import length_correlations, length_points, slopes
from engine.evaluations.minimal_pairs.records import EQUAL, Result
from engine.evaluations.minimal_pairs.views import by_difference
from engine.messages.languages import in_language
from tests.support.minimal_results import from_margins, synthetic


@pytest.fixture(scope="module")
def result() -> Result:
    return synthetic(400)


def test_slopes_and_correlations_are_rows_with_their_intervals(result: Result) -> None:
    for table, figure, names in (
        (slopes(result), slope_figure(slopes(result)), ("slope", "ci_low", "ci_high")),
        (
            length_correlations(result),
            correlation_figure(length_correlations(result), "pearson"),
            ("pearson", "pearson_low", "pearson_high"),
        ),
    ):
        for model, trace in zip(("m", "n"), figure.data, strict=True):
            rows = table[table["model"] == model]
            value, low, high = (rows[name].to_numpy() for name in names)
            np.testing.assert_array_equal(trace.x, value)
            assert list(trace.y) == rows["normalization"].tolist()
            np.testing.assert_allclose(trace.x + trace.error_x.array, high)
            np.testing.assert_allclose(trace.x - trace.error_x.arrayminus, low)


def test_an_undefined_slope_is_not_drawn() -> None:
    table = pd.DataFrame(
        {
            "model": ["m", "n"],
            "normalization": "LP",
            "slope": [np.nan, -1.0],
            "n": 5,
            "ci_low": [np.nan, -2.0],
            "ci_high": [np.nan, 0.0],
            "firth_slope": np.nan,
            "firth_low": np.nan,
            "firth_high": np.nan,
        }
    )
    assert [len(trace.x) for trace in slope_figure(table).data] == [0, 1]


def test_a_slope_of_total_bias_is_a_ring_at_firths_estimate_and_named() -> None:
    decided_by_length = from_margins(
        {"m": [1.0, 2.0, 1.0, -1.0, -2.0, -1.0]}, [(3, 4), (3, 5), (3, 3), (4, 3), (5, 3), (6, 3)]
    )
    table = slopes(decided_by_length, ["LP"])
    assert np.isnan(table["slope"][0]) and "separation" in table["reason"][0]
    (trace,) = slope_figure(table).data
    assert (
        list(trace.x) == table["firth_slope"].tolist()
        and trace.x[0] < 0
        and list(trace.marker.symbol) == ["circle-open"]
    )
    np.testing.assert_allclose(
        [trace.x[0] - trace.error_x.arrayminus[0], trace.x[0] + trace.error_x.array[0]],
        table.loc[0, ["firth_low", "firth_high"]].to_numpy(dtype=float),
    )
    (note,) = (note for note in slope_figure(table).layout.annotations if "Firth's penalised estimate" in note.text)
    assert (note.x, note.xanchor) == (1, "right")  # as long as the figure is wide: from its right end to the left
    assert slope_figure(table).layout.margin.t == UNDER_CAMERA


def test_why_a_slope_is_undefined_is_said_in_the_readers_language() -> None:
    """Reasons have values, and pairs that are ties are neither right nor wrong."""
    alike = from_margins({"m": [1.0, 2.0, 0.5, -1.0]}, [(3, 3), (4, 4), (5, 5), (6, 6)])
    right = from_margins({"m": [1.0, 2.0, 0.5, 0.0]}, [(3, 4), (3, 5), (3, 3), (4, 4)])
    with in_language("ja"):
        assert undefined_slopes(slopes(alike, ["LP", "per character"])) == [
            ":material/info: m (LP)、m (文字あたり)の傾きは求められません: すべての文対で差が0です。"
        ]
        assert undefined_slopes(slopes(right, ["LP"])) == [
            ":material/info: m (LP)の傾きは求められません: 同点でない文対はすべて正解です。"
        ]


def test_the_rows_of_scores_are_named_in_the_readers_language(result: Result) -> None:
    with in_language("ja"):
        for figure in (slope_figure(slopes(result)), correlation_figure(length_correlations(result))):
            names = dict(zip(figure.layout.yaxis.tickvals, figure.layout.yaxis.ticktext, strict=True))
            assert (names["LP"], names["per character"]) == ("LP", "文字あたり")


def test_points_are_scores_at_their_numbers_of_tokens(result: Result) -> None:
    points = length_points(result, "m", "MeanLP")
    figure = points_figure(points, "mean_log_likelihood", "org/m")
    assert figure.layout.yaxis.title.text.endswith("<br>org/m")  # a file of the figure names its model
    for side, trace in zip(("acceptable", "unacceptable"), figure.data, strict=True):
        rows = points[points["side"] == side]
        np.testing.assert_array_equal(trace.y, rows["score"])
        assert np.abs(np.asarray(trace.x) - rows["tokens"]).max() < 0.5  # a shift, never to another number
        assert [row for row, _ in trace.customdata] == rows["row"].tolist()


def test_fair_accuracies_are_beside_those_of_all_pairs(result: Result) -> None:
    table = beside(result, EQUAL, "LP")
    figure = fair_figure(table, "n")
    assert figure.layout.meta[ACROSS] == f"{measure_name('accuracy')} (n)"  # a file of the figure names its model
    fair, every, _ = figure.data
    rows = table[table["model"] == "n"].sort_values("overall", ascending=False, kind="stable")
    np.testing.assert_array_equal(fair.x, rows["fair_accuracy"])
    np.testing.assert_array_equal(every.x, rows["accuracy"])
    assert fair.y[0] == f"<b>{OVERALL}</b>" and [point[0] for point in fair.customdata] == rows["category"].tolist()


def test_the_table_shows_changes_of_ranks() -> None:
    lines = [
        (True, "", "a", 10, 0.5, 1, 0.4, 2),
        (True, "", "b", 10, 0.4, 2, 0.6, 1),
        (False, "x", "a", 4, 0.5, 1, np.nan, None),
        (False, "x", "b", 4, 0.5, 1, 0.5, 1),
    ]
    table = pd.DataFrame(
        lines, columns=["overall", "category", "model", "n", "accuracy", "rank", "fair_accuracy", "fair_rank"]
    ).assign(fair_n=3, change=0.0, fair_deviation=np.nan)
    table["fair_rank"] = table["fair_rank"].astype("Int64")
    shown = beside_table(table)
    assert shown["Category"].tolist() == ["all", "x"]
    assert shown["a rank"].tolist() == ["1 → 2", "1"] and shown["b rank"].tolist() == ["2 → 1", "1"]
    assert shown["b fair"].tolist() == [60.0, 50.0]
    unranked = beside_table(table, ranked=False)
    assert unranked.columns.tolist() == [column for column in shown.columns if not column.endswith(" rank")]
    drawn = beside_table(table.assign(fair_deviation=[0.01, 0.02, np.nan, 0.03]))
    assert drawn["b ±"].tolist() == [2.0, 3.0] and not any(column.endswith("±") for column in shown.columns)


def contributions() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "slot": [0, 1, 2],
            "change": ["equal", "replace", "insert"],
            "acceptable_position": pd.array([0, 1, None], "Int64"),
            "unacceptable_position": pd.array([0, 1, 2], "Int64"),
            "acceptable_token": ["猫", "<b>", None],
            "unacceptable_token": ["猫", "<i>", "よ"],
            "acceptable_log_likelihood": [-1.0, -2.0, np.nan],
            "unacceptable_log_likelihood": [-1.0, -4.0, -8.0],
            "contribution": [0.0, 2.0, 8.0],
        }
    )


def test_the_bars_are_the_token_log_likelihoods_in_either_direction() -> None:
    figure = token_figure(contributions())
    assert [list(bar.y) for bar in figure.data] == [[-1.0, -2.0], [-1.0, -4.0, -8.0]]
    assert [list(bar.x) for bar in figure.data] == [[0, 1], [0, 1, 2]]
    assert list(figure.layout.xaxis.ticktext) == ["猫", "<b>&lt;b&gt;<br>&lt;i&gt;</b>", "<b>–<br>よ</b>"]
    assert list(figure.data[0].customdata) == ["猫", "&lt;b&gt;"]
    first, last = token_figure(contributions(), right_to_left=True).layout.xaxis.range
    assert first > last  # the first token on the right


def test_the_contributions_are_bars_that_are_warm_below_zero() -> None:
    figure = contribution_figure(contributions().assign(contribution=[0.5, -2.0, 8.0]), "nats")
    assert list(figure.data[0].y) == [0.5, -2.0, 8.0]
    colors = figure.data[0].marker.color
    assert colors[0] == colors[2] != colors[1]


def test_a_click_selects_as_many_pairs_as_the_point_has(result: Result) -> None:
    table = pair_table(result, "m", "LP", 0.8)
    for line in by_difference(result, "LP", least=60).query("model == 'm'").to_dict("records"):
        pick = PointSelection("m", line["difference"], bool(line["merged"]))
        assert selection_mask(pick, result, table).sum() == line["n"], line
    hard = selection_mask(PointSelection("m", field="level", value="hard", stratum="A=U"), result, table)
    assert hard.sum() == ((table["stratum"] == "A=U") & (table["row"] % 2 == 1)).sum()
    assert table[selection_mask(PointSelection("m", row=7), result, table)]["row"].tolist() == [7]


def test_a_pair_chosen_among_the_largest_differences_is_the_selected_one(monkeypatch: pytest.MonkeyPatch) -> None:
    selected: list[tuple[str, PointSelection]] = []
    monkeypatch.setattr(models, "select", lambda *chosen: selected.append(chosen))
    for rows in ([], [1], [2]):  # the third is no row of the table any more
        state = {"key": {"selection": {"rows": rows}}}
        monkeypatch.setattr(models, "st", SimpleNamespace(session_state=state))
        models._pair_chosen("key", "run", "m", pd.DataFrame({"row": [7, 3]}))
    assert selected == [("run", PointSelection("m", row=3))]


def test_a_click_on_a_category_selects_its_pairs_of_the_model() -> None:
    decode = _category(["m", "n"], "level", "A=U")
    clicked = decode({"curve_number": 1, "customdata": [12, "hard"]})
    assert clicked == PointSelection("n", field="level", value="hard", stratum="A=U")
    assert decode({"curve_number": 2, "customdata": [12, "hard"]}) is decode({"curve_number": 0}) is None


def test_a_selection_has_a_label() -> None:
    assert selection_label(PointSelection("m", -2, True)) == "|A| − |U| = −2 or less"
    assert selection_label(PointSelection("m", 0, field="UID", value="passive")) == "|A| − |U| = 0, UID = passive"
    assert selection_label(PointSelection("m", field="UID")) == "UID = (none)"
    assert selection_label(PointSelection("m")) == "all pairs"


def test_pairs_are_sorted_by_the_chosen_order(result: Result) -> None:
    table = pair_table(result, "m", "LP", 0.8)
    assert ordered(table, IN_FILE)["row"].is_monotonic_increasing
    assert ordered(table, MOST_WRONG)["margin"].is_monotonic_increasing
    assert ordered(table, MOST_RIGHT)["margin"].is_monotonic_decreasing
    assert ordered(table, CLOSEST)["margin"].abs().is_monotonic_increasing


def test_a_line_for_each_file(result: Result) -> None:
    items = result.items.assign(source=np.where(result.items["row"] <= 100, "one.jsonl", "two.jsonl"))
    several = type(result)(**{**vars(result), "items": items})
    points = by_source(several, "n", "LP", 0.8, 1)
    assert points.groupby("model", sort=False)["n"].sum().to_dict() == {"one.jsonl": 100, "two.jsonl": 300}
