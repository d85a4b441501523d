"""The maps of a clusters result: the order and shapes of the classes, one figure of all maps. Pure: no streamlit."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from dashboard.shared.theme import N_COLORS, PALETTES, SYMBOLS, laid_out, plain, shortened, template_safe, wrapped
from engine.evaluations.clusters.records import Result
from engine.translation import tr

COLUMNS = 3
MAP_HEIGHT = 430
POINT_SIZE, POINT_SIZE_3D, CENTROID_SIZE = 7, 3, 13
# Beyond this many points the browser draws them on a canvas, not one page element each.
SVG_POINTS = 2000
# Up to this many classes differ by colour alone; beyond, neighbours in the legend differ in shape too.
COLORS_ALONE = 8
# In three dimensions Plotly has no triangles, and draws a cross with a letter that not every font has.
SYMBOLS_3D = {"triangle-up": "diamond-open", "cross": "square-open"}


def maps_figure(result: Result, only: str = "") -> go.Figure:
    """All maps in one figure, models in the order of rank, or that of one model: the downloads.

    One legend for all maps; the hover of a point shows its sentence, class and row. Axes have no numbers: only
    nearness has a meaning. Models without a map are left out.
    """
    ranked = result.models.sort_values("rank", na_position="last", kind="stable")["model"]
    models = [model for model in ranked if has_map(result.points, model) and only in ("", model)]
    classes = class_order(result.points)
    columns = max(1, min(COLUMNS, len(models)))
    n_rows = max(1, -(-len(models) // columns))
    is_solid = result.settings.dimensions == 3
    kind = "scene" if is_solid else "xy"
    figure = make_subplots(n_rows, columns, specs=[[{"type": kind}] * columns] * n_rows, horizontal_spacing=0.02,
                           vertical_spacing=0.08, subplot_titles=[plain(shortened(model)) for model in models])
    for number, model in enumerate(models):
        cell = {"row": number // columns + 1, "col": number % columns + 1}
        for index, name in enumerate(classes):
            for trace in _class_traces(result, model, name, index, len(classes)):
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


def class_order(points: pd.DataFrame) -> list[str]:
    """The classes in the order of their first sentence: the order of colours."""
    return list(dict.fromkeys(points.sort_values("row", kind="stable")["label"]))


def class_symbol(index: int, n_classes: int) -> str:
    """The shape of a class's points: the same for all while colours suffice, then alternating.

    Of 50 classes no two share both colour (the `index`-th of ten) and shape.

    >>> [class_symbol(k, 8) for k in (0, 7)], [class_symbol(k, 9) for k in (0, 1, 10)]
    (['circle', 'circle'], ['circle', 'diamond', 'diamond'])
    """
    if n_classes <= COLORS_ALONE:
        return SYMBOLS[0]
    return SYMBOLS[(index + index // N_COLORS) % len(SYMBOLS)]


def _class_traces(result: Result, model: str, name: str, index: int, n_classes: int) -> Sequence[go.Scatter]:
    """The points of a class on the map of a model, and its centroid; the colour is the class's everywhere."""
    points = result.points[result.points["model"] == model]
    of_class = points[points["label"] == name]
    centroid = result.centroids[(result.centroids["model"] == model) & (result.centroids["class"] == name)]
    shape = class_symbol(index, n_classes)
    is_solid = result.settings.dimensions == 3
    axes = "xyz" if is_solid else "xy"
    color = PALETTES["light"][index % N_COLORS]  # a download is white, whatever the theme of the page
    kind = go.Scatter3d if is_solid else go.Scattergl if len(points) > SVG_POINTS else go.Scatter
    marker = {"size": POINT_SIZE_3D if is_solid else POINT_SIZE, "color": color, "opacity": 0.85,
              "symbol": SYMBOLS_3D.get(shape, shape) if is_solid else shape}
    safe = template_safe(name)
    return [
        kind(**{axis: of_class[axis] for axis in axes}, mode="markers", name=plain(name), marker=marker,
             customdata=[[wrapped(text), row] for text, row in zip(of_class["text"], of_class["row"], strict=True)],
             hovertemplate="%{customdata[0]}<br>" + tr("{label}, row {row}", label=f"<b>{safe}</b>",
                                                       row="%{customdata[1]}") + "<extra></extra>"),
        kind(**{axis: centroid[axis] for axis in axes}, mode="markers", name="",
             marker=marker | {"size": CENTROID_SIZE / (2 if is_solid else 1), "opacity": 1,
                              "line": {"width": 2, "color": "#1f2430"}},
             hovertemplate=tr("centroid of {label}", label=f"<b>{safe}</b>") + "<extra></extra>"),
    ]
