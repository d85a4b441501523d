"""The spans of many sentences in two arrays: as lists of tuples those of two million sentences take 800 MB."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import overload

import numpy as np
from numpy.typing import NDArray

Span = tuple[int, int]
_BLOCK = 4096  # sentences whose spans are Python's at once


class SpanLists(Sequence[Sequence[Span]]):
    """Lists of spans, (start, end) in characters, one list for each sentence.

    >>> spans = SpanLists.of([[(0, 3), (4, 8)], [], [(1, 2)]])
    >>> spans[0], list(spans[1:])
    ([(0, 3), (4, 8)], [[], [(1, 2)]])
    """

    def __init__(self, spans: NDArray[np.int32], offsets: NDArray[np.int64]) -> None:
        """spans: (n_spans, 2); offsets: where those of each sentence begin, and where the last ones end."""
        self._spans, self._offsets = spans, offsets

    @classmethod
    def of(cls, lists: Iterable[Iterable[Span]]) -> SpanLists:
        """These lists."""
        return cls.of_both((spans, ()) for spans in lists)[0]

    @classmethod
    def of_both(cls, pairs: Iterable[tuple[Iterable[Span], Iterable[Span]]]) -> tuple[SpanLists, SpanLists]:
        """The first and the second lists of pairs of them."""
        flat, offsets = (array("i"), array("i")), (array("q", [0]), array("q", [0]))
        for pair in pairs:
            for spans, to, ends in zip(pair, flat, offsets, strict=True):
                for span in spans:
                    to.extend(span)
                ends.append(len(to) // 2)
        first, second = (
            cls(np.array(to, dtype=np.int32).reshape(-1, 2), np.array(ends, dtype=np.int64))
            for to, ends in zip(flat, offsets, strict=True)
        )
        return first, second

    def __len__(self) -> int:
        return len(self._offsets) - 1

    @overload
    def __getitem__(self, index: int) -> Sequence[Span]: ...
    @overload
    def __getitem__(self, index: slice) -> SpanLists: ...
    def __getitem__(self, index: int | slice) -> Sequence[Span] | SpanLists:
        if isinstance(index, slice):
            start, stop, step = index.indices(len(self))
            if step != 1:
                return SpanLists.of(self[i] for i in range(start, stop, step))
            return SpanLists(self._spans, self._offsets[start : max(start, stop) + 1])
        index = range(len(self))[index]
        return list(map(tuple, self._spans[self._offsets[index] : self._offsets[index + 1]].tolist()))

    def __iter__(self) -> Iterator[Sequence[Span]]:
        for start in range(0, len(self), _BLOCK):
            offsets = self._offsets[start : start + _BLOCK + 1]
            spans = list(map(tuple, self._spans[offsets[0] : offsets[-1]].tolist()))
            for begin, end in pairwise((offsets - offsets[0]).tolist()):
                yield spans[begin:end]
