"""Functions on the rows of all datasets: leave out bad ones, find empty and repeated ones, and hash the content."""

from __future__ import annotations

import hashlib
import json
import math
import re
import struct
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from engine.datasets.formats.encodings import DETECT, ENCODINGS
from engine.datasets.formats.files import Table
from engine.datasets.formats.grid import ROW_NUMBERS
from engine.errors import BadRow, InputError
from engine.language.quantities import count
from engine.options import option

ROWS_IN_NOTICE = 10
REASONS_IN_NOTICE = 3
LEFT_OUT = "left_out"  # of the attributes of a dataset's frame

# At the start of the reason of a row that could not be cut into columns.
_POSITION = re.compile(r"^(line|element) [0-9]+:? ")


@dataclass(frozen=True)
class Reading:
    """How a file of rows is read."""

    skip_bad_rows: bool = option(False, "Leave out the rows that cannot be used (blank, without a needed text, not "
                                        "cut into the columns) in place of refusing the file; excluded.csv lists "
                                        "them.")
    encoding: str = option(DETECT, "Encoding of a text file. UTF-8 and UTF-16 are recognised; any other is a guess, "
                                   "which a notice states.", choices=(DETECT, *ENCODINGS))


def usable(table: Table, columns: Mapping[str, Sequence[str]], find_fault: Callable[[str], str | None], problem: str,
           advice: str, *, skip_bad_rows: bool) -> Table:
    """The table without the rows for a value of which, in any of `columns`, `find_fault` names a reason.

    `columns` hold a value for each row and are named as in the file. Without `skip_bad_rows`, or when no row would
    remain, such rows raise InputError, in which every one is listed: `problem` continues the message after the count
    ("3 of 40 rows lack a sentence"), `advice` says how to correct them.
    """
    numbers = [int(number) for number in table.frame.index]
    reasons: dict[int, list[str]] = {}
    for title, texts in columns.items():
        for number, text in zip(numbers, texts, strict=True):
            reason = find_fault(text)
            if reason:
                reasons.setdefault(number, []).append(f"'{title}' {reason}")
    bad = [BadRow(number, " and ".join(reasons[number])) for number in sorted(reasons)]
    return without_rows(table, bad, f"{problem}. {advice}", skip_bad_rows=skip_bad_rows)


def without_rows(table: Table, bad: Sequence[BadRow], problem: str, *, skip_bad_rows: bool) -> Table:
    """The table without its rows `bad`, which it keeps as left out; else InputError, as `usable` raises it."""
    if not bad:
        return table
    if not skip_bad_rows or len(bad) == len(table.frame):
        raise InputError(f"{table.name}: {len(bad):,} of {count(len(table.frame), 'row')} {problem} {ROW_NUMBERS}", bad)
    kept = table.frame[~table.frame.index.isin([row.row for row in bad])]
    left_out = sorted((*table.left_out, *bad), key=lambda row: row.row)
    return replace(table, frame=kept, left_out=tuple(left_out))


def left_out_notice(left_out: Sequence[BadRow]) -> tuple[str, ...]:
    """A notice of the rows that were left out: how many for which reason, and the first of them; none for no rows.

    >>> left_out_notice([BadRow(2, "'text' is empty"), BadRow(5, "line 6 has 1 field instead of 2")])
    ("2 rows left out: 'text' is empty (row 2); has 1 field instead of 2 (row 5).",)
    """
    if not left_out:
        return ()
    by_reason: dict[str, list[int]] = {}
    for bad in left_out:
        by_reason.setdefault(_POSITION.sub("", bad.reason), []).append(bad.row)
    ordered = sorted(by_reason.items(), key=lambda item: -len(item[1]))
    parts = []
    for reason, numbers in ordered[:REASONS_IN_NOTICE]:
        listed = ", ".join(map(str, numbers[:ROWS_IN_NOTICE]))
        what = f"row {listed}" if len(numbers) == 1 else f"{count(len(numbers), 'row')}: {listed}"
        parts.append(f"{reason} ({what}{', …' if len(numbers) > ROWS_IN_NOTICE else ''})")
    n_others = sum(len(numbers) for _, numbers in ordered[REASONS_IN_NOTICE:])
    if n_others:
        parts.append(f"other reasons ({count(n_others, 'row')})")
    return (f"{count(len(left_out), 'row')} left out: {'; '.join(parts)}.",)


def with_left_out(frame: pd.DataFrame, left_out: Sequence[BadRow]) -> pd.DataFrame:
    """A dataset's own frame, to which the rows left out are attached, so that they are stored with it."""
    if left_out:
        # One text, because pandas copies the attributes of a frame with every operation.
        frame.attrs[LEFT_OUT] = json.dumps([[bad.row, bad.reason] for bad in left_out], ensure_ascii=False)
    return frame


def left_out_of(frame: pd.DataFrame) -> tuple[BadRow, ...]:
    """The rows that `with_left_out` attached to a frame."""
    return tuple(BadRow(int(number), str(reason)) for number, reason in json.loads(frame.attrs.get(LEFT_OUT, "[]")))


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


def content_hash(kind: str, columns: Mapping[str, Sequence[str | int | float]], left_out: Sequence[BadRow] = ()) -> str:
    """SHA-256 (hex) of columns of values, in their order, for a dataset of that kind, and of the rows left out, if any.

    Every value is hashed with its length, so that ("ab", "c") and ("a", "bc") differ; numbers as
    IEEE doubles, NaN as one value. The hash does not depend on platform or library versions.
    """
    if left_out:
        columns = {**columns, "left out": [bad.row for bad in left_out], "reason": [bad.reason for bad in left_out]}
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
