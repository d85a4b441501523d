"""Where each sentence lies among the others: its place on a map, and its nearest neighbours in all dimensions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.evaluations.clusters.records import Settings
from engine.evaluations.clusters.vectors import ModelVectors
from engine.inference.gateway import GatewaySession
from engine.language.quantities import count
from engine.measures.clusters.neighbours import N_NEIGHBOURS
from engine.measures.clusters.projection import fewest_for_umap, turned_onto
from engine.messages.message import Message

# UMAP lays out at most so many sentences, a sample of each class in proportion, and places the others among them.
UMAP_SENTENCES = 50_000


def why_no_map(vectors: ModelVectors, settings: Settings) -> str | None:
    """What keeps a model from having a map, None where nothing does."""
    # Of PCA as well: of fewer points any picture is as good.
    fewest = fewest_for_umap(settings.dimensions)
    if len(vectors.kept) < fewest:
        return Message(
            "A map in {dimensions} dimensions needs at least {fewest} sentences; none is drawn.",
            dimensions=settings.dimensions,
            fewest=fewest,
        )
    if settings.projection == "pca" and vectors.placed.shape[1] < settings.dimensions:
        return Message(
            "The vectors have {shape}: no map in {dimensions} is drawn by PCA.",
            shape=count(vectors.placed.shape[1], "dimension"),
            dimensions=settings.dimensions,
        )
    if settings.projection == "umap" and (without := _without_direction(vectors, settings)):
        return Message("{without} so no map is drawn. Choose the euclidean metric, or PCA.", without=without)
    return None


def n_fitted(vectors: ModelVectors, settings: Settings) -> int | None:
    """How many sentences UMAP is fitted to where it is not all of them; None where it is, and where it draws no map."""
    is_sampled = settings.projection == "umap" and len(vectors.kept) > UMAP_SENTENCES
    return UMAP_SENTENCES if is_sampled and why_no_map(vectors, settings) is None else None


def why_no_neighbours(vectors: ModelVectors, settings: Settings) -> str | None:
    """What keeps the sentences of a model from having neighbours, None where nothing does."""
    if len(vectors.placed) > 1 and (vectors.placed == vectors.placed[0]).all():
        return Message(
            "All sentence vectors are equal: no sentence is nearer than another, and no neighbours are named."
        )
    without = _without_direction(vectors, settings)
    return (
        Message("{without} so no neighbours are named. Choose the euclidean metric.", without=without)
        if without
        else None
    )


def maps(all_vectors: Sequence[ModelVectors], settings: Settings, session: GatewaySession) -> list[np.ndarray]:
    """A map of each model, float32 (n, dimensions) each, NaN where none can be drawn.

    UMAP leaves open how a map is turned. The first is turned onto the widest directions of its vectors, which change
    little where the vectors do, so that a later map of the same sentences lies much as this one does; those of the
    other models are turned onto the first.
    """
    drawn = [_coordinates(vectors, settings, session) for vectors in all_vectors]
    if settings.projection == "pca":
        return drawn
    first = next((index for index, places in enumerate(drawn) if not np.isnan(places).any()), None)
    if first is None:
        return drawn
    if min(all_vectors[first].placed.shape) >= settings.dimensions:
        drawn[first] = turned_onto(
            drawn[first], session.project(all_vectors[first].placed, method="pca", n_components=settings.dimensions)
        )
    return [
        places if index <= first or np.isnan(places).any() else turned_onto(places, drawn[first])
        for index, places in enumerate(drawn)
    ]


def _coordinates(vectors: ModelVectors, settings: Settings, session: GatewaySession) -> np.ndarray:
    """The map of one model as it comes, or NaN where none can be drawn."""
    if why_no_map(vectors, settings):
        return np.full((len(vectors.kept), settings.dimensions), np.nan, dtype=np.float32)
    if settings.projection == "pca":
        return session.project(vectors.placed, method="pca", n_components=settings.dimensions)
    fitted = n_fitted(vectors, settings)
    return session.project(
        vectors.placed,
        method="umap",
        n_neighbors=settings.n_neighbors,
        min_dist=settings.min_dist,
        metric=settings.metric,
        seed=settings.seed,
        n_components=settings.dimensions,
        **({"n_fitted": fitted, "class_of": vectors.class_of} if fitted else {}),
    )


def nearest(vectors: ModelVectors, settings: Settings, session: GatewaySession) -> tuple[np.ndarray, np.ndarray] | None:
    """Neighbours and their distances, (n, 10 at most) each, or None where they are not defined."""
    if why_no_neighbours(vectors, settings):
        return None
    piece = session.on_vectors(
        "nearest_neighbours",
        vectors.placed,
        label=Message("Nearest neighbours: {model}", model=vectors.model),
        n_neighbours=N_NEIGHBOURS,
        metric=settings.metric,
    )
    return piece["neighbours"], piece["distances"]


def _without_direction(vectors: ModelVectors, settings: Settings) -> str | None:
    if settings.metric != "cosine" or vectors.has_directions():
        return None
    n = int((~np.any(vectors.placed, axis=1)).sum())
    return Message(
        "{n} of {kept} sentence vectors are 0 and have no direction, so no cosine,", n=n, kept=len(vectors.kept)
    )
