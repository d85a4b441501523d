"""What a figure says in words and as a table: by hand on small figures, and the same numbers as those drawn."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
import pytest

from dashboard.clusters import charts
from dashboard.shared.figures.reading import figure_table, finding
from engine.messages import languages
from tests.support.cluster_results import result_of


def test_by_hand_a_line_falls_and_says_where_it_turns() -> None:
    falling = go.Figure(go.Scatter(x=[-3, 0, 3], y=[0.82, 0.6, 0.41], mode="lines", name="BERT"))
    assert finding(falling) == "BERT: falls from 0.82 at -3 to 0.41 at 3 (n = 3)."
    turning = go.Figure(go.Scatter(x=[1, 2, 3], y=[1.0, 5.0, 2.0], mode="lines+markers"))
    assert finding(turning) == "rises from 1 at 1 to 2 at 3; highest 5 at 2, lowest 1 at 1 (n = 3)."
    assert finding(go.Figure(go.Scatter(x=[1, 2], y=[4, 4], mode="lines"))) == "4 at 1 and at 2 (n = 2)."
    assert finding(go.Figure(go.Scatter(x=[7], y=[0.5], mode="lines"))) == "0.5 at 7."


def test_by_hand_points_say_their_ends_and_their_correlation() -> None:
    # y = 2 x: r is 1.
    points = go.Figure(go.Scatter(x=[1, 2, 4], y=[2, 4, 8], mode="markers"))
    assert finding(points) == "3 points, across 1 to 4, up 2 to 8; Pearson's r = 1.00."
    # A constant has no correlation.
    constant = go.Figure(go.Scatter(x=[1, 2, 4], y=[3, 3, 3], mode="markers"))
    assert finding(constant) == "3 points, across 1 to 4, up 3 to 3."


def test_points_along_one_axis_have_no_correlation() -> None:
    figure = go.Figure(go.Scatter(x=[0.5, 0.25, 0.75], y=[-0.05, 0.0, 0.05], mode="markers", name="BERT"))
    figure.update_yaxes(visible=False)
    assert finding(figure) == "BERT: 3 points, from 0.25 to 0.75, mean 0.5."


def test_bars_have_the_names_of_their_ticks() -> None:
    figure = go.Figure(go.Bar(x=[0.3, 0.9], y=[0, 1], orientation="h"))
    figure.update_yaxes(tickvals=[0, 1], ticktext=["<b>料理</b>", "天気 &amp; 雨"])
    assert finding(figure) == "highest 0.9 (天気 & 雨), lowest 0.3 (料理), 2 bars."
    assert figure_table(figure).to_dict("list") == {"across": [0.3, 0.9], "up": ["料理", "天気 & 雨"]}


def test_cells_say_the_extremes_and_skip_what_is_undefined() -> None:
    figure = go.Figure(go.Heatmap(z=[[1.0, np.nan], [3.0, 2.0]], x=["a", "b"], y=["c", "d"]))
    assert finding(figure) == "highest 3 (a, d), lowest 1 (a, c), 3 cells."
    assert figure_table(figure)["value"].tolist() == [1.0, 3.0, 2.0]
    numbered = figure_table(go.Figure(go.Heatmap(z=[[1.0], [2.0]])))
    assert (numbered["across"].tolist(), numbered["up"].tolist()) == ([0, 0], [0, 1])


def test_intervals_are_in_the_table() -> None:
    error = {"type": "data", "array": [0.25, 0.5], "arrayminus": [0.5, 0.25]}
    table = figure_table(go.Figure(go.Scatter(x=[1, 2], y=[1.0, 2.0], mode="lines", error_y=error)))
    assert table["low"].tolist() == [0.5, 1.75] and table["high"].tolist() == [1.25, 2.5]


def test_many_series_are_counted_and_all_are_in_the_table() -> None:
    figure = go.Figure([go.Scatter(x=[1, 2], y=[k, k + 1], mode="lines", name=f"m{k}") for k in range(7)])
    assert finding(figure).count("rises") == 4 and finding(figure).endswith("3 more series.")
    assert figure_table(figure)["series"].nunique() == 7


@pytest.mark.parametrize(
    "figure", [go.Figure(), go.Figure(go.Scatter(x=[], y=[])), go.Figure(go.Scatter(x=[1], y=[2], hoverinfo="skip"))]
)
def test_a_figure_without_marks_says_nothing(figure: go.Figure) -> None:
    assert finding(figure) == "" and figure_table(figure).empty


def test_the_scores_of_a_result_are_those_that_are_drawn() -> None:
    result = result_of(layers=3)
    scores = result.models.set_index("model")["score"]
    table = figure_table(charts.bars(result.models, result.intervals, "dispersion_score"))
    assert dict(zip(table["up"], table["across"], strict=True)) == pytest.approx(scores.to_dict())
    curve = figure_table(charts.layer_curve(result.layers))
    assert curve["up"].tolist() == pytest.approx(result.layers["score"].tolist())
    assert "falls from" in finding(charts.layer_curve(result.layers))


def test_a_finding_is_in_japanese_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(languages, "_chosen", lambda: "ja")
    figure = go.Figure(
        [
            go.Scatter(x=[-3, 3], y=[0.82, 0.41], mode="lines"),
            go.Bar(x=["猫", "犬"], y=[1.0, 2.0]),
            go.Scatter(x=[1, 2, 4], y=[2, 4, 8], mode="markers"),
        ]
    )
    assert finding(figure) == (
        "-3での0.82から3での0.41へ下降（n = 2）。最大2（犬）、最小1（猫）、2本の棒。"
        "3点、横軸1～4、縦軸2～8、ピアソンのr = 1.00。"
    )
