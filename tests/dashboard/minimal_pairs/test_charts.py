"""The minimal-pairs page's figures and tables: the numbers in them are the evaluation's."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from dashboard.minimal_pairs import charts
from dashboard.minimal_pairs.accuracy_cards import interval
from dashboard.minimal_pairs.benchmark.tables import OVER_CLUSTERS, TABLES
from dashboard.minimal_pairs.face import FACE
from dashboard.minimal_pairs.length.charts import slope_figure
from dashboard.minimal_pairs.pair_table import filtered, pair_table
from engine.evaluations.minimal_pairs.length_effects import misleads, slopes
from engine.evaluations.minimal_pairs.records import Result
from engine.evaluations.minimal_pairs.views import by_category, by_difference, summary
from tests.support.minimal_results import from_margins, synthetic

MODELS = ("m", "<n>")


@pytest.fixture(scope="module")
def result() -> Result:
    return synthetic(600, models=MODELS)


def test_the_lines_are_the_accuracies_by_difference(result: Result) -> None:
    points = by_difference(result, "LP")
    figure = charts.difference_figure(points)
    lines, bands = figure.data[:2], figure.data[2:]
    assert [line.name for line in lines] == ["m", "&lt;n&gt;"]
    for model, line, band in zip(MODELS, lines, bands, strict=True):
        rows = points[points["model"] == model]
        np.testing.assert_array_equal(line.x, rows["difference"])
        np.testing.assert_array_equal(line.y, rows["accuracy"])
        assert [point[0].split()[0] for point in line.customdata] == [str(n) for n in rows["n"]]
        assert [point[-2] for point in line.customdata] == rows["difference"].tolist()
        np.testing.assert_array_equal(band.y, [*rows["ci_high"], *rows["ci_low"][::-1]])
        assert max(line.marker.size) <= charts.LARGEST and min(line.marker.size) >= charts.SMALLEST
    assert list(figure.layout.xaxis.ticktext) == ["-3", "-2", "-1", "0", "+1", "+2", "+3"]


@pytest.mark.parametrize("models", [MODELS, MODELS[:1]])
def test_a_legend_tells_models_apart_and_one_model_has_none(result: Result, models: tuple[str, ...]) -> None:
    differences, categories = by_difference(result, "LP"), by_category(result, "LP")
    for figure in (
        charts.difference_figure(differences[differences["model"].isin(models)]),
        charts.category_figure(categories[categories["model"].isin(models)]),
        slope_figure(slopes(result, ("LP", "MeanLP")).query("model in @models")),
    ):
        assert figure.layout.showlegend == (len(models) > 1)
        assert not any(note.showarrow is not False for note in figure.layout.annotations)


@pytest.mark.parametrize("name", ["summary", "each_difference", "slopes", "pairing", "correlations"])
def test_the_rows_of_a_table_under_every_score_say_which(result: Result, name: str) -> None:
    for score in ("LP", "MeanLP"):
        rows = TABLES[name](result, score, 0.5, *([""] if name in OVER_CLUSTERS else []))
        assert len(rows) and set(rows["normalization"]) == {score}


def test_a_long_legend_stands_below_the_texts_under_the_axis_and_takes_nothing_of_the_plot() -> None:
    """Ten models on a phone: their names lay on "shorter (A < U)", and on a high figure far below its plot."""
    few, many = (
        charts.difference_figure(by_difference(synthetic(60, models=tuple("abcdefghij"[:n])), "LP")) for n in (2, 10)
    )
    for figure in (few, many, slope_figure(slopes(synthetic(60, models=tuple("abcdefghij"))))):
        legend = figure.layout.legend
        assert (legend.yref, legend.y, legend.yanchor) == ("container", 0, "bottom")
        assert legend.title.text.isspace() and legend.title.side == "top"  # what keeps it from the texts
    assert many.layout.height - few.layout.height >= 6 * 20
    assert all(trace.cliponaxis is False for trace in many.data[:10])


def test_models_of_equal_accuracy_are_named_in_the_order_of_the_run(result: Result) -> None:
    rates = {model: rows["accuracy"].iloc[0] for model, rows in summary(result, ("LP",)).groupby("model")}
    better, worse = sorted(MODELS, key=lambda model: -rates[model])
    assert rates[better] > rates[worse]
    of = {f"m{number}": better if number % 3 else worse for number in range(40, 0, -1)}
    pairs = [result.pairs[result.pairs["model"] == made].assign(model=name) for name, made in of.items()]
    settings = replace(result.settings, models=tuple(of))
    equal = replace(result, pairs=pd.concat(pairs, ignore_index=True), settings=settings)
    named = [headline.label for headline in FACE.headlines(equal)]
    assert named == [name for made in (better, worse) for name in of if of[name] == made]


def test_a_point_without_an_interval_parts_the_band_and_is_never_called_0_percent(result: Result) -> None:
    points = by_difference(result, "LP")
    points = points[points["model"] == "m"].reset_index(drop=True)
    points.loc[points["difference"] == 0, ["ci_low", "ci_high"]] = np.nan
    figure = charts.difference_figure(points)
    line, band = figure.data
    # two outlines, left and right of 0, with a gap between them
    np.testing.assert_array_equal(band.x, [-3, -2, -1, -1, -2, -3, np.nan, 1, 2, 3, 3, 2, 1])
    high, low = points["ci_high"].to_numpy(), points["ci_low"].to_numpy()
    np.testing.assert_array_equal(band.y, [*high[:3], *low[2::-1], np.nan, *high[4:], *low[:3:-1]])
    assert line.customdata[3][1] == "no 95% interval"
    assert line.customdata[0][1] == f"95%: {low[0]:.1%} to {high[0]:.1%}"
    assert figure.layout.yaxis.range[0] <= points["accuracy"].min()
    without = charts.difference_figure(points.assign(ci_low=np.nan, ci_high=np.nan))
    assert len(without.data[1].x) == 0 and without.layout.yaxis.range[0] <= points["accuracy"].min()
    assert interval({"n": 3, "ci_low": np.nan, "ci_high": np.nan, "n_tied": 0}) == "no 95% interval"


@pytest.mark.parametrize(
    ("counts", "ends"),
    [([(3, 4), (3, 3)], ["shorter (A < U)"]), ([(4, 3), (3, 3)], ["longer (A > U)"]), ([(3, 3), (4, 4)], [])],
)
def test_an_end_of_equal_pairs_is_called_neither_shorter_nor_longer(
    counts: list[tuple[int, int]], ends: list[str]
) -> None:
    figure = charts.difference_figure(by_difference(from_margins({"m": [1.0, -1.0]}, counts), "LP"))
    assert [note.text for note in figure.layout.annotations if " U)" in note.text] == ends


def test_a_tail_is_marked_and_lp_is_dotted_under_another_score(result: Result) -> None:
    points = by_difference(result, "MeanLP", least=250)
    assert points["merged"].any()
    figure = charts.difference_figure(points, by_difference(result, "LP", least=250))
    in_legend = [trace.name for trace in figure.data if trace.showlegend is not False]
    assert sorted(in_legend) == ["&lt;n&gt;", "m"]  # one line for each, whatever is beside it
    tails = points.loc[points["merged"], "difference"]
    marked = {text for text in figure.layout.xaxis.ticktext if text[0] in "≤≥"}
    assert marked == {f"{'≥' if tail > 0 else '≤'} {tail:+d}" for tail in tails}
    dotted = [trace for trace in figure.data if trace.line.dash == "dot"]
    assert len(dotted) == len(MODELS) and list(figure.data[:2]) == [t for t in figure.data if t.mode == "lines+markers"]


def test_the_areas_of_the_points_have_a_key_and_many_lines_no_bands(result: Result) -> None:
    points = by_difference(result, "LP")
    texts = [note.text for note in charts.difference_figure(points).layout.annotations]
    assert f"area of a point: number of pairs, {points['n'].min()} to {points['n'].max()}" in texts
    many = pd.concat([points[points["model"] == "m"].assign(model=f"{n}") for n in range(charts.MOST_BANDS + 1)])
    assert [trace.visible for trace in charts.difference_figure(many).data if trace.fill] == [False] * 5


@pytest.mark.parametrize(("lowest", "highest"), [(0, 0), (-3, 3), (-40, 17), (5, 9), (-900, 900)])
def test_the_axis_names_few_differences(lowest: int, highest: int) -> None:
    points = pd.DataFrame(
        {
            "model": "m",
            "difference": [lowest, highest],
            "n": 2,
            "n_tied": 0,
            "accuracy": 0.5,
            "ci_low": 0.1,
            "ci_high": 0.9,
            "merged": False,
        }
    )
    ticks = charts.difference_figure(points).layout.xaxis.tickvals
    assert 0 < len(ticks) <= charts.MAX_TICKS + 1
    assert min(ticks) >= lowest and max(ticks) <= highest


def test_marker_areas_are_in_proportion_to_the_numbers_of_pairs() -> None:
    points = pd.DataFrame(
        {
            "model": "m",
            "difference": [0, 1],
            "n": [100, 25],
            "n_tied": 0,
            "accuracy": 0.5,
            "ci_low": 0.4,
            "ci_high": 0.6,
            "merged": False,
        }
    )
    large, small = charts.difference_figure(points).data[0].marker.size
    assert large == charts.LARGEST and small == pytest.approx(large / 2)  # a quarter of the area, half the diameter


def test_the_hover_of_a_point_counts_its_pairs_and_ties() -> None:
    points = pd.DataFrame(
        {
            "model": "m",
            "difference": [0, 1],
            "n": [1200, 1],
            "n_tied": [1, 0],
            "accuracy": 0.5,
            "ci_low": 0.4,
            "ci_high": 0.6,
            "merged": False,
        }
    )
    counts = [point[0] for point in charts.difference_figure(points).data[0].customdata]
    assert counts == ["1,200 pairs, 1 tie", "1 pair, 0 ties"]


@pytest.mark.parametrize("stratum", ["all", "A>U"])
def test_the_points_are_the_accuracies_by_category(result: Result, stratum: str) -> None:
    categories = by_category(result, "MeanLP")
    figure = charts.category_figure(categories, stratum)
    for model, trace in zip(MODELS, figure.data, strict=True):
        rows = categories[(categories["model"] == model) & (categories["stratum"] == stratum)]
        np.testing.assert_array_equal(trace.x, rows["accuracy"])
        np.testing.assert_allclose(trace.x + trace.error_x.array, rows["ci_high"])
        np.testing.assert_allclose(trace.x - trace.error_x.arrayminus, rows["ci_low"])
    first = categories[(categories["model"] == "m") & (categories["stratum"] == stratum)]
    assert figure.layout.yaxis.categoryarray[0] == first.sort_values("accuracy").iloc[-1]["category"]


def test_a_category_without_a_pair_in_the_stratum_is_left_out() -> None:
    result = synthetic(4, models=MODELS, n_categories=4)
    figure = charts.category_figure(by_category(result, "LP"), "A=U")
    equal = result.pairs["acceptable_tokens"] == result.pairs["unacceptable_tokens"]
    assert sum(len(trace.x) for trace in figure.data) == equal.sum()


def test_a_point_at_none_is_whole_and_no_label_is_under_the_button_for_a_picture() -> None:
    """Half of a point at 0% was cut off, and 100% was behind the camera."""
    wrong = by_category(from_margins({"m": [-1.0, -2.0, 0.0]}, [(3, 3)] * 3), "LP")
    figure = charts.category_figure(wrong)
    assert figure.data[0].x.tolist() == [0.0] and figure.layout.xaxis.range[0] < 0
    assert figure.layout.xaxis.side == "top" and figure.layout.margin.t == charts.UNDER_CAMERA


def test_pairs_without_category_have_a_name() -> None:
    assert charts.category_name("") == "(none)" and charts.category_name("<b>") == "&lt;b&gt;"


def strata(longer: tuple[float, float], shorter: tuple[float, float]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "stratum": ["A>U", "A<U"],
            "accuracy": [np.mean(longer), np.mean(shorter)],
            "ci_low": [longer[0], shorter[0]],
            "ci_high": [longer[1], shorter[1]],
        }
    )


def test_length_misleads_only_beyond_both_intervals() -> None:
    assert misleads(strata((0.35, 0.58), (0.82, 0.94)))
    assert not misleads(strata((0.35, 0.83), (0.82, 0.94)))
    assert not misleads(strata((0.82, 0.94), (0.35, 0.58))) and not misleads(strata((1.0, 1.0), (1.0, 1.0)))
    assert not misleads(strata((np.nan, np.nan), (0.82, 0.94)))


def test_an_interval_shows_ties_and_missing_pairs() -> None:
    assert interval({"n": 331, "n_tied": 0, "ci_low": 0.697, "ci_high": 0.79}) == "69.7–79.0"
    assert interval({"n": 10, "n_tied": 2, "ci_low": 0.1, "ci_high": 0.9}) == "10.0–90.0 · 2 ties"
    assert interval({"n": 0, "n_tied": 0, "ci_low": np.nan, "ci_high": np.nan}) == "no such pair"


def test_the_table_agrees_with_the_summary(result: Result) -> None:
    for normalization in ("LP", "PenLP"):
        table = pair_table(result, "m", normalization, 0.8)
        counts = summary(result, (normalization,)).query("model == 'm' and stratum == 'A>U'").iloc[0]
        longer = filtered(table, strata=["A>U"])
        assert len(longer) == counts["n"]
        assert len(filtered(longer, outcomes=["right"])) == counts["n_correct"]
        assert len(filtered(longer, outcomes=["tie"])) == counts["n_tied"]
    assert (table.loc[table["outcome"] == "right", "margin"] > 0).all()


def test_filters_combine_and_an_empty_one_does_not_filter(result: Result) -> None:
    table = pair_table(result, "m", "LP", 0.8)
    assert len(filtered(table)) == len(table)
    some = filtered(table, outcomes=["wrong", "tie"], categories=["c1"])
    assert set(some["category"]) == {"c1"} and set(some["outcome"]) <= {"wrong", "tie"}
