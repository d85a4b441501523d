"""The legend of a figure: an entry for each named trace, in as many columns as the width of the sheet takes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go
from matplotlib.artist import Artist
from matplotlib.font_manager import FontProperties
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from dashboard.shared.exports.print import fonts
from dashboard.shared.exports.print.charts.scatter import DASHES, LINE_WIDTH, OPEN_WIDTH, marker_shape
from dashboard.shared.exports.print.charts.values import per_item
from dashboard.shared.exports.print.colors import INK, color, of_series
from dashboard.shared.exports.print.rich_text import plain_text
from dashboard.shared.exports.print.sheet import PAD, Sheet

HANDLE_SIZE = 7.0  # pixels of a marker beside a name, whatever its size in the figure


def legend_of(sheet: Sheet, figure: go.Figure) -> Legend | None:
    """The legend, without a place yet; None where the figure has none."""
    entries = [(trace, index) for index, trace in enumerate(figure.data) if _is_named(trace)]
    shown = figure.layout.showlegend if figure.layout.showlegend is not None else len(entries) > 1
    if not shown or not entries:
        return None
    handles = [_handle(sheet, trace, index) for trace, index in entries]
    names = [sheet.broken(plain_text(trace.name), 0.85 * sheet.style.width) for trace, _ in entries]
    for trace, _ in entries:
        sheet.look(trace.name)
    room = sheet.style.width - 2 * PAD
    for n_columns in range(len(entries), 0, -1):
        legend = _drawn(sheet, handles, names, n_columns)
        if n_columns == 1 or legend.get_window_extent().width / sheet.figure.dpi * 72 <= room:
            return legend
        legend.remove()
    return None


def _drawn(sheet: Sheet, handles: Sequence[Artist], names: Sequence[str], n_columns: int) -> Legend:
    legend = sheet.figure.legend(
        handles,
        names,
        ncols=n_columns,
        loc="upper left",  # untranslated
        frameon=False,
        borderpad=0,
        borderaxespad=0,
        labelspacing=0.35,
        columnspacing=1.2,
        handlelength=2.4,
        handletextpad=0.5,
        labelcolor=INK,
        prop=FontProperties(family=fonts.families("".join(names)), size=float(sheet.style.font_size)),
    )
    for text in legend.get_texts():
        text.set_parse_math(False)
        sheet.finish(text, "")
    return legend


def _is_named(trace: Any) -> bool:
    return trace.type != "heatmap" and bool(trace.name) and trace.showlegend is not False and trace.visible is not False


def _handle(sheet: Sheet, trace: Any, index: int) -> Artist:
    if trace.type == "bar":
        ink = trace.marker.color if isinstance(trace.marker.color, str) else of_series(index)
        opacity = trace.marker.opacity if isinstance(trace.marker.opacity, int | float) else 1.0
        return Patch(facecolor=color(ink, opacity), edgecolor="none")
    parts = (trace.mode or "lines").split("+")
    ink = trace.marker.color if isinstance(trace.marker.color, str) else trace.line.color or of_series(index)
    opacity = trace.marker.opacity if isinstance(trace.marker.opacity, int | float) else 1.0
    symbol = next(iter(per_item(trace.marker.symbol, 1)), None)
    shape, scale, is_open = marker_shape(symbol)
    has_line = "lines" in parts
    return Line2D(
        [],
        [],
        color=color(trace.line.color or ink) if has_line else "none",
        linestyle=DASHES[trace.line.dash or "solid"] if has_line else "none",
        linewidth=(trace.line.width or LINE_WIDTH) * sheet.unit if has_line else 0,
        marker=shape if "markers" in parts else "none",
        markersize=HANDLE_SIZE * scale * sheet.unit,
        markerfacecolor="none" if is_open else color(ink, opacity),
        markeredgecolor=color(ink, opacity),
        markeredgewidth=OPEN_WIDTH * sheet.unit if is_open else 0,
    )
