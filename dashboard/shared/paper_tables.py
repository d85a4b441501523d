"""The papers' tables as printed, with a run's own numbers beside them where the data are comparable."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from dashboard.shared.wording import measure_help, verbatim
from engine.evaluations.paper_tables.beside import Beside, beside
from engine.evaluations.paper_tables.printed import PaperTable
from engine.messages.languages import mark, tr, translated

HERE = "this run"  # untranslated
TITLE = mark("Published numbers")


@st.fragment
def paper_tables_button(kind: str, result: Any) -> None:
    """Draw a button that opens the tables, which are put together once it is pressed; none without a result.

    Pressing it does not draw the rest of the page again.
    """
    if result is not None and st.button(tr(TITLE), icon=":material/menu_book:", key="published"):
        _open_dialog(kind, result)


def _open_dialog(kind: str, result: Any) -> None:
    st.dialog(tr(TITLE), width="large")(_choice_of_tables)(kind, result)


def _choice_of_tables(kind: str, result: Any) -> None:
    """Draw a choice of the papers' tables and the chosen one."""
    by_key = {entry.printed.key: entry for entry in beside(kind, result)}
    key = st.selectbox(
        tr("Table"),
        list(by_key),
        key="published-table",
        label_visibility="collapsed",
        format_func=lambda key: f"{by_key[key].printed.source}: {translated(by_key[key].printed.title)}",
    )
    entry = by_key[key]
    table = side_by_side(entry)
    st.dataframe(
        table,
        hide_index=True,
        column_config=columns_of(entry.printed, table),
        placeholder="–",
        alt=tr("{title}, as published", title=translated(entry.printed.title)),
    )
    if entry.reason:
        icon = ":material/check:" if entry.is_comparable else ":orange[:material/difference:]"
        st.caption(f"{icon} {verbatim(translated(entry.reason))}")
    st.caption(
        tr(
            "{source}, as published. {note}",
            source=verbatim(entry.printed.source),
            note=verbatim(translated(entry.printed.note)),
        )
    )


def side_by_side(entry: Beside) -> pd.DataFrame:
    """The cells as printed, each column of which the run has numbers followed by these; all texts.

    Models of the run that the paper has not come below, with empty cells for the paper.
    """
    table = entry.printed
    name = table.columns[0]
    printed = table.printed().set_index(name)
    rows = list(dict.fromkeys([*table.rows, *entry.values["row"]]))
    shown = printed.reindex(rows)
    wide = pd.DataFrame(index=pd.Index(rows, name=name))
    for column in table.columns[1:]:
        wide[column] = shown[column]
        own = entry.values[(entry.values["column"] == column) & entry.values["value"].notna()].drop_duplicates("row")
        if len(own):
            texts = {row["row"]: table.as_printed(column, row["value"]) for row in own.to_dict("records")}
            wide[f"{column}, {HERE}"] = [texts.get(row) for row in rows]
    return wide.reset_index()


def columns_of(printed: PaperTable, table: pd.DataFrame) -> dict[str, Any]:
    """The configuration of each column of a table of `printed`: its heading, its measure, numbers to the right."""
    configuration = {}
    heads: dict[str, str] = {head: head for head in printed.columns}  # a table's own columns are plain texts
    for column in map(str, table.columns):
        head = column.removesuffix(f", {HERE}")
        is_name = head == printed.columns[0]
        configuration[column] = st.column_config.TextColumn(
            _label(heads.get(head, head), is_own=head != column),
            alignment="left" if is_name else "right",
            pinned=is_name,
            help=measure_help(printed.measures[head]) if head in printed.measures else None,
        )
    return configuration


def _label(head: str, *, is_own: bool) -> str:
    """The heading of a column: the paper's, in the reader's language where it is known, or that of the run's own."""
    shown = translated(head)
    return tr("{column}, this run", column=shown) if is_own else shown[:1].upper() + shown[1:]
