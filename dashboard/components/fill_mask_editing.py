"""Edit a sentence and fill its mask again: a small run of its own, shown below the one it came from.

Its address is part of the page's (`…&edited=<id>&of=<the run on show>`), so a reload keeps it and nobody waits for it.
"""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard import run_view, session
from dashboard.components.fill_mask_items import item_table
from dashboard.components.fill_mask_predictions import predictions_of, sentence_line
from dashboard.wording import show_error, verbatim
from engine.datasets.masked_sentences import MARKER, one_sentence
from engine.errors import EngineError
from engine.evaluations.fill_mask import Result

KIND = "fill-mask"
NAME_LENGTH = 60
POLL_SECONDS = 0.3
EDITED, OF = "edited", "of"


def edit_form(run_id: str, result: Result, item: pd.Series) -> None:
    """The sentence with its mask and the word, to be changed; the button submits it for all models of the run."""
    key = f"{run_id}-{item['row']}"
    with st.form(f"fill-mask-edit-{key}", border=True, enter_to_submit=False):
        st.markdown("**Edit and predict again**")
        text = st.text_area(f"Sentence, with {MARKER} where the word stands", item["masked"], height=80,
                            key=f"fill-mask-edit-text-{key}", persist_state="session")
        with st.container(horizontal=True, vertical_alignment="bottom"):
            word = st.text_input("Word", item["asked"], key=f"fill-mask-edit-word-{key}", width=220,
                                 persist_state="session", help="Its probability is asked for; the predictions depend "
                                 "on its number of pieces only.")
            submitted = st.form_submit_button("Predict again", type="primary", icon=":material/refresh:",
                                              key=f"fill-mask-edit-submit-{key}")
    if submitted:
        _submit(run_id, result, text, word)


def edited_predictions(run_id: str) -> None:
    """The edited sentence that the address names, once it is done; until then how far it is, or what failed."""
    edited = st.query_params.get(EDITED)
    if not edited or st.query_params.get(OF) != run_id:
        return
    view = session.desk().get(edited)
    if view is None or view.kind != KIND:
        return
    if view.state in run_view.ACTIVE:
        _watch(edited)
        return
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.markdown("**Edited**", width="content")
        if st.button("Close", key="fill-mask-edited-close", type="tertiary", icon=":material/close:"):
            del st.query_params[EDITED], st.query_params[OF]
            st.rerun()
    if view.state != "done":
        st.error(verbatim(view.message or "This was stopped."), icon=":material/error:")
        return
    try:
        result: Result = run_view.load_result(edited)
    except EngineError as error:
        show_error(error)
        return
    item = item_table(result).iloc[0]
    st.markdown(sentence_line(item))
    predictions_of(result, int(item["row"]), edited)


def _submit(run_id: str, result: Result, text: str, word: str) -> None:
    try:
        dataset = one_sentence(text, word, "", text.strip()[:NAME_LENGTH])
        submission = session.desk().submit(KIND, result.settings, dataset)
    except EngineError as error:
        show_error(error)
        return
    st.query_params.update({EDITED: submission.run_id, OF: run_id})
    st.rerun()


@st.fragment(run_every=POLL_SECONDS)
def _watch(edited: str) -> None:
    """How far the small run is; the whole page is drawn again once it has ended."""
    try:
        view = session.desk().get(edited)
    except EngineError as error:
        show_error(error)
        return
    if view is None or view.state not in run_view.ACTIVE:
        st.rerun()
    run_view.progress(view)
