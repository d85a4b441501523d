"""A small figure of the home page, without what the sentence below it says."""

from __future__ import annotations

import plotly.graph_objects as go

from dashboard.shared.figures.drawing import draw_figure

KEPT = 4  # of a sample, in each language


def without_caption(figure: go.Figure) -> go.Figure:
    """The figure without its annotations."""
    figure.layout.annotations = ()
    return figure


def draw(figure: go.Figure, key: str, alt: str) -> None:
    """Draw the figure."""
    draw_figure(figure, key=key, config={"displayModeBar": False}, alt=alt, data=False)
