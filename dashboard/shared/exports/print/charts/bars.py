"""Bars: `go.Bar`, with their numbers and error bars."""

from __future__ import annotations

from typing import Any

import numpy as np

from dashboard.shared.exports.print.charts.panel import Panel
from dashboard.shared.exports.print.charts.scatter import draw_errors
from dashboard.shared.exports.print.charts.values import numbers, per_item
from dashboard.shared.exports.print.colors import INK, color, of_series
from dashboard.shared.exports.print.sheet import TEXT_SIZE, Sheet
from engine.errors import InputError
from engine.messages.message import Message

TEXT_GAP = 4  # pixels between the end of a bar and its number
OUTSIDE = ("outside", "auto")
ORDER = 2.0


def draw_bars(sheet: Sheet, panel: Panel, trace: Any, index: int, slot: tuple[float, float]) -> None:
    """Draw a trace; `slot`: middle and width of its bars about their places, in units of the axis.

    Numbers stand beyond the end of their bar: on paper a bar is often too short for them.
    """
    lying = trace.orientation == "h"
    along, across = ("y", "x") if lying else ("x", "y")
    places = panel.scales[along].places(trace.y if lying else trace.x)
    lengths = panel.scales[across].places(trace.x if lying else trace.y)
    middle, default_width = slot
    widths = np.array(
        [default_width if width is None else float(width) for width in per_item(trace.width, len(places))]
    )
    middle = 0.0 if trace.width is not None and trace.offset is None else middle
    offsets = per_item(trace.offset, len(places))
    starts = np.array(
        [
            place + middle - width / 2 if offset is None else place + float(offset)
            for place, width, offset in zip(places, widths, offsets, strict=True)
        ]
    )
    own = of_series(index)
    colors, opacities = per_item(trace.marker.color, len(places)), per_item(trace.marker.opacity, len(places))
    opacity = 1.0 if trace.opacity is None else trace.opacity
    fills = [
        color(ink or own, (1.0 if part is None else part) * opacity)
        for ink, part in zip(colors, opacities, strict=True)
    ]
    drawn = np.isfinite(lengths) & np.isfinite(starts)
    draw = panel.axes.barh if lying else panel.axes.bar
    bars = draw(
        starts[drawn],
        lengths[drawn],
        widths[drawn],
        align="edge",
        linewidth=0,
        zorder=ORDER + index * 0.001,
        color=[fill for fill, is_drawn in zip(fills, drawn, strict=True) if is_drawn],
    )
    for number, patch in enumerate(bars.patches):
        patch.set_gid(f"trace-{index}-bar-{number}")
    ends = starts + widths / 2
    draw_errors(sheet, panel, trace, (lengths, ends) if lying else (ends, lengths), own, ORDER + 0.5, index)
    if trace.text is not None:
        _numbers(sheet, panel, trace, lengths, ends, lying=lying)


def _numbers(sheet: Sheet, panel: Panel, trace: Any, lengths: np.ndarray, places: np.ndarray, *, lying: bool) -> None:
    if trace.textposition not in OUTSIDE:
        raise InputError(
            Message("Numbers of bars at '{textposition}' cannot be printed.", textposition=trace.textposition)
        )
    beyond = (
        np.nanmax(np.stack([lengths, lengths + numbers(trace.error_x.array)]), axis=0)
        if (lying and trace.error_x.array is not None)
        else lengths
    )
    for text, end, place in zip(per_item(trace.text, len(lengths)), beyond, places, strict=True):
        if not text or not np.isfinite(end + place):
            continue
        sign = 1 if end >= 0 else -1
        look: dict[str, Any] = {"size": trace.textfont.size or TEXT_SIZE, "ink": trace.textfont.color or INK}
        if lying:
            sheet.write(
                text,
                end,
                place,
                panel.axes.transData,
                across="left" if sign > 0 else "right",
                shift=(sign * TEXT_GAP, 0),
                **look,
            )
        else:
            sheet.write(
                text,
                place,
                end,
                panel.axes.transData,
                up="bottom" if sign > 0 else "top",
                shift=(0, sign * TEXT_GAP),
                **look,
            )
