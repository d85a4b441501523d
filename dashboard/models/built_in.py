"""The built-in models as cards: what each is for, and its figures on held-out documents."""

from __future__ import annotations

import streamlit as st

from dashboard import pages
from dashboard.shared.theme import DIRECTIONS
from dashboard.shared.wording import show_error, verbatim
from engine.errors import ModelError
from engine.models.sources.cards import BUILT_IN, ModelCard, held_out_figures, training_record

USES = {
    "masked": ("clusters", "fill_mask", "alignment", "minimal_pairs"),
    "causal": ("minimal_pairs",),
}


def built_in_cards() -> None:
    """Draw a card for each built-in model; for one that is missing, the error in its place."""
    for card in BUILT_IN.values():
        with st.container(border=True, key=f"model-{card.name}"):
            st.subheader(card.label, anchor=False)
            st.markdown(f"`{card.name}` :gray[· {card.kind} language model]  \n{verbatim(card.description)}")
            try:
                _card(card)
            except ModelError as error:
                show_error(error)


def _card(card: ModelCard) -> None:
    record, figures = training_record(card.name), held_out_figures(card.name)
    with st.container(horizontal=True):
        for figure in figures:
            value = f"{figure.value:.1%}" if figure.unit.startswith("share") else f"{figure.value:.2f}"
            st.metric(verbatim(figure.name[:1].upper() + figure.name[1:]), value, width="content", help=(
                f"{figure.unit}, {DIRECTIONS[figure.better]}; measured on documents kept out of training."))
    settings, train, held_out = record["settings"], record["train"], record["held_out"]
    st.caption(verbatim(
        f"{record['parameters']:,} parameters · {settings['layers']} layers, {settings['hidden']} wide · "
        f"vocabulary {settings['vocab_size']:,} · {settings['max_length']} tokens at most · "
        f"trained on {train['documents']:,} documents ({train['characters']:,} characters), "
        f"measured on {held_out['documents']:,} others"))
    with st.container(horizontal=True):
        for page in USES[card.kind]:
            st.page_link(pages.path(page), label=f"Evaluate it: {pages.card(page).title}")
    with st.popover("Training record", type="tertiary", icon=":material/receipt_long:",
                    key=f"model-record-{card.name}"):
        st.json(record, expanded=1)
