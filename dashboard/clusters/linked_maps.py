"""The maps of a run side by side, linked: what is selected in one is highlighted in all, the rest is grey.

A Streamlit component without a frame that draws on canvases. Plotly's own selection is not enough: it has none in
three dimensions, and every selection would send all points of all maps again (measured: 1.8 s for two maps of 20,000
points, against a few hundredths here). The script is the concatenation of the files below; texts reach the
page as text only (`textContent`).
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from dashboard.clusters.coloring import Coloring, by_class
from dashboard.clusters.map_charts import has_map
from dashboard.shared.theme import PALETTES, shortened
from engine.evaluations.clusters.records import Result
from engine.messages.languages import language, mark, tr

FOLDER = Path(__file__).parent
SCRIPTS = (
    "geometry.js",
    "style.js",
    "labels.js",
    "pixels.js",
    "density.js",
    "gestures.js",
    "map.js",
    "picture.js",
    "layout.js",
    "linked_maps.js",
)
HTML = '<div class="maps"></div>\n'
# Letters of a sentence under the pointer, at least and at most, and of all sentences together: a sentence is there as a
# whole, a document is not. The list below the maps shows the full text.
TEXT_LENGTH, LONGEST_TEXT, ALL_TEXTS = 160, 2000, 4_000_000
# Of more sentences than this the texts are shorter and packed, and neighbours are sent with the sentence that is
# highlighted: those of 200,000 sentences under two models would be 21 of 35 MB.
MANY_SENTENCES, TEXT_OF_MANY = 25_000, 60
# What the script shows, by the names it has there; it fills the places itself.
WORDS = {
    "move": mark("Move"),
    "turn": mark("Rotate"),
    "box": mark("Box"),
    "lasso": mark("Lasso"),
    "clear": mark("Clear"),
    "clear_help": mark("Clear the selection (Esc)"),
    "centroids": mark("Centroids"),
    "centroids_help": mark("Show or hide the centroid of each class: the mean of its points on this map"),
    "models": mark("Maps shown"),
    "side_by_side": mark("Side by side"),
    "full_page": mark("Full page"),
    "close": mark("Close"),
    "alone_help": mark("Show this map alone; from one model to the next, each point moves to its new place."),
    "class_help": mark("Click: hide or show this class. Double click: only this class, or all again."),
    "save_help": mark("Save the maps in their present view, on white, as {format}"),
    "row": mark("row {row}"),
    "selected": mark("{n} selected"),
    "map": mark("Map of {n} sentences under {model}"),
    "map_selected": mark("Map of {n} sentences under {model}, {selected} selected"),
    "dense": mark("Density of the sentences; zoom in to see each one"),
    "zoom_in": mark("Zoom in"),
    "zoom_out": mark("Zoom out"),
    "whole": mark("Show the whole map"),
    "of_map": mark("{action}: {model}"),
}
MapState = tuple[tuple[int, ...], tuple[str, ...], bool, str | None]
NO_NEIGHBOUR = np.iinfo(np.uint32).max


def view_data(
    result: Result, run_id: str, notes: Mapping[str, str], picture: Mapping[str, str], coloring: Coloring | None = None
) -> dict[str, Any]:
    """The data of the maps, as JSON; only models that have a map.

    Of more than MANY_SENTENCES sentences the texts are packed, and without neighbours, which `highlight` sends.

    Sentences are numbered over all models in the order of their rows; each model lists those it has. Numbers are
    base64 of little-endian arrays. `notes` are shown beside the models' names; `picture` has the `name` of a saved
    picture, and before it is drawn the `signature` that is written into it. `coloring`: by default that of the classes,
    which is also the one in which centroids are drawn.
    """
    coloring = coloring or by_class(result.points)
    sentences = result.points.drop_duplicates("row").sort_values("row")
    rows = sentences["row"].to_numpy()
    group_indices = np.array([coloring.group_by_row[row] for row in rows.tolist()], dtype="<u2")
    counts = np.bincount(group_indices, minlength=len(coloring.groups))
    ranked = result.models.sort_values("rank", na_position="last", kind="stable")["model"]
    many = len(rows) > MANY_SENTENCES
    letters = max(TEXT_OF_MANY if many else TEXT_LENGTH, min(LONGEST_TEXT, ALL_TEXTS // max(1, len(rows))))
    texts = [cut(text, letters) for text in sentences["text"].tolist()]
    palette = coloring.ramps["light"] if coloring.ramps else PALETTES["light"]
    return {
        "run": run_id,
        "dimensions": result.settings.dimensions,
        "rows": rows.tolist(),
        "coloring": coloring.column or "",
        "ramps": dict(coloring.ramps) if coloring.ramps else None,
        **({"packed_texts": _packed(texts)} if many else {"texts": texts}),
        "labels": _base64(group_indices),
        "classes": [
            {"name": name, "n": int(counts[index]), "symbol": coloring.symbol(index)}
            for index, name in enumerate(coloring.groups)
        ],
        "models": [
            _model(result, model, rows, coloring, with_neighbours=not many) | {"note": notes.get(model, "")}
            for model in ranked
            if has_map(result.points, model)
        ],
        "picture": dict(picture) | {"palette": palette},
    }


def map_words() -> dict[str, str]:
    """The texts of the maps in the reader's language; `language` names it."""
    return {"language": language(), **{name: tr(text) for name, text in WORDS.items()}}


