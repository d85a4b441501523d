"""What stands above the maps, and what their address holds: a search of sentences, the column of the colours."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from dashboard.clusters.coloring import Coloring, by_class, by_column
from dashboard.shared import session
from dashboard.shared.address.page_address import PageAddress
from engine.errors import EngineError
from engine.evaluations.clusters.records import Result
from engine.messages.languages import tr
from engine.options import option, option_of

RUNS_KEPT = 4
BY_CLASS = ""  # the choice that is no column


@dataclass(frozen=True)
class Mapped:
    """What is selected and hidden in the maps, and how they are drawn, as written in the page's URL.

    A selection of more than SELECTED_MOST sentences would be no address any more.
    """

    selected: tuple[int, ...] = option((), "Rows of the selected sentences.")  # untranslated
    row: int | None = option(
        None,
        "Row of the one among them whose neighbours are shown.",  # untranslated
        unset="none",
    )
    hidden: tuple[str, ...] = option((), "Classes that the maps do not show.")  # untranslated
    centroids: bool = option(True, "Whether the maps show the mean point of each class.")  # untranslated
    search: str = option("", "The text by which sentences were selected.")  # untranslated
    colour: str | None = option(None, "Column of the data that colours the points.", unset="class")  # untranslated
    alone: str | None = option(None, "The model whose map alone is shown.", unset="all")  # untranslated


COLOUR, SEARCH = option_of(Mapped, "colour"), option_of(Mapped, "search")


def columns_of(run_id: str) -> Mapping[str, Mapping[int, str]]:
    """The columns of a run's data beside sentence and class: for each the value of every row; none where it is gone."""
    if session.access().get(run_id) is None:  # also where the columns are still kept
        return {}
    try:
        return _columns(run_id)
    except EngineError:
        return {}


def colour_choice(columns: Mapping[str, Mapping[int, str]], view: PageAddress) -> str | None:
    """Draw the choice of the column that colours the points; None for the classes. Without columns there is none."""
    first = view.first(COLOUR, None, offered=columns)
    if not columns:
        return None
    options = [BY_CLASS, *columns]
    column = st.selectbox(
        tr("Colour by"),
        options,
        options.index(first or BY_CLASS),
        key=view.key("colour"),
        width=220,
        format_func=lambda name: name or tr("Class"),
    )
    return column or None


def search_box(view: PageAddress) -> str:
    """Draw the search of the sentences; returns its text."""
    text = st.text_input(
        tr("Search the sentences"),
        view.first(SEARCH, ""),
        key=view.key("search"),
        type="search",
        icon=":material/search:",
        width=320,
        placeholder=tr("Text in a sentence"),
    )
    return (text or "").strip()


def coloring_of(result: Result, columns: Mapping[str, Mapping[int, str]], colour: str | None) -> Coloring:
    """The colours of the points by a column, or by class."""
    return by_class(result.points) if colour is None else by_column(result.points, colour, columns[colour])


def rows_with(points: pd.DataFrame, text: str) -> tuple[int, ...]:
    """The rows of the sentences that contain `text`; small and capital letters, full and half width are the same.

    >>> rows_with(pd.DataFrame({"row": [1, 2, 1], "text": ["ＡＢＣ", "b", "ＡＢＣ"]}), "abc")
    (1,)
    """
    wanted = _folded(text)
    sentences = points.drop_duplicates("row").sort_values("row")
    return tuple(
        int(row)
        for row, sentence in zip(sentences["row"], sentences["text"], strict=True)
        if wanted in _folded(sentence)
    )


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


@st.cache_resource(max_entries=RUNS_KEPT, show_spinner=False)
def _columns(run_id: str) -> dict[str, dict[int, str]]:
    dataset = session.access().dataset(run_id)
    return {name: dict(zip(dataset.rows, values, strict=True)) for name, values in dataset.further.items()}
