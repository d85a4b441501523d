"""A figure of a page, drawn anew on a sheet of paper by matplotlib: the same points, bars, cells, lines and words."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox, BboxTransformTo, TransformedBbox

from dashboard.shared.exports.print.charts.bars import draw_bars
from dashboard.shared.exports.print.charts.heatmaps import Cells, draw_heatmap
from dashboard.shared.exports.print.charts.legend import legend_of
from dashboard.shared.exports.print.charts.marks import draw_shapes, write_annotations
from dashboard.shared.exports.print.charts.panel import MARGIN, Panel, set_range, set_ticks
from dashboard.shared.exports.print.charts.properties import check_printable
from dashboard.shared.exports.print.charts.scatter import draw_scatter
from dashboard.shared.exports.print.charts.solid import draw_solid, finish_solid
from dashboard.shared.exports.print.charts.values import Scale, group_offsets, scale_of, smallest_step, with_lists
from dashboard.shared.exports.print.colors import INK, MUTED
from dashboard.shared.exports.print.fit import Arrangement
from dashboard.shared.exports.print.labels import place_labels
from dashboard.shared.exports.print.rich_text import plain_text
from dashboard.shared.exports.print.sheet import BETWEEN_LINES, PAD, TEXT_SIZE, Sheet, blank
from dashboard.shared.exports.print.style import PrintStyle
from dashboard.shared.figures.axis_names import with_axis_names

HEIGHT = 450.0  # pixels of a figure that has none
HIGHEST = 0.62  # height of a plot area between two scales, of the width of the sheet
MARGINS = {"t": 36.0, "b": 8.0}  # pixels, where the layout has none
TITLE_SIZE = 14.0
ROW = 1.5  # height of a row of a heat map at least, of the size of the letters
PLOT_SHARE = 0.8  # about how much of the width the cells of a heat map have
Panels = dict[tuple[str, str], Panel]


def draw(figure: go.Figure, style: PrintStyle, caption: str = "") -> Figure:
    """The matplotlib figure, arranged, with a caption below it. Raises InputError for what cannot be printed."""
    figure = with_axis_names(with_lists(figure))
    sheet, panels, cells, paper = _lettered(figure, style)
    above = (figure.layout.legend.y or 0) >= 1
    Arrangement(sheet, list(panels.values()), _plot_height(sheet, figure, panels), paper).fit(
        cells, _titles(sheet, figure), legend_of(sheet, figure), _caption(sheet, figure, caption), legend_above=above
    )
    place_labels(sheet.figure, sheet.labels)
    return sheet.figure


def texts_of(figure: go.Figure, style: PrintStyle) -> tuple[str, ...]:
    """Every text that would be printed. Raises InputError for what cannot be."""
    sheet, *_ = _lettered(with_axis_names(with_lists(figure)), style)
    title = figure.layout.title
    names = [trace.name for trace in figure.data if trace.name]
    return (*sheet.texts, *(plain_text(text) for text in (title.text, title.subtitle.text, *names) if text))


def _lettered(figure: go.Figure, style: PrintStyle) -> tuple[Sheet, Panels, list[Cells], Bbox]:
    """Everything that stands in the plot areas and beside them, not arranged yet."""
    check_printable(figure)
    sheet = blank(style)
    paper = Bbox([[0, 0], [1, 1]])
    traces = [(index, trace) for index, trace in enumerate(figure.data) if trace.visible is not False]
    if any(trace.type == "scatter3d" for _, trace in traces):
        panels, cells = _solid_panels(sheet, figure, traces), []
    else:
        panels = _panels(sheet, figure, traces)
        cells = _draw_traces(sheet, figure, panels, traces)
        for panel in panels.values():
            for letter in "xy":
                set_range(panel, letter)
            for letter in "xy":
                set_ticks(sheet, panel, letter)
            panel.show_points_at_the_edge()
            if panel.settings["y"].scaleanchor:
                panel.axes.set_aspect("equal", adjustable="datalim")
    on_paper = BboxTransformTo(TransformedBbox(paper, sheet.figure.transFigure))
    draw_shapes(sheet, panels, figure.layout, on_paper)
    write_annotations(sheet, panels, figure.layout, on_paper)
    return sheet, panels, cells, paper


def _panels(sheet: Sheet, figure: go.Figure, traces: list[tuple[int, Any]]) -> Panels:
    """A plot area for every pair of axes that a trace has; one for a figure without traces."""
    panels: Panels = {}
    pairs = dict.fromkeys((trace.xaxis or "x", trace.yaxis or "y") for _, trace in traces) or {("x", "y"): None}
    for x, y in pairs:
        settings = {"x": _axis(figure, x), "y": _axis(figure, y)}
        own = [trace for _, trace in traces if (trace.xaxis or "x", trace.yaxis or "y") == (x, y)]
        scales = {letter: scale_of(settings[letter], [getattr(trace, letter) for trace in own]) for letter in "xy"}
        across, up = (settings[letter].domain or (0.0, 1.0) for letter in "xy")
        axes = sheet.figure.add_axes((0.1, 0.1, 0.8, 0.8), label=f"{x} {y}", facecolor="none")
        axes.margins(MARGIN)
        axes.set_axisbelow(True)
        for letter in "xy":
            if settings[letter].type == "log":
                (axes.set_xscale if letter == "x" else axes.set_yscale)("log")
        panels[x, y] = Panel(axes, settings, scales, (across[0], up[0], across[1] - across[0], up[1] - up[0]))
    return panels


def _draw_traces(sheet: Sheet, figure: go.Figure, panels: Panels, traces: list[tuple[int, Any]]) -> list[Cells]:
    cells: list[Cells] = []
    for key, panel in panels.items():
        own = [(index, trace) for index, trace in traces if (trace.xaxis or "x", trace.yaxis or "y") == key]
        bars = [(index, trace) for index, trace in own if trace.type == "bar"]
        step = smallest_step([_bar_places(panel.scales, trace) for _, trace in bars])
        slots = group_offsets([trace for _, trace in bars], figure.layout.barmode or "group", figure.layout.bargap)
        points = [(index, trace) for index, trace in own if trace.type in ("scatter", "scattergl")]
        offsets = group_offsets([trace for _, trace in points], figure.layout.scattermode, figure.layout.bargap)
        for number, (index, trace) in enumerate(bars):
            middle, width = slots[number]
            draw_bars(sheet, panel, trace, index, (middle * step, width * step))
        for number, (index, trace) in enumerate(points):
            draw_scatter(sheet, panel, trace, index, offsets[number][0])
        for index, trace in own:
            if trace.type == "heatmap":
                cells.append(draw_heatmap(sheet, panel, trace, index))
    return cells


def _bar_places(scales: dict[str, Scale], trace: Any) -> Any:
    return scales["y"].places(trace.y) if trace.orientation == "h" else scales["x"].places(trace.x)


def _solid_panels(sheet: Sheet, figure: go.Figure, traces: list[tuple[int, Any]]) -> Panels:
    panels: Panels = {}
    for index, trace in traces:
        name = trace.scene or "scene"
        if (name, name) not in panels:
            scene = figure.layout[name]
            across, up = scene.domain.x or (0.0, 1.0), scene.domain.y or (0.0, 1.0)
            axes = sheet.figure.add_axes((0.1, 0.1, 0.8, 0.8), label=name, projection="3d", facecolor="none")
            panels[name, name] = Panel(
                axes,
                {"x": figure.layout.xaxis, "y": figure.layout.yaxis},
                {"x": Scale(), "y": Scale()},
                (across[0], up[0], across[1] - across[0], up[1] - up[0]),
            )
        draw_solid(sheet, panels[name, name].axes, trace, index)
    for panel in panels.values():
        finish_solid(panel.axes)
    return panels


def _axis(figure: go.Figure, name: str) -> Any:
    """The settings of an axis by the name that traces have for it, "x2" for xaxis2."""
    return figure.layout[f"{name[0]}axis{name[1:]}"]


def _plot_height(sheet: Sheet, figure: go.Figure, panels: Panels) -> float:
    """The height of all plot areas in points: that of the page's, where rows or names need it, else in proportion."""
    margin = figure.layout.margin
    outside = sum(default if margin[side] is None else margin[side] for side, default in MARGINS.items())
    height = ((figure.layout.height or HEIGHT) - outside) * sheet.unit
    if all(panel.free_height() for panel in panels.values()):
        return min(height, HIGHEST * sheet.style.width)
    squares = [panel for panel in panels.values() if panel.settings["y"].scaleanchor or panel.axes.name == "3d"]
    rows = [_row_height(sheet, figure, key, panel) for key, panel in panels.items()]
    if len(panels) == 1 and rows[0]:
        return min(height, rows[0])
    if squares:  # maps are as high as they are wide
        return min(height, max(panel.domain[2] / panel.domain[3] for panel in squares) * sheet.style.width)
    return height


