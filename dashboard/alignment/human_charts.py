"""F1 of every pair against its human score. Pure: no streamlit."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go

from dashboard.shared.theme import ACCENT, laid_out, plain, wrapped
from engine.messages.languages import tr

HEIGHT = 340
AS_SVG = 1500  # beyond, WebGL draws faster
DRAWN = 4000


def drawn_pairs(table: pd.DataFrame, score: str, seed: int = 0) -> pd.DataFrame:
    """The pairs that are drawn: those with both numbers, of more than DRAWN a sample."""
    pairs = table.dropna(subset=["human", score])
    return pairs if len(pairs) <= DRAWN else pairs.sample(DRAWN, random_state=seed).sort_values("row")


def human_figure(pairs: pd.DataFrame, score: str, human_name: str) -> go.Figure:
    """One point for each of `drawn_pairs`: the human score across, the column `score` up.

    `customdata` of a point holds the row of its pair. Scores are in their own units.
    """
    sentences = [
        f"{wrapped(reference)}<br>{wrapped(candidate)}"
        for reference, candidate in zip(pairs["reference"], pairs["candidate"], strict=True)
    ]
    draw = go.Scatter if len(pairs) <= AS_SVG else go.Scattergl
    figure = go.Figure(
        draw(
            x=pairs["human"],
            y=pairs[score],
            mode="markers",
            marker={"size": 7, "color": ACCENT, "opacity": 0.6},
            customdata=[[row, text] for row, text in zip(pairs["row"].tolist(), sentences, strict=True)],
            hovertemplate=tr(
                "row {row}: human score {human}, F1 {f1}", row="%{customdata[0]}", human="%{x:.4g}", f1="%{y:.3f}"
            )
            + "<br>%{customdata[1]}<extra></extra>",
        )
    )
    figure = laid_out(figure, height=HEIGHT).update_layout(margin={"t": 8, "b": 8, "l": 8, "r": 8})
    figure.update_xaxes(title=plain(human_name), fixedrange=True, zeroline=False)
    figure.update_yaxes(
        title=tr("F1 with penalty") if score == "penalized_f1" else "F1", fixedrange=True, zeroline=False
    )
    return figure
