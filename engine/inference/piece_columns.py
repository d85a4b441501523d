"""Pieces of one operation by columns: as a list of dictionaries the scores of two million sentences take 5 GB.

`PieceColumns` is a sequence of pieces; each is put together when it is asked for. Whoever needs one field of many takes
it by `flat`, `lengths`, `values` and `codes`, which take a list of pieces, too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, TypeGuard, overload

import numpy as np

from engine.inference.backend import Piece
from engine.inference.growing_array import GrowingArray

EXCLUDED = "excluded"
ADDED_AT_ONCE = 1024  # numbers of an array, of which several arrays are added together
_ARRAY, _TEXTS, _NUMBER = "array", "texts", "number"


class _Store:
    """The fields of regular pieces, each one after the other, and the others as they are.

    A piece is regular if it has the fields of the first that is not excluded: arrays of the same types, lists of texts,
    whole numbers. Its slot is its number, that of another below 0.
    """

    def __init__(self, most: int) -> None:
        """most: so many pieces come at most."""
        self.vocabulary: dict[str, int] = {}
        self.kinds: dict[str, tuple[Any, ...]] | None = None
        self.arrays: dict[str, np.ndarray] = {}  # by field; of texts their codes
        self.offsets: dict[str, np.ndarray] = {}  # of arrays and texts, one more than there are pieces
        self.others: list[Piece] = []
        self._most, self._n = most, 0
        self._parts: defaultdict[str, GrowingArray] = defaultdict(GrowingArray)
        self._ends: defaultdict[str, GrowingArray] = defaultdict(GrowingArray)
        self._words: list[str] = []

    def add(self, pieces: Iterable[Piece]) -> list[int]:
        """The slots of further pieces."""
        slots: list[int] = []
        regular: list[Piece] = []
        for piece in pieces:
            kinds = _kinds(piece)
            if self.kinds is None and kinds is not None:
                self.kinds = kinds
            if kinds is None or kinds != self.kinds:
                self.others.append(piece)
                slots.append(-len(self.others))
            else:
                slots.append(self._n + len(regular))
                regular.append(piece)
        if regular:
            self._add_regular(regular)
        return slots

    def _add_regular(self, pieces: Sequence[Piece]) -> None:
        is_first, self._n = self._n == 0, self._n + len(pieces)
        share = self._n / max(self._most, self._n)
        for name, kind in (self.kinds or {}).items():
            fields = [piece[name] for piece in pieces]
            if kind[0] == _NUMBER:
                part = np.array(fields, dtype=np.int64)
            elif kind[0] == _TEXTS:
                add = self.vocabulary.setdefault
                part = np.array([add(text, len(self.vocabulary)) for field in fields for text in field], dtype=np.int32)
            else:
                part = np.concatenate(fields)
            self._parts[name].add(part, share)
            if kind[0] != _NUMBER:
                ends = self._ends[name]
                if is_first:
                    ends.add(np.zeros(1, dtype=np.int64), share)
                n_each = np.fromiter(map(len, fields), np.int64, len(fields))
                ends.add(ends.array[-1] + np.cumsum(n_each), share)

    def finish(self) -> None:
        """Nothing is added from now on. Fields of equal lengths share their offsets."""
        self.arrays = {name: part.array for name, part in self._parts.items()}
        kept: list[np.ndarray] = []
        for name, ends in self._ends.items():
            offsets = next((known for known in kept if np.array_equal(known, ends.array)), ends.array)
            kept.append(offsets)
            self.offsets[name] = offsets
        self._parts.clear()
        self._ends.clear()

    def release(self, names: Iterable[str]) -> None:
        """Drop fields, but for how long each piece's are."""
        for name in names:
            self.arrays.pop(name, None)

    def piece(self, slot: int) -> Piece:
        """The piece in a slot; its arrays are parts of those of all."""
        if slot < 0:
            return self.others[-slot - 1]
        piece: Piece = {}
        for name, (kind, *_) in (self.kinds or {}).items():
            if name not in self.arrays:
                continue
            array = self.arrays[name]
            if kind == _NUMBER:
                piece[name] = int(array[slot])
                continue
            part = array[self.offsets[name][slot] : self.offsets[name][slot + 1]]
            piece[name] = [self.words[code] for code in part.tolist()] if kind == _TEXTS else part
        return piece

    @property
    def words(self) -> list[str]:
        """The different texts by their codes."""
        if len(self._words) < len(self.vocabulary):
            self._words = list(self.vocabulary)
        return self._words


