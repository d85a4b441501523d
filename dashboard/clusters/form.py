"""The choices of the clusters page: the settings of a run. Few are in the open, the rest is folded."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dashboard.shared.inputs import settings
from dashboard.shared.inputs.presets import Start
from dashboard.shared.inputs.sentence_vectors import prompt_settings
from engine.evaluations.clusters.records import Settings
from engine.messages.languages import mark, tr
from engine.options import options_of

OPTIONS = options_of(Settings)
NUMBER_OF_CORRECTION = {
    "whitening": ("whitened_dims", mark("Whitened dimensions")),
    "all-but-the-top": ("removed_components", mark("Components taken off")),
}


def cluster_settings(models: tuple[str, ...], start: Start, columns: tuple[str, ...] = ()) -> Settings:
    """Draws the choices, at first those of `start`, and returns them with `models` as the settings of a run.

    columns: the further columns of the file, whose values may be classes too.
    """
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        pooling = settings.list_of(tr("Sentence vector"), OPTIONS["pooling"], **start.at("pooling"), width=190)
        projection = settings.segments(tr("Map"), OPTIONS["projection"], **start.at("projection"))
        with st.popover(tr("Advanced options"), icon=":material/tune:", key="clusters-settings"):
            more = _vectors(start) | _map(start, is_linear=projection == "pca") | _uncertainty(start, columns)
        chosen = Settings(models=models, pooling=pooling, projection=projection, **more)
        settings.in_a_line(
            chosen, {"layer": tr("Layer"), "metric": tr("Distance"), "resamples": tr("Resamples"), "seed": tr("Seed")}
        )
    return chosen


def _vectors(start: Start) -> dict[str, Any]:
    st.markdown(f"**{tr('Texts and vectors')}**")
    return {
        "layer": settings.number(tr("Layer"), OPTIONS["layer"], **start.at("layer")),
        "normalize": settings.pills(tr("Normalise texts first"), OPTIONS["normalize"], **start.at("normalize")),
        **prompt_settings(OPTIONS, start),
        "precision": settings.list_of(tr("Numeric precision"), OPTIONS["precision"], **start.at("precision")),
        "centre": settings.toggle(tr("Mean-centre vectors for cosines"), OPTIONS["centre"], **start.at("centre")),
        **_correction(start),
        "layer_curve": settings.toggle(tr("Score at every layer"), OPTIONS["layer_curve"], **start.at("curve")),
    }


def _correction(start: Start) -> dict[str, Any]:
    """The correction, and of its two numbers the one that it reads."""
    chosen = settings.segments(tr("Correction"), OPTIONS["correction"], **start.at("correction"))
    number, label = NUMBER_OF_CORRECTION.get(chosen, ("", ""))
    return {
        "correction": chosen,
        **({number: settings.number(tr(label), OPTIONS[number], **start.at(number))} if number else {}),
    }


def _map(start: Start, *, is_linear: bool) -> dict[str, Any]:
    st.markdown(f"**{tr('Map and neighbours')}**")
    return {
        "dimensions": settings.segments(tr("Dimensions"), OPTIONS["dimensions"], **start.at("dimensions")),
        "metric": settings.segments(tr("Distance"), OPTIONS["metric"], **start.at("metric")),
        "n_neighbors": settings.slider(
            tr("UMAP: n_neighbors"), OPTIONS["n_neighbors"], **start.at("neighbors"), disabled=is_linear
        ),
        "min_dist": settings.slider(
            tr("UMAP: min_dist"), OPTIONS["min_dist"], **start.at("min-dist"), step=0.01, disabled=is_linear
        ),
    }


def _uncertainty(start: Start, columns: tuple[str, ...]) -> dict[str, Any]:
    st.markdown(f"**{tr('Significance')}**")
    return {
        "clusterings": settings.number(tr("Seeds of k-means"), OPTIONS["clusterings"], **start.at("clusterings")),
        "class_columns": tuple(
            st.multiselect(
                tr("Further columns as classes"),
                columns,
                key="clusters-class-columns",
                placeholder=tr("None"),
                help=settings.help_text(OPTIONS["class_columns"]),
            )
        )
        if columns
        else (),
        "resamples": settings.number(tr("Resamples"), OPTIONS["resamples"], **start.at("resamples"), step=100),
        "seed": settings.number(tr("Seed"), OPTIONS["seed"], **start.at("seed")),
        "lone_classes": settings.segments(tr("Classes of one sentence"), OPTIONS["lone_classes"], **start.at("lone")),
    }
