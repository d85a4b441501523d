"""Functions on the rows of all datasets: find empty and repeated ones, and hash the content."""

from __future__ import annotations

import hashlib
import math
import struct
from collections.abc import Callable, Hashable, Mapping, Sequence

import pandas as pd

from engine.datasets.formats.grid import ROW_NUMBERS
from engine.errors import BadRow, InputError
from engine.language.quantities import count

ROWS_IN_NOTICE = 10


def refuse_bad_rows(name: str, numbers: Sequence[int], columns: Mapping[str, Sequence[str]],
                    find_fault: Callable[[str], str | None], problem: str, advice: str) -> None:
    """Raise InputError if `find_fault` names a reason for any value of `columns`; every such row is listed.

    `columns` are named as in the file. `problem` continues the message after the count ("3 of 40 rows lack a
    sentence"), `advice` says how to correct them.
    """
    reasons: dict[int, list[str]] = {}
    for title, texts in columns.items():
        for number, text in zip(numbers, texts, strict=True):
            reason = find_fault(text)
            if reason:
                reasons.setdefault(number, []).append(f"'{title}' {reason}")
    if reasons:
        bad = [BadRow(number, " and ".join(reasons[number])) for number in sorted(reasons)]
        raise InputError(f"{name}: {len(bad):,} of {count(len(numbers), 'row')} {problem}. {advice} {ROW_NUMBERS}", bad)


def empty_reason(text: str) -> str | None:
    """Why a text counts as empty: no character, or none that is visible (spaces, zero-width characters); else None."""
    if not text:
        return "is empty"
    # Gaiji in the private use area count as visible although str.isprintable is False for them.
    if any(not char.isspace() and (char.isprintable() or "\ue000" <= char <= "\uf8ff") for char in text):
        return None
    return "holds only spaces"


def repeated_rows(numbers: Sequence[int], keys: Sequence[Hashable]) -> list[int]:
    """The numbers of the rows whose key an earlier row has."""
    seen: set[Hashable] = set()
    repeats = []
    for number, key in zip(numbers, keys, strict=True):
        if key in seen:
            repeats.append(number)
        seen.add(key)
    return repeats


def row_notice(numbers: Sequence[int], message: str) -> tuple[str, ...]:
    """A notice such as "2 rows repeat an earlier sentence: 4, 9.", or none for no rows.

    `message` follows the count, with {s} after a verb that takes an s for one row.
    """
    if not numbers:
        return ()
    listed = ", ".join(map(str, numbers[:ROWS_IN_NOTICE])) + (", …" if len(numbers) > ROWS_IN_NOTICE else "")
    return (f"{count(len(numbers), 'row')} {message.format(s='s' if len(numbers) == 1 else '')}: {listed}.",)


def content_hash(kind: str, columns: Mapping[str, Sequence[str | int | float]]) -> str:
    """SHA-256 (hex) of columns of values, in their order, for a dataset of that kind.

    Every value is hashed with its length, so that ("ab", "c") and ("a", "bc") differ; numbers as
    IEEE doubles, NaN as one value. The hash does not depend on platform or library versions.
    """
    digest = hashlib.sha256()
    for part in (kind, *columns):
        digest.update(_length_prefixed(part))
    for values in columns.values():
        digest.update(len(values).to_bytes(8, "big"))
        digest.update(b"".join(map(_length_prefixed, values)))
    return digest.hexdigest()


def texts_of(frame: pd.DataFrame, name: str, *, required: bool = True) -> tuple[str, ...]:
    """A column of a dataset's own frame; "" throughout where one that is not required is absent.

    Raises InputError when a required column is absent, or listing every row that holds no str.
    """
    if name not in frame.columns:
        if required:
            raise InputError(f"The frame has no column '{name}'; it has: {', '.join(map(str, frame.columns))}.")
        return ("",) * len(frame)
    values = frame[name].tolist()
    bad = [BadRow(number, f"'{name}' holds {value!r}") for number, value in enumerate(values, start=1)
           if not isinstance(value, str)]
    if bad:
        raise InputError(f"The frame's column '{name}' must hold texts only. {ROW_NUMBERS}", bad)
    return tuple(values)


def numbers_of(frame: pd.DataFrame) -> tuple[int, ...]:
    """The column "row" of a dataset's own frame, or 1, 2, 3 … where it is absent."""
    return tuple(int(number) for number in frame["row"]) if "row" in frame.columns else tuple(range(1, len(frame) + 1))


def _length_prefixed(value: str | int | float) -> bytes:
    if isinstance(value, str):
        encoded = value.encode("utf-8", "surrogatepass")
    else:
        encoded = struct.pack(">d", math.nan if math.isnan(value) else value + 0.0)  # + 0.0: -0.0 is 0.0
    return len(encoded).to_bytes(8, "big") + encoded
