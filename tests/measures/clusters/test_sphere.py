"""Alignment and uniformity: by hand, the code of their paper in torch, properties, edges."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
import torch

from engine.measures.clusters import sphere, validity_inputs
from engine.measures.clusters.sphere import class_alignment, uniformity
from engine.measures.clusters.validity_inputs import validity_inputs as prepared


def both(vectors: object, labels: object) -> tuple[float, float]:
    inputs = prepared(vectors, labels)  # type: ignore[arg-type]
    return class_alignment(inputs), uniformity(inputs)


def align_loss(x: torch.Tensor, y: torch.Tensor, alpha: float = 2) -> torch.Tensor:
    """Wang and Isola 2020, figure 5, as printed; x, y: positive pairs of unit vectors."""
    return (x - y).norm(dim=1).pow(alpha).mean()


def uniform_loss(x: torch.Tensor, t: float = 2) -> torch.Tensor:
    """The same figure."""
    sq_pdist = torch.pdist(x, p=2).pow(2)
    return sq_pdist.mul(-t).exp().mean().log()


def test_by_hand() -> None:
    # East twice (of other lengths), north and west. Squared distances: a right angle 2, opposite 4.
    vectors, labels = [[2.0, 0.0], [5.0, 0.0], [0.0, 1.0], [-3.0, 0.0]], ["a", "a", "b", "b"]
    alignment, even = both(vectors, labels)
    assert alignment == pytest.approx((0 + 2) / 2)
    # Pairs: 0 once, 2 three times (north with each), 4 twice (west with either east).
    assert even == pytest.approx(math.log((1 + 3 * math.exp(-4) + 2 * math.exp(-8)) / 6))


@pytest.mark.parametrize("shape", [(12, 3), (700, 24), (40, 768)])
def test_equals_the_code_of_the_paper(shape: tuple[int, int]) -> None:
    random = np.random.default_rng(5)
    vectors = random.normal(size=shape) * np.geomspace(1, 9, shape[1]) + 0.7
    labels = random.integers(0, 4, shape[0])
    units = torch.nn.functional.normalize(torch.tensor(vectors), dim=1)
    positive = [(i, j) for i, j in combinations(range(shape[0]), 2) if labels[i] == labels[j]]
    first, second = (units[[pair[side] for pair in positive]] for side in (0, 1))
    alignment, even = both(vectors, labels)
    assert alignment == pytest.approx(float(align_loss(first, second)), rel=1e-9)
    assert even == pytest.approx(float(uniform_loss(units)), rel=1e-9)


def test_neither_length_nor_turn_nor_order_changes_them_and_the_origin_does() -> None:
    random = np.random.default_rng(6)
    vectors, labels = random.normal(size=(50, 8)) + 0.5, np.repeat(["a", "b"], 25)
    expected = both(vectors, labels)
    turn, _ = np.linalg.qr(random.normal(size=(8, 8)))
    order = random.permutation(50)
    assert both(vectors * random.uniform(0.1, 9, (50, 1)) @ turn, labels) == pytest.approx(expected)
    assert both(vectors[order], labels[order]) == expected
    assert both(vectors + 3, labels) != pytest.approx(expected, rel=0.01)


def test_what_is_spread_and_what_lies_on_one_point() -> None:
    random = np.random.default_rng(7)
    spread = both(random.normal(size=(800, 300)), ["a", "b"] * 400)
    assert spread == pytest.approx((2, -4), abs=0.05)  # in a high dimension any two are nearly at a right angle
    point = both(np.ones((4, 3)) * [[1], [2], [3], [4]], ["a", "b"] * 2)
    assert point == pytest.approx((0, 0), abs=1e-12)
    assert both([[1.0, 0.0], [-1.0, 0.0]], ["a", "b"])[1] == pytest.approx(-8)  # the lowest there is


def test_undefined_without_a_pair_or_a_direction() -> None:
    assert np.isnan(both([[1.0, 0.0], [0.0, 1.0]], ["a", "b"])[0])
    assert np.isnan(both([[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]], ["a", "a", "b"])).all()


def test_a_sample_of_many_sentences_is_near_to_all(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(8)
    vectors, labels = random.normal(size=(1500, 6)) + 0.4, ["a", "b"] * 750
    whole = both(vectors, labels)
    monkeypatch.setattr(sphere, "_BLOCK_ROWS", 70)
    assert both(vectors, labels) == pytest.approx(whole)
    monkeypatch.setattr(validity_inputs, "SILHOUETTE_SENTENCES", 500)
    alignment, even = both(vectors, labels)
    assert alignment == whole[0] and even != whole[1] and even == pytest.approx(whole[1], abs=0.05)
