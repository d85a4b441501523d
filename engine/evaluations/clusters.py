"""Clusters: how far do a model's sentence vectors keep labelled sentences apart?

Sentences and labels in; in-class dispersion A_m, out-of-class dispersion B_m, their ratio M_m and a
two-dimensional map for each model out. Paper: Shibayama et al., PACLIC 34 (2020), section 3.1.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from engine.datasets.labelled_sentences import LabelledSentences
from engine.errors import InputError
from engine.evaluations.signature import require_models, resolve_layer, signature
from engine.inference.gateway import GatewaySession
from engine.language.normalize import normalize
from engine.measures.dispersion import Dispersion, dispersion

POOLINGS = ("cls", "mean")
PROJECTIONS = ("umap", "pca")
METRICS = ("cosine", "euclidean")
MAP_MINIMUM = 4  # UMAP's neighbour graph needs as many


@dataclass(frozen=True)
class Settings:
    """What to weigh and how. `layer` None is the last; `normalize` are steps of `engine.language.normalize`."""

    models: tuple[str, ...]
    layer: int | None = None
    pooling: str = "cls"
    normalize: tuple[str, ...] = ()
    projection: str = "umap"
    n_neighbors: int = 15
    min_dist: float = 0.1
    metric: str = "cosine"
    seed: int = 0


@dataclass(frozen=True)
class Result:
    """Everything the clusters page draws.

    models: model, n_sentences, n_classes, in_class_dispersion, out_of_class_dispersion, score, rank.
    classes: model, class, n, dispersion, centroid_distance. points: model, row, text, label, x, y.
    excluded: model, row, text, reason.
    """

    settings: Settings
    dataset_name: str
    models: pd.DataFrame
    classes: pd.DataFrame
    points: pd.DataFrame
    excluded: pd.DataFrame
    notices: tuple[str, ...] = ()
    signature: dict[str, Any] = field(default_factory=dict)


def evaluate(settings: Settings, dataset: LabelledSentences, session: GatewaySession) -> Result:
    """Weigh each model of `settings` on `dataset`.

    Sentences beyond a model's length are left out for that model and listed in `excluded`. Raises
    InputError for settings that cannot be, and when fewer than two classes remain; ModelError
    from the model.
    """
    _check(settings)
    texts = [normalize(text, settings.normalize) for text in dataset.texts]
    all_facts, layers, parts = [], {}, []
    for model in settings.models:
        facts = session.describe(model)
        layer = resolve_layer(settings.layer, facts)
        all_facts.append(facts)
        layers[model] = layer
        pieces = session.sentence_vectors(model, texts, layers=[layer], pooling=settings.pooling)
        kept = [i for i, piece in enumerate(pieces) if "excluded" not in piece]
        excluded = [(model, dataset.rows[i], dataset.texts[i], str(piece["excluded"]))
                    for i, piece in enumerate(pieces) if "excluded" in piece]
        labels = [dataset.labels[i] for i in kept]
        if len(set(labels)) < 2:
            raise InputError(f"{model} can read {len(kept)} of {len(texts)} sentences, of {len(set(labels))} classes; "
                             "clustering needs at least 2. Shorten the sentences, or choose a model that reads "
                             "longer ones.")
        vectors = np.stack([np.asarray(pieces[i]["vectors"])[0] for i in kept])  # (n_kept, hidden)
        weighed = dispersion(vectors, labels)
        coordinates = _coordinates(vectors, settings, session)
        parts.append((model, weighed, kept, coordinates, excluded))

    models = pd.DataFrame([_model_row(model, weighed, len(kept)) for model, weighed, kept, _, _ in parts])
    models["rank"] = models["score"].rank(method="min").astype("Int64")
    return Result(
        settings=settings, dataset_name=dataset.name, models=models,
        classes=pd.DataFrame([
            {"model": model, "class": one.label, "n": one.n, "dispersion": one.dispersion,
             "centroid_distance": one.centroid_distance}
            for model, weighed, *_ in parts for one in weighed.classes
        ]),
        points=pd.concat([_points(model, dataset, kept, xy) for model, _, kept, xy, _ in parts], ignore_index=True),
        excluded=pd.DataFrame([row for *_, rows in parts for row in rows], columns=["model", "row", "text", "reason"]),
        notices=(*dataset.notices, *_notices(parts, len(texts))),
        signature=signature(settings, all_facts, dataset.content_hash, libraries=("umap-learn",), layers=layers),
    )


def _check(settings: Settings) -> None:
    require_models(settings.models)
    for name, given, allowed in (("pooling", settings.pooling, POOLINGS), ("metric", settings.metric, METRICS),
                                 ("projection", settings.projection, PROJECTIONS)):
        if given not in allowed:
            raise InputError(f"{name} is one of {', '.join(allowed)}; got {given!r}.")
    if settings.n_neighbors < 2:
        raise InputError(f"n_neighbors is at least 2; got {settings.n_neighbors}.")
    if not 0 <= settings.min_dist <= 1:
        raise InputError(f"min_dist lies between 0 and 1; got {settings.min_dist}.")


def _coordinates(vectors: np.ndarray, settings: Settings, session: GatewaySession) -> np.ndarray:
    """A map (n, 2), or NaN where there are too few sentences for one."""
    if len(vectors) < MAP_MINIMUM:
        return np.full((len(vectors), 2), np.nan, dtype=np.float32)
    if settings.projection == "pca":
        return session.project(vectors, method="pca")
    return session.project(vectors, method="umap", n_neighbors=settings.n_neighbors, min_dist=settings.min_dist,
                           metric=settings.metric, seed=settings.seed)


def _model_row(model: str, weighed: Dispersion, n_sentences: int) -> dict[str, Any]:
    return {"model": model, "n_sentences": n_sentences, "n_classes": len(weighed.classes),
            "in_class_dispersion": weighed.in_class, "out_of_class_dispersion": weighed.out_of_class,
            "score": weighed.score}


def _points(model: str, dataset: LabelledSentences, kept: list[int], xy: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame({
        "model": model, "row": [dataset.rows[i] for i in kept], "text": [dataset.texts[i] for i in kept],
        "label": [dataset.labels[i] for i in kept], "x": xy[:, 0], "y": xy[:, 1],
    })


def _notices(parts: list[Any], n_sentences: int) -> list[str]:
    notices = [f"{model}: {len(excluded)} of {n_sentences} sentences are beyond its length and were left out."
               for model, _, _, _, excluded in parts if excluded]
    if any(len(kept) < MAP_MINIMUM for _, _, kept, _, _ in parts):
        notices.append(f"A map needs at least {MAP_MINIMUM} sentences; none is drawn.")
    notices += [f"{model}: all class centroids coincide, so the score A_m / B_m is undefined."
                for model, weighed, *_ in parts if not weighed.out_of_class > 0]
    return notices
