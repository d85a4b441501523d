"""Points in three dimensions: `go.Scatter3d` in scenes without axes, seen from where a reader first sees them."""

from __future__ import annotations

from typing import Any

import numpy as np
from mpl_toolkits.mplot3d import Axes3D
from numpy.typing import NDArray

from dashboard.shared.exports.print.charts.scatter import MARKER_SIZE, MOST_AS_VECTORS, OPEN_WIDTH, marker_shape
from dashboard.shared.exports.print.charts.values import numbers, per_item
from dashboard.shared.exports.print.colors import color, of_series
from dashboard.shared.exports.print.sheet import Sheet
from engine.errors import InputError
from engine.messages.message import Message

VIEW = {"elev": 35.0, "azim": 45.0}  # Plotly's first view: from (1.25, 1.25, 1.25)


def draw_solid(sheet: Sheet, axes: Axes3D, trace: Any, index: int) -> None:
    """Draw the points of a trace."""
    if trace.mode != "markers":
        raise InputError(Message("Three-dimensional traces of the mode '{mode}' cannot be printed.", mode=trace.mode))
    places = [numbers(values) for values in (trace.x, trace.y, trace.z)]
    known: NDArray[np.bool_] = np.isfinite(np.stack(places).sum(axis=0))
    shape, scale, is_open = marker_shape(trace.marker.symbol)
    opacity = 1.0 if trace.marker.opacity is None else float(trace.marker.opacity)
    inks = [color(ink or of_series(index), opacity) for ink in per_item(trace.marker.color, len(known))]
    inks = [ink for ink, is_known in zip(inks, known, strict=True) if is_known]
    size = (trace.marker.size or MARKER_SIZE) * scale * sheet.unit
    edge = trace.marker.line
    axes.scatter(
        *(values[known] for values in places),
        s=size**2,
        marker=shape,
        depthshade=False,
        facecolors="none" if is_open else inks,
        gid=f"trace-{index}-points-0",
        edgecolors=inks if is_open else [color(edge.color)] if edge.color else "none",
        linewidths=((edge.width or OPEN_WIDTH) if is_open else edge.width or 0) * sheet.unit,
        rasterized=bool(known.sum() > MOST_AS_VECTORS),
    )


def finish_solid(axes: Axes3D) -> None:
    """One scale for all three axes, no numbers on them: only nearness has a meaning."""
    axes.set_axis_off()
    axes.set_box_aspect(
        [float(np.ptp(limits)) or 1.0 for limits in (axes.get_xlim(), axes.get_ylim(), axes.get_zlim())]
    )
    axes.view_init(**VIEW)
