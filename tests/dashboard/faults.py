"""What a reader of a page would miss in its figures and tables: names of lines, axes and columns, numbers of a hover."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from streamlit.testing.v1 import AppTest

from dashboard.shared.figures.axis_names import ACROSS, UP

NUMBER_OF_DATA = re.compile(r"%\{customdata\[(\d+)\]")
INTERNAL = re.compile(r"[a-z][a-z0-9]*([_ ][a-z0-9 _]+)")  # as the column of a result is called


def faults(app: AppTest) -> list[str]:
    """What is wrong with the figures and the tables of a page; [] where nothing is."""
    figures = [json.loads(chart.proto.spec) for chart in app.get("plotly_chart")]
    return [*(fault for figure in figures for fault in of_figure(figure)), *unnamed_heads(app)]


def of_figure(figure: dict[str, Any]) -> Iterator[str]:
    """A legend that is missing or says nothing, axes without a name, places of a hover's text that stay empty."""
    traces = [trace for trace in figure["data"] if trace.get("visible", True) is True]
    layout = figure["layout"]
    written = " ".join(
        [
            *(str(note.get("text")) for note in layout.get("annotations", ())),
            *(str(layout[name].get("ticktext")) for name in layout if "axis" in name),
            *(str(trace.get("text")) for trace in traces),
        ]
    )
    entries = list(
        dict.fromkeys(trace["name"] for trace in traces if "name" in trace and trace.get("showlegend", True))
    )
    about = f"{entries} of {layout.get('title')!s}"
    if len(entries) > 1 and not layout.get("showlegend") and not all(name in written for name in entries):
        yield f"no legend: {about}"
    if layout.get("showlegend") and len({trace.get("name") for trace in traces}) < 2:
        yield f"a legend where there is nothing to tell apart: {about}"
    for trace in traces:
        if "customdata" in trace and trace.get("hoverinfo") != "skip" and not trace.get("hovertemplate"):
            yield f"numbers for a hover that no text names: {about}"
        for number in NUMBER_OF_DATA.findall(trace.get("hovertemplate", "")):
            rows = trace.get("customdata", [])
            if isinstance(rows, list) and not all(int(number) < len(_first_row(row)) for row in rows):
                yield f"no customdata[{number}]: {about}"
    for name, axis in layout.items():
        if re.fullmatch(r"[xy]axis\d*", name) and axis.get("visible", True) and axis.get("showticklabels", True):
            noted = layout.get("meta", {}).get(ACROSS if name[0] == "x" else UP)
            if not noted and not axis.get("title", {}).get("text"):
                yield f"no name of the {name}: {about}"
    for name, axis in layout.items():
        if re.fullmatch(r"[xy]axis\d*", name) and not axis.get("fixedrange"):
            yield f"the {name} moves where the page is scrolled: {about}"
    for note in layout.get("annotations", ()):
        if note.get("showarrow", True) and "ax" not in note:
            yield f"an arrow to {note.get('text')!r}: {about}"
    title = layout.get("title", {})
    if title.get("text") and title.get("x") != 0:
        yield f"a title that does not begin at the left: {about}"


def _first_row(row: Any) -> list[Any]:
    """A row of custom data; of a heat map it is that of the first cell."""
    return list(row[0] if row and isinstance(row[0], list) else row)


def unnamed_heads(app: AppTest) -> Iterator[str]:
    """The columns of tables that are shown by the name that the data have."""
    for frame in app.dataframe:
        settings = json.loads(frame.proto.columns)
        for name in frame.proto.column_order or list(frame.value.columns):
            column = settings.get(str(name)) or {}
            if not (column.get("hidden") or column.get("label")) and INTERNAL.fullmatch(str(name)):
                yield f"no head of the column '{name}'"
