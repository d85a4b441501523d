"""The choices of the clusters page: the settings of a run. Few are in the open, the rest is folded."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dashboard.shared.inputs import settings
from dashboard.shared.inputs.precision import precision_input
from dashboard.shared.inputs.sentence_vectors import POOLINGS, prompt_settings
from engine.evaluations.clusters.records import Settings
from engine.options import options_of

OPTIONS = options_of(Settings)
MAPS = {"umap": "UMAP", "pca": "PCA"}
DIMENSIONS = {2: "2-D", 3: "3-D"}
LONE_CLASS_LABELS = {"keep": "Keep", "exclude": "Leave out"}


def cluster_settings(models: tuple[str, ...]) -> Settings:
    """Draws the choices, defaults as published, and returns them with `models` as the settings of a run."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        pooling = settings.list_of("Sentence vector", OPTIONS["pooling"], POOLINGS, key="clusters-pooling", width=190)
        layer = settings.number("Layer", OPTIONS["layer"], key="clusters-layer", width=130)
        projection = settings.segments("Map", OPTIONS["projection"], words=MAPS, key="clusters-projection")
        dimensions = settings.segments("Dimensions", OPTIONS["dimensions"], words=DIMENSIONS,
                                       key="clusters-dimensions")
        with st.popover("More settings", icon=":material/tune:", key="clusters-settings"):
            more = _vectors() | _map(is_linear=projection == "pca") | _uncertainty()
    return Settings(models=models, layer=layer, pooling=pooling, projection=projection, dimensions=dimensions, **more)


def _vectors() -> dict[str, Any]:
    st.markdown("**Texts and vectors**")
    return {
        "normalize": settings.pills("Normalise texts first", OPTIONS["normalize"], key="clusters-normalize"),
        **prompt_settings(OPTIONS, "clusters"),
        "precision": precision_input(OPTIONS["precision"], "clusters"),
        "centre": settings.toggle("Mean-centre for cosines", OPTIONS["centre"], key="clusters-centre"),
        "layer_curve": settings.toggle("Score at every layer", OPTIONS["layer_curve"], key="clusters-curve"),
    }


def _map(*, is_linear: bool) -> dict[str, Any]:
    st.markdown("**Map and neighbours**")
    return {
        "metric": settings.segments("Distance", OPTIONS["metric"], key="clusters-metric"),
        "n_neighbors": settings.slider("UMAP's neighbours", OPTIONS["n_neighbors"], key="clusters-neighbors",
                                       disabled=is_linear),
        "min_dist": settings.slider("UMAP's least distance", OPTIONS["min_dist"], key="clusters-min-dist", step=0.01,
                                    disabled=is_linear),
    }


def _uncertainty() -> dict[str, Any]:
    st.markdown("**Significance**")
    return {
        "resamples": settings.number("Resamples", OPTIONS["resamples"], key="clusters-resamples", step=100),
        "seed": settings.number("Seed", OPTIONS["seed"], key="clusters-seed"),
        "lone_classes": settings.segments("Classes of one sentence", OPTIONS["lone_classes"], words=LONE_CLASS_LABELS,
                                          key="clusters-lone"),
    }
