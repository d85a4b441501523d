"""What to align: a typed pair or a file of many, under which models and layers."""

from __future__ import annotations

import streamlit as st

from dashboard.alignment.pair_form import pair_input, submit_pair
from dashboard.shared import run_view
from dashboard.shared.inputs import inputs
from engine.evaluations.alignment.records import PRECISIONS, Result, Settings

KIND = "alignment"
SOURCES = {"pair": "One pair", "dataset": "Many pairs"}


def alignment_inputs(run_id: str | None, result: Result | None) -> None:
    """Draw the inputs and their button; whoever presses it goes to the new run."""
    source = st.segmented_control("Sentences", list(SOURCES), format_func=SOURCES.__getitem__, default="pair",
                                  required=True, key="alignment-source", persist_state="session",
                                  label_visibility="collapsed")
    if source == "pair":
        with st.form("alignment-pair", border=False, enter_to_submit=False):
            reference, candidate = pair_input(run_id, result)
            settings = _settings(every_layer=True)
            if st.form_submit_button("Evaluate", type="primary", key="alignment-submit", icon=":material/balance:"):
                submit_pair(settings, reference, candidate)
    else:
        dataset = inputs.dataset_input(KIND)
        run_view.submit_button(KIND, _settings(every_layer=False), dataset)


def _settings(*, every_layer: bool) -> Settings:
    models = inputs.models_input(KIND, "masked", offered=("causal",))
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        layer = st.number_input("Layer", value=None, step=1, key="alignment-layer", placeholder="the last", width=160,
                                persist_state="session", help="0 = embeddings; -1 = the last, also when left empty.")
        precision = st.segmented_control("Precision", PRECISIONS, default=PRECISIONS[0], required=True,
                                         key="alignment-precision", persist_state="session",
                                         help="bf16 and fp16 are faster on a GPU and less exact.")
        all_layers = st.toggle("Keep every layer", every_layer, persist_state="session",
                               key=f"alignment-all-layers-{'pair' if every_layer else 'dataset'}",
                               help="Then a slider answers at once for each layer. It takes no second forward pass, "
                               "but memory for each layer.")
    return Settings(models=models, layer=layer, all_layers=all_layers, precision=precision)
