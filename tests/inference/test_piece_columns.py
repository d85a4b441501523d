"""Pieces by columns: each as it was put, and each field of many as the pieces have it one by one."""

from __future__ import annotations

import tracemalloc
import weakref
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.inference.backend import Piece
from engine.inference.cache import Cache
from engine.inference.owned_pieces import OwnedPieces
from engine.inference.piece_columns import (
    Builder,
    PieceColumns,
    are_excluded,
    codes,
    elements,
    equal,
    field_sums,
    flat,
    have,
    lengths,
    release,
    values,
)


@st.composite
def piece(draw: st.DrawFn) -> Piece:
    """A piece as of a sentence; at times an excluded one, or one with another field."""
    if draw(st.integers(0, 5)) == 0:
        return {"excluded": "too long"}
    n = draw(st.integers(1, 20))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    made: Piece = {
        "tokens": draw(st.lists(st.sampled_from(["a", "猫", "ed", ""]), min_size=n, max_size=n)),
        "n_unknown": draw(st.integers(0, 3)),
        "ids": random.integers(0, 3, n).astype(np.int32),
        "spans": random.integers(0, 9, (n, 2)).astype(np.int32),
        "log_likelihoods": (-random.gamma(2, 3, n) * 10.0 ** random.integers(-12, 3, n)).astype(np.float32),
    }
    return made | ({"word_boundaries": np.zeros(n + 1, dtype=np.float32)} if draw(st.integers(0, 9)) == 0 else {})


def columns_of(pieces: Sequence[Piece]) -> PieceColumns:
    """The pieces, put in parts and from the end."""
    builder = Builder(len(pieces))
    for start in reversed(range(0, len(pieces), 3)):
        places = range(start, min(start + 3, len(pieces)))
        builder.put(places, [pieces[place] for place in places])
    return builder.finished()


def assert_equal(one: Piece, other: Piece) -> None:
    assert one.keys() == other.keys()
    for name, value in one.items():
        assert type(value) is type(other[name])
        np.testing.assert_array_equal(value, other[name], strict=isinstance(value, np.ndarray))


@given(st.lists(piece(), min_size=1, max_size=12), st.data())
def test_every_field_is_as_in_the_pieces_themselves(pieces: list[Piece], data: st.DataObject) -> None:
    made = columns_of(pieces)
    assert len(made) == len(pieces)
    for one, other in zip(made, pieces, strict=True):
        assert_equal(one, other)
    np.testing.assert_array_equal(are_excluded(made), are_excluded(pieces), strict=True)
    there = np.flatnonzero(~are_excluded(pieces))
    places = np.array(data.draw(st.permutations(there.tolist())), dtype=np.int64)
    if not len(places):
        return
    whole: list[Any] = [made, pieces]
    for call in (
        lambda of: lengths(of, places, "ids"),
        lambda of: values(of, places, "n_unknown"),
        lambda of: elements(of, places, "ids", 0),
        lambda of: flat(of, places, "spans"),
        lambda of: flat(of, places, "log_likelihoods"),
        lambda of: field_sums(of, places, "log_likelihoods"),
        lambda of: equal(of, of[::-1], places[are_mirrored(pieces, places)], "ids"),
        lambda of: np.array([have(of, places, "word_boundaries")]),
    ):
        np.testing.assert_array_equal(call(whole[0]), call(whole[1]), strict=True)
    vocabularies: list[dict[str, int]] = [{}, {}]
    found = [codes(of, places, "tokens", words) for of, words in zip(whole, vocabularies, strict=True)]
    np.testing.assert_array_equal(*found, strict=True)
    assert list(vocabularies[0].items()) == list(vocabularies[1].items())


def are_mirrored(pieces: Sequence[Piece], places: np.ndarray) -> np.ndarray:
    """Which of these places hold a piece that can be compared with that as far from the end."""
    return ~are_excluded(pieces[::-1])[places]


@pytest.mark.parametrize("n", [1, 2, 7, 8, 9, 64, 127, 128, 129, 1000, 9000])
def test_sums_are_numpys_of_each_array_alone_to_the_last_bit(n: int) -> None:
    random = np.random.default_rng(n)
    pieces = [
        {"x": (-random.gamma(2, 3, n) * 10.0 ** random.integers(-20, 9, n)).astype(np.float32)} for _ in range(20)
    ]
    expected = [np.sum(piece["x"], dtype=np.float64) for piece in pieces]
    assert field_sums(columns_of(pieces), np.arange(20), "x").tolist() == expected


def test_a_piece_is_replaced_in_one_place_and_one_view_alone() -> None:
    made = columns_of([{"ids": np.array([1])}, {"ids": np.array([2])}])
    part = made[:1]
    part[0] = {"ids": np.array([3])}
    assert [piece["ids"].tolist() for piece in (*part, *made)] == [[3], [1], [2]]
    assert lengths(part, np.array([0]), "ids").tolist() == [1] and flat(part, np.array([0]), "ids").tolist() == [3]


@pytest.fixture
def cache(tmp_path: Any) -> Iterator[Cache]:
    cache = Cache(tmp_path / "c.sqlite", 2**24)
    yield cache
    cache.close()


def test_an_owner_finds_public_pieces_and_its_own(cache: Cache) -> None:
    everybody, ann, ben = (OwnedPieces(cache, owner, "samples") for owner in ("samples", "ann", "ben"))
    everybody.put_many({"k": {"n": 1}, "both": {"n": 1}})
    ann.put_many({"own": {"n": 2}, "both": {"n": 2}})
    wanted = ["k", "own", "both", "none"]
    assert ann.get_many(wanted) == {"k": {"n": 1}, "both": {"n": 1}, "own": {"n": 2}}
    assert ben.get_many(wanted) == {"k": {"n": 1}, "both": {"n": 1}}


def test_a_field_that_is_given_up_takes_no_memory_and_all_others_stay() -> None:
    made = columns_of([{"ids": np.arange(n), "tokens": ["a"] * n, "n_unknown": n} for n in (2, 3, 1, 4)])
    places, part = np.array([3, 0]), made[1:]
    held = weakref.ref(made.store.arrays["ids"])
    release(part, "ids", "none")
    assert held() is None
    assert lengths(made, places, "ids").tolist() == [4, 2] and not have(made, places, "ids")
    assert made[0] == {"tokens": ["a", "a"], "n_unknown": 2} and values(part, np.array([0]), "n_unknown").tolist() == [
        3
    ]
    one_by_one = [{"ids": np.arange(2)}]
    release(one_by_one, "ids")
    assert one_by_one[0]["ids"].tolist() == [0, 1]


def test_no_field_is_there_twice_while_many_pieces_come() -> None:
    n, n_each, at_once = 4000, 50, 40
    text = np.arange(n_each, dtype=np.int64)
    tracemalloc.start()
    try:
        builder = Builder(n)
        for start in range(0, n, at_once):
            builder.put(range(start, start + at_once), [{"first": text, "second": text}] * at_once)
        made = builder.finished()
        there, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    both = 2 * n * n_each * text.itemsize
    assert sum(array.nbytes for array in made.store.arrays.values()) == both
    # What is counted is the room, a tenth more than is written to. Beside it there was the former room of one field, a
    # quarter of it and more at most.
    assert there < 1.2 * both and most < 1.35 * both
    assert made.store.offsets["first"] is made.store.offsets["second"]
