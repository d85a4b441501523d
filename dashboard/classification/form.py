"""The choices of the classification page: the settings of a run, defaults as the paper has them."""

from __future__ import annotations

import streamlit as st

from dashboard.shared.inputs import settings
from dashboard.shared.inputs.precision import precision_input
from dashboard.shared.inputs.sentence_vectors import POOLINGS, prompt_settings
from engine.evaluations.classification.records import Settings
from engine.options import options_of
from engine.translation import mark, tr

OPTIONS = options_of(Settings)
SHARE = round(100 * OPTIONS["test_share"].default)
SPLITS = {"tail": mark("Last {percent} % of each class"), "stratified": mark("Random {percent} % of each class")}


def classification_settings(models: tuple[str, ...]) -> Settings:
    """Draws the choices and returns them with `models` as the settings of a run."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        split = settings.segments(tr("Test sentences"), OPTIONS["split"], key="classification-split",
                                  words={name: tr(text, percent=SHARE) for name, text in SPLITS.items()})
        seeds = settings.number(tr("Training runs"), OPTIONS["seeds"], key="classification-seeds", width=130)
        with st.popover(tr("Advanced options"), icon=":material/tune:", key="classification-settings"):
            poolings = {name: tr(text) for name, text in POOLINGS.items()}
            pooling = settings.list_of(tr("Sentence vector"), OPTIONS["pooling"], poolings,
                                       key="classification-pooling")
            prompts = prompt_settings(OPTIONS, "classification")
            precision = precision_input(OPTIONS["precision"], "classification")
            layer = settings.number(tr("Layer"), OPTIONS["layer"], key="classification-layer")
            normalize = settings.pills(tr("Normalise texts first"), OPTIONS["normalize"],
                                       key="classification-normalize")
            standardize = settings.toggle(tr("Standardise the vectors"), OPTIONS["standardize"],
                                          key="classification-standardize")
            epochs = settings.number(tr("Epochs"), OPTIONS["epochs"], key="classification-epochs")
            hidden = settings.repeated(tr("Width of a hidden layer"), tr("Hidden layers"), OPTIONS["hidden"],
                                       keys=("classification-width", "classification-depth"))
            seed = settings.number(tr("Seed"), OPTIONS["seed"], key="classification-seed")
    return Settings(models=models, layer=layer, pooling=pooling, normalize=normalize, split=split, seeds=seeds,
                    seed=seed, epochs=epochs, hidden=hidden, standardize=standardize, precision=precision, **prompts)