def linked_maps(data: dict[str, Any], first: MapState, key: str) -> MapState:
    """Draw the maps; returns the selected rows, the hidden classes, whether centroids are shown, and the map shown.

    The last is the name of the model whose map is shown alone, None where all are.

    `data`: of `view_data`, with `map_words` as `words` and the `signature` in `picture`.
    `first`: the same before the user touches the maps; `highlight` has them show it.
    """
    selection, hidden, centroids, alone = first
    state = _component("hakari_cluster_maps", HTML)(
        data=data,
        key=key,
        default={"selection": list(selection), "hidden": list(hidden), "centroids": centroids, "alone": alone},
        on_selection_change=_do_nothing,
        on_hidden_change=_do_nothing,
        on_centroids_change=_do_nothing,
        on_alone_change=_do_nothing,
    )
    return (
        tuple(int(row) for row in state.selection),
        tuple(map(str, state.hidden)),
        bool(state.centroids),
        state.get("alone"),
    )


def near_rows(result: Result, row: int | None) -> dict[str, Any] | None:
    """The neighbours of a sentence under each model, which the maps do not have of many sentences; None where they do."""
    if row is None or result.points["row"].nunique() <= MANY_SENTENCES:
        return None
    near = result.neighbours[result.neighbours["row"] == row]
    return {"row": row, "by_model": {str(model): own["neighbour"].tolist() for model, own in near.groupby("model")}}


def highlight(run_id: str, row: int | None, key: str, found: dict[str, Any] | None = None, **opened: Any) -> None:
    """Highlight a sentence in the maps of a run, wherever on the page they are; None for none.

    found: what a search found, its `text` and the `rows`, which are selected once; None where nothing is searched.

    A component of its own sends the request, so that the maps need not be sent again. opened: what the maps show when
    the page was opened: `opened` (another text at each opening), `selected`, `hidden`, `centroids` and `alone`; and
    `near`, the neighbours of the sentence, as of `near_rows`.
    """
    data = {"run": run_id, "requested": row, "found": found, **opened}
    _component("hakari_cluster_request", "<div></div>\n")(data=data, key=key)


def cut(text: str, letters: int = TEXT_LENGTH) -> str:
    """`text` on one line, cut after so many letters with "…".

    >>> cut("one  line" + chr(10) + "more"), cut("longer", 4)
    ('one line more', 'long …')
    """
    line = " ".join(text.split())
    return line if len(line) <= letters else f"{line[:letters]} …"


def _model(
    result: Result, model: str, rows: np.ndarray, coloring: Coloring, *, with_neighbours: bool
) -> dict[str, Any]:
    points = result.points[result.points["model"] == model]
    centroids = result.centroids[(result.centroids["model"] == model) & (coloring.column is None)]
    neighbours = result.neighbours if with_neighbours else result.neighbours.head(0)
    near = neighbours[neighbours["model"] == model].sort_values(["row", "rank"], kind="stable")
    n_near = int(near["rank"].max()) if len(near) else 0
    table = np.full((len(points), n_near), NO_NEIGHBOUR, dtype="<u4")  # (n_points, n_near)
    point_indices = pd.Index(points["row"]).get_indexer(pd.Index(near["row"]))
    table[point_indices, near["rank"].to_numpy(dtype=int) - 1] = pd.Index(rows).get_indexer(pd.Index(near["neighbour"]))
    axes = "xyz"[: result.settings.dimensions]
    return {
        "name": model,
        "title": shortened(model, result.settings.models),
        "sentences": _base64(pd.Index(rows).get_indexer(pd.Index(points["row"])).astype("<u4")),
        **{axis: _base64(points[axis].to_numpy(dtype="<f4")) for axis in axes},
        "neighbours": _base64(table),
        "n_neighbours": n_near,
        "centroids": [
            {"k": coloring.groups.index(centroid["class"]), "at": [float(centroid[axis]) for axis in axes]}
            for centroid in centroids.to_dict("records")
        ],
    }


def _base64(array: np.ndarray) -> str:
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode("ascii")


def _packed(texts: list[str]) -> str:
    """Base64 of the texts as JSON, compressed: JSON alone has six letters for each of a Japanese text."""
    return base64.b64encode(zlib.compress(json.dumps(texts, ensure_ascii=False).encode(), level=1)).decode("ascii")


def _do_nothing() -> None:
    """A callback must be given for the component's state to exist; the state is read where the maps are drawn."""


@st.cache_resource(show_spinner=False)
def _component(name: str, html: str) -> Callable[..., Any]:
    """The component, registered once per server process. Equal scripts are one module in the browser."""
    css = (FOLDER / "linked_maps.css").read_text(encoding="utf-8")
    js = "\n".join((FOLDER / script).read_text(encoding="utf-8") for script in SCRIPTS)
    return st.components.v2.component(name, html=html, css=css, js=js)
