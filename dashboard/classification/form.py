"""The choices of the classification page: the settings of a run, defaults as the paper has them."""

from __future__ import annotations

import streamlit as st

from dashboard.shared.inputs import settings
from dashboard.shared.inputs.precision import precision_input
from dashboard.shared.inputs.sentence_vectors import POOLINGS, prompt_settings
from engine.evaluations.classification.records import Settings
from engine.options import options_of

OPTIONS = options_of(Settings)
SHARE = f"{100 * OPTIONS['test_share'].default:.0f} %"
SPLIT_WORDS = {"tail": f"Last {SHARE} of each class", "stratified": f"Random {SHARE} of each class"}


def classification_settings(models: tuple[str, ...]) -> Settings:
    """Draws the choices and returns them with `models` as the settings of a run."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        split = settings.segments("Test sentences", OPTIONS["split"], words=SPLIT_WORDS, key="classification-split")
        seeds = settings.number("Runs", OPTIONS["seeds"], key="classification-seeds", width=110)
        with st.popover("More settings", icon=":material/tune:", key="classification-settings"):
            pooling = settings.list_of("Sentence vector", OPTIONS["pooling"], POOLINGS, key="classification-pooling")
            prompts = prompt_settings(OPTIONS, "classification")
            precision = precision_input(OPTIONS["precision"], "classification")
            layer = settings.number("Layer", OPTIONS["layer"], key="classification-layer")
            normalize = settings.pills("Normalise texts first", OPTIONS["normalize"], key="classification-normalize")
            standardize = settings.toggle("Standardise the vectors", OPTIONS["standardize"],
                                          key="classification-standardize")
            epochs = settings.number("Epochs", OPTIONS["epochs"], key="classification-epochs")
            hidden = settings.repeated("Width of a hidden layer", "Hidden layers", OPTIONS["hidden"],
                                       keys=("classification-width", "classification-depth"))
            seed = settings.number("Seed", OPTIONS["seed"], key="classification-seed")
    return Settings(models=models, layer=layer, pooling=pooling, normalize=normalize, split=split, seeds=seeds,
                    seed=seed, epochs=epochs, hidden=hidden, standardize=standardize, precision=precision, **prompts)
