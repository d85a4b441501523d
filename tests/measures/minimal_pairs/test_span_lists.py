"""Spans of many sentences in arrays: the same lists."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.measures.minimal_pairs import span_lists
from engine.measures.minimal_pairs.span_lists import SpanLists

LISTS = st.lists(st.lists(st.tuples(st.integers(0, 2**31 - 1), st.integers(0, 2**31 - 1)), max_size=3), max_size=9)


@given(LISTS, st.integers(-9, 9), st.integers(-9, 9), st.sampled_from([1, 2, -1]))
def test_they_are_as_the_lists(lists: list[list[tuple[int, int]]], start: int, stop: int, step: int) -> None:
    spans = SpanLists.of(lists)
    assert list(spans) == lists and len(spans) == len(lists)
    assert [spans[i] for i in range(-len(lists), len(lists))] == [*lists, *lists]
    assert list(spans[start:stop:step]) == lists[start:stop:step]
    first, second = SpanLists.of_both(zip(lists, lists[::-1], strict=True))
    assert list(first) == lists and list(second) == lists[::-1]


def test_blocks_join(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(span_lists, "_BLOCK", 2)
    lists = [[(0, 1)], [], [(1, 2), (3, 4)], [], [(5, 6)]]
    assert list(SpanLists.of(lists)) == lists and list(SpanLists.of(lists)[1:4]) == lists[1:4]


def test_an_index_beyond_the_end_is_an_error() -> None:
    with pytest.raises(IndexError):
        _ = SpanLists.of([[]])[1]
