"""A form to set the reading of a name of the pair on show: it goes into the list of custom readings."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard.shared.inputs.own_readings import check_length
from dashboard.shared.wording import show_error
from engine.errors import InputError
from engine.evaluations.alignment.records import Scoring
from engine.language.readings.own import own_readings, with_entries
from engine.language.readings.variants import plain_form
from engine.translation import tr


def read_as(place: str, row: int, tokens: pd.DataFrame, scoring: Scoring) -> None:
    """Draw the form for the pair of a row; nothing where readings do not count."""
    if scoring.penalty == "none":
        return
    differing = tokens[tokens["name"] & ~(tokens["agreement"] == 1)]
    named = (differing if len(differing) else tokens[tokens["name"]])["name_text"]
    error_key = f"alignment-read-as-error-{place}-{row}"
    with st.popover(tr("Set the reading of a name"), icon=":material/edit_note:",
                    key=f"alignment-read-as-{place}-{row}"):
        with st.form(f"alignment-read-as-form-{place}-{row}", border=False, enter_to_submit=False):
            st.text_input(tr("Name"), named.iloc[0] if len(named) else "", key=f"alignment-read-as-name-{place}-{row}",
                          help=tr("A word of the pair, or any text."))
            st.text_input(tr("Reading"), key=f"alignment-read-as-kana-{place}-{row}", placeholder="さいとう",
                          help=tr("In kana; several with / between them."))
            st.form_submit_button(tr("Add to the list"), key=f"alignment-read-as-add-{place}-{row}", on_click=_add,
                                  args=(place, row, error_key))
        if message := st.session_state.get(error_key):
            show_error(InputError(message))


def _add(place: str, row: int, error_key: str) -> None:
    name, kana = (st.session_state[f"alignment-read-as-{part}-{place}-{row}"] for part in ("name", "kana"))
    key = f"alignment-readings-{place}"
    try:
        added = own_readings(f"{name or ''}={kana}")
        former = own_readings(st.session_state.get(key, ""))
        kept = [(text, former[plain_form(text)]) for text in former.names if plain_form(text) not in added]
        entries = [*kept, *((text, added[plain_form(text)]) for text in added.names)]
        check_length(with_entries(entries))
        own_readings(with_entries(entries))  # not too many
    except InputError as error:
        st.session_state[error_key] = error.message
        return
    st.session_state[error_key] = ""
    st.session_state[key] = "\n".join(with_entries([entry]) for entry in entries)
