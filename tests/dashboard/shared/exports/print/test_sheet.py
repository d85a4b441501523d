"""The sheet of paper: what stands above and below the plot, how near labels may be, and letters of several looks."""

from __future__ import annotations

from itertools import pairwise

import plotly.graph_objects as go
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.offsetbox import AnnotationBbox
from matplotlib.text import Text
from matplotlib.transforms import Bbox, IdentityTransform

from dashboard.shared.exports.print.charts.plotly_figure import draw
from dashboard.shared.exports.print.measured import overlap
from dashboard.shared.exports.print.sheet import Sheet, blank
from dashboard.shared.exports.print.style import PrintStyle

STYLE = PrintStyle("one", 10)
A_PIXEL = 72 / 300  # of print, in points


def box_of(sheet: Sheet, item: Text | AnnotationBbox) -> Bbox:
    """Where an item is, in points from the lower left corner."""
    canvas = sheet.figure.canvas
    assert isinstance(canvas, FigureCanvasAgg)
    return Bbox(item.get_window_extent(canvas.get_renderer()).get_points() * 72 / sheet.figure.dpi)


@pytest.mark.parametrize("legend_above", [True, False])
def test_titles_stand_at_the_top_and_the_caption_at_the_bottom_one_below_the_other(legend_above: bool) -> None:
    lines = [go.Scatter(x=[0, 1], y=[0, 1], mode="lines", name=name) for name in ("first", "second")]
    title = {"text": "The title", "subtitle": {"text": "the notes"}}
    figure = go.Figure(lines, {"title": title, "xaxis": {"title": "across"}, "yaxis": {"title": "up"}})
    figure.update_layout(showlegend=True, legend={"y": 1.02 if legend_above else -0.2})
    drawn = draw(figure, STYLE, "The caption.")
    drawn.draw_without_rendering()
    sheet = Sheet(STYLE, drawn)
    found = {text.get_text(): text for text in drawn.findobj(Text)}
    order = ["The title", "the notes", "first", "across", "The caption."]
    if not legend_above:
        order[2:4] = ["across", "first"]
    boxes = [box_of(sheet, found[name]) for name in order]
    for above, below in pairwise(boxes):
        assert above.y0 > below.y0 and above.y1 > below.y1
        assert above.y0 > below.y1 - A_PIXEL
    assert boxes[0].y1 == pytest.approx(drawn.get_figheight() * 72 - 2, abs=2 * A_PIXEL)  # 2 points to the edge
    assert boxes[-1].y0 == pytest.approx(2, abs=2 * A_PIXEL)
    assert all(box.x0 == pytest.approx(2, abs=2 * A_PIXEL) for box in (boxes[0], boxes[1], boxes[-1]))


@pytest.mark.parametrize(
    ("letter", "angle", "points", "are_too_near"),
    [
        # Words of 10 points are 0.3 * 10 = 3 points apart; turned ones, and lines, may touch.
        ("x", 0, -5, True),
        ("x", 0, 2.5, True),
        ("x", 0, 3.5, False),
        ("x", 90, -0.5, True),
        ("x", 90, 0.1, False),
        ("x", 45, -0.5, False),
        ("y", 0, -0.5, True),
        ("y", 0, 0.1, False),
    ],
)
def test_by_hand_labels_of_an_axis_are_too_near(letter: str, angle: float, points: float, are_too_near: bool) -> None:
    sheet = blank(STYLE)
    first, second, third = (
        sheet.figure.text(50, 50, name, rotation=angle, transform=IdentityTransform(), fontsize=10)
        for name in ("apple", "orange", "lemon")
    )
    for before, following in ((first, second), (second, third)):
        end, begin = box_of(sheet, before), box_of(sheet, following)
        apart = points if before is first else 100.0
        if letter == "x":
            following.set_x(following.get_position()[0] + (end.x1 + apart - begin.x0) * sheet.figure.dpi / 72)
        else:
            following.set_y(following.get_position()[1] + (end.y1 + apart - begin.y0) * sheet.figure.dpi / 72)
    assert overlap(sheet, [first, second, third], letter) == are_too_near
    assert overlap(sheet, [third, first, second], letter) == are_too_near
    assert not overlap(sheet, [first, third], letter) and not overlap(sheet, [first], letter)
    assert not overlap(sheet, [], letter)


def test_a_text_of_two_looks_takes_the_room_of_its_letters_and_stands_where_one_of_one_look_would() -> None:
    sheet = blank(STYLE)
    at = IdentityTransform()
    for across, up in (("left", "bottom"), ("right", "top")):
        one = sheet.write("gap", 400, 300, at, across=across, up=up)
        assert one is not None
        several = sheet.write("g<span style='color:#ff0000'>a</span>p", 400, 300, at, across=across, up=up)
        assert several is None
        (box,) = (artist for artist in sheet.figure.artists if isinstance(artist, AnnotationBbox))
        wanted, found = box_of(sheet, one), box_of(sheet, box)
        side = 0 if across == "left" else 1
        assert found.get_points()[side, 0] == pytest.approx(wanted.get_points()[side, 0], abs=4 * A_PIXEL)
        assert found.width == pytest.approx(wanted.width, abs=8 * A_PIXEL)
        assert found.height == pytest.approx(wanted.height, abs=8 * A_PIXEL)
        box.remove()
        one.remove()
