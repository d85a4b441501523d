"""What changed most between two sides: a table of items, and the chosen one under both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dashboard.compare.sides import LEFT, RIGHT
from dashboard.faces import FACES
from dashboard.shared.address.page_address import PageAddress
from dashboard.shared.exports.print.files import Drawing
from dashboard.shared.inputs.compared import ChosenSide, Drawn
from dashboard.shared.wording import verbatim
from engine.evaluations.comparison.records import Comparison
from engine.messages.languages import tr, tr_n, translated
from engine.messages.message import together
from engine.options import option, option_of

LISTED = 500
HEIGHT, FEW = 320, 8


@dataclass(frozen=True)
class Listed:
    """The item shown, as written in the page's URL."""

    row: int | None = option(None, "Row of the item shown, on the left.", unset="the first")  # untranslated


ROW = option_of(Listed, "row")


def items_section(
    comparison: Comparison, sides: tuple[ChosenSide, ChosenSide], key: str, address: PageAddress
) -> pd.Series | None:
    """Draw the items that changed most; returns the chosen one, at first the one that changed most.

    The address keeps its row on the left.
    """
    items = comparison.items
    changed = int(items["changed"].sum())
    scale = verbatim(translated(comparison.scale))
    st.markdown(
        tr_n(
            "**What changed most** :gray[{n} item of {total:,} decided differently, listed first; then by {scale}]",
            "**What changed most** :gray[{n:,} items of {total:,} decided differently, listed first; then by {scale}]",
            changed,
            total=len(items),
            scale=scale,
        )
        if changed
        else tr("**What changed most** :gray[by {scale}]", scale=scale)
    )
    only_names = [name for name in ("first_outcome", "second_outcome") if (items[name] != "").any()]
    columns = [
        "row",
        *(["other_row"] if (items["row"] != items["other_row"]).any() else []),
        *only_names,
        "first",
        "second",
        *(["category"] if (items["category"] != "").any() else []),
        "text",
        *(["other_text"] if (items["other_text"] != "").any() else []),
    ]
    shown = items.head(LISTED)
    compared = FACES[sides[0].run.kind].compared
    if compared is not None and compared.outcomes:
        shown = shown.assign(
            **{name: [tr(compared.outcomes[outcome]) for outcome in shown[name]] for name in only_names}
        )
    row_at_first = address.first(ROW, None, offered=shown["row"].tolist())
    at_first = [index for index, row in enumerate(shown["row"].tolist()) if row == row_at_first][:1]
    state = st.dataframe(
        shown,
        hide_index=True,
        height=HEIGHT if len(shown) > FEW else "auto",
        key=f"compare-items-{key}-{address.place}",
        selection_default={"selection": {"rows": at_first}},
        on_select="rerun",
        selection_mode="single-row",
        placeholder="–",
        column_order=columns,
        alt=tr("The items of both sides, those that changed most first"),
        column_config={
            "row": st.column_config.NumberColumn(tr("Row"), width="small"),
            "other_row": st.column_config.NumberColumn(tr("Row on the right"), width="small"),
            "first_outcome": tr("Outcome on the left"),
            "second_outcome": tr("Outcome on the right"),
            "first": st.column_config.NumberColumn(tr(LEFT), format="%.4g", help=verbatim(sides[0].side.name)),
            "second": st.column_config.NumberColumn(tr(RIGHT), format="%.4g", help=verbatim(sides[1].side.name)),
            "category": tr("Category"),
            "text": st.column_config.TextColumn(tr("Sentence"), width="large"),
            "other_text": st.column_config.TextColumn(tr("Other sentence"), width="large"),
        },
    )
    if len(shown) < len(items):
        st.caption(tr("The first {n:,} items; all of them are in items.csv.", n=len(shown)))
    index = next(iter(state.selection.rows), 0)
    address.keep(ROW, int(shown["row"].iloc[index]) if index < len(shown) and index else None, None)
    return shown.iloc[index] if len(shown) else None


def item_detail(item: pd.Series, sides: tuple[ChosenSide, ChosenSide], signature: Mapping[str, Any]) -> Drawn:
    """Draw one item under both sides, side by side: alignments, or the tokens of a minimal pair.

    Returns the figures by caption, and those for print alone.
    """
    figures: dict[str, go.Figure] = {}
    drawings: dict[str, Drawing] = {}
    compared = FACES[sides[0].run.kind].compared
    if compared is None or compared.item is None:
        return figures, drawings
    with st.grid(2, min_column_width=360, gap="medium"):
        for chosen, row in zip(sides, (item["row"], item["other_row"]), strict=True):
            with st.container(border=True):
                st.markdown(f"**{verbatim(chosen.side.name)}**")
                own_figures, own_drawings = compared.item(chosen, int(row), signature)
                figures |= {
                    together(": ", [chosen.side.name, caption]): figure for caption, figure in own_figures.items()
                }
                drawings |= {
                    together(": ", [chosen.side.name, caption]): drawing for caption, drawing in own_drawings.items()
                }
    return figures, drawings
