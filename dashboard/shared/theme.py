"""Colours and texts of figures, the same for every chart. Pure: no streamlit.

Series have no colour of their own. They take the n-th colour of the template, and Streamlit fills the template with
`PALETTES` (from .streamlit/config.toml) for the light or dark theme of the reader, also when it changes. Only what
must mean the same in both themes (an accent, a warning, what is greyed out) has a colour here, chosen to be legible
in either.
"""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Iterable, Sequence
from itertools import takewhile
from typing import Literal

import pandas as pd
import plotly.graph_objects as go

from dashboard.shared.figures.axis_names import ACROSS, UP
from engine.measures.cards.catalog import CARDS
from engine.messages.languages import mark, tr, translated
from engine.messages.message import Message, together
from engine.models.sources.names import shown_name

TABLE_ROW = 36  # pixels
# Okabe and Ito's colours (2008), distinct without red-green vision, adapted to each theme: see config.toml.
PALETTES: dict[str, tuple[str, ...]] = {
    "light": (
        "#3b5bdb",
        "#c47f00",
        "#009e73",
        "#d55e00",
        "#b8578f",
        "#2f93c8",
        "#7a6a53",
        "#6b7280",
        "#5f3dc4",
        "#8a9a00",
    ),
    "dark": (
        "#8da2fb",
        "#e69f00",
        "#2dc89c",
        "#f2803a",
        "#dd92bd",
        "#66c2f2",
        "#bfa98a",
        "#9aa3b2",
        "#b197fc",
        "#c3d33a",
    ),
}
ACCENT = "#5b78ec"
WARM = "#e8590c"
GREY = "#8a93a3"
# After ten series the colours repeat; another shape distinguishes them.
SYMBOLS = ("circle", "diamond", "square", "triangle-up", "cross")
N_COLORS = 10

DIRECTIONS = {"lower": mark("smaller is better"), "higher": mark("larger is better"), "neither": ""}
ARROWS = {"lower": "↓", "higher": "↑", "neither": ""}
NAME_LENGTH = 36
KEPT_PLACE, KEPT_END = 18, 16  # of a long name whose end another has, too
FEW_NAMES, LEGEND_LINE = 4, 24  # of a legend: names that a figure has the height for; pixels of a further one
HOVER_WIDTH = 44  # columns of text; a kanji takes two
HOVER_LINES = 6


def measure_name(measure: str) -> str:
    """Name and symbol of a measure, from its card.

    >>> measure_name("dispersion_score"), measure_name("accuracy")
    ('Dispersion score M_m', 'Accuracy on minimal pairs')
    """
    return translated(measure_message(measure))


def measure_message(measure: str) -> Message:
    """As `measure_name`, in no language yet: the caption of a figure."""
    card = CARDS[measure]
    if card.symbol.lower() in card.name.lower():
        return Message(card.name)
    return together(" ", [Message(card.name), Message(card.symbol)])


def measure_note(measure: str) -> str:
    """Unit and better end of a measure, from its card: the note beside its name.

    >>> measure_note("mean_log_likelihood")
    'nats per token, larger is better'
    """
    card = CARDS[measure]
    unit, direction = translated(card.unit), tr(DIRECTIONS[card.better])
    return tr("{unit}, {direction}", unit=unit, direction=direction) if unit and direction else unit or direction


def symbol_title(measure: str) -> str:
    """The title of an upright axis under a heading that names the measure: its symbol and its unit.

    >>> symbol_title("reading_gain")
    'ΔLL (nats per word)'
    """
    card = CARDS[measure]
    unit = translated(card.unit)
    return tr("{measure} ({note})", measure=card.symbol, note=unit) if unit else card.symbol


def axis_title(measure: str) -> str:
    """The title of an axis that shows a measure.

    >>> axis_title("dispersion_score")
    'Dispersion score M_m (smaller is better)'
    """
    note = measure_note(measure)
    return tr("{measure} ({note})", measure=measure_name(measure), note=note) if note else measure_name(measure)


