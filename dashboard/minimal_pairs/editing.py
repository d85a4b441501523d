"""Edit a minimal pair and score it again: a small run, shown below the run it came from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from dashboard.minimal_pairs.pair_table import pair_table
from dashboard.minimal_pairs.tokens.contributions import token_contributions_view
from dashboard.minimal_pairs.view import ScoredRun
from dashboard.shared import run_view
from dashboard.shared.edited_item import edited_result, submit_edited
from dashboard.shared.wording import model_name, show_error
from engine.datasets.minimal_pairs.pairs import MinimalPairs
from engine.datasets.outside_names import is_from_file
from engine.errors import EngineError, InputError
from engine.evaluations.minimal_pairs.records import THESE
from engine.evaluations.minimal_pairs.unigrams import with_unigrams
from engine.measures.minimal_pairs.normalizations import NORMALIZATIONS
from engine.messages.languages import mark, tr
from engine.messages.message import Message
from engine.models.sources.names import without_label

KIND = "minimal-pairs"
NAME_LENGTH = 40
SIDES = {"acceptable": mark("Acceptable"), "unacceptable": mark("Unacceptable")}
HEIGHT = 84


def scored_again(view: ScoredRun) -> tuple[str, ...]:
    """The models of a run that can score another sentence: those whose scores are not from a file."""
    return tuple(model for model in view.result.settings.models if not is_from_file(without_label(model)))


def edit_form(view: ScoredRun, pair: pd.Series) -> None:
    """Draw a form with both sentences; its button submits them for all models of the run."""
    key = f"{view.run_id}-{pair['row']}"
    texts = {}
    with st.form(f"minimal-edit-{key}", border=True, enter_to_submit=False):
        st.markdown(tr("**Edit and rescore**"))
        with st.grid(2, min_column_width=260, gap="small"):
            for side, label in SIDES.items():
                texts[side] = st.text_area(
                    tr(label), str(pair[side]), height=HEIGHT, persist_state="session", key=f"minimal-edit-{side}-{key}"
                )
        submitted = st.form_submit_button(
            tr("Rescore"), type="primary", icon=":material/refresh:", key=f"minimal-edit-submit-{key}"
        )
    if view.result.right_to_left:
        st.html(f"<style>.st-key-minimal-edit-{key} textarea {{ direction: rtl; }}</style>")
    if submitted:
        _submit(view, texts)


def edited_pair(view: ScoredRun, before: pd.Series | None, model: str, signature: Mapping[str, Any]) -> None:
    """Draw the edited pair that the address names, once its run is done; until then its progress, or its error.

    `before`: the pair shown above, of the same model.
    """
    edited_run = edited_result(KIND, view.run_id)
    if edited_run is None:
        return
    edited_id, result = edited_run
    try:
        if NORMALIZATIONS[view.normalization].by_unigrams and view.unigrams != THESE:
            result = with_unigrams(result, view.unigrams)
    except EngineError as error:
        show_error(error)
        return
    run_view.notices(result, key="edited-notices")
    if NORMALIZATIONS[view.normalization].is_fitted:
        st.caption(
            tr("An edited pair has no MORCELA score: its coefficients are fitted to the judgements of many pairs.")
        )
        return
    if model not in result.scored_models:
        st.caption(tr("{model} cannot score this pair.", model=model_name(model)))
        return
    table = pair_table(result, model, view.normalization, view.alpha)
    if table.empty:
        st.caption(tr("{model} cannot score this pair.", model=model_name(model)))
        return
    pair = table.iloc[0]
    if before is not None:
        change = pair["margin"] - before["margin"]
        st.caption(
            tr(
                "Margin {before:+.3f} before, {now:+.3f} now ({change:+.3f}).",
                before=before["margin"],
                now=pair["margin"],
                change=change,
            )
        )
        if NORMALIZATIONS[view.normalization].by_unigrams and result.unigrams == THESE:
            st.caption(tr("SLOR's unigrams are now those of this one pair."))
    token_contributions_view(f"edited-{edited_id}", result, model, pair, view.normalization, view.alpha, signature)


def _submit(view: ScoredRun, texts: dict[str, str]) -> None:
    try:
        if not texts["acceptable"].strip():
            raise InputError(Message("A pair is two sentences; the acceptable one is empty. Type both."))
        if not texts["unacceptable"].strip():
            raise InputError(Message("A pair is two sentences; the unacceptable one is empty. Type both."))
        name = " / ".join(_cut(text) for text in texts.values())
        dataset = MinimalPairs.from_frame(pd.DataFrame({side: [text] for side, text in texts.items()}), name)
        settings = replace(
            view.result.settings, models=scored_again(view), tokenizer=(), shared_tokens=False, ratings=()
        )
        submit_edited(KIND, view.run_id, settings, dataset)
    except EngineError as error:
        show_error(error)


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= NAME_LENGTH else f"{line[:NAME_LENGTH]}…"
