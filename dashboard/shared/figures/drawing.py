"""Draws the figures of all pages: each with its finding in words for screen readers, and its data as a table."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go
import streamlit as st

from dashboard.shared.figures.axis_titles import fitted_titles
from dashboard.shared.figures.reading import ACROSS, HIGH, LOW, SERIES, UP, VALUE, figure_table, finding
from engine.messages.languages import mark, tr

HEADS = {
    SERIES: mark("Series"),
    ACROSS: mark("Across"),
    UP: mark("Up"),
    VALUE: mark("Value"),
    LOW: mark("Low end"),
    HIGH: mark("High end"),
}


def draw_figure(figure: go.Figure, *, key: str, alt: str, data: bool = True, **settings: Any) -> None:
    """`st.plotly_chart` with a text alternative: `alt`, what the figure is, then what it shows, from its numbers.

    data: whether a control below the figure opens its numbers as a table. settings: further ones of `plotly_chart`.
    """
    shown = finding(figure)
    with fitted_titles(figure):
        st.plotly_chart(
            figure,
            key=key,
            alt=tr("{caption}. {text}", caption=alt.rstrip(".。"), text=shown) if shown else alt,
            **settings,
        )
    if data and shown:
        _data(figure, key, alt)


@st.fragment
def _data(figure: go.Figure, key: str, alt: str) -> None:
    """Draw the control that opens the numbers of a figure; the table is made once it is opened."""
    with st.popover(
        tr("Data"), type="tertiary", icon=":material/table:", on_change="rerun", key=f"data-of-figure-{key}"
    ) as opened:
        if opened.open:
            st.dataframe(
                figure_table(figure),
                hide_index=True,
                alt=alt,
                placeholder="–",
                column_config={name: tr(head) for name, head in HEADS.items()},
            )
