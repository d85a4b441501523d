"""Which properties of a Plotly figure are printed, and which a sheet of paper cannot have. Pure.

Every property that a figure sets is in one of the two lists; any other is refused, so that no information is lost
without a word.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from engine.errors import InputError
from engine.messages.languages import mark
from engine.messages.message import Message, list_of

TRACES = ("scatter", "scattergl", "scatter3d", "bar", "heatmap")
# What is there to be hovered, clicked or animated, and the frame of the page around the figure.
SCREEN_ONLY = frozenset(
    (
        "customdata",
        "hovertemplate",
        "hoverinfo",
        "hovertext",
        "hoverongaps",
        "hoverlabel",
        "selected",
        "unselected",
        "uid",
        "dragmode",
        "hovermode",
        "clickmode",
        "template",
        "fixedrange",
        "automargin",
        "colorway",
        "coloraxis",
        "cornerradius",
        "itemsizing",
        "traceorder",
        "aspectmode",
        "meta",
        "constraintext",
        "font.family",
    )
)
PRINTED = frozenset(
    (
        # traces
        "type",
        "name",
        "mode",
        "x",
        "y",
        "z",
        "text",
        "textposition",
        "textfont.size",
        "textfont.color",
        "texttemplate",
        "orientation",
        "opacity",
        "zorder",
        "cliponaxis",
        "legendgroup",
        "showlegend",
        "visible",
        "offsetgroup",
        "fill",
        "fillcolor",
        "xaxis",
        "yaxis",
        "scene",
        "width",
        "offset",
        "line.color",
        "line.width",
        "line.dash",
        "marker.color",
        "marker.size",
        "marker.opacity",
        "marker.symbol",
        "marker.line.width",
        "marker.line.color",
        "zmin",
        "zmax",
        "xgap",
        "ygap",
        "showscale",
        "reversescale",
        "colorscale",
        "colorbar.thickness",
        "colorbar.len",
        "colorbar.outlinewidth",
        "colorbar.tickformat",
        "colorbar.title.text",
        *(
            f"error_{letter}.{name}"
            for letter in "xy"
            for name in ("type", "symmetric", "array", "arrayminus", "thickness", "width", "color", "visible")
        ),
        # layout
        "height",
        "showlegend",
        "bargap",
        "barmode",
        "scattermode",
        "title.text",
        "title.subtitle.text",
        "title.x",
        "title.font.size",
        "legend.orientation",
        "legend.x",
        "legend.y",
        "legend.xanchor",
        "legend.yanchor",
        "legend.title.text",
        "legend.title.side",
        "legend.yref",
        "legend.maxheight",
        *(f"margin.{side}" for side in "lrtb"),
        *(
            f"axis.{name}"
            for name in (
                "range",
                "autorange",
                "rangemode",
                "tickvals",
                "ticktext",
                "tickformat",
                "tickangle",
                "ticksuffix",
                "nticks",
                "dtick",
                "ticks",
                "tickfont.size",
                "showticklabels",
                "showgrid",
                "zeroline",
                "side",
                "visible",
                "title.text",
                "title.font.size",
                "type",
                "categoryorder",
                "categoryarray",
                "anchor",
                "domain",
                "scaleanchor",
                "scaleratio",
                "matches",
            )
        ),
        *(f"scene.domain.{letter}" for letter in "xy"),
        *(f"scene.axis.{name}" for name in ("showgrid", "zeroline", "showticklabels", "title.text")),
        *(
            f"shapes.{name}"
            for name in (
                "type",
                "x0",
                "x1",
                "y0",
                "y1",
                "xref",
                "yref",
                "layer",
                "fillcolor",
                "opacity",
                "line.color",
                "line.width",
                "line.dash",
            )
        ),
        *(
            f"annotations.{name}"
            for name in (
                "x",
                "y",
                "xref",
                "yref",
                "xanchor",
                "yanchor",
                "xshift",
                "yshift",
                "text",
                "showarrow",
                "font.size",
                "font.color",
                "textangle",
                "align",
                "ax",
                "ay",
                "arrowcolor",
                "arrowwidth",
                "arrowhead",
                "arrowsize",
            )
        ),
    )
)


def check_printable(figure: go.Figure) -> None:
    """Raises InputError that names the first trace or property of the figure that would be lost in print."""
    for trace in figure.data:
        if trace.type not in TRACES:
            raise InputError(
                Message(
                    "A trace of the type '{type}' cannot be printed; {TRACES} can.",
                    type=trace.type,
                    TRACES=list_of(TRACES),
                )
            )
        _check(trace.to_plotly_json(), mark("the trace '{trace}'").format(trace=trace.name or trace.type), "")
    _check(figure.layout.to_plotly_json(), mark("the layout"), "")


def _check(values: Mapping[str, Any], where: str, prefix: str) -> None:
    for path, value in _properties(values, prefix):
        name = path.rsplit(".", 1)[-1]
        if value is not None and path not in PRINTED and path not in SCREEN_ONLY and name not in SCREEN_ONLY:
            raise InputError(Message("The property '{path}' of {where} cannot be printed.", path=path, where=where))


def _properties(values: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    """Every property that is set, by its path; all axes are "axis", the items of a list have the name of the list."""
    for key, value in values.items():
        name = _kind(key) if isinstance(value, Mapping) else key  # a trace names its axis: {"xaxis": "x2"}
        path = f"{prefix}.{name}" if prefix else name
        if name in SCREEN_ONLY:
            continue
        if isinstance(value, Mapping):
            yield from _properties(value, path)
        elif isinstance(value, Sequence) and value and all(isinstance(item, Mapping) for item in value):
            for item in value:
                yield from _properties(item, path)
        else:
            yield path, value


def _kind(key: str) -> str:
    """The name of a property of a layout without its number: every axis is "axis", every scene "scene"."""
    stem = key.rstrip("0123456789")
    return "axis" if stem in ("xaxis", "yaxis", "zaxis") else "scene" if stem == "scene" else key