def symbol(index: int) -> str:
    """The marker shape of the `index`-th series."""
    return SYMBOLS[index // N_COLORS % len(SYMBOLS)]


def shortened(model: str, among: Iterable[str]) -> str:
    """A model's name for a figure, a choice or a sentence: its label if it has one; a long name keeps its end.

    among: the models that it is shown beside, from which `short_names` tells it apart.

    >>> shortened("builtin/bert-mini-ja", ()), shortened("/home/someone/experiments/2024/models/bert-small-ja", ())
    ('builtin/bert-mini-ja', '…periments/2024/models/bert-small-ja')
    >>> shortened("BERT v3=tohoku-nlp/bert-base-japanese-v3", ())
    'BERT v3'
    """
    return short_names((*among, model))[model]


def short_names(models: Iterable[str]) -> dict[str, str]:
    """What figures call each of these models, by name: no two are called the same.

    Long names (directories) keep their ends; those with one end also keep the place in which they differ, and are left
    whole where that is not enough.

    >>> list(short_names(f"/data/runs/{seed}/checkpoints/bert-small-japanese/step-10000" for seed in "12").values())
    ['/data/runs/1…anese/step-10000', '/data/runs/2…anese/step-10000']
    """
    whole = {model: shown_name(model) for model in models}
    ends = {model: ending(name) for model, name in whole.items()}
    alike = {end: [whole[model] for model, own in ends.items() if own == end] for end in ends.values()}
    names = {model: _with_difference(whole[model], alike[end]) for model, end in ends.items()}
    shown = list(names.values())
    return {model: name if shown.count(name) == 1 else whole[model] for model, name in names.items()}


def last_names(models: Iterable[str]) -> dict[str, str]:
    """As `short_names`, but of each only what follows the last "/", where no other has the same there.

    >>> list(last_names(("builtin/bert-mini-ja", "/a/bert", "/b/bert")).values())
    ['bert-mini-ja', '/a/bert', '/b/bert']
    """
    short = short_names(models)
    last = {model: name.rpartition("/")[2] for model, name in short.items()}
    shown = list(last.values())
    return {model: name if shown.count(name) == 1 else short[model] for model, name in last.items()}


def _with_difference(name: str, alike: Sequence[str]) -> str:
    """The end of a name, and before it where the name differs from the others of one end."""
    if len(alike) == 1:
        return ending(name)
    backwards = zip(*(reversed(other) for other in alike), strict=False)
    n_shared = sum(1 for _ in takewhile(lambda letters: len(set(letters)) == 1, backwards))
    before = name[: len(name) - n_shared]
    rest = name[len(before) :].partition("/")[0]  # of the folder whose name differs
    place = before + rest[: KEPT_PLACE // 2]
    return ("…" if len(place) > KEPT_PLACE else "") + place[-KEPT_PLACE:] + "…" + name[-KEPT_END:]


def ending(text: str) -> str:
    """A text for a figure: a long one keeps its end, which distinguishes names.

    >>> ending("sports=ball"), ending("/home/someone/experiments/2024/models/bert-small-ja")
    ('sports=ball', '…periments/2024/models/bert-small-ja')
    """
    return text if len(text) <= NAME_LENGTH else "…" + text[1 - NAME_LENGTH :]


def with_labels(text: str, models: Iterable[str]) -> str:
    """A sentence with the labels of `models` in place of their names.

    >>> with_labels("Ours=/srv/ours: 3 pairs were left out.", ("Ours=/srv/ours", "owner/name"))
    'Ours: 3 pairs were left out.'
    """
    for name in sorted(models, key=len, reverse=True):  # one name may begin with another
        text = text.replace(name, shown_name(name))
    return text


def with_shown_models(table: pd.DataFrame) -> pd.DataFrame:
    """A table of models for readers: labels in place of the names that have one, in `model`, and in `other` beside it.

    >>> with_shown_models(pd.DataFrame({"model": ["Ours=/srv/ours", "owner/name"], "row": [1, 1]}))["model"].tolist()
    ['Ours', 'owner/name']
    """
    shown = {}
    for column in ("model", "other") if "model" in table else ():
        names = table[column].unique().tolist() if column in table else []
        labels = {name: shown_name(name) for name in names if isinstance(name, str) and "=" in name}
        if any(name != label for name, label in labels.items()):
            shown[column] = pd.Series([labels.get(name, name) for name in table[column]], table.index)
    return table.assign(**shown) if shown else table


def plain(text: str) -> str:
    """`text` escaped for Plotly, whose labels and hover texts read HTML."""
    return html.escape(str(text), quote=False)


def template_safe(text: str) -> str:
    """`text` escaped for a hover template, where %{…} would be a field.

    >>> template_safe("50 %{x} & more")
    '50 %&#123;x} &amp; more'
    """
    return plain(text).replace("%{", "%&#123;")


def wrapped(text: str, width: int = HOVER_WIDTH, lines: int = HOVER_LINES) -> str:
    """`text` for a hover: escaped, broken every `width` columns (a kanji is two), cut after `lines` with "…"."""
    whole = " ".join(str(text).split())
    if 2 * len(whole) <= width:
        return plain(whole)
    broken, line, used = [], "", 0
    for character in whole:
        columns = 2 if unicodedata.east_asian_width(character) in "WF" else 1
        if used + columns > width:
            broken.append(line)
            line, used = "", 0
        line += character
        used += columns
    broken.append(line)
    shown = [plain(part) for part in broken[:lines]]
    return "<br>".join(shown) + (" …" if len(broken) > lines else "")


def with_legend_below(figure: go.Figure) -> go.Figure:
    """`figure` with its legend at its lower edge, under names or texts below the axes. Changes and returns it.

    What a long legend takes of the plot, on a phone a line for each model, the figure is higher.
    """
    n_named = sum(trace.showlegend is not False for trace in figure.data)
    return figure.update_layout(
        height=figure.layout.height + LEGEND_LINE * max(0, n_named - FEW_NAMES),
        margin={"b": 64},
        # The title, an empty line, keeps the texts free.
        legend={
            "yref": "container",
            "y": 0,
            "yanchor": "bottom",
            "title": {"text": "\u00a0", "side": "top"},
            "maxheight": 0.7,
        },
    )


def with_legend_above(figure: go.Figure) -> go.Figure:
    """`figure` with its legend over the axes, for one with names or a title below them. Changes and returns it."""
    return figure.update_layout(margin={"t": 56}, legend={"y": 1.02, "yanchor": "bottom"})


def laid_out(figure: go.Figure, *, height: int, legend: bool = False, across: str = "", up: str = "") -> go.Figure:
    """`figure` with the margins, legend and hover that all charts share. Changes and returns it.

    across, up: names of axes without a title, which only a file of the figure shows: the page says them in a heading.
    """
    figure.update_layout(
        meta={ACROSS: across, UP: up},
        height=height,
        margin={"l": 8, "r": 8, "t": 36, "b": 8},
        showlegend=legend,
        hoverlabel={"align": "left"},
        legend={
            "orientation": "h",
            "yanchor": "top",
            "y": -0.04,
            "xanchor": "left",
            "x": 0,
            "title": None,
            "itemsizing": "constant",
        },
        bargap=0.35,
        dragmode=False,
    )
    return figure


def list_height(n_rows: int, most: int = 320) -> int | Literal["auto"]:
    """The height of a table of so many rows in pixels: no higher than they are, and so high that a row is cut at `most`.

    >>> list_height(3), list_height(200)
    ('auto', 320)
    """
    return "auto" if TABLE_ROW * (n_rows + 1) <= most else most
