"""Heat maps: `go.Heatmap`, with the text of each cell and the colour bar."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colorbar import Colorbar
from matplotlib.colors import Colormap, Normalize
from matplotlib.text import Text
from numpy.typing import NDArray

from dashboard.shared.exports.print.charts.number_format import template_filled
from dashboard.shared.exports.print.charts.panel import HAIRLINE, Panel, TickFormatter
from dashboard.shared.exports.print.charts.values import numbers
from dashboard.shared.exports.print.colors import INK, colormap, ink_on
from dashboard.shared.exports.print.rich_text import plain_text
from dashboard.shared.exports.print.sheet import BETWEEN_LINES, TEXT_SIZE, Sheet

ORDER = 1.5
BAR_WIDTH = 10  # pixels of a colour bar that has no width


@dataclass
class Cells:
    """A heat map that was drawn: what the arrangement needs to make its numbers as small as its cells.

    size: of a cell, in units of the axes. add_bar: draws a colour bar, where the numbers have no room.
    """

    texts: list[Text]
    size: tuple[float, float]
    panel: Panel
    add_bar: Callable[[], None]


def draw_heatmap(sheet: Sheet, panel: Panel, trace: Any, index: int) -> Cells:
    """Draw a trace."""
    values = np.array([numbers(row) for row in trace.z], dtype=np.float64)  # (n_rows, n_columns)
    x = _edges(trace.x, panel, "x", values.shape[1])
    y = _edges(trace.y, panel, "y", values.shape[0])
    shown = values[np.isfinite(values)]
    low = trace.zmin if trace.zmin is not None else (shown.min() if shown.size else 0.0)
    high = trace.zmax if trace.zmax is not None else (shown.max() if shown.size else 1.0)
    norm = Normalize(low, high if high > low else low + 1.0)
    colors = colormap(trace.colorscale, reverse=bool(trace.reversescale))
    gap = max(trace.xgap or 0, trace.ygap or 0) * sheet.unit
    mesh = panel.axes.pcolormesh(
        x,
        y,
        np.ma.masked_invalid(values),
        cmap=colors,
        norm=norm,
        zorder=ORDER,
        gid=f"trace-{index}-cells",
        edgecolors="white" if gap else "face",
        linewidth=gap or 0.01,
        antialiased=True,
    )
    if trace.showscale is not False:
        _color_bar(sheet, panel, trace, mesh)
    texts = _cell_texts(sheet, panel, trace, values, (x, y), colors, norm) if trace.texttemplate else []
    heights = np.abs(np.diff(y))[np.isfinite(values).any(axis=1)]  # a row without a value may be a heading
    size = float(np.abs(np.diff(x)).min()), float(heights.min(initial=np.inf))
    return Cells(texts, size, panel, lambda: None if panel.bars else _color_bar(sheet, panel, trace, mesh))


def _cell_texts(
    sheet: Sheet,
    panel: Panel,
    trace: Any,
    values: NDArray[np.float64],
    edges: tuple[NDArray[np.float64], NDArray[np.float64]],
    colors: Colormap,
    norm: Normalize,
) -> list[Text]:
    texts = []
    size = trace.textfont.size or TEXT_SIZE
    for (row, column), value in np.ndenumerate(values):
        text = "" if trace.text is None else str(trace.text[row][column])
        if not np.isfinite(value):
            continue
        label = template_filled(trace.texttemplate, z=value, text=text)
        if not label:
            continue
        across, up = ((edge[place] + edge[place + 1]) / 2 for edge, place in zip(edges, (column, row), strict=True))
        written = panel.axes.text(
            across,
            up,
            plain_text(label),
            ha="center",
            va="center",
            zorder=ORDER + 2,
            color=trace.textfont.color or ink_on(colors(norm(value))),
            clip_on=True,
            linespacing=BETWEEN_LINES,
            gid="cell",
            **sheet.look(label, size),
        )
        texts.append(sheet.finish(written, label))
    return texts


def _edges(places: Any, panel: Panel, letter: str, n: int) -> NDArray[np.float64]:
    """The edges of the cells (n + 1,), from those given or from their middles."""
    middles = np.arange(n, dtype=np.float64) if places is None else panel.scales[letter].places(places)
    if len(middles) == n + 1:
        return middles
    if n == 1:
        return np.array([middles[0] - 0.5, middles[0] + 0.5])
    between = (middles[:-1] + middles[1:]) / 2
    return np.concatenate([[2 * middles[0] - between[0]], between, [2 * middles[-1] - between[-1]]])


def _color_bar(sheet: Sheet, panel: Panel, trace: Any, mesh: Any) -> None:
    """The bar beside the plot area; its place is set with that of the area."""
    axes: Axes = sheet.figure.add_axes((0, 0, 0.1, 0.1), label="color bar")  # untranslated
    bar = Colorbar(axes, mesh)
    bar.outline.set_visible(False)
    bar.ax.tick_params(
        length=0,
        labelsize=TEXT_SIZE * sheet.unit,
        labelcolor=INK,
        pad=2 * sheet.unit,
        width=HAIRLINE,
        labelfontfamily=sheet.look("0")["fontfamily"],
    )
    bar.ax.yaxis.set_major_formatter(TickFormatter(trace.colorbar.tickformat or None, ""))
    if trace.colorbar.title.text:
        bar.set_label(plain_text(trace.colorbar.title.text), **sheet.look(trace.colorbar.title.text))
        sheet.finish(bar.ax.yaxis.label, trace.colorbar.title.text)
    shown = mesh.get_array().compressed()
    if shown.size and shown.min() < shown.max():
        bar.ax.set_ylim(shown.min(), shown.max())  # a scale may go beyond the values, so that letters stay legible
    axes.set_gid("color-bar")
    panel.bars.append((axes, (trace.colorbar.thickness or BAR_WIDTH) * sheet.unit, trace.colorbar.len or 1.0))
