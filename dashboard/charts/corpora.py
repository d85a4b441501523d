"""Figure of an idf dictionary: how many of its entries are how rare, and where low frequency begins. Pure."""

from __future__ import annotations

import math

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from dashboard.charts.theme import ACCENT, WARM, axis_title, laid_out

BINS = 40


def idf_histogram(idf: NDArray[np.float64], threshold: float) -> go.Figure:
    """Entries by idf; those above the threshold, the low-frequency ones, in the warm colour.

    idf: (n_entries,). The bins meet at the threshold, so no bar holds entries of both sides.
    """
    edges = np.linspace(0.0, float(idf.max()) * (1 + 1e-9), BINS + 1)
    if math.isfinite(threshold) and edges[0] < threshold < edges[-1]:
        # just above: an entry at the threshold itself is not low-frequency
        edges = np.sort(np.append(edges, np.nextafter(threshold, math.inf)))
    counts, _ = np.histogram(idf, bins=edges)
    left, right = edges[:-1], edges[1:]  # each (n_bins,)
    figure = go.Figure(go.Bar(
        x=left, y=counts, width=right - left, offset=0,
        marker={"color": [WARM if start > threshold else ACCENT for start in left], "line": {"width": 0}},
        customdata=np.stack([left, right], axis=1),  # (n_bins, 2)
        hovertemplate="idf %{customdata[0]:.2f} to %{customdata[1]:.2f}: %{y:,} entries<extra></extra>",
    ))
    if math.isfinite(threshold):
        figure.add_vline(x=threshold, line={"dash": "dot", "color": WARM, "width": 2},
                         annotation={"text": f"threshold {threshold:.2f}", "font": {"color": WARM}},
                         annotation_position="top")
    figure.update_xaxes(title=axis_title("idf"), fixedrange=True)
    figure.update_yaxes(title="entries", fixedrange=True)
    figure = laid_out(figure, height=300)
    figure.update_layout(bargap=0)
    return figure
