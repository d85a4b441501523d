"""The built-in models as cards: what each is for, and its figures on held-out documents."""

from __future__ import annotations

import streamlit as st

from dashboard import pages
from dashboard.faces import FACES
from dashboard.shared.run_links import card_link
from dashboard.shared.theme import DIRECTIONS
from dashboard.shared.wording import show_error, verbatim
from engine.errors import ModelError
from engine.messages.languages import mark, tr, translated
from engine.models.pretraining.model_card import vocabulary
from engine.models.sources.cards import BUILT_IN, ModelCard, held_out_figures, training_record

KINDS = {"masked": mark("masked language model"), "causal": mark("causal language model")}


def built_in_cards() -> None:
    """Draw a card for each built-in model; for one that is missing, the error in its place."""
    for card in BUILT_IN.values():
        with st.container(border=True, key=f"model-{card.name}"):
            st.header(translated(card.label), anchor=False)
            st.markdown(f"`{card.name}` :gray[· {tr(KINDS[card.kind])}]")  # untranslated
            st.markdown(verbatim(translated(card.description)))
            try:
                _card(card)
            except ModelError as error:
                show_error(error)


def _card(card: ModelCard) -> None:
    record, figures = training_record(card.name), held_out_figures(card.name)
    with st.container(horizontal=True):
        for figure in figures:
            value = f"{figure.value:.1%}" if figure.unit.startswith("share") else f"{figure.value:.2f}"
            name = translated(figure.name)
            st.metric(
                verbatim(name[:1].upper() + name[1:]),
                value,
                width="content",
                help=tr(
                    "{unit}, {direction}; measured on documents kept out of training.",
                    unit=translated(figure.unit),
                    direction=tr(DIRECTIONS[figure.better]),
                ),
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