def _row_height(sheet: Sheet, figure: go.Figure, key: tuple[str, str], panel: Panel) -> float:
    """The height of a heat map of equal rows of one line, with cells about as high as wide; 0 for any other figure."""
    maps = [
        trace
        for trace in figure.data
        if trace.type == "heatmap" and trace.y is None and (trace.xaxis or "x", trace.yaxis or "y") == key
    ]
    if not maps:
        return 0.0
    n_rows, n_columns = len(maps[0].z), len(maps[0].z[0])
    return n_rows * max(ROW * sheet.style.font_size, PLOT_SHARE * sheet.style.width / n_columns)


def _caption(sheet: Sheet, figure: go.Figure, caption: str) -> Text | None:
    """What the figure is, broken to the width of the sheet; None where nothing is to be said, or its title says it."""
    if not caption or caption == plain_text(figure.layout.title.text or ""):
        return None
    text = sheet.broken(caption, sheet.style.width - 2 * PAD)
    return sheet.figure.text(0, 0, text, va="top", ha="left", color=INK, linespacing=BETWEEN_LINES, **sheet.look(text))


def _titles(sheet: Sheet, figure: go.Figure) -> list[Text]:
    """The title and the line of notes below it, each broken to the width of the sheet."""
    title, written = figure.layout.title, []
    for label, size, ink in ((title.text, title.font.size or TITLE_SIZE, INK), (title.subtitle.text, TEXT_SIZE, MUTED)):
        if label:
            text = sheet.broken(plain_text(label), sheet.style.width, size)
            written.append(
                sheet.finish(
                    sheet.figure.text(
                        0, 1, text, va="top", ha="left", color=ink, linespacing=BETWEEN_LINES, **sheet.look(label, size)
                    ),
                    label,
                )
            )
    return written
