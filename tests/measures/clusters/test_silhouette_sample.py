"""The error of a sampled silhouette: beside a derivative by differences, many samples, and its edges."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from engine.measures.clusters import validity_inputs as module
from engine.measures.clusters.silhouette_sample import silhouette_error
from engine.measures.clusters.validity import silhouette
from engine.measures.clusters.validity_inputs import ValidityInputs, validity_inputs


def clouds(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    class_of = random.integers(4, size=n)
    spread = np.exp(random.normal(scale=0.3, size=(n, 1)))
    return random.normal(size=(n, 6)) * spread + random.normal(size=(4, 6))[class_of], class_of


def weighted_silhouette(inputs: ValidityInputs, weights: np.ndarray) -> float:
    """The definition, slowly, where a sentence counts `weights` times; a sentence leaves itself out once."""
    array, class_of = inputs.array[inputs.sample], inputs.class_of[inputs.sample]
    distances, values = cdist(array, array), []
    for i, own in enumerate(class_of):
        inside = (class_of == own) & (np.arange(len(array)) != i)
        within = np.average(distances[i, inside], weights=weights[inside])
        without = min(
            np.average(distances[i, class_of == other], weights=weights[class_of == other])
            for other in set(class_of.tolist()) - {own}
        )
        values.append((without - within) / max(within, without))
    return float(np.average(values, weights=weights))


def test_the_error_is_made_of_the_derivatives_of_the_definition(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SILHOUETTE_SENTENCES", 40)
    inputs, k, n, step = validity_inputs(*clouds(100)), 40, 100, 1e-6
    assert weighted_silhouette(inputs, np.ones(k)) == pytest.approx(silhouette(inputs))
    moved = [
        weighted_silhouette(inputs, np.ones(k) + step * (np.arange(k) == i))
        - weighted_silhouette(inputs, np.ones(k) - step * (np.arange(k) == i))
        for i in range(k)
    ]
    influence = k * np.array(moved) / (2 * step)
    assert silhouette_error(inputs) == pytest.approx(np.sqrt((1 - k / n) * influence.var(ddof=1) / k), rel=1e-4)


def test_it_is_the_spread_over_seeds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SILHOUETTE_SENTENCES", 300)
    inputs = validity_inputs(*clouds(900))
    drawn = [replace(inputs, seed=seed) for seed in range(60)]
    spread = np.std([silhouette(one) for one in drawn], ddof=1)
    # 60 samples know a standard deviation to about 9%.
    assert np.mean([silhouette_error(one) for one in drawn[:10]]) == pytest.approx(spread, rel=0.3)


def test_edges(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors, class_of = clouds(30)
    assert silhouette_error(validity_inputs(vectors, class_of)) == 0  # all are taken
    monkeypatch.setattr(module, "SILHOUETTE_SENTENCES", 20)
    assert np.isnan(silhouette_error(validity_inputs(np.ones((30, 2)), class_of)))
    alone = validity_inputs(np.repeat([[0.0, 0], [0, 1], [5, 5]], [14, 15, 1], axis=0), [0] * 14 + [1] * 15 + [2])
    for seed in range(5):  # equal vectors within the classes, and a class of one sentence
        assert 0 <= silhouette_error(replace(alone, seed=seed)) < 0.2
