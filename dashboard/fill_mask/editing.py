"""Edit a sentence and fill its mask again: a small run, shown below the run it came from."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard.fill_mask.items import item_table
from dashboard.fill_mask.predictions import predictions_of, sentence_line
from dashboard.shared.address.page_address import PageAddress
from dashboard.shared.edited_item import edited_result, submit_edited
from dashboard.shared.wording import show_error
from engine.datasets.masked.masked_sentences import MARKER, single_sentence
from engine.errors import EngineError
from engine.evaluations.fill_mask.records import Result
from engine.messages.languages import tr

KIND = "fill-mask"
NAME_LENGTH = 60


def edit_form(run_id: str, result: Result, item: pd.Series) -> None:
    """Draw a form with the masked sentence and the word; its button submits them for all models of the run."""
    key = f"{run_id}-{item['row']}"
    with st.form(f"fill-mask-edit-{key}", border=True, enter_to_submit=False):
        st.markdown(f"**{tr('Edit and predict again')}**")
        text = st.text_area(
            tr("Sentence, with {mask} in place of the word", mask=MARKER),
            item["masked"],
            height=80,
            key=f"fill-mask-edit-text-{key}",
            persist_state="session",
        )
        with st.container(horizontal=True, vertical_alignment="bottom"):
            word = st.text_input(
                tr("Word"),
                item["asked"],
                key=f"fill-mask-edit-word-{key}",
                width=220,
                persist_state="session",
                help=tr(
                    "The word whose probability is computed; the predictions depend on its number of subwords only."
                ),
            )
            submitted = st.form_submit_button(
                tr("Predict again"), type="primary", icon=":material/refresh:", key=f"fill-mask-edit-submit-{key}"
            )
    if submitted:
        _submit(run_id, result, text, word)


def edited_predictions(run_id: str, view: PageAddress) -> None:
    """Draw the predictions for the edited sentence that the address names, once its run is done."""
    edited_run = edited_result(KIND, run_id)
    if edited_run is None:
        return
    edited_id, result = edited_run
    item = item_table(result).iloc[0]
    st.markdown(sentence_line(item))
    predictions_of(result, int(item["row"]), view, edited=edited_id)


def _submit(run_id: str, result: Result, text: str, word: str) -> None:
    try:
        dataset = single_sentence(text, word, "", text.strip()[:NAME_LENGTH])
        submit_edited(KIND, run_id, result.settings, dataset)
    except EngineError as error:
        show_error(error)
