"""What to align: a typed pair or a file of many, under which models and layers."""

from __future__ import annotations

import streamlit as st

from dashboard.alignment.pair_form import pair_input, submit_pair
from dashboard.shared import run_view
from dashboard.shared.inputs import inputs, settings
from dashboard.shared.inputs.precision import precision_input
from engine.evaluations.alignment.records import ONE_PAIR, Result, Settings
from engine.options import options_of
from engine.translation import mark, tr

KIND = "alignment"
OPTIONS = options_of(Settings)
SOURCES = {"pair": mark("One pair"), "dataset": mark("Many pairs")}


def alignment_inputs(run_id: str | None, result: Result | None) -> None:
    """Draw the inputs and their button; whoever presses it goes to the new run."""
    source = st.segmented_control(tr("Sentences"), list(SOURCES), default="pair", required=True,
                                  format_func=lambda source: tr(SOURCES[source]), key="alignment-extent",
                                  persist_state="session", label_visibility="collapsed")
    if source == "pair":
        with st.form("alignment-pair", border=False, enter_to_submit=False):
            reference, candidate = pair_input(run_id, result)
            settings_of_pair = _settings(one_pair=True)
            if st.form_submit_button(tr("Run"), type="primary", key="alignment-submit", icon=":material/balance:"):
                submit_pair(settings_of_pair, reference, candidate)
    else:
        dataset = inputs.dataset_input(KIND)
        run_view.submit_button(KIND, _settings(one_pair=False), dataset)


def _settings(*, one_pair: bool) -> Settings:
    models = inputs.models_input(KIND, "masked", offered=("causal",), ranks=False)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        layer = settings.number(tr("Layer"), OPTIONS["layer"], key="alignment-layer", width=160)
        precision = precision_input(OPTIONS["precision"], KIND, width=160)
        all_layers = settings.toggle(tr("Keep all layers"), OPTIONS["all_layers"], first=ONE_PAIR if one_pair else None,
                                     key=f"alignment-all-layers-{'pair' if one_pair else 'dataset'}")
    return Settings(models=models, layer=layer, all_layers=all_layers, precision=precision)
