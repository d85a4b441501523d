"""The maps of a clusters result as a figure: all of them or one, as the page shows them. Pure: no streamlit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from dashboard.clusters.coloring import Coloring, by_class
from dashboard.shared.theme import ending, laid_out, plain, short_names, template_safe, wrapped
from engine.evaluations.clusters.records import Result
from engine.messages.languages import tr

COLUMNS = 3
MAP_HEIGHT = 430
POINT_SIZES, CENTROID_SIZE, OPACITY = {2: 7, 3: 3}, 13, 0.85  # of a map of two or three dimensions
# Of so many points that they would cover each other: where they are dense, and of which class, is what can be seen.
DENSE_POINTS, DENSE_SIZES, DENSE_OPACITY = 25_000, {2: 2, 3: 1}, 0.6
# Beyond this many points the browser draws them on a canvas, not one page element each.
SVG_POINTS = 2000
LABEL_SIZE = 12
# Beyond this many points under a model the texts would be most of a file of a hundred megabytes: class and row tell them.
HOVERED_POINTS = 25_000
HOVER_LINES = 24  # of a sentence under the pointer: a sentence is there as a whole, a document is not
# In three dimensions Plotly has no triangles, and draws a cross with a letter that not every font has.
SYMBOLS_3D = {"triangle-up": "diamond-open", "cross": "square-open"}


@dataclass(frozen=True)
class Look:
    """What the maps are set to on the page: colours (None: by class), hidden groups, centroids, the one shown."""

    coloring: Coloring | None = None
    hidden: tuple[str, ...] = ()
    centroids: bool = True
    alone: str | None = None


def maps_figure(result: Result, only: str = "", look: Look | None = None) -> go.Figure:
    """All maps in one figure, models in the order of rank, or that of one model: the downloads.

    `look`: as the maps of the page are set. One legend for all maps; the hover of a point shows its sentence, class
    and row. Axes have no numbers: only nearness has a meaning. Models without a map are left out.
    """
    ranked = result.models.sort_values("rank", na_position="last", kind="stable")["model"]
    look = look or Look()
    models = [model for model in ranked if has_map(result.points, model) and (only or look.alone or model) == model]
    groups = (look.coloring or by_class(result.points)).groups
    columns = 2 if len(models) == 4 else max(1, min(COLUMNS, len(models)))
    n_rows = max(1, -(-len(models) // columns))
    is_solid = result.settings.dimensions == 3
    kind = "scene" if is_solid else "xy"
    figure = make_subplots(
        n_rows,
        columns,
        specs=[[{"type": kind}] * columns] * n_rows,
        horizontal_spacing=0.02,
        vertical_spacing=0.08,
        subplot_titles=[plain(name) for name in short_names(models).values()],
    )
    for number, model in enumerate(models):
        cell = {"row": number // columns + 1, "col": number % columns + 1}
        for index in (index for index, name in enumerate(groups) if name not in look.hidden):
            for trace in _group_traces(result, model, index, look):
                trace.update(legendgroup=str(index), showlegend=number == 0 and trace.name != "")
                figure.add_trace(trace, **cell)
    hidden = {"showgrid": False, "zeroline": False, "showticklabels": False, "title": {"text": ""}}
    if is_solid:
        figure.update_scenes(xaxis=hidden, yaxis=hidden, zaxis=hidden, aspectmode="data")
    else:
        figure.update_xaxes(**hidden)
        # The two axes of a map have one scale: a distance is the same in every direction.
        figure.update_yaxes(**hidden)
        for axis in figure.select_yaxes():
            axis.update(scaleanchor=str(axis.anchor), scaleratio=1)
    return laid_out(figure, height=MAP_HEIGHT * n_rows + 60, legend=True).update_layout(dragmode="pan")


def has_map(points: pd.DataFrame, model: str) -> bool:
    """Whether there are coordinates to draw: with too few sentences there are none."""
    return bool(points.loc[points["model"] == model, "x"].notna().any())


def _group_traces(result: Result, model: str, index: int, look: Look) -> Sequence[go.Scatter]:
    """The points of a group on the map of a model, and where the groups are classes its mean with its name."""
    points = result.points[result.points["model"] == model]
    coloring = look.coloring or by_class(result.points)
    name = coloring.groups[index]
    of_group = points[points["row"].map(coloring.group_by_row) == index]
    shape, color = coloring.symbol(index), coloring.color(index)  # a download is white, whatever the theme of the page
    is_solid = result.settings.dimensions == 3
    axes = "xyz" if is_solid else "xy"
    kind = go.Scatter3d if is_solid else go.Scattergl if len(points) > SVG_POINTS else go.Scatter
    sizes, opacity = (DENSE_SIZES, DENSE_OPACITY) if len(points) > DENSE_POINTS else (POINT_SIZES, OPACITY)
    marker = {
        "size": sizes[result.settings.dimensions],
        "color": color,
        "opacity": opacity,
        "symbol": SYMBOLS_3D.get(shape, shape) if is_solid else shape,
    }
    labels = [f"<b>{plain(label)}</b>" for label in of_group["label"]]
    traces = [
        kind(
            **{axis: of_group[axis] for axis in axes},
            mode="markers",
            name=plain(name),
            marker=marker,
            customdata=(
                [
                    [wrapped(text, lines=HOVER_LINES), row, label]
                    for text, row, label in zip(of_group["text"], of_group["row"], labels, strict=True)
                ]
                if len(points) <= HOVERED_POINTS
                else [["", row, label] for row, label in zip(of_group["row"], labels, strict=True)]
            ),
            hovertemplate=("%{customdata[0]}<br>" if len(points) <= HOVERED_POINTS else "")
            + tr("{label}, row {row}", label="%{customdata[2]}", row="%{customdata[1]}")
            + "<extra></extra>",
        )
    ]
    if coloring.column is None and look.centroids:
        centroid = result.centroids[(result.centroids["model"] == model) & (result.centroids["class"] == name)]
        traces.append(
            kind(
                **{axis: centroid[axis] for axis in axes},
                mode="markers+text",
                name="",
                text=[plain(ending(name))] * len(centroid),
                textposition="top center",  # untranslated
                textfont={"size": LABEL_SIZE},
                marker=marker
                | {
                    "size": CENTROID_SIZE / (2 if is_solid else 1),
                    "opacity": 1,
                    "line": {"width": 2, "color": "#1f2430"},
                },
                hovertemplate=tr("centroid of {label}", label=f"<b>{template_safe(name)}</b>") + "<extra></extra>",
            )
        )
    return traces
