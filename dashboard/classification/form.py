"""The choices of the classification page: the settings of a run, defaults as the paper has them."""

from __future__ import annotations

import streamlit as st

from engine.evaluations.classification.records import POOLINGS, SPLITS, Settings
from engine.language.normalize import STEPS

SPLIT_WORDS = {"tail": "Last 20 % of each class", "stratified": "Random 20 % of each class"}


def classification_settings(models: tuple[str, ...]) -> Settings:
    """Draws the choices and returns them with `models` as the settings of a run."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        split = st.segmented_control(
            "Test sentences", SPLITS, format_func=SPLIT_WORDS.__getitem__, default="tail", required=True,
            key="classification-split", persist_state="session",
            help="The last ones in the order of the file, as the paper printed, or drawn anew in every run, as the "
            "paper recommends. Both are the same for all models.")
        seeds = st.number_input("Runs", 1, 100, 5, key="classification-seeds", width=110, persist_state="session",
                                help="Each begins with other random weights.")
        with st.popover("More settings", icon=":material/tune:", key="classification-settings"):
            pooling = st.segmented_control(
                "Sentence vector", POOLINGS, default="cls", required=True, key="classification-pooling",
                persist_state="session",
                help="The first token's vector, or the mean over all. A model without a CLS token needs the mean.")
            layer = st.number_input("Layer", value=None, step=1, key="classification-layer", placeholder="the last",
                                    persist_state="session", help="0 = embeddings; -1 = the last.")
            normalize = st.pills("Normalise texts first", STEPS, selection_mode="multi", key="classification-normalize",
                                 persist_state="session",
                                 help="nfkc: full width to half width and so on. lower: lower case.")
            standardize = st.toggle(
                "Standardise the vectors", False, key="classification-standardize", persist_state="session",
                help="Each dimension to mean 0 and variance 1 over the training sentences. Not in the paper; with few "
                "epochs the network then learns its training sentences much further.")
            epochs = st.number_input("Epochs", 1, 1000, 20, key="classification-epochs", persist_state="session",
                                     help="Passes over the training sentences; the paper has 20.")
            width = st.number_input("Width of a hidden layer", 1, 2000, 200, key="classification-width",
                                    persist_state="session", help="The paper has 200.")
            depth = st.number_input("Hidden layers", 1, 5, 2, key="classification-depth", persist_state="session",
                                    help="The paper's text says that there are several, not how many.")
            seed = st.number_input("Seed", value=0, min_value=0, step=1, key="classification-seed",
                                   persist_state="session", help="Of the first run; the others take the next ones.")
    return Settings(models=models, layer=layer, pooling=pooling, normalize=tuple(normalize), split=split, seeds=seeds,
                    seed=seed, epochs=epochs, hidden=(width,) * depth, standardize=standardize)
