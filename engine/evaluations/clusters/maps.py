"""Where each sentence lies among the others: its place on a map, and its nearest neighbours in all dimensions."""

from __future__ import annotations

import numpy as np

from engine.evaluations.clusters.records import Settings
from engine.evaluations.clusters.vectors import ModelVectors
from engine.inference.gateway import GatewaySession
from engine.measures.clusters.neighbours import N_NEIGHBOURS
from engine.measures.clusters.projection import fewest_for_umap


def why_no_map(vectors: ModelVectors, settings: Settings) -> str | None:
    """What keeps a model from having a map, None where nothing does."""
    # Of PCA as well: of fewer points any picture is as good.
    fewest = fewest_for_umap(settings.dimensions)
    if len(vectors.kept) < fewest:
        return f"A map in {settings.dimensions} dimensions needs at least {fewest} sentences; none is drawn."
    if settings.projection == "umap" and (without := _without_direction(vectors, settings)):
        return f"{without} so no map is drawn. Choose the euclidean metric, or PCA."
    return None


def why_no_neighbours(vectors: ModelVectors, settings: Settings) -> str | None:
    """What keeps the sentences of a model from having neighbours, None where nothing does."""
    if len(vectors.placed) > 1 and (vectors.placed == vectors.placed[0]).all():
        return "All sentence vectors are equal: no sentence is nearer than another, and no neighbours are named."
    without = _without_direction(vectors, settings)
    return f"{without} so no neighbours are named. Choose the euclidean metric." if without else None


def coordinates(vectors: ModelVectors, settings: Settings, session: GatewaySession) -> np.ndarray:
    """A map, float32 (n, dimensions), or NaN where none can be drawn."""
    if why_no_map(vectors, settings):
        return np.full((len(vectors.kept), settings.dimensions), np.nan, dtype=np.float32)
    if settings.projection == "pca":
        return session.project(vectors.placed, method="pca", n_components=settings.dimensions)
    return session.project(vectors.placed, method="umap", n_neighbors=settings.n_neighbors, min_dist=settings.min_dist,
                           metric=settings.metric, seed=settings.seed, n_components=settings.dimensions)


def nearest(vectors: ModelVectors, settings: Settings, session: GatewaySession) -> tuple[np.ndarray, np.ndarray] | None:
    """Neighbours and their distances, (n, 10 at most) each, or None where they are not defined."""
    if why_no_neighbours(vectors, settings):
        return None
    piece = session.on_vectors("nearest_neighbours", vectors.placed, label=f"Nearest neighbours: {vectors.model}",
                               n_neighbours=N_NEIGHBOURS, metric=settings.metric)
    return piece["neighbours"], piece["distances"]


def _without_direction(vectors: ModelVectors, settings: Settings) -> str | None:
    if settings.metric != "cosine" or vectors.has_directions():
        return None
    n = int((~np.any(vectors.placed, axis=1)).sum())
    return f"{n} of {len(vectors.kept)} sentence vectors are 0 and have no direction, so no cosine,"
