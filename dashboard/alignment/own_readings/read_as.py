"""The tokens of the pair shown, and a form that sets the reading of a name: that of the token that is chosen."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from dashboard.alignment.view import alignment_view
from dashboard.shared.inputs.own_readings import put
from dashboard.shared.wording import show_error, verbatim
from engine.errors import InputError
from engine.evaluations.alignment.records import Scoring
from engine.evaluations.alignment.token_table import SIDES
from engine.language.readings.own import own_readings, with_entries
from engine.language.readings.variants import plain_form
from engine.messages.languages import tr


@st.fragment
def tokens_to_read(
    data: dict[str, Any], key: str, place: str, row: int, tokens: pd.DataFrame, scoring: Scoring
) -> None:
    """Draw the view of the data of a pair, and the form; no form where readings do not count.

    Choosing a token draws this alone again, and a reading that was added draws the page. Nothing here is a choice of
    what the page shows: no key begins as the keys of those do (`dashboard.shared.address.page_address`).
    """
    if scoring.penalty == "none":
        alignment_view(data, key)
        return
    alignment_view(data, key, on_chosen=(_fill_in, (key, f"{place}-{row}", names_of(tokens))))
    if _form(f"{place}-{row}", place, first_name(tokens)):
        st.rerun()


def names_of(tokens: pd.DataFrame) -> dict[str, list[str]]:
    """What the form is filled with for each token of each side: its name, else its word; "" for special tokens."""
    names = {}
    for side in SIDES:
        rows = tokens[tokens["side"] == side].sort_values("position")
        words = rows.groupby("word")["surface"].transform("".join)
        names[side] = rows["name_text"].where(rows["name_text"] != "", words).where(~rows["special"], "").tolist()
    return names


def first_name(tokens: pd.DataFrame) -> str:
    """The name that the form begins with: one that is read otherwise than its match, else any, "" where none is."""
    differing = tokens[tokens["name"] & ~(tokens["agreement"] == 1)]
    named = (differing if len(differing) else tokens[tokens["name"]])["name_text"]
    return str(named.iloc[0]) if len(named) else ""


def _form(pair: str, place: str, name: str) -> bool:
    """Draw the form; whether a reading was added."""
    keys = {part: f"read-as-{part}-{pair}" for part in ("name", "kana", "error", "added")}
    st.session_state.setdefault(keys["name"], name)
    with st.popover(tr("Set the reading of a name"), icon=":material/edit_note:", key=f"read-as-{pair}"):
        with st.form(f"read-as-form-{pair}", border=False, enter_to_submit=False):
            st.text_input(tr("Name"), key=keys["name"], help=tr("That of the token that was chosen last, or any text."))
            st.text_input(
                tr("Reading"),
                key=keys["kana"],
                placeholder="さいとう",
                help=tr("In kana; several with / between them."),
            )
            is_submitted = st.form_submit_button(
                tr("Add to the list"),
                key=f"read-as-add-{pair}",
                on_click=_add,
                args=(keys, f"alignment-readings-{place}"),
            )
        message = st.session_state.get(keys["error"])
        if message:
            show_error(InputError(message))
        elif entry := st.session_state.get(keys["added"]):
            st.caption(":material/check: " + tr("Added: {entry}", entry=verbatim(entry)))
    return is_submitted and not message


def _fill_in(view: str, pair: str, names: dict[str, list[str]]) -> None:
    chosen = st.session_state[view].chosen
    name = names[chosen["side"]][chosen["index"]]
    if name and name != st.session_state.get(f"read-as-name-{pair}"):
        st.session_state[f"read-as-name-{pair}"] = name
        for part in ("kana", "error", "added"):
            st.session_state[f"read-as-{part}-{pair}"] = ""


def _add(keys: dict[str, str], field: str) -> None:
    try:
        added = own_readings(with_entries([(st.session_state[keys["name"]], (st.session_state[keys["kana"]],))]))
        former = own_readings(st.session_state.get(field, ""))
        kept = [(text, former[plain_form(text)]) for text in former.names if plain_form(text) not in added]
        put(field, with_entries([*kept, *((text, added[plain_form(text)]) for text in added.names)]))
    except InputError as error:
        st.session_state[keys["error"]], st.session_state[keys["added"]] = error.message, ""
        return
    st.session_state[keys["error"]] = st.session_state[keys["kana"]] = ""
    st.session_state[keys["added"]] = with_entries((text, added[plain_form(text)]) for text in added.names)
