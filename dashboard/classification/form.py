"""The choices of the classification page: the settings of a run, defaults as the paper has them."""

from __future__ import annotations

import streamlit as st

from dashboard.shared.inputs import settings
from dashboard.shared.inputs.presets import Start
from dashboard.shared.inputs.sentence_vectors import prompt_settings
from engine.evaluations.classification.records import Settings
from engine.messages.languages import mark, tr
from engine.options import options_of

OPTIONS = options_of(Settings)
SHARE = round(100 * OPTIONS["test_share"].default)
# Labels that say another setting, too.
SPLITS = {"tail": mark("Last {percent}% of each class"), "stratified": mark("Random {percent}% of each class")}


def classification_settings(models: tuple[str, ...], start: Start) -> Settings:
    """Draws the choices, at first those of `start`, and returns them with `models` as the settings of a run."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        split = settings.segments(
            tr("Test sentences"),
            OPTIONS["split"],
            **start.at("split"),
            words={name: tr(text, percent=SHARE) for name, text in SPLITS.items()},
        )
        seeds = settings.number(tr("Training runs"), OPTIONS["seeds"], **start.at("seeds"), width=130)
        with st.popover(tr("Advanced options"), icon=":material/tune:", key="classification-settings"):
            pooling = settings.list_of(tr("Sentence vector"), OPTIONS["pooling"], **start.at("pooling"))
            prompts = prompt_settings(OPTIONS, start)
            precision = settings.list_of(tr("Numeric precision"), OPTIONS["precision"], **start.at("precision"))
            layer = settings.number(tr("Layer"), OPTIONS["layer"], **start.at("layer"))
            normalize = settings.pills(tr("Normalise texts first"), OPTIONS["normalize"], **start.at("normalize"))
            standardize = settings.toggle(
                tr("Standardise the vectors"), OPTIONS["standardize"], **start.at("standardize")
            )
            epochs = settings.number(tr("Epochs"), OPTIONS["epochs"], **start.at("epochs"))
            hidden = settings.repeated(
                tr("Width of a hidden layer"),
                tr("Hidden layers"),
                OPTIONS["hidden"],
                keys=(start.key("width"), start.key("depth")),
                first=start.settings,
            )
            seed = settings.number(tr("Seed"), OPTIONS["seed"], **start.at("seed"))
        chosen = Settings(
            models=models,
            layer=layer,
            pooling=pooling,
            normalize=normalize,
            split=split,
            seeds=seeds,
            seed=seed,
            epochs=epochs,
            hidden=hidden,
            standardize=standardize,
            precision=precision,
            **prompts,
        )
        settings.in_a_line(
            chosen, {"pooling": tr("Sentence vector"), "layer": tr("Layer"), "epochs": tr("Epochs"), "seed": tr("Seed")}
        )
    return chosen
