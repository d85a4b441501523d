"""Figures of a classification result: the accuracy of every run beside the mean, and confusion matrices. Pure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dashboard.shared.theme import (
    ACCENT,
    GREY,
    laid_out,
    measure_name,
    measure_note,
    plain,
    short_names,
    shortened,
    template_safe,
    wrapped,
)
from engine.messages.languages import tr, tr_n

MEASURE = "classification_accuracy"
ROW_HEIGHT, NAME_ABOVE = 52, 0.22  # pixels for a model; height of its name above its dots, as a share of them
TITLE_HEIGHT, AXIS_HEIGHT = 58, 34
DOT = 9
NUMBERED_CLASSES = 12  # up to this many, each cell shows its number
NAMED_CLASSES = 60  # beyond, their names do not fit along the matrix; the hover still shows them
CELL, SMALLEST_CELL, TALLEST = 38, 12, 760
LABEL_LENGTH = 16


def run_dots(models: pd.DataFrame, runs: pd.DataFrame) -> go.Figure:
    """A row for each model, the best first: a dot for each run, the mean as a bar across, its 95% interval behind.

    `models` and `runs` are those of the result. Dotted: the accuracy of the largest class, the baseline.
    """
    ranked = models.sort_values("rank", kind="stable")
    short = short_names(ranked["model"])
    baseline = float(ranked["baseline"].iloc[0])
    figure = go.Figure()
    for height, row in enumerate(ranked.to_dict("records")):
        model_runs = runs[runs["model"] == row["model"]]
        figure.add_shape(
            type="rect",
            x0=row["ci_low"],
            x1=row["ci_high"],
            y0=height - 0.09,
            y1=height + 0.09,
            fillcolor=GREY,
            opacity=0.28,
            line={"width": 0},
            layer="below",
        )
        figure.add_shape(
            type="line",
            x0=row["accuracy_mean"],
            x1=row["accuracy_mean"],
            y0=height - 0.17,
            y1=height + 0.17,
            line={"color": ACCENT, "width": 3},
        )
        figure.add_trace(
            go.Scatter(
                x=model_runs["accuracy"],
                y=_stacked(model_runs["accuracy"], height),
                mode="markers",
                name=plain(short[row["model"]]),
                marker={"color": ACCENT, "size": DOT, "opacity": 0.75, "line": {"width": 0}},
                customdata=model_runs[["seed", "train_accuracy"]].to_numpy(),
                hovertemplate=tr("seed {seed}: accuracy {accuracy}", seed="%{customdata[0]}", accuracy="%{x:.1%}")
                + "<br>"
                + tr("training accuracy {accuracy}", accuracy="%{customdata[1]:.1%}")
                + f"<extra>{template_safe(row['model'])}</extra>",
            )
        )
        figure.add_shape(
            type="line",
            x0=baseline,
            x1=baseline,
            y0=height - 0.17,
            y1=height + 0.3,
            line={"color": GREY, "width": 1, "dash": "dot"},
        )
        above = {"y": height - NAME_ABOVE, "showarrow": False, "yanchor": "bottom", "font": {"size": 12}}
        figure.add_annotation(x=0, xref="paper", text=plain(short[row["model"]]), xanchor="left", **above)
        figure.add_annotation(x=1, xref="paper", text=f"<b>{row['accuracy_mean']:.1%}</b>", xanchor="right", **above)
    figure.add_annotation(
        x=baseline,
        y=len(ranked) - 0.5,
        text=tr("largest class {share}", share=f"{baseline:.1%}"),
        showarrow=False,
        xanchor="left",
        yanchor="bottom",
        xshift=3,
        font={"color": GREY, "size": 11},
    )
    low = min(baseline, float(ranked["ci_low"].min()))
    high = max(float(ranked["ci_high"].max()), float(ranked["accuracy_max"].max()))
    figure.update_xaxes(
        range=[max(0.0, low - 0.04), min(1.0, high + 0.04)],
        tickformat=".0%",
        fixedrange=True,
        zeroline=False,
        nticks=7,
        title=None,
    )
    figure.update_yaxes(range=[len(ranked) - 0.5, -0.75], visible=False, fixedrange=True)
    figure = laid_out(
        figure, height=TITLE_HEIGHT + AXIS_HEIGHT + ROW_HEIGHT * len(ranked), across=measure_name(MEASURE)
    )
    return figure.update_layout(
        title={
            "text": measure_name(MEASURE),
            "x": 0,
            "font": {"size": 14},
            "subtitle": {
                "text": tr("{measure}; dots: training runs, bar: mean, band: 95%", measure=measure_note(MEASURE))
            },
        },
        margin={"t": TITLE_HEIGHT, "b": AXIS_HEIGHT},
    )


def confusion_matrix(confusion: pd.DataFrame, model: str, classes: Sequence[str]) -> go.Figure:
    """How the test sentences of each class (down) were classified (across) under one model, summed over the runs.

    `confusion` is the result's; a shade is the share of the class's sentences, so that classes of any size compare.
    Correct predictions are on the diagonal.
    """
    of_model = confusion[confusion["model"] == model]
    table = (
        of_model.pivot(index="class", columns="predicted", values="n")
        .reindex(index=list(classes), columns=list(classes))
        .fillna(0)
    )
    counts = table.to_numpy(dtype=int)  # (n_classes, n_classes)
    n_of_class = counts.sum(axis=1, keepdims=True)  # (n_classes, 1)
    shares = np.divide(counts, n_of_class, out=np.zeros(counts.shape), where=n_of_class > 0)
    n = len(classes)
    names = [wrapped(name) for name in classes]
    figure = go.Figure(
        go.Heatmap(
            z=shares,
            zmin=0,
            zmax=1,
            xgap=1,
            ygap=1,
            showscale=False,
            colorbar={"title": {"text": tr("Sentences")}},
            customdata=[
                [
                    [true, predicted, tr_n("{n} time", "{n:,} times", int(counts[i, j]))]
                    for j, predicted in enumerate(names)
                ]
                for i, true in enumerate(names)
            ],
            text=np.where(counts > 0, counts, "").astype(str),
            texttemplate="%{text}" if n <= NUMBERED_CLASSES else None,
            hovertemplate=tr("True: {label}", label="%{customdata[0]}")
            + "<br>"
            + tr("Predicted: {label}", label="%{customdata[1]}")
            + "<br>%{customdata[2]}, %{z:.1%}<extra></extra>",
        )
    )
    cell = min(CELL, max(SMALLEST_CELL, TALLEST // n))
    ticks = {
        "tickvals": list(range(n)),
        "ticktext": [_short(name) for name in classes],
        "fixedrange": True,
        "showgrid": False,
        "zeroline": False,
        "showticklabels": n <= NAMED_CLASSES,
        "title": None,
    }
    figure.update_xaxes(**ticks, range=[-0.5, n - 0.5], tickangle=-40)
    figure.update_yaxes(**ticks, range=[n - 0.5, -0.5], ticksuffix="  ")
    figure = laid_out(figure, height=cell * n + 150, across=tr("Predicted class"), up=tr("True class"))
    return figure.update_layout(
        title={
            "text": plain(shortened(model, confusion["model"].unique())),
            "x": 0,
            "font": {"size": 14},
            "subtitle": {"text": tr("rows: true class; columns: predicted class")},
        },
        margin={"t": 56, "b": 70},
    )


def _stacked(values: pd.Series, center: int) -> list[float]:
    """Heights of dots, about `center`, so that runs of equal accuracy are stacked, not hidden."""
    heights = []
    for value, earlier in zip(values, values.groupby(values).cumcount(), strict=True):
        n_equal = int((values == value).sum())
        heights.append(center + 0.1 * (earlier - (n_equal - 1) / 2))
    return heights


def _short(name: str) -> str:
    return plain(name if len(name) <= LABEL_LENGTH else name[: LABEL_LENGTH - 1] + "…")