class PieceColumns(Sequence[Piece]):
    """Pieces by columns, in any order; one piece may stand in several places.

    >>> builder = Builder(2)
    >>> builder.put([1, 0], [{"ids": np.array([1, 2]), "tokens": ["a", "b"]}, {"excluded": "too long"}])
    >>> pieces = builder.finished()
    >>> pieces[0], pieces[1]["tokens"], len(pieces[1:])
    ({'excluded': 'too long'}, ['a', 'b'], 1)
    """

    def __init__(self, store: _Store, slots: np.ndarray) -> None:
        """Use `Builder`."""
        self.store, self.slots = store, slots

    def __len__(self) -> int:
        return len(self.slots)

    @overload
    def __getitem__(self, index: int) -> Piece: ...
    @overload
    def __getitem__(self, index: slice) -> PieceColumns: ...
    def __getitem__(self, index: int | slice) -> Piece | PieceColumns:
        if isinstance(index, slice):
            return PieceColumns(self.store, self.slots[index].copy())
        return self.store.piece(int(self.slots[index]))

    def __setitem__(self, index: int, piece: Piece) -> None:
        self.store.others.append(piece)
        self.slots[index] = -len(self.store.others)


class Builder:
    """The pieces of `n` places, put there as they come."""

    def __init__(self, n: int) -> None:
        self._store, self._slots = _Store(n), np.zeros(n, dtype=np.int64)

    def put(self, places: Sequence[int] | np.ndarray, pieces: Iterable[Piece]) -> None:
        """Put pieces into places."""
        self._slots[np.asarray(places, dtype=np.int64)] = self._store.add(pieces)

    def finished(self, places: np.ndarray | None = None) -> PieceColumns:
        """The pieces of all places, or of these; each place must have one."""
        self._store.finish()
        return PieceColumns(self._store, self._slots if places is None else self._slots[places])


Pieces = Sequence[Piece]


def release(pieces: Pieces, *names: str) -> None:
    """Give up fields that nobody asks for any more, of all pieces that were put together with these.

    Their lengths stay known. Pieces that are kept one by one keep theirs.
    """
    if isinstance(pieces, PieceColumns):
        pieces.store.release(names)


def are_excluded(pieces: Pieces) -> np.ndarray:
    """Which pieces could not be computed: bool (n,)."""
    if not isinstance(pieces, PieceColumns):
        return np.array([EXCLUDED in piece for piece in pieces], dtype=bool)
    of_others = np.array([False, *(EXCLUDED in piece for piece in pieces.store.others)])
    return np.asarray(of_others[np.maximum(-pieces.slots, 0)])


def have(pieces: Pieces, places: np.ndarray, name: str) -> bool:
    """Whether all pieces at these places have a field."""
    if _is_regular(pieces, places):
        return name in pieces.store.arrays
    return all(name in pieces[place] for place in places.tolist())


def values(pieces: Pieces, places: np.ndarray, name: str) -> np.ndarray:
    """A field of one whole number of the pieces at these places: int64 (n,)."""
    if _is_regular(pieces, places):
        return np.asarray(pieces.store.arrays[name][pieces.slots[places]])
    return np.array([pieces[place][name] for place in places.tolist()], dtype=np.int64)


def lengths(pieces: Pieces, places: np.ndarray, name: str) -> np.ndarray:
    """The lengths of a field at these places: int64 (n,)."""
    if _is_regular(pieces, places):
        offsets, slots = pieces.store.offsets[name], pieces.slots[places]
        return np.asarray(offsets[slots + 1] - offsets[slots])
    return np.array([len(pieces[place][name]) for place in places.tolist()], dtype=np.int64)


def elements(pieces: Pieces, places: np.ndarray, name: str, index: int) -> np.ndarray:
    """One element of an array at each of these places, int64 (n,); each array has it."""
    if _is_regular(pieces, places):
        store = pieces.store
        found = store.arrays[name][store.offsets[name][pieces.slots[places]] + index]
        return np.asarray(found, dtype=np.int64)
    return np.array([pieces[place][name][index] for place in places.tolist()], dtype=np.int64)


