"""Figures of many aligned pairs: the distribution of the scores, and the largest penalties. Pure: no streamlit."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dashboard.shared.theme import ACCENT, GREY, WARM, laid_out, plain, wrapped
from engine.messages.languages import tr, tr_n

BINS = 40
MOST = 12
NAME_CHARACTERS = 14
BAR, AROUND = 24, 48


def score_histogram(pairs: pd.DataFrame, *, penalised: bool) -> go.Figure:
    """Histogram of the F1 of all pairs; with the penalty a second one in the warm colour.

    `pairs` are the rows of one model in `Scores.pairs`; an undefined F1 is left out.
    """
    columns = [("f1", "F1", ACCENT)]
    if penalised:
        columns = [("f1", "F1", GREY), ("penalized_f1", tr("F1 with penalty"), WARM)]
    values = {name: pairs[name].dropna().to_numpy() for name, _, _ in columns}
    all_values = np.concatenate(list(values.values()))
    lowest, highest = (all_values.min(), all_values.max()) if len(all_values) else (0.0, 1.0)
    edges = np.linspace(lowest, max(highest, lowest + 1e-6), BINS + 1)
    figure = go.Figure()
    for name, label, color in columns:
        counts = np.histogram(values[name], edges)[0]  # (n_bins,)
        figure.add_trace(
            go.Bar(
                x=(edges[:-1] + edges[1:]) / 2,
                y=counts,
                width=np.diff(edges),
                name=label,
                marker={"color": color, "opacity": 0.7},
                customdata=[
                    [low, high, tr_n("{n} pair", "{n:,} pairs", n)]
                    for low, high, n in zip(edges[:-1], edges[1:], counts, strict=True)
                ],
                hovertemplate="%{customdata[0]:.3f}–%{customdata[1]:.3f}: %{customdata[2]}<extra>" + label + "</extra>",
            )
        )
    figure = laid_out(figure, height=BAR * MOST + AROUND if penalised else 220, legend=penalised, across="F1")
    figure.update_layout(barmode="overlay", margin={"t": 8}, legend={"y": -0.12})
    figure.update_xaxes(fixedrange=True, title=None)
    figure.update_yaxes(fixedrange=True, title=tr("pairs"))
    return figure


def most_changed(table: pd.DataFrame, n: int = MOST) -> pd.DataFrame:
    """The `n` pairs whose F1 the penalty lowers most, the largest loss first, without pairs that it does not lower.

    `table` has the columns of `pair_choice.pair_table`; `f1_loss` is F1 minus penalised F1.
    """
    changed = table[table["f1_loss"] > 0]
    return changed.sort_values("f1_loss", ascending=False, kind="stable").head(n)


def change_figure(changed: pd.DataFrame) -> go.Figure:
    """The F1 that the pairs in `most_changed` lose by the penalty: a bar each, the longest on top.

    `customdata` of a bar holds the row of its pair.
    """
    names = [f"{row} · {_cut(text)}" for row, text in zip(changed["row"], changed["reference"], strict=True)]
    sentences = [
        f"{wrapped(reference)}<br>{wrapped(candidate)}"
        for reference, candidate in zip(changed["reference"], changed["candidate"], strict=True)
    ]
    figure = go.Figure(
        go.Bar(
            x=changed["f1_loss"],
            y=list(range(len(changed))),
            orientation="h",
            marker={"color": WARM, "opacity": 0.75},
            customdata=np.stack([changed["row"].to_numpy(dtype=object), np.array(sentences, dtype=object)], axis=1)
            if len(changed)
            else None,
            text=[f"{value:.3f}" for value in changed["f1_loss"]],
            textposition="auto",
            hovertemplate=tr("row {row}: F1 drop {drop}", row="%{customdata[0]}", drop="%{x:.3f}")
            + "<br>%{customdata[1]}<extra></extra>",
        )
    )
    figure = laid_out(figure, height=BAR * MOST + AROUND, up=tr("Pair"))
    figure.update_layout(margin={"t": 8}, bargap=0.3)
    figure.update_xaxes(fixedrange=True, title=tr("F1 drop by the penalty"), rangemode="tozero")
    figure.update_yaxes(
        fixedrange=True,
        title=None,
        showgrid=False,
        tickvals=list(range(len(names))),
        ticktext=names,
        range=[max(len(names), MOST / 2) - 0.5, -0.5],
    )
    return figure


def _cut(text: str) -> str:
    """The beginning of a text, for an axis."""
    line = " ".join(str(text).split())
    return plain(line if len(line) <= NAME_CHARACTERS else f"{line[:NAME_CHARACTERS]}…")
