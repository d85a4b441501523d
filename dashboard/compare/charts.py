"""The items of two sides as points, and the differences of their numbers. Pure: no streamlit."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dashboard.shared.theme import ACCENT, GREY, WARM, laid_out, plain, wrapped
from engine.messages.languages import tr

HEIGHT = 380
DRAWN = 4000  # beyond, a seeded sample; what was decided differently comes first

AS_SVG = 1500  # beyond, WebGL draws faster


def drawn_items(items: pd.DataFrame, seed: int = 0) -> pd.DataFrame:
    """The items that are drawn: all, or DRAWN of them, half of these from the top of the table."""
    items = items.dropna(subset=["first", "second"])
    if len(items) <= DRAWN:
        return items
    rest = items.iloc[DRAWN // 2 :].sample(DRAWN - DRAWN // 2, random_state=seed)
    return pd.concat([items.iloc[: DRAWN // 2], rest])


def scatter(items: pd.DataFrame, names: tuple[str, str]) -> go.Figure:
    """One point for each of `drawn_items`: the first side across, the second up; those decided differently are warm."""
    figure = go.Figure()
    groups = (
        (tr("decided alike"), ~items["changed"], GREY if items["changed"].any() else ACCENT),
        (tr("decided differently"), items["changed"], WARM),
    )
    for name, chosen, color in groups:
        part = items[chosen.to_numpy(dtype=bool)]
        if len(part):
            texts = [
                tr("row {row}: {text}", row=row, text=wrapped(text)) + (f"<br>{wrapped(other)}" if other else "")
                for row, text, other in zip(part["row"], part["text"], part["other_text"], strict=True)
            ]
            figure.add_trace(
                (go.Scatter if len(items) <= AS_SVG else go.Scattergl)(
                    x=part["first"],
                    y=part["second"],
                    mode="markers",
                    name=name,
                    text=texts,
                    marker={"size": 7, "color": color, "opacity": 0.75},
                    hovertemplate="%{text}<br>"
                    + tr("left {left}, right {right}", left="%{x:.4g}", right="%{y:.4g}")
                    + "<extra></extra>",
                )
            )
    ends = _ends(items)
    figure.add_shape(
        type="line",
        x0=ends[0],
        x1=ends[1],
        y0=ends[0],
        y1=ends[1],
        layer="below",
        line={"color": GREY, "width": 1, "dash": "dot"},
    )
    for update, name in ((figure.update_xaxes, names[0]), (figure.update_yaxes, names[1])):
        update(title={"text": plain(name), "font": {"size": 12}}, zeroline=False)
    figure = laid_out(figure, height=HEIGHT, legend=bool(items["changed"].any()))
    return figure.update_layout(margin={"t": 32, "b": 8, "l": 8, "r": 16}, legend={"y": 1, "yanchor": "bottom"})


def _ends(items: pd.DataFrame) -> tuple[float, float]:
    """Where the line of equal numbers begins and ends."""
    values = items[["first", "second"]].to_numpy(dtype=np.float64)
    return (float(values.min()), float(values.max())) if values.size else (0.0, 1.0)