def flat(pieces: Pieces, places: np.ndarray, name: str) -> np.ndarray:
    """The arrays of a field at these places, one after the other; there is one at least."""
    if not _is_regular(pieces, places):
        return np.concatenate([pieces[place][name] for place in places.tolist()])
    return _taken(pieces, places, name)


def codes(pieces: Pieces, places: np.ndarray, name: str, vocabulary: dict[str, int]) -> np.ndarray:
    """The texts of a field at these places, one after the other, by their numbers in a vocabulary that grows: int32."""
    if _is_regular(pieces, places):
        found = _taken(pieces, places, name)
        own, firsts = np.unique(found, return_index=True)
        words = pieces.store.words
        to_number = np.zeros(len(words), dtype=np.int32)
        for code in own[np.argsort(firsts)].tolist():
            to_number[code] = vocabulary.setdefault(words[code], len(vocabulary))
        return np.asarray(to_number[found])
    add = vocabulary.setdefault
    return np.array(
        [add(text, len(vocabulary)) for place in places.tolist() for text in pieces[place][name]], dtype=np.int32
    )


def field_sums(pieces: Pieces, places: np.ndarray, name: str) -> np.ndarray:
    """The sums of a field at these places, in float64 and as numpy adds each array alone: (n,)."""
    if not _is_regular(pieces, places):
        return np.array([np.sum(pieces[place][name], dtype=np.float64) for place in places.tolist()], dtype=np.float64)
    store, slots = pieces.store, pieces.slots[places]
    starts = store.offsets[name][slots]
    n_each = store.offsets[name][slots + 1] - starts
    found = np.zeros(len(places))
    for n in np.unique(n_each).tolist():  # numpy adds few numbers in an order that depends on how many they are
        of_length = np.flatnonzero(n_each == n)
        if n > ADDED_AT_ONCE:
            for place, start in zip(of_length.tolist(), starts[of_length].tolist(), strict=True):
                found[place] = np.sum(store.arrays[name][start : start + n], dtype=np.float64)
            continue
        found[of_length] = store.arrays[name][starts[of_length, None] + np.arange(n)].astype(np.float64).sum(axis=1)
    return found


def equal(first: Pieces, second: Pieces, places: np.ndarray, name: str) -> np.ndarray:
    """Whether the arrays of a field at these places are equal in both: bool (n,)."""
    result = np.zeros(len(places), dtype=bool)
    if not (_is_regular(first, places) and _is_regular(second, places)):
        pairs = ((first[place][name], second[place][name]) for place in places.tolist())
        return np.fromiter((np.array_equal(*pair) for pair in pairs), dtype=bool, count=len(places))
    n_each = lengths(first, places, name)
    alike = np.flatnonzero(n_each == lengths(second, places, name))
    differ = flat(first, places[alike], name) != flat(second, places[alike], name) if len(alike) else np.empty(0, bool)
    of_pair = np.repeat(np.arange(len(alike)), n_each[alike])
    result[alike] = np.bincount(of_pair, weights=differ, minlength=len(alike)) == 0
    return result


def _is_regular(pieces: Pieces, places: np.ndarray) -> TypeGuard[PieceColumns]:
    return isinstance(pieces, PieceColumns) and bool((pieces.slots[places] >= 0).all())


def _taken(pieces: PieceColumns, places: np.ndarray, name: str) -> np.ndarray:
    store, slots = pieces.store, pieces.slots[places]
    starts = store.offsets[name][slots]
    n_each = store.offsets[name][slots + 1] - starts
    if len(slots) and (np.diff(slots) == 1).all():
        return np.asarray(store.arrays[name][starts[0] : starts[-1] + n_each[-1]])
    before = np.cumsum(n_each) - n_each
    return np.asarray(store.arrays[name][np.repeat(starts - before, n_each) + np.arange(n_each.sum())])


def _kinds(piece: Piece) -> dict[str, tuple[Any, ...]] | None:
    """What the fields of a piece are; None for one that is not regular."""
    kinds: dict[str, tuple[Any, ...]] = {}
    for name, value in piece.items():
        if isinstance(value, np.ndarray) and value.ndim:
            kinds[name] = (_ARRAY, value.dtype, value.shape[1:])
        elif type(value) is int:
            kinds[name] = (_NUMBER,)
        elif type(value) is list and all(type(text) is str for text in value):
            kinds[name] = (_TEXTS,)
        else:
            return None
    return kinds if EXCLUDED not in kinds else None
