"""The built-in models: all in a table with their figures on held-out documents, and the card of one."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pandas as pd
import streamlit as st

from dashboard import pages
from dashboard.faces import FACES
from dashboard.models.papers import KINDS as SHORT_KINDS
from dashboard.shared.address.page_address import PageAddress
from dashboard.shared.run_links import card_link
from dashboard.shared.theme import DIRECTIONS
from dashboard.shared.wording import show_error, verbatim
from engine.errors import ModelError
from engine.messages.languages import language, mark, tr, translated
from engine.models.pretraining.model_card import vocabulary
from engine.models.sources.cards import (
    BUILT_IN,
    BUILT_IN_PREFIX,
    HeldOutFigure,
    ModelCard,
    held_out_figures,
    training_record,
)
from engine.options import option, option_of

KINDS = {"masked": mark("masked language model"), "causal": mark("causal language model")}


@dataclass(frozen=True)
class Shown:
    """The model whose card is shown, as written in the page's URL."""

    model: str = option("", "The model whose card is shown.", choices=tuple(BUILT_IN))  # untranslated


def built_in_models(view: PageAddress) -> None:
    """Draw a table of the built-in models with their figures, and the card of the chosen one.

    Nobody's choice is the first of the reader's language; the rows have one order, because a row is chosen by its number,
    also by who changes the language. A model that is missing has no figures, and the error in its card.
    """
    cards = list(BUILT_IN.values())
    own = next((card for card in cards if card.language == language()), cards[0]).name
    declared = option_of(Shown, "model")
    at_first = [card.name for card in cards].index(view.first(declared, own))
    figures = {figure.key: figure for card in cards for figure in _figures(card)}
    columns = _columns() | {key: _column(figure) for key, figure in figures.items()}
    state = st.dataframe(
        pd.DataFrame([_row(card) for card in cards], columns=list(columns)),
        hide_index=True,
        on_select="rerun",
        selection_mode="single-row-required",
        selection_default={"selection": {"rows": [at_first]}},
        column_config=columns,
        key=view.key("built-in"),
        placeholder="–",
        alt=tr("The built-in models with their figures; choose one to see its card"),
    )
    card = cards[next(iter(state.selection.rows), at_first)]
    view.keep(declared, card.name, own)
    with st.container(border=True, key=f"model-{card.name}"):
        st.header(translated(card.label), anchor=False)
        st.markdown(f"`{card.name}` :gray[· {tr(KINDS[card.kind])}]")  # untranslated
        st.markdown(verbatim(translated(card.description)))
        try:
            _card(card)
        except ModelError as error:
            show_error(error)


def _columns() -> dict[str, Any]:
    return {
        "label": tr("Model"),
        "kind": st.column_config.TextColumn(tr("Kind"), width="small"),
        "parameters": st.column_config.NumberColumn(tr("Parameters"), format="compact", width="small"),
        "vocabulary": st.column_config.NumberColumn(tr("Vocabulary"), format="localized", width="small"),
    }


def _column(figure: HeldOutFigure) -> Any:
    name = translated(figure.name)
    return st.column_config.NumberColumn(
        name[:1].upper() + name[1:], format="%.1f%%" if figure.is_share else "%.2f", help=_help(figure), width=112
    )


def _figures(card: ModelCard) -> tuple[HeldOutFigure, ...]:
    try:
        return held_out_figures(card.name)
    except ModelError:  # said on its card
        return ()


def _row(card: ModelCard) -> dict[str, str | float]:
    row: dict[str, str | float] = {
        "label": card.name.removeprefix(BUILT_IN_PREFIX),
        "kind": tr(SHORT_KINDS[card.kind]),
    }
    with suppress(ModelError):
        record = training_record(card.name)
        row |= {"parameters": record["parameters"], "vocabulary": vocabulary(record)}
    return row | {figure.key: 100 * figure.value if figure.is_share else figure.value for figure in _figures(card)}


def _help(figure: HeldOutFigure) -> str:
    return tr(
        "{unit}, {direction}; measured on documents kept out of training.",
        unit=translated(figure.unit),
        direction=tr(DIRECTIONS[figure.better]),
    )


def _card(card: ModelCard) -> None:
    record = training_record(card.name)
    with st.container(horizontal=True):
        for figure in held_out_figures(card.name):
            name = translated(figure.name)
            st.metric(
                verbatim(name[:1].upper() + name[1:]),
                f"{figure.value:.1%}" if figure.is_share else f"{figure.value:.2f}",
                width="content",
                help=_help(figure),
            )
    settings, train, held_out = record["settings"], record["train"], record["held_out"]
    st.caption(
        verbatim(
            tr(
                "{parameters:,} parameters · {layers} layers, {hidden} dimensions · vocabulary {vocabulary:,} · {max_length} "
                "tokens at most · trained on {documents:,} documents ({characters:,} characters), measured on {held_out:,} "
                "others",
                parameters=record["parameters"],
                layers=settings["layers"],
                hidden=settings["hidden"],
                vocabulary=vocabulary(record),
                max_length=settings["max_length"],
                documents=train["documents"],
                characters=train["characters"],
                held_out=held_out["documents"],
            )
        )
    )
    with st.container(horizontal=True):
        card_link(card.name)
        for page in (face.page for face in FACES.values() if card.kind in face.suggested_for):
            st.page_link(pages.path(page.name), label=tr("Evaluate: {page}", page=tr(page.title)))
    with st.popover(
        tr("Training record"), type="tertiary", icon=":material/receipt_long:", key=f"model-record-{card.name}"
    ):
        st.json(record, expanded=1)
