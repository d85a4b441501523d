"""Pieces that answer their owner alone: another owner's session computes them again, with the same numbers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from engine.errors import ModelError
from engine.inference.backend import Piece
from engine.inference.cache import Cache
from engine.inference.gateway import Gateway
from engine.inference.owned_pieces import pieces_for
from tests.support.fakes import FakeBackend

BERT, SAMPLES = "fake/bert", "samples"
TEXTS = [f"{number}番目の文" for number in range(12)]


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[Cache]:
    cache = Cache(tmp_path / "cache.sqlite", 2**28)
    yield cache
    cache.close()


def vectors(gateway: Gateway, owner: str, texts: list[str]) -> np.ndarray:
    return np.stack(
        [piece["vectors"] for piece in gateway.session(f"of {owner}", owner=owner).sentence_vectors(BERT, texts)]
    )


def computed(backend: FakeBackend) -> tuple[int, int]:
    """How many vectors, and how many descriptions of models, were asked of the backend."""
    return backend.n_items("sentence_vectors"), backend.n_items("describe")


def test_another_owner_computes_again_and_gets_equal_numbers(cache: Cache) -> None:
    backend = FakeBackend()
    gateway = Gateway(backend, cache, SAMPLES)
    of_ann = vectors(gateway, "ann", TEXTS)
    assert computed(backend) == (12, 1)
    np.testing.assert_array_equal(vectors(gateway, "ben", TEXTS), of_ann)
    assert computed(backend) == (24, 2)
    for owner in ("ann", "ben"):  # each finds their own, also in another process
        np.testing.assert_array_equal(vectors(Gateway(backend, cache, SAMPLES), owner, TEXTS), of_ann)
    assert computed(backend) == (24, 2)
    counts = backend.statistics.read()
    assert counts.misses == 2 * 13 and counts.hits == 2 * 13  # the vectors and the description, of each owner


def test_what_the_samples_computed_answers_everybody_and_nothing_else_does(cache: Cache) -> None:
    backend = FakeBackend()
    gateway = Gateway(backend, cache, SAMPLES)
    of_samples = vectors(gateway, SAMPLES, TEXTS[:8])
    assert computed(backend) == (8, 1)
    of_ann = vectors(gateway, "ann", TEXTS)  # 4 are not the samples'
    np.testing.assert_array_equal(of_ann[:8], of_samples)
    assert computed(backend) == (12, 1)
    np.testing.assert_array_equal(vectors(gateway, SAMPLES, TEXTS), of_ann)  # Ann's 4 do not answer the samples' runs
    assert computed(backend) == (16, 1)


def test_shared_pieces_answer_everybody_and_none_of_them_a_private_session(cache: Cache) -> None:
    backend = FakeBackend()
    shared = Gateway(backend, cache)
    vectors(shared, "ann", TEXTS)
    vectors(shared, "ben", TEXTS)
    assert computed(backend) == (12, 1)
    vectors(Gateway(backend, cache, SAMPLES), "ben", TEXTS)  # the operator has chosen otherwise since
    assert computed(backend) == (24, 2)
    vectors(shared, "eve", TEXTS)  # and again
    assert computed(backend) == (24, 2)


def test_finished_pieces_are_stored_though_a_later_part_fails(cache: Cache) -> None:
    def parts(missing: list[str]) -> Iterator[dict[str, Piece]]:
        yield {missing[0]: {"value": 1.0}}
        raise ModelError("no more")

    pieces = pieces_for("ann", cache, SAMPLES)
    assert pieces is not None
    with pytest.raises(ModelError):
        pieces.cached(["a", "b"], parts)
    seen: list[list[str]] = []
    found = pieces.cached(["b", "a", "a"], lambda missing: seen.append(missing) or [{"b": {"value": 2.0}}])  # type: ignore[func-returns-value]
    assert found == {"a": {"value": 1.0}, "b": {"value": 2.0}} and seen == [["b"]]
    pieces.put_many({"late": {"value": 3.0}})
    assert pieces.cached(["late"], lambda missing: pytest.fail("it is there")) == {"late": {"value": 3.0}}
    other = pieces_for("ben", cache, SAMPLES)
    assert other is not None
    assert other.cached(["late"], lambda missing: [{"late": {"value": 4.0}}]) == {"late": {"value": 4.0}}


def test_without_a_cache_everything_is_computed(cache: Cache) -> None:
    backend = FakeBackend()
    gateway = Gateway(backend, None, SAMPLES)
    vectors(gateway, "ann", TEXTS)
    vectors(gateway, "ann", TEXTS)
    assert backend.n_items("sentence_vectors") == 24
