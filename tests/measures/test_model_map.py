"""The map of models: worked by hand, against the divergence that it approximates, and its properties."""

from __future__ import annotations

import numpy as np
import pytest

from engine.errors import InputError
from engine.measures.model_map import kl_divergence, model_map

RANDOM = np.random.default_rng(7)
TABLE = -10 * RANDOM.random((5, 40))


def test_by_hand() -> None:
    # Three models, two texts. Row means -2, -2, -3; centred rows (1, -1), (-1, 1), (0, 0); the mean over the models is
    # (0, 0). Distances: ||(2, -2)||² / 2 = 4 between the first two, ||(1, -1)||² / 2 = 1 from each to the third.
    found = model_map([[-1, -3], [-3, -1], [-3, -3]])
    np.testing.assert_allclose(found.squared_distances, [[0, 4, 1], [4, 0, 1], [1, 1, 0]], atol=1e-12)
    # They lie on a line: at 1, -1 and 0, up to the sign of the axis; the greatest is positive.
    np.testing.assert_allclose(np.abs(found.coordinates[:, 0]), [1, 1, 0], atol=1e-12)
    assert found.coordinates[0, 0] == pytest.approx(-found.coordinates[1, 0])
    np.testing.assert_allclose(found.coordinates[:, 1], 0, atol=1e-7)
    np.testing.assert_allclose(found.explained, [1, 0], atol=1e-12)
    # 4 nats² are a divergence of 2 nats a text; of 8 bytes each: 2 / (8 ln 2) bits a byte
    assert kl_divergence(found.squared_distances, 8)[0, 1] == pytest.approx(2 / (8 * np.log(2)))


def test_the_distance_is_the_variance_of_the_log_ratio() -> None:
    distances = model_map(TABLE).squared_distances
    for i in range(len(TABLE)):
        for j in range(len(TABLE)):
            assert distances[i, j] == pytest.approx(np.var(TABLE[i] - TABLE[j]), abs=1e-9)


def test_half_the_variance_is_the_divergence_of_near_models() -> None:
    # A text is one of 50; p_0 draws them, the models tilt it a little: log p = log p_0 + t f - log Σ p_0 exp(t f).
    # The exact KL divergence is a sum over the 50 texts; 200,000 drawn texts give the approximation.
    base = RANDOM.dirichlet(np.ones(50))
    tilt = RANDOM.normal(size=50)
    models = [base * np.exp(t * tilt) / (base * np.exp(t * tilt)).sum() for t in (-0.05, 0.05)]
    exact = float((models[0] * np.log(models[0] / models[1])).sum())
    texts = RANDOM.choice(50, size=200_000, p=base)
    distance = model_map([np.log(model)[texts] for model in models]).squared_distances[0, 1]
    # second order in t, and a sample: within 5%
    assert kl_divergence(distance, 1 / np.log(2)) == pytest.approx(exact, rel=0.05)


def test_identical_models_are_at_no_distance_and_all_is_symmetric() -> None:
    twice = np.vstack([TABLE, TABLE[2]])
    distances = model_map(twice).squared_distances
    assert distances[2, 5] == 0 and np.diag(distances).tolist() == [0] * 6
    np.testing.assert_array_equal(distances, distances.T)
    assert (distances >= 0).all()
    # a constant for every text is no other distribution of them
    np.testing.assert_allclose(
        model_map(TABLE + np.array([[3], [0], [0], [0], [-7]])).squared_distances,
        model_map(TABLE).squared_distances,
        atol=1e-9,
    )


def test_the_order_of_the_texts_and_of_the_models_does_not_count() -> None:
    order, models = RANDOM.permutation(40), RANDOM.permutation(5)
    found, other = model_map(TABLE), model_map(TABLE[models][:, order])
    np.testing.assert_allclose(other.squared_distances, found.squared_distances[np.ix_(models, models)], atol=1e-9)
    np.testing.assert_allclose(other.coordinates, found.coordinates[models], atol=1e-7)


def test_the_plane_shows_what_it_says_and_never_more() -> None:
    found = model_map(TABLE)
    on_map = ((found.coordinates[:, None] - found.coordinates[None]) ** 2).sum(axis=2)
    assert (on_map <= found.squared_distances + 1e-9).all() and 0 < found.explained.sum() < 1
    # the sums over all pairs: the share that the plane explains
    assert on_map.sum() / found.squared_distances.sum() == pytest.approx(found.explained.sum())


def test_edges_and_refusals() -> None:
    alone = model_map([[-1.0, -2.0]])
    assert alone.coordinates.tolist() == [[0, 0]] and alone.explained.tolist() == [0, 0]
    two = model_map(TABLE[:2])
    assert two.explained == pytest.approx([1, 0])
    for table in ([[-1.0], [-2.0]], np.empty((0, 3)), [[-1.0, np.nan]], [[-1.0, -np.inf]]):
        with pytest.raises(InputError, match="A map of models needs"):
            model_map(table)
    with pytest.raises(InputError, match="above 0 bytes"):
        kl_divergence([[0.0]], 0)
