"""What to align: a typed pair or a file of many, under which models and layers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from dashboard.alignment.face import FORM
from dashboard.alignment.pair_form import pair_input, submit_pair
from dashboard.shared import run_view
from dashboard.shared.inputs import inputs, presets, settings
from dashboard.shared.inputs.own_readings import of_form, own_readings_input
from dashboard.shared.inputs.presets import Start
from dashboard.shared.wording import verbatim
from engine.evaluations.alignment.records import ONE_PAIR, OWN_SENTENCES, Result, Scoring, Settings
from engine.messages.languages import mark, tr
from engine.messages.message import list_of as names_listed
from engine.options import options_of

KIND = FORM.kind
OPTIONS, SCORING = options_of(Settings), options_of(Scoring)
SOURCES = {"pair": mark("One pair"), "dataset": mark("Many pairs")}


def alignment_inputs(run_id: str | None, result: Result | None) -> None:
    """Draw the inputs and their button; pressing it opens the new run."""
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        source = st.segmented_control(
            tr("Sentences"),
            list(SOURCES),
            default="pair",
            required=True,
            format_func=lambda source: tr(SOURCES[source]),
            key="alignment-extent",
            persist_state="session",
            label_visibility="collapsed",
        )
        start, head = presets.start(KIND), presets.head()
    if source == "pair":
        with st.form("alignment-pair", border=False, enter_to_submit=False):
            reference, candidate, submitted = pair_input(run_id, result)
        # Outside of the form, whose widgets say nothing until it is submitted.
        shown = st.session_state.get(f"{KIND}-models")
        chosen = _settings(start, (reference, candidate), one_pair=True)
        if submitted:
            is_other = shown is not None and tuple(shown) != chosen.models
            names = names_listed(map(verbatim, chosen.models))
            said = tr("By models of the language of the sentences: {models}.", models=names) if is_other else ""
            submit_pair(chosen, reference, candidate, said)
    else:
        dataset = inputs.dataset_input(FORM)
        chosen = _settings(start, dataset.references if dataset is not None else (), one_pair=False)
        run_view.submit_button(KIND, chosen, dataset)
    if source == "pair":  # it is kept at every layer whatever a preset says
        chosen = replace(chosen, all_layers=OPTIONS["all_layers"].default)
    presets.choice(head, KIND, chosen)


def _settings(start: Start, texts: Sequence[str], *, one_pair: bool) -> Settings:
    models = inputs.models_input(KIND, "masked", offered=("causal",), ranks=False, texts=texts)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        with st.popover(tr("Advanced options"), icon=":material/tune:", key="alignment-settings"):
            layer = settings.number(tr("Layer"), OPTIONS["layer"], **start.at("layer"))
            precision = settings.list_of(tr("Numeric precision"), OPTIONS["precision"], **start.at("precision"))
            all_layers = settings.toggle(
                tr("Keep all layers"),
                OPTIONS["all_layers"],
                key=start.key(f"all-layers-{'pair' if one_pair else 'dataset'}"),
                first=ONE_PAIR if one_pair else start.settings,
            )
            rescale = OPTIONS["rescale"].default if one_pair else _rescale(start)
        scoring = start.settings.scoring if start.settings else Scoring()
        scoring = replace(scoring, readings=own_readings_input(SCORING["readings"], **of_form(start, "scoring")))
        chosen = Settings(
            models=models, layer=layer, all_layers=all_layers, precision=precision, rescale=rescale, scoring=scoring
        )
        settings.in_a_line(
            chosen, {"layer": tr("Layer"), "precision": tr("Numeric precision"), "all_layers": tr("Keep all layers")}
        )
    return chosen


def _rescale(start: Start) -> str:
    """The baseline of the run's own sentences, or none; the file of one is for the command."""
    is_first = bool(start.settings and start.settings.rescale == OWN_SENTENCES)
    return (
        OWN_SENTENCES
        if st.toggle(
            tr("Rescale with a baseline"),
            is_first,
            key=start.key("rescale"),
            help=settings.help_text(OPTIONS["rescale"]),
        )
        else OPTIONS["rescale"].default
    )
