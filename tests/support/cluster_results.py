"""Results of the clusters page without a model: Gaussian classes, every table of `clusters.Result` filled from them.

The tables that the pages only draw (intervals, comparisons, the null, indices, layers) hold plausible numbers, not
computed ones; distances, centroids and neighbours are computed here, so that a mix-up of rows or models is seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from engine.evaluations.clusters.records import (
    COMPARISONS,
    EXCLUDED,
    LAYERS,
    OVERLAP,
    VALIDITY,
    VALIDITY_FUNCTIONS,
    Result,
    Settings,
)
from engine.measures.clusters.dispersion import dispersion

SIZE = 8
NEIGHBOURS = 10
MEASURES = ("in_class_dispersion", "out_of_class_dispersion", "dispersion_score")


def result_of(
    *,
    models: Sequence[str] = ("owner/first", "owner/second"),
    n_classes: int = 3,
    n_per_class: int = 8,
    dimensions: int = 2,
    mapped: bool = True,
    layers: int = 0,
    texts: Sequence[str] | None = None,
    classes: Sequence[str] | None = None,
    separable: bool = True,
    seed: int = 0,
) -> Result:
    """A result over `n_classes * n_per_class` sentences; rows are 1, 2, 3 …, the classes taking turns."""
    n = n_classes * n_per_class
    texts = texts or [f"{row}番目の文" for row in range(1, n + 1)]
    classes = classes or [f"組{k + 1}" for k in range(n_classes)]
    labels = [classes[i % n_classes] for i in range(n)]
    parts: dict[str, list[pd.DataFrame]] = {}
    for index, model in enumerate(models):
        vectors = _vectors(np.random.default_rng(seed + index), n_classes, n, spread=1 + index / 4)
        for name, table in _tables(model, vectors, labels, texts, dimensions, mapped, layers).items():
            parts.setdefault(name, []).append(table)
    tables: dict[str, Any] = {name: pd.concat(frames, ignore_index=True) for name, frames in parts.items()}
    dispersions = tables["models"]
    dispersions["rank"] = dispersions["score"].rank(method="min").astype("Int64")
    dispersions["rank_group"] = dispersions["rank"] if separable else pd.array([1] * len(dispersions), dtype="Int64")
    n_models = len(dispersions)
    dispersions["rank_first"] = dispersions["rank"] if separable else pd.array([1] * n_models, dtype="Int64")
    dispersions["rank_last"] = dispersions["rank"] if separable else pd.array([n_models] * n_models, dtype="Int64")
    pairs = [
        {
            "model": first,
            "other": second,
            "difference": -1.0,
            "ci_low": -1.5,
            "ci_high": -0.5 if separable else 0.5,
            "separable": separable,
        }
        for first, second in combinations(models, 2)
    ]
    overlap = [
        {
            "model": first,
            "other": second,
            "mean_overlap": 0.25,
            "expected": 10 / n,
            "cka": 0.75,
            "expected_cka": 0.3,
            "rsa": 0.6,
            "n_rsa": n,
            "rsa_error": np.nan,
        }
        for first, second in combinations(models, 2)
    ]
    return Result(
        settings=Settings(tuple(models), dimensions=dimensions, layer_curve=layers > 0),
        dataset_name="given",
        comparisons=COMPARISONS.frame_of_records(pairs),
        overlap=OVERLAP.frame_of_records(overlap),
        excluded=EXCLUDED.frame(),
        signature={
            "models": [{"name": model} for model in models],
            "settings": {"seed": 0},
            "versions": {"hakari": "0"},
        },
        **tables,
    )


def _vectors(random: np.random.Generator, n_classes: int, n: int, spread: float) -> np.ndarray:
    centres = 4 * random.normal(size=(n_classes, SIZE))
    return centres[np.arange(n) % n_classes] + spread * random.normal(size=(n, SIZE))  # (n, SIZE)


def _tables(
    model: str, vectors: np.ndarray, labels: list[str], texts: Sequence[str], dimensions: int, mapped: bool, layers: int
) -> dict[str, pd.DataFrame]:
    dispersions = dispersion(vectors, labels)
    names = [group.label for group in dispersions.classes]
    label_of = np.asarray(labels, dtype=object)
    centres = np.stack([vectors[label_of == name].mean(axis=0) for name in names])  # (n_classes, SIZE)
    to_centres = np.linalg.norm(vectors[:, None] - centres[None], axis=2)  # (n, n_classes)
    own_distances = to_centres[np.arange(len(labels)), [names.index(label) for label in labels]]
    map_of = vectors[:, :3].astype(np.float32) if mapped else np.full((len(labels), 3), np.nan, np.float32)
    if dimensions == 2:
        map_of[:, 2] = np.nan
    values = dict(zip(MEASURES, (dispersions.in_class, dispersions.out_of_class, dispersions.score), strict=True))
    n_near = min(NEIGHBOURS, len(labels) - 1)
    distances = np.linalg.norm(vectors[:, None] - vectors[None], axis=2)  # (n, n)
    np.fill_diagonal(distances, np.inf)
    nearest = np.argsort(distances, axis=1)[:, :n_near]  # (n, n_near)
    rows = np.arange(1, len(labels) + 1)
    return {
        "models": pd.DataFrame(
            [
                {
                    "model": model,
                    "n_sentences": len(labels),
                    "n_classes": len(names),
                    "in_class_dispersion": dispersions.in_class,
                    "out_of_class_dispersion": dispersions.out_of_class,
                    "score": dispersions.score,
                    "in_class_variance": dispersions.in_class / len(labels),
                    "out_of_class_variance": dispersions.out_of_class / len(names),
                    "unknown_share": 0.0,
                }
            ]
        ),
        "classes": pd.DataFrame(
            [
                {
                    "model": model,
                    "class": group.label,
                    "n": group.n,
                    "dispersion": group.dispersion,
                    "centroid_distance": group.centroid_distance,
                }
                for group in dispersions.classes
            ]
        ),
        "intervals": pd.DataFrame(
            [
                {"model": model, "measure": measure, "value": value, "ci_low": 0.9 * value, "ci_high": 1.1 * value}
                for measure, value in values.items()
            ]
        ),
        "null": pd.DataFrame(
            [
                {
                    "model": model,
                    "score": dispersions.score,
                    "null_mean": 9 * dispersions.score,
                    "null_low": 8 * dispersions.score,
                    "null_high": 10 * dispersions.score,
                    "p_value": 0.001,
                }
            ]
        ),
        "validity": VALIDITY.frame_of_records(
            [
                {
                    "model": model,
                    **dict.fromkeys(VALIDITY_FUNCTIONS, 0.5),
                    "silhouette": 0.25,
                    "calinski_harabasz": 30.5,
                    "davies_bouldin": 1.25,
                    "ari": 0.4,
                    "sample_size": len(labels),
                    "n_starts": 10,
                    "silhouette_error": np.nan,
                }
            ]
        ),
        "layers": LAYERS.frame_of_records(
            [
                {
                    "model": model,
                    "layer": layer,
                    "in_class_dispersion": dispersions.in_class,
                    "out_of_class_dispersion": dispersions.out_of_class,
                    "score": dispersions.score * (layers - layer + 1),
                }
                for layer in range(layers)
            ]
        ),
        "points": pd.DataFrame(
            {
                "model": model,
                "row": rows,
                "text": list(texts),
                "label": labels,
                "x": map_of[:, 0],
                "y": map_of[:, 1],
                "z": map_of[:, 2],
                "own_distance": own_distances,
                "nearest_class": [names[k] for k in to_centres.argmin(axis=1)],
                "nearest_distance": to_centres.min(axis=1),
            }
        ),
        "centroids": pd.DataFrame(
            [
                {"model": model, "class": name, **dict(zip("xyz", map_of[label_of == name].mean(axis=0), strict=True))}
                for name in names
            ]
        ),
        "centroid_distances": pd.DataFrame(
            [
                {
                    "model": model,
                    "class": first,
                    "other": second,
                    "distance": float(np.linalg.norm(centres[i] - centres[j])),
                }
                for i, first in enumerate(names)
                for j, second in enumerate(names)
            ]
        ),
        "neighbours": pd.DataFrame(
            {
                "model": model,
                "row": np.repeat(rows, n_near),
                "rank": np.tile(np.arange(1, n_near + 1), len(labels)),
                "neighbour": rows[nearest.ravel()],
                "distance": np.take_along_axis(distances, nearest, axis=1).ravel(),
            }
        ),
    }
