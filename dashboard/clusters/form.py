"""The choices of the clusters page: the settings of a run. Few are in the open, the rest is folded."""

from __future__ import annotations

from typing import Any

import streamlit as st

from engine.evaluations.clusters.records import METRICS, POOLINGS, PROJECTIONS, Settings
from engine.language.normalize import STEPS

MAPS = {"umap": "UMAP", "pca": "PCA"}
DIMENSIONS = {2: "2-D", 3: "3-D"}
LONE = {"keep": "Keep", "exclude": "Leave out"}


def cluster_settings(models: tuple[str, ...]) -> Settings:
    """Draws the choices, defaults as published, and returns them with `models` as the settings of a run."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        pooling = st.segmented_control(
            "Sentence vector", POOLINGS, default="cls", required=True, key="clusters-pooling", persist_state="session",
            help="The first token's vector, or the mean over all tokens. A model without a CLS token needs the mean.")
        layer = st.number_input(
            "Layer", value=None, step=1, key="clusters-layer", placeholder="the last", persist_state="session",
            width=130, help="0 = embeddings; -1 = the last, also when left empty.")
        projection = st.segmented_control(
            "Map", PROJECTIONS, format_func=MAPS.__getitem__, default="umap", required=True, key="clusters-projection",
            persist_state="session", help="UMAP shows neighbourhoods. PCA is linear and stable, and needs no settings.")
        dimensions = st.segmented_control(
            "Dimensions", list(DIMENSIONS), format_func=DIMENSIONS.__getitem__, default=2, required=True,
            key="clusters-dimensions", persist_state="session")
        with st.popover("More settings", icon=":material/tune:", key="clusters-settings"):
            more = _vectors() | _map(is_linear=projection == "pca") | _certainty()
    return Settings(models=models, layer=layer, pooling=pooling, projection=projection, dimensions=dimensions, **more)


def _vectors() -> dict[str, Any]:
    st.markdown("**Texts and vectors**")
    normalize = st.pills("Normalise texts first", STEPS, selection_mode="multi", key="clusters-normalize",
                         persist_state="session", help="nfkc: full width to half width and so on. lower: lower case.")
    centre = st.toggle(
        "Mean-centre for cosines", False, key="clusters-centre", persist_state="session",
        help="Takes the mean vector off before cosines are taken, on the map and for neighbours: raw CLS vectors share "
        "one dominant direction. A_m, B_m and M_m do not depend on it.")
    curve = st.toggle("Score at every layer", False, key="clusters-curve", persist_state="session",
                      help="M_m of each layer, from the same forward pass.")
    return {"normalize": tuple(normalize), "centre": centre, "layer_curve": curve}


def _map(*, is_linear: bool) -> dict[str, Any]:
    st.markdown("**Map and neighbours**")
    metric = st.segmented_control("Distance", METRICS, default="cosine", required=True, key="clusters-metric",
                                  persist_state="session",
                                  help="Of the map (PCA is always euclidean), and of nearest neighbours.")
    neighbors = st.slider("UMAP's neighbours", 2, 100, 15, key="clusters-neighbors", persist_state="session",
                          disabled=is_linear, help="n_neighbors. Few: local detail. Many: the broad shape.")
    min_dist = st.slider("UMAP's least distance", 0.0, 0.99, 0.1, 0.01, key="clusters-min-dist",
                         persist_state="session", disabled=is_linear, help="min_dist. Small: tight clumps.")
    return {"metric": metric, "n_neighbors": neighbors, "min_dist": min_dist}


def _certainty() -> dict[str, Any]:
    st.markdown("**Chance**")
    resamples = st.number_input("Resamples", 100, 10_000, 1000, step=100, key="clusters-resamples",
                                persist_state="session", help="Of the bootstrap, and of the shuffled labels.")
    seed = st.number_input("Seed", value=0, min_value=0, step=1, key="clusters-seed", persist_state="session",
                           help="Of every random step: the same seed gives the same numbers and the same map.")
    lone = st.segmented_control("Classes of one sentence", list(LONE), format_func=LONE.__getitem__, default="keep",
                                required=True, key="clusters-lone", persist_state="session",
                                help="Such a class adds nothing to A_m, and its centroid counts in B_m.")
    return {"resamples": resamples, "seed": seed, "lone_classes": lone}
