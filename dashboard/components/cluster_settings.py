"""The choices of the clusters page: the settings of a run, and which classes its maps bring out."""

from __future__ import annotations

import streamlit as st

from dashboard.wording import verbatim
from engine.evaluations.clusters import METRICS, POOLINGS, PROJECTIONS, Settings
from engine.language.normalize import STEPS

PILLS = 12  # more than these are easier found by typing


def cluster_settings(models: tuple[str, ...]) -> Settings:
    """Draws the choices, defaults as published, and returns them with `models` as the settings of a run."""
    with st.popover("Settings", icon=":material/tune:", key="clusters-settings"):
        pooling = st.segmented_control(
            "Sentence vector", POOLINGS, default="cls", required=True, key="clusters-pooling", persist_state="session",
            help="The first token's vector, or the mean over all tokens. A model without a CLS token needs the mean.")
        layer = st.number_input(
            "Layer", value=None, step=1, key="clusters-layer", placeholder="the last", persist_state="session",
            help="0 = embeddings; -1 = the last, also when left empty.")
        normalize = st.pills("Normalise texts first", STEPS, selection_mode="multi", key="clusters-normalize",
                             persist_state="session")
        projection = st.segmented_control(
            "Map", PROJECTIONS, default="umap", required=True, key="clusters-projection", persist_state="session",
            help="UMAP shows neighbourhoods; PCA is linear and stable.")
        linear = projection == "pca"
        metric = st.segmented_control("Distance of the map", METRICS, default="cosine", required=True, disabled=linear,
                                      key="clusters-metric", persist_state="session")
        neighbors = st.slider("Neighbours", 2, 100, 15, key="clusters-neighbors", persist_state="session",
                              disabled=linear, help="Few: local detail. Many: the broad shape.")
        seed = st.number_input("Seed", value=0, min_value=0, step=1, key="clusters-seed", persist_state="session")
    return Settings(models=models, layer=layer, pooling=pooling, normalize=tuple(normalize), projection=projection,
                    n_neighbors=neighbors, metric=metric, seed=seed)


def class_choice(classes: list[str], run_id: str | None) -> list[str]:
    """The classes to bring out on the maps, the others in grey; none chosen means all alike."""
    label, key = "Bring out classes", f"clusters-classes-{run_id}"
    if len(classes) <= PILLS:
        return st.pills(label, classes, selection_mode="multi", key=key, format_func=verbatim)
    return st.multiselect(label, classes, key=key)
