"""Names of axes that a figure has on paper and in a file of its own, where no heading of the page says them. Pure."""

from __future__ import annotations

import plotly.graph_objects as go

ACROSS, UP = "across", "up"  # in the layout's `meta`, which Plotly carries and does not draw


def with_axis_names(figure: go.Figure) -> go.Figure:
    """A copy of a figure whose axes have the names that it notes, where numbers or words stand at them and no title."""
    copy = go.Figure(figure)
    names = copy.layout.meta or {}
    for name, axes in ((ACROSS, copy.select_xaxes()), (UP, copy.select_yaxes())):
        for axis in axes:
            if names.get(name) and has_labels(axis) and not axis.title.text:
                axis.title.text = names[name]
    return copy


def has_labels(axis: go.layout.XAxis | go.layout.YAxis) -> bool:
    """Whether anything stands at the ticks of an axis, so that a reader asks what it is."""
    return axis.visible is not False and axis.showticklabels is not False
