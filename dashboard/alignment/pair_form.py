"""Forms of a single pair: two typed sentences; and the pair shown, to be edited, swapped and evaluated again."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard.shared.headlines import TYPED_PAIR
from dashboard.shared.inputs import sample_language
from dashboard.shared.run_view import submit
from dashboard.shared.wording import show_error
from engine.datasets import sample_data
from engine.datasets.sentence_pairs import SentencePairs, reference_column
from engine.errors import InputError
from engine.evaluations.alignment.records import Result, Scoring, Settings
from engine.messages.languages import mark, tr
from engine.messages.message import Message

KIND = "alignment"
ROLES = (mark("Reference"), mark("Candidate"))
NAME_CHARACTERS = 18
HEIGHT = 84


def pair_input(run_id: str | None, result: Result | None) -> tuple[str, str, bool]:
    """Draw text areas for the two sentences in the caller's form, by default the only pair of the run shown, or one of
    the sample, with the button of the form and one that swaps them; returns both and whether the form was submitted.
    """
    key_suffix = run_id or "new"
    reference, candidate = _areas(*_default_pair(result), key_suffix)
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        submitted = st.form_submit_button(tr("Run"), type="primary", key="alignment-submit", icon=":material/balance:")
        st.form_submit_button(
            tr("Swap the sentences"),
            key=f"alignment-exchange-{key_suffix}",
            type="tertiary",
            icon=":material/swap_vert:",
            on_click=_exchange,
            args=(key_suffix,),
        )
    return reference, candidate, submitted


def edit_pair(run_id: str, result: Result, pair: pd.Series, layer: int, scoring: Scoring) -> None:
    """Draw a form with the pair shown; it is evaluated again with the present choices, as edited or swapped."""
    key_suffix = f"{run_id}-{pair['row']}"
    is_single = len(result.pairs) == 1
    with st.expander(tr("Edit and rescore"), expanded=is_single, icon=":material/edit:"):
        with st.form(f"alignment-edit-{key_suffix}", border=False, enter_to_submit=False):
            best = int(pair["best_reference"])
            shown = pair["reference" if best == 1 else reference_column(best)]
            reference, candidate = _areas(str(shown), str(pair["candidate"]), key_suffix)
            with st.container(horizontal=True, gap="small"):
                again = st.form_submit_button(
                    tr("Rescore"), key=f"alignment-again-{key_suffix}", type="primary", icon=":material/balance:"
                )
                swapped = st.form_submit_button(
                    tr("Swap and rescore"),
                    key=f"alignment-swap-{key_suffix}",
                    icon=":material/swap_vert:",
                    help=tr("The candidate becomes the reference: P and R change places, and so do their penalties."),
                )
        # With the single reference of one pair no token is rarer than another, so its idf gives no weights.
        settings = Settings(
            result.settings.models,
            layer=layer,
            all_layers=True,
            precision=result.settings.precision,
            scoring=scoring if scoring.idf != "references" else Scoring(),
        )
        if swapped:
            reference, candidate = candidate, reference
        if again or swapped:
            submit_pair(settings, reference, candidate)


def submit_pair(settings: Settings, reference: str, candidate: str, said: str = "") -> None:
    """Submit a run of one pair and go to its link, where what is `said` is shown, or show an error."""
    try:
        if not reference.strip() or not candidate.strip():
            raise InputError(Message("A pair is two sentences; one of them is empty. Type both."))
        if not settings.models:
            raise InputError(Message("No model is chosen. Name at least one."))
        pair = SentencePairs.from_frame(pd.DataFrame({"reference": [reference], "candidate": [candidate]}), TYPED_PAIR)
    except InputError as error:
        show_error(error)
        return
    submit(KIND, settings, pair, f"{_cut(reference)} / {_cut(candidate)}", said)


def _areas(reference: str, candidate: str, key_suffix: str) -> tuple[str, str]:
    typed = []
    with st.grid(2, min_column_width=260, gap="small"):
        for role, text in zip(ROLES, (reference, candidate), strict=True):
            st.session_state.setdefault(_key(role, key_suffix), text)  # no default of its own: `_exchange` sets it
            typed.append(st.text_area(tr(role), height=HEIGHT, key=_key(role, key_suffix), persist_state="session"))
    return typed[0], typed[1]


def _exchange(key_suffix: str) -> None:
    keys = [_key(role, key_suffix) for role in ROLES]
    st.session_state[keys[0]], st.session_state[keys[1]] = (st.session_state[key] for key in reversed(keys))


def _key(role: str, key_suffix: str) -> str:
    return f"alignment-{role.lower()}-{key_suffix}"


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= NAME_CHARACTERS else f"{line[:NAME_CHARACTERS]}…"


def _default_pair(result: Result | None) -> tuple[str, str]:
    if result is not None and len(result.pairs) == 1:
        return str(result.pairs["reference"].iloc[0]), str(result.pairs["candidate"].iloc[0])
    language = sample_language.usual()
    sample = sample_data.sentence_pairs(language)
    first = sample.categories.index(sample_data.SWAPPED_NAME[language])
    return sample.references[first], sample.candidates[first]
