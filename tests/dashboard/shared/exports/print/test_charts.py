"""The converter from Plotly to matplotlib: places, ranges, ticks, labels and colours, by hand."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
import pytest
from matplotlib.artist import Artist
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PathCollection
from matplotlib.colors import to_hex, to_rgba
from matplotlib.figure import Figure
from matplotlib.text import Text
from mpl_toolkits.mplot3d import Axes3D
from plotly.subplots import make_subplots

from dashboard.shared.exports.print.charts.plotly_figure import draw
from dashboard.shared.exports.print.charts.values import with_lists
from dashboard.shared.exports.print.colors import color, ink_on, of_series
from dashboard.shared.exports.print.style import PrintStyle
from tests.dashboard.shared.exports.print.overlaps import overlapping

ONE, TWO = PrintStyle("one", 8), PrintStyle("two", 8)


def named(drawn: Figure, beginning: str) -> list[Artist]:
    return [artist for artist in drawn.findobj(Artist) if str(artist.get_gid()).startswith(beginning)]


def words(drawn: Figure) -> list[str]:
    return [text.get_text() for text in drawn.findobj(Text) if text.get_text() and text.get_visible()]


def test_grouped_bars_share_their_place_and_error_bars_stand_on_them() -> None:
    # Two traces at 0 and 1, gap 0.3: each has half of 0.7, the first left of the place. Errors at the middle of a bar.
    errors = {"type": "data", "symmetric": False, "array": [1, 2], "arrayminus": [0.5, 1]}
    figure = go.Figure([go.Bar(x=[0, 1], y=[3, 4], error_y=errors), go.Bar(x=[0, 1], y=[1, 2])])
    drawn = draw(figure.update_layout(barmode="group", bargap=0.3), ONE)
    edges = [
        (round(bar.get_x(), 6), round(bar.get_width(), 6), bar.get_height())
        for bar in named(drawn, "trace-")
        if "bar" in str(bar.get_gid())
    ]  # type: ignore[attr-defined]
    assert edges == [(-0.35, 0.35, 3), (0.65, 0.35, 4), (0, 0.35, 1), (1, 0.35, 2)]
    (lines,) = named(drawn, "trace-0-errors-y")
    np.testing.assert_allclose(
        lines.get_segments(),
        [
            [(-0.175, 2.5), (-0.175, 4)],  # type: ignore[attr-defined]
            [(0.825, 3), (0.825, 6)],
        ],
    )


def test_lying_bars_with_numbers_keep_the_colours_of_each() -> None:
    drawn = draw(
        go.Figure(
            go.Bar(
                x=[2, -1],
                y=["a", "b"],
                orientation="h",
                text=["two", "minus one"],
                textposition="auto",
                marker={"color": ["#ff0000", "#00ff00"]},
            )
        ),
        ONE,
    )
    bars = named(drawn, "trace-0-bar")
    assert [bar.get_facecolor() for bar in bars] == [to_rgba("#ff0000"), to_rgba("#00ff00")]  # type: ignore[attr-defined]
    assert {"two", "minus one", "a", "b"} <= set(words(drawn))


def test_categories_stand_in_their_order_and_groups_beside_each_other() -> None:
    figure = go.Figure(
        [go.Scatter(x=[0.1, 0.2], y=["b", "a"], mode="markers", orientation="h", offsetgroup=str(n)) for n in range(2)]
    )
    figure.update_yaxes(categoryorder="array", categoryarray=["a", "b"], autorange="reversed")
    drawn = draw(figure.update_layout(scattermode="group", bargap=0.2), ONE)
    # Each of two groups has half of 0.8: 0.2 above and below its category.
    places = [points.get_offsets()[:, 1].tolist() for points in named(drawn, "trace-")]  # type: ignore[attr-defined]
    assert places == [pytest.approx([0.8, -0.2]), pytest.approx([1.2, 0.2])]
    assert drawn.axes[0].get_ylim() == (1.5, -0.5)
    assert [label.get_text() for label in drawn.axes[0].get_yticklabels()] == ["a", "b"]


def test_series_without_a_colour_have_that_of_their_number_and_gaps_stay_gaps() -> None:
    drawn = draw(
        go.Figure(
            [
                go.Scatter(x=[0, 1, 2], y=[1, None, 3], mode="lines"),
                go.Scatter(x=[0, 1], y=[2, 2], mode="lines", line={"dash": "dot"}),
            ]
        ),
        ONE,
    )
    first, second = (named(drawn, f"trace-{n}-line")[0] for n in range(2))
    assert [line.get_color() for line in (first, second)] == [  # type: ignore[attr-defined]
        color(of_series(0)),
        color(of_series(1)),
    ]
    assert np.isnan(first.get_ydata()[1]) and second.is_dashed()  # type: ignore[attr-defined]


def test_a_logarithmic_axis_takes_ranges_and_notes_as_powers_and_shapes_as_values() -> None:
    figure = go.Figure(go.Scatter(x=[1, 100], y=[1, 2], mode="markers"))
    figure.update_xaxes(type="log", range=[0, 3])
    figure.add_annotation(x=1, y=1.5, text="at ten", showarrow=False)
    figure.add_shape(type="line", x0=10, x1=10, y0=1, y1=2)
    drawn = draw(figure, ONE)
    assert drawn.axes[0].get_xscale() == "log" and drawn.axes[0].get_xlim() == (1, 1000)
    (note,), (line,) = named(drawn, "annotation-0"), named(drawn, "shape-0")
    assert note.get_position()[0] == 10 and list(line.get_xdata()) == [10, 10]  # type: ignore[attr-defined]
    assert {"1", "10", "100", "1,000"} <= set(words(drawn))


def test_a_heat_map_leaves_gaps_shows_its_texts_and_a_bar() -> None:
    figure = go.Figure(
        go.Heatmap(z=[[0.25, None], [1.0, 0.5]], texttemplate="%{z:.2f}", zmin=0, zmax=1, colorbar={"thickness": 10})
    )
    drawn = draw(figure, TWO)
    (cells,) = named(drawn, "trace-0-cells")
    assert np.ma.getmaskarray(cells.get_array()).tolist() == [[False, True], [False, False]]  # type: ignore[attr-defined]
    texts = {text.get_text(): text for text in drawn.findobj(Text) if text.get_gid() == "cell"}
    assert set(texts) == {"0.25", "1.00", "0.50"}
    assert len(named(drawn, "color-bar")) == 1


def test_numbers_too_small_for_their_cells_give_way_to_a_colour_bar() -> None:
    figure = go.Figure(go.Heatmap(z=np.eye(40), texttemplate="%{z:.2f}", showscale=False))
    drawn = draw(figure, ONE)
    assert not any(text.get_visible() for text in drawn.findobj(Text) if text.get_gid() == "cell")
    assert len(named(drawn, "color-bar")) == 1
    assert not named(
        draw(go.Figure(go.Heatmap(z=np.eye(3), texttemplate="%{z:.2f}", showscale=False)), ONE), "color-bar"
    )


def test_letters_on_a_cell_are_legible() -> None:
    assert ink_on(color("#102030")) == "#ffffff" and ink_on(color("#f4f5f8")) != "#ffffff"
    assert ink_on(color("rgba(0, 0, 0, 0.1)")) != "#ffffff"  # pale on white paper


def test_long_names_are_broken_and_many_words_turned() -> None:
    long = "a_very_long_name_of_a_category_that_takes_the_whole_width_of_a_column"
    drawn = draw(go.Figure(go.Bar(x=[1], y=[long], orientation="h")), ONE)
    (label,) = drawn.axes[0].get_yticklabels()
    assert "\n" in label.get_text() and label.get_text().replace("\n", "") == long
    many = draw(go.Figure(go.Bar(x=[f"word{n}" for n in range(15)], y=list(range(15)))), ONE)
    assert {label.get_rotation() for label in many.axes[0].get_xticklabels()} == {90.0}


def test_a_name_of_an_axis_wider_than_its_plot_is_broken_and_takes_no_width_of_it() -> None:
    figure = go.Figure(go.Bar(x=[0.4, 0.9], y=["determiner and noun", "comparison and adverbs"], orientation="h"))
    figure.update_xaxes(tickformat=".0%", side="top", range=[0, 1])
    without = draw(figure, ONE).axes[0].get_position().width
    figure.update_xaxes(title_text="Accuracy on minimal pairs (builtin/bert-mini-en)")
    axes = draw(figure, ONE).axes[0]
    assert axes.get_xlabel() == "Accuracy on minimal pairs\n(builtin/bert-mini-en)"
    assert axes.get_position().width > without - 0.03


def test_numbers_that_would_overlap_are_thinned_but_0_stays() -> None:
    places = list(range(-20, 21))
    figure = go.Figure(go.Scatter(x=places, y=places, mode="lines"))
    figure.update_xaxes(tickvals=places, ticktext=[f"{place:+d}" for place in places])
    shown = [label.get_text() for label in draw(figure, ONE).axes[0].get_xticklabels()]
    assert "+0" in shown and 4 < len(shown) < 41


def test_cells_without_a_value_are_drawn_as_none() -> None:
    drawn = draw(go.Figure(go.Heatmap(z=[[None, None]], texttemplate="%{z:.2f}")), ONE)
    (cells,) = named(drawn, "trace-0-cells")
    assert np.ma.count(cells.get_array()) == 0  # type: ignore[attr-defined]


def test_every_plot_of_a_figure_and_maps_in_three_dimensions_are_drawn() -> None:
    flat = make_subplots(1, 2, subplot_titles=["left", "right"])
    for column in (1, 2):
        flat.add_trace(go.Scatter(x=[1, 2, 3], y=[1, 2, 3], mode="markers"), row=1, col=column)
        flat.update_yaxes(scaleanchor=f"x{column if column > 1 else ''}", scaleratio=1, row=1, col=column)
    drawn = draw(flat, TWO)
    boxes = [axes.get_position() for axes in drawn.axes]
    assert len(boxes) == 2 and boxes[0].x1 < boxes[1].x0 and {"left", "right"} <= set(words(drawn))
    solid = go.Figure(go.Scatter3d(x=[1, 2, None], y=[1, 2, 3], z=[1, 2, 3], mode="markers", name="a"))
    drawn = draw(solid, ONE)
    (points,) = named(drawn, "trace-0-points")
    assert isinstance(drawn.axes[0], Axes3D) and isinstance(points, PathCollection)
    assert len(points._offsets3d[0]) == 2  # type: ignore[attr-defined]
    four = make_subplots(2, 2, specs=[[{"type": "scene"}] * 2] * 2)
    for place in range(4):
        four.add_trace(
            go.Scatter3d(x=[1, 2], y=[1, 2], z=[1, 2], mode="markers"), row=1 + place // 2, col=1 + place % 2
        )
    left, right, below, across = (axes.get_position() for axes in draw(four, TWO).axes)
    assert left.x1 < right.x0 and below.x1 < across.x0 and below.y1 < left.y0 and across.y1 < right.y0
    assert (left.x0, below.y0) == pytest.approx((1 - right.x1, 1 - left.y1))  # in the middle of the sheet


@pytest.mark.parametrize(
    ("marker", "inside", "around"),
    [
        ({"color": "#ff0000"}, ["#ff0000"], []),
        ({"color": "#ff0000", "line": {"color": "#0000ff", "width": 1}}, ["#ff0000"], ["#0000ff"]),
        ({"color": "#ff0000", "symbol": "circle-open"}, [], ["#ff0000"]),
    ],
)
def test_points_in_three_dimensions_are_filled_or_open(
    marker: dict[str, object], inside: list[str], around: list[str]
) -> None:
    drawn = draw(go.Figure(go.Scatter3d(x=[1, 2], y=[1, 2], z=[1, 2], mode="markers", marker=marker)), ONE)
    (points,) = named(drawn, "trace-0-points")
    drawn.draw_without_rendering()
    looks = points.get_facecolor(), points.get_edgecolor()  # type: ignore[attr-defined]
    assert [sorted({to_hex(ink) for ink in inks}) for inks in looks] == [inside, around]


def test_bold_titles_of_axes_and_colour_bars_are_bold() -> None:
    figure = go.Figure(go.Heatmap(z=np.eye(3), colorbar={"title": {"text": "<b>share</b>"}}))
    figure.update_xaxes(title="<b>across</b>").update_yaxes(title="up")
    bold = {text.get_text(): bool(text.get_path_effects()) for text in draw(figure, ONE).findobj(Text)}
    assert (bold["share"], bold["across"], bold["up"]) == (True, True, False)


def test_an_arrow_ends_at_its_place() -> None:
    figure = go.Figure(go.Scatter(x=[0, 1], y=[0, 1], mode="markers"))
    figure.add_annotation(x=1, y=1, text="total", showarrow=True, ax=-40, ay=20)
    drawn = draw(figure, ONE)
    (arrow,) = named(drawn, "arrow-0")
    assert arrow.xy == (1, 1) and "total" in words(drawn)  # type: ignore[attr-defined]
    # letters of 8 points for 12 pixels: it begins 40 * 8 / 12 points left of its place and 20 * 8 / 12 below it
    drawn.draw_without_rendering()
    begin, end = arrow.arrow_patch._posA_posB  # type: ignore[attr-defined]
    assert (np.subtract(end, begin) * 72 / drawn.dpi).tolist() == pytest.approx([40 * 8 / 12, 20 * 8 / 12])


def test_arrays_that_plotly_packs_are_the_numbers_again() -> None:
    packed = go.Figure(go.Figure(go.Heatmap(z=np.arange(6.0).reshape(2, 3), x=np.arange(3))))
    assert "bdata" in packed.to_plotly_json()["data"][0]["z"]
    assert [list(row) for row in with_lists(packed).data[0].z] == [[0, 1, 2], [3, 4, 5]]


def test_texts_that_overlap_are_found() -> None:
    # Two texts at one place, a third a line below, and one that is turned and crosses the third alone.
    figure = Figure(figsize=(4, 2), dpi=100)
    FigureCanvasAgg(figure)
    for y, text, angle in ((0.5, "first", 0), (0.5, "second", 0), (0.2, "third", 0), (0.05, "turned", 45)):
        figure.text(0.5, y, text, rotation=angle, fontsize=12)
    assert overlapping(figure) == [("first", "second"), ("third", "turned")]


def test_names_of_points_that_are_near_each_other_are_moved_apart() -> None:
    names = ["nlp-waseda/roberta-large", "tohoku-nlp/bert-base", "ku-nlp/deberta", "builtin/bert-mini-ja"]
    figure = go.Figure(
        go.Scatter(x=[1, 1.01, 1.02, 1], y=[1, 1.0, 1.01, 1.01], mode="markers+text", text=names),
        {"xaxis": {"title": "x"}, "yaxis": {"title": "y"}},
    )
    for style in (ONE, TWO):
        printed = draw(figure, style)
        assert overlapping(printed) == []
        assert set(names) <= {text.get_text() for text in printed.findobj(Text) if text.get_visible()}
