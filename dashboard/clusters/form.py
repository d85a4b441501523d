"""The choices of the clusters page: the settings of a run. Few are in the open, the rest is folded."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dashboard.shared.inputs import settings
from dashboard.shared.inputs.precision import precision_input
from dashboard.shared.inputs.sentence_vectors import POOLINGS, prompt_settings
from dashboard.shared.wording import verbatim
from engine.evaluations.clusters.records import Settings
from engine.options import options_of
from engine.translation import mark, tr

OPTIONS = options_of(Settings)
MAPS = {"umap": "UMAP", "pca": "PCA"}
DIMENSIONS = {2: "2-D", 3: "3-D"}
CORRECTIONS = {"none": mark("None"), "whitening": mark("Whitening"), "all-but-the-top": mark("All-but-the-top")}
NUMBER_OF_CORRECTION = {"whitening": ("whitened_dims", mark("Whitened dimensions")),
                        "all-but-the-top": ("removed_components", mark("Components taken off"))}
LONE_CLASS_LABELS = {"keep": mark("Include"), "exclude": mark("Leave out")}


def cluster_settings(models: tuple[str, ...], columns: tuple[str, ...] = ()) -> Settings:
    """Draws the choices, defaults as published, and returns them with `models` as the settings of a run.

    columns: the further columns of the file, whose values may be classes too.
    """
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        pooling = settings.list_of(tr("Sentence vector"), OPTIONS["pooling"],
                                   {name: tr(text) for name, text in POOLINGS.items()}, key="clusters-pooling",
                                   width=190)
        layer = settings.number(tr("Layer"), OPTIONS["layer"], key="clusters-layer", width=130)
        projection = settings.segments(tr("Map"), OPTIONS["projection"], words=MAPS, key="clusters-projection")
        dimensions = settings.segments(tr("Dimensions"), OPTIONS["dimensions"], words=DIMENSIONS,
                                       key="clusters-dimensions")
        with st.popover(tr("Advanced options"), icon=":material/tune:", key="clusters-settings"):
            more = _vectors() | _map(is_linear=projection == "pca") | _uncertainty(columns)
    return Settings(models=models, layer=layer, pooling=pooling, projection=projection, dimensions=dimensions, **more)


def _vectors() -> dict[str, Any]:
    st.markdown(f"**{tr('Texts and vectors')}**")
    return {
        "normalize": settings.pills(tr("Normalise texts first"), OPTIONS["normalize"], key="clusters-normalize"),
        **prompt_settings(OPTIONS, "clusters"),
        "precision": precision_input(OPTIONS["precision"], "clusters"),
        "centre": settings.toggle(tr("Mean-centre vectors for cosines"), OPTIONS["centre"], key="clusters-centre"),
        **_correction(),
        "layer_curve": settings.toggle(tr("Score at every layer"), OPTIONS["layer_curve"], key="clusters-curve"),
    }


def _correction() -> dict[str, Any]:
    """The correction, and of its two numbers the one that it reads."""
    chosen = settings.segments(tr("Correction"), OPTIONS["correction"], words=CORRECTIONS, key="clusters-correction")
    number, label = NUMBER_OF_CORRECTION.get(chosen, ("", ""))
    return {"correction": chosen, **({number: settings.number(tr(label), OPTIONS[number], key=f"clusters-{number}")}
                                     if number else {})}


def _map(*, is_linear: bool) -> dict[str, Any]:
    st.markdown(f"**{tr('Map and neighbours')}**")
    return {
        "metric": settings.segments(tr("Distance"), OPTIONS["metric"], key="clusters-metric"),
        "n_neighbors": settings.slider(tr("UMAP: n_neighbors"), OPTIONS["n_neighbors"], key="clusters-neighbors",
                                       disabled=is_linear),
        "min_dist": settings.slider(tr("UMAP: min_dist"), OPTIONS["min_dist"], key="clusters-min-dist", step=0.01,
                                    disabled=is_linear),
    }


def _uncertainty(columns: tuple[str, ...]) -> dict[str, Any]:
    st.markdown(f"**{tr('Significance')}**")
    return {
        "clusterings": settings.number(tr("Seeds of k-means"), OPTIONS["clusterings"], key="clusters-clusterings"),
        "class_columns": tuple(st.multiselect(
            tr("Further columns as classes"), columns, key="clusters-class-columns", placeholder=tr("None"),
            help=settings.help_text(OPTIONS["class_columns"]), format_func=verbatim)) if columns else (),
        "resamples": settings.number(tr("Resamples"), OPTIONS["resamples"], key="clusters-resamples", step=100),
        "seed": settings.number(tr("Seed"), OPTIONS["seed"], key="clusters-seed"),
        "lone_classes": settings.segments(tr("Classes of one sentence"), OPTIONS["lone_classes"],
                                          words=LONE_CLASS_LABELS, key="clusters-lone"),
    }
