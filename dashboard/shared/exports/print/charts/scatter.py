"""Points and lines: `go.Scatter` and `go.Scattergl`, with their texts, error bars and fills."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.patches import Polygon
from numpy.typing import NDArray

from dashboard.shared.exports.print.charts.panel import Panel
from dashboard.shared.exports.print.charts.values import numbers, per_item, property_of
from dashboard.shared.exports.print.colors import INK, color, of_series
from dashboard.shared.exports.print.labels import PointLabel
from dashboard.shared.exports.print.sheet import TEXT_SIZE, Sheet
from engine.errors import InputError
from engine.messages.message import Message

# Plotly's shape -> matplotlib's, and its size where Plotly's is 1.
MARKERS = {
    "circle": ("o", 1.0),
    "diamond": ("D", 0.78),
    "square": ("s", 0.88),
    "triangle-up": ("^", 1.0),
    "triangle-down": ("v", 1.0),
    "cross": ("P", 1.0),
    "x": ("X", 1.0),
}
DASHES: Mapping[str, Any] = {
    "solid": "-",
    "dot": (0, (1, 1.6)),
    "dash": (0, (4, 2.2)),
    "longdash": (0, (7, 2.2)),
    "dashdot": (0, (4, 1.6, 1, 1.6)),
}
LINE_WIDTH, MARKER_SIZE, ERROR_WIDTH, OPEN_WIDTH = 2.0, 6.0, 2.0, 1.3  # pixels, by default
MOST_AS_VECTORS = 5000  # points; beyond, they are a picture of 300 dpi within the file
TEXT_GAP = 3  # pixels between a point and its text
BACK, FRONT = 2.0, 3.0


def draw_scatter(sheet: Sheet, panel: Panel, trace: Any, index: int, offset: float) -> None:
    """Draw a trace; `offset` moves it within its category, along the axis of its orientation."""
    x, y = panel.scales["x"].places(trace.x), panel.scales["y"].places(trace.y)
    if property_of(trace, "orientation") == "h":
        y = y + offset
    else:
        x = x + offset
    mode = trace.mode or ("lines+markers" if len(x) < 20 else "lines")
    parts = mode.split("+")
    order = BACK + (property_of(trace, "zorder") or 0) * 0.1 + index * 0.001
    own = _main_color(trace, index)
    if trace.fill not in (None, "none"):
        _fill(panel, trace, index, x, y, order - 0.5)
    if "lines" in parts and (trace.line.width is None or trace.line.width > 0):
        panel.axes.plot(
            x,
            y,
            color=color(trace.line.color or own, trace.opacity),
            gid=f"trace-{index}-line",
            linewidth=_width(trace.line.width, LINE_WIDTH) * sheet.unit,
            linestyle=DASHES[trace.line.dash or "solid"],
            zorder=order,
            solid_capstyle="butt",
            dash_capstyle="butt",
        )
    draw_errors(sheet, panel, trace, (x, y), own, order, index)
    if "markers" in parts:
        _markers(sheet, panel, trace, index, x, y, own, order + 0.05)
    if "text" in parts:
        _texts(sheet, panel, trace, x, y, own)


def marker_shape(symbol: str | None) -> tuple[str, float, bool]:
    """The shape of a symbol in matplotlib, its relative size, and whether it is an outline alone."""
    name = symbol or "circle"
    if name.removesuffix("-open") not in MARKERS:
        raise InputError(Message("The marker '{name}' cannot be printed.", name=name))
    shape, scale = MARKERS[name.removesuffix("-open")]
    return shape, scale, name.endswith("-open")


def draw_errors(
    sheet: Sheet,
    panel: Panel,
    trace: Any,
    places: tuple[NDArray[np.float64], NDArray[np.float64]],
    own: str,
    order: float,
    index: int,
) -> None:
    """Draw the error bars of a trace, from end to end; a missing one is left out."""
    for letter, error in (("x", trace.error_x), ("y", trace.error_y)):
        if error.array is None or error.visible is False:
            continue
        if error.type not in (None, "data"):
            raise InputError(Message("Error bars of the type '{type}' cannot be printed.", type=error.type))
        after = numbers(error.array)
        before = after if error.symmetric is not False or error.arrayminus is None else numbers(error.arrayminus)
        value, other = places if letter == "x" else places[::-1]
        low, high = value - before, value + after
        known = np.isfinite(low) & np.isfinite(high) & np.isfinite(other)
        ends = [
            [(a, at), (b, at)] if letter == "x" else [(at, a), (at, b)]
            for a, b, at in zip(low[known], high[known], other[known], strict=True)
        ]
        ink = color(error.color or own, trace.opacity)
        width = _width(error.thickness, ERROR_WIDTH) * sheet.unit
        panel.axes.add_collection(
            LineCollection(
                ends, colors=[ink], linewidths=width, zorder=order + 0.02, gid=f"trace-{index}-errors-{letter}"
            ),
            autolim=True,
        )
        if error.width:
            caps = np.array(ends).reshape(-1, 2)
            panel.axes.plot(
                *caps.T,
                linestyle="none",
                marker="|" if letter == "x" else "_",
                color=ink,
                markersize=2 * error.width * sheet.unit,
                markeredgewidth=width,
                zorder=order + 0.02,
            )


def _markers(
    sheet: Sheet,
    panel: Panel,
    trace: Any,
    index: int,
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    own: str,
    order: float,
) -> None:
    marker, n = trace.marker, len(x)
    if isinstance(marker.opacity, int | float) and marker.opacity == 0:
        return  # points that are there to be hovered or clicked
    sizes = np.array([MARKER_SIZE if size is None else float(size) for size in per_item(marker.size, n)])
    colors = per_item(marker.color, n)
    opacities = per_item(marker.opacity, n)
    symbols = per_item(marker.symbol, n)
    finite = np.isfinite(x) & np.isfinite(y)
    for number, symbol in enumerate(dict.fromkeys(symbols)):
        chosen = finite & np.array([item == symbol for item in symbols])
        shape, scale, is_open = marker_shape(symbol)
        inks = [color(colors[i] or own, _product(opacities[i], trace.opacity)) for i in np.flatnonzero(chosen)]
        edge = float(marker.line.width or 0) if isinstance(marker.line.width, int | float) else 0.0
        edges = inks if is_open else [color(marker.line.color)] if marker.line.color else "none"
        width = (edge or OPEN_WIDTH) if is_open else edge
        panel.axes.scatter(
            x[chosen],
            y[chosen],
            s=(sizes[chosen] * scale * sheet.unit) ** 2,
            marker=shape,
            zorder=order,
            facecolors="none" if is_open else inks,
            edgecolors=edges,
            linewidths=width * sheet.unit,
            rasterized=bool(chosen.sum() > MOST_AS_VECTORS),
            clip_on=property_of(trace, "cliponaxis") is not False,
            gid=f"trace-{index}-points-{number}",
        )


def _texts(sheet: Sheet, panel: Panel, trace: Any, x: NDArray[np.float64], y: NDArray[np.float64], own: str) -> None:
    positions = per_item(trace.textposition or "middle center", len(x))  # untranslated
    sizes = per_item(trace.marker.size if "markers" in (trace.mode or "") else 0, len(x))
    for at_x, at_y, text, position, size in zip(x, y, per_item(trace.text, len(x)), positions, sizes, strict=True):
        if not text or not np.isfinite(at_x + at_y):
            continue
        vertical, horizontal = position.split()
        gap = (MARKER_SIZE if size is None else float(size)) / 2 + TEXT_GAP
        across, dx = {"left": ("right", -gap), "center": ("center", 0), "right": ("left", gap)}[horizontal]
        up, dy = {"top": ("bottom", gap), "middle": ("middle", 0), "bottom": ("top", -gap)}[vertical]
        written = sheet.write(
            text,
            at_x,
            at_y,
            panel.axes.transData,
            across=across,
            up=up,
            shift=(dx, dy),
            size=trace.textfont.size or TEXT_SIZE,
            ink=trace.textfont.color or INK,
        )
        if written is not None:
            sheet.labels.append(PointLabel(written, panel.axes, (at_x, at_y), gap * sheet.unit))


def _fill(panel: Panel, trace: Any, index: int, x: NDArray[np.float64], y: NDArray[np.float64], order: float) -> None:
    if trace.fill != "toself":
        raise InputError(Message("The fill '{fill}' cannot be printed.", fill=trace.fill))
    ground = color(trace.fillcolor or of_series(index), trace.opacity)
    gaps = np.flatnonzero(~(np.isfinite(x) & np.isfinite(y)))
    for number, part in enumerate(np.split(np.stack([x, y], axis=1), gaps)):
        corners = part[np.isfinite(part).all(axis=1)]
        if len(corners) > 2:
            panel.axes.add_patch(
                Polygon(
                    corners,
                    closed=True,
                    facecolor=ground,
                    edgecolor="none",
                    zorder=order,
                    gid=f"trace-{index}-fill-{number}",
                )
            )


def _main_color(trace: Any, index: int) -> str:
    marker_color = trace.marker.color
    return str(marker_color if isinstance(marker_color, str) else trace.line.color or of_series(index))


def _product(first: Any, second: Any) -> float:
    return (1.0 if first is None else float(first)) * (1.0 if second is None else float(second))


def _width(value: Any, default: float) -> float:
    return default if value is None else float(value)
