"""Columns of texts as Arrow keeps them: a text takes its bytes and 8 more, where a tuple of str takes 60 beside it.

A column here is a sequence of str, which compares, adds and slices as a tuple of the same texts does.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from json.encoder import encode_basestring
from typing import Any, overload

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

BLOCK = 2**14  # texts that are Python's at once

_TEXT = pa.large_string()


class _Column(Sequence[str]):
    """What columns have in common: they equal a sequence of the same texts."""

    def __add__(self, other: Sequence[str]) -> Sequence[str]:
        return concatenated((self, other))

    def __radd__(self, other: Sequence[str]) -> Sequence[str]:
        return concatenated((other, self))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Column | tuple):
            return NotImplemented
        return self is other or (len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True)))

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))

    def blocks(self) -> Iterator[list[str]]:
        """The texts, BLOCK at a time."""
        texts = iter(self)
        while block := list(islice(texts, BLOCK)):
            yield block


class TextColumn(_Column):
    """Texts in an Arrow array without nulls.

    >>> column = TextColumn.of(["a", "b"])
    >>> column == ("a", "b"), column[1], column[:1] + ("c",)
    (True, 'b', ('a', 'c'))
    """

    __slots__ = ("array",)

    def __init__(self, array: pa.ChunkedArray) -> None:
        self.array = array

    @classmethod
    def of(cls, texts: Iterable[str]) -> TextColumn:
        """A column of these texts, of which a block is Python's at once. Raises UnicodeEncodeError for a half of a pair."""
        given = iter(texts)
        blocks = []
        while block := list(islice(given, BLOCK)):
            blocks.append(pa.array(block, _TEXT))
        return cls(pa.chunked_array(blocks, _TEXT))

    def __len__(self) -> int:
        return len(self.array)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...
    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        if isinstance(index, slice):
            return TextColumn(self.array[index])
        text: str = self.array[index].as_py()
        return text

    def __iter__(self) -> Iterator[str]:
        return chain.from_iterable(self.blocks())

    def blocks(self) -> Iterator[list[str]]:
        """The texts, BLOCK at a time."""
        for chunk in self.array.chunks:
            for start in range(0, len(chunk), BLOCK):
                yield chunk.slice(start, BLOCK).to_pylist()

    def __reduce__(self) -> Any:
        return TextColumn, (self.array,)


class JsonRows(_Column):
    """Rows of columns of texts, each as a JSON object of these texts by the name of their column, as `json.dumps` writes.

    >>> JsonRows(["n", "text"], [("1",), ('"Hé"',)])[0]
    '{"n": "1", "text": "\\\\"Hé\\\\""}'
    """

    __slots__ = ("_keys", "columns", "names")

    def __init__(self, names: Sequence[str], columns: Sequence[Sequence[str]]) -> None:
        self.names, self.columns = list(names), list(columns)
        self._keys = [f"{encode_basestring(name)}: " for name in self.names]

    def __len__(self) -> int:
        return len(self.columns[0]) if self.columns else 0

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...
    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        if isinstance(index, slice):
            return JsonRows(self.names, [column[index] for column in self.columns])
        return self._row([column[index] for column in self.columns])

    def __iter__(self) -> Iterator[str]:
        return map(self._row, zip(*self.columns, strict=True))

    def __reduce__(self) -> Any:
        return JsonRows, (self.names, self.columns)

    def _row(self, texts: Sequence[str]) -> str:
        return (
            "{" + ", ".join([key + encode_basestring(text) for key, text in zip(self._keys, texts, strict=True)]) + "}"
        )


class Rows(Sequence[tuple[str, ...]]):
    """The texts of several columns by rows, without keeping them.

    >>> list(Rows(("a", "b"), ("c", "d")))
    [('a', 'c'), ('b', 'd')]
    """

    def __init__(self, *columns: Sequence[str]) -> None:
        self._columns = columns

    def __len__(self) -> int:
        return len(self._columns[0])

    @overload
    def __getitem__(self, index: int) -> tuple[str, ...]: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[tuple[str, ...]]: ...
    def __getitem__(self, index: int | slice) -> tuple[str, ...] | Sequence[tuple[str, ...]]:
        if isinstance(index, slice):
            return Rows(*(column[index] for column in self._columns))
        return tuple(column[index] for column in self._columns)

    def __iter__(self) -> Iterator[tuple[str, ...]]:
        return zip(*self._columns, strict=True)


def texts_of_series(series: pd.Series) -> Sequence[str]:
    """The texts of a column of a frame: Arrow's own, where it keeps them, else a tuple."""
    if isinstance(series.dtype, pd.StringDtype) and series.dtype.storage == "pyarrow":
        array: pa.ChunkedArray = series.array.__arrow_array__()
        if not array.null_count:
            return TextColumn(array if array.type == _TEXT else array.cast(_TEXT))
    return tuple(series.tolist())


def series_of_texts(texts: Sequence[str], index: pd.Index | None = None) -> pd.Series:
    """The texts as a column of a frame."""
    if isinstance(texts, JsonRows):
        texts = TextColumn.of(texts)
    return pd.Series(pd.array(texts.array, dtype="str") if isinstance(texts, TextColumn) else texts, index, dtype="str")


def concatenated(columns: Iterable[Sequence[str]]) -> Sequence[str]:
    """Columns one after the other: Arrow's where all are, else a tuple."""
    parts = list(columns)
    if parts and all(isinstance(part, TextColumn) for part in parts):
        chunks = chain.from_iterable(part.array.chunks for part in parts if isinstance(part, TextColumn))
        return TextColumn(pa.chunked_array(list(chunks), _TEXT))
    return tuple(chain.from_iterable(parts))


def at(texts: Sequence[str], places: Sequence[int] | np.ndarray) -> Sequence[str]:
    """The texts at these places."""
    if isinstance(texts, TextColumn):
        if len(places) == len(texts) and np.array_equal(places, np.arange(len(texts))):
            return texts  # all of them, without a copy
        return TextColumn(texts.array.take(pa.array(places, pa.int64())))
    if isinstance(texts, JsonRows):
        return JsonRows(texts.names, [at(column, places) for column in texts.columns])
    return tuple(texts[place] for place in places)


def any_match(texts: Sequence[str], pattern: str) -> bool:
    """Whether a text matches somewhere; pattern: of RE2 and of `re` alike."""
    if isinstance(texts, TextColumn):
        return bool(pc.any(pc.match_substring_regex(texts.array, pattern)).as_py())
    found = re.compile(pattern)
    return any(found.search(text) for text in texts)


def group_name(text: str) -> str:
    """The name of a group of rows, such as a class or a category: without white space at its ends, in Unicode's NFC.

    Names that look alike are one name, as macOS writes が with a mark of its own in the names of files.

    >>> group_name("か\u3099 ") == "が"
    True
    """
    return unicodedata.normalize("NFC", text.strip())


def labels(texts: Iterable[str], change: Callable[[str], str] = str) -> tuple[str, ...]:
    """Texts of which many are equal, each changed and kept once."""
    kept: dict[str, str] = {}
    return tuple(kept.setdefault(text, text) for text in map(change, texts))
