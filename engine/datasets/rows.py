"""Functions on the rows of all datasets: leave out bad ones, find empty and repeated ones, and hash the content."""

from __future__ import annotations

import hashlib
import json
import math
import re
import struct
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

import numpy as np
import pandas as pd

from engine.datasets.formats.columns import JOIN
from engine.datasets.formats.files import Table
from engine.datasets.formats.grid import GAPS, ROW_NUMBERS, quoted, unquoted
from engine.datasets.text_column import BLOCK, TextColumn, any_match, series_of_texts, texts_of_series
from engine.errors import BadRow, InputError
from engine.language.quantities import count
from engine.messages.earlier_texts import read_message
from engine.messages.message import Message, as_text, list_of, together

ROWS_IN_NOTICE = 10
REASONS_IN_NOTICE = 3
LEFT_OUT = "left_out"  # of the attributes of a dataset's frame

# Reasons of rows, made with the name of the column.
EMPTY = Message("'{column}' is empty")
ONLY_SPACES = Message("'{column}' holds only spaces")

IS_ERROR = Message("'{column}' holds {text}, a spreadsheet's error value")
# What spreadsheets show in place of a value, also in files that they write.
ERROR_VALUES = ("#N/A", "#REF!", "#VALUE!", "#DIV/0!", "#NAME?", "#NULL!", "#NUM!", "#SPILL!", "#CALC!")
WRITTEN_FOR_MISSING = ("none", "na", "n/a", "nan", "null", "<na>")
MISSING = Message("{rows} holds {texts} in '{column}', as programs write a missing value (kept as it is): {listed}.")
MISSING_MANY = Message(
    "{rows} hold {texts} in '{column}', as programs write a missing value (kept as it is): {listed}."
)
INVISIBLE = Message("{rows} begins or ends with characters that cannot be seen in '{column}' (taken off): {listed}.")
INVISIBLE_MANY = Message("{rows} begin or end with characters that cannot be seen in '{column}' (taken off): {listed}.")
SPACES = Message(
    "{rows} has a space at an end, or two together, in one sentence of the pair alone (kept; it may change "
    "the scores): {listed}."
)
SPACES_MANY = Message(
    "{rows} have a space at an end, or two together, in one sentence of the pair alone (kept; it "
    "may change the scores): {listed}."
)
# Byte order marks, characters without width, soft hyphens, marks of direction. Joiners shape the letter before them.
_AT_START = re.compile("^[\ufeff\u200b-\u200f\u2060\u00ad\u180e]+")
_LAST = "[\ufeff\u200b\u200e\u200f\u2060\u00ad\u180e]"
_AT_END = re.compile(f"(?<!{_LAST}){_LAST}++$")  # begun once in a run of them, of which a cell may have millions
_ANYWHERE = "[\ufeff\u200b-\u200f\u2060\u00ad\u180e]"

NUMBERS, JSON_VALUES = Message("numbers"), Message("lists or objects of JSON")
NO_SENTENCES = Message(
    "'{column}' would be read as sentences, and holds {what} in {n:,} of {rows}. Choose the column of the sentences "
    "(--column ROLE=NAME, or on the page); where there is none, this is no file of sentences."
)
FEW_TEXTS = Message(
    "'{column}' would be read as sentences, and holds {n:,} different texts in {rows}, as labels do. Choose the column "
    "of the sentences (--column ROLE=NAME, or on the page)."
)
# What runs of earlier versions say of their data.
NOTICED_BEFORE = (
    Message("'{column}' is read as sentences, and holds {what} in {n:,} of {rows}: is it the right column?"),
    Message(
        "'{column}' is read as sentences, and holds {n:,} different texts in {rows}, as labels do: is it the right column?"
    ),
    Message(
        "{rows} has a space at an end, or two together, in one sentence of the pair alone (kept; it changes "
        "the scores): {listed}."
    ),
    Message(
        "{rows} have a space at an end, or two together, in one sentence of the pair alone (kept; it "
        "changes the scores): {listed}."
    ),
)
FEW, LONGEST_LABEL = 10, 20  # different texts, each that often; characters
_NUMBER = re.compile(r"\s*[-+]?[0-9０-９]+([.,][0-9０-９]+)*([eE][-+]?[0-9]+)?\s*")

MORE_ROWS = Message("{reason} ({n:,} rows: {listed})")

# At the start of the reason of a row that could not be cut into columns.
_POSITION = re.compile(r"^(line|element) [0-9]+:? ")
_AT = re.compile(r"^(\{where\}|line \{number\}):? ")  # how the template of such a reason begins
# Such reasons without it.
WITHOUT_POSITION = (
    Message("has {fields} instead of {n_fields}"),
    Message("is not JSON: {msg} at character {pos}"),
    Message("names the key {item} twice in one object; only one of the values could be read"),
    Message("is nested too deep"),
    Message("is {kind}, not an object"),
)


def usable(
    table: Table,
    columns: Mapping[str, Sequence[str]],
    find_fault: Callable[[str, str], str | None],
    message: str,
    *,
    skip_bad_rows: bool,
) -> Table:
    """The table without the rows for a value of which, in any of `columns`, `find_fault` names a reason.

    `columns` hold a value for each row and are named as in the file; `find_fault` takes a value and the name of its
    column. Without `skip_bad_rows`, or when no row would remain, such rows raise InputError, in which every one is
    listed, with the `message` that `without_rows` takes.
    """
    numbers = [int(number) for number in table.frame.index]
    reasons: dict[int, list[str]] = {}
    for title, texts in columns.items():
        for number, text in zip(numbers, texts, strict=True):
            if reason := find_fault(text, title):
                reasons.setdefault(number, []).append(reason)
    bad = [BadRow(number, together(" and ", reasons[number])) for number in sorted(reasons)]
    return without_rows(table, bad, message, skip_bad_rows=skip_bad_rows)


def without_rows(table: Table, bad: Sequence[BadRow], message: str, *, skip_bad_rows: bool) -> Table:
    """The table without its rows `bad`, which it keeps as left out; else InputError, as `usable` raises it.

    message: "{name}: {bad} of {rows} lack a sentence. Fill them in." or the like, with the file's name, the number of
    bad rows, and all rows; how rows are numbered follows it.
    """
    if not bad:
        return table
    if not skip_bad_rows or len(bad) == len(table.frame):
        said = message.format(name=table.name, bad=f"{len(bad):,}", rows=count(len(table.frame), "row"))
        has_gaps = len(table.frame) < int(table.frame.index.max())
        raise InputError(together(" ", (said, ROW_NUMBERS, *([GAPS] if has_gaps else []))), bad)
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
        by_reason.setdefault(_without_position(bad.reason), []).append(bad.row)
    ordered = sorted(by_reason.items(), key=lambda item: -len(item[1]))
    parts = []
    for reason, numbers in ordered[:REASONS_IN_NOTICE]:
        listed = _listed(numbers)
        parts.append(
            Message("{reason} (row {listed})", reason=reason, listed=listed)
            if len(numbers) == 1
            else MORE_ROWS.format(reason=reason, n=len(numbers), listed=listed)
        )
    n_others = sum(len(numbers) for _, numbers in ordered[REASONS_IN_NOTICE:])
    if n_others:
        parts.append(Message("other reasons ({n_others})", n_others=count(n_others, "row")))
    return (
        Message("{left_out} left out: {parts}.", left_out=count(len(left_out), "row"), parts=together("; ", parts)),
    )


def _without_position(reason: str) -> str:
    if not isinstance(reason, Message):
        return _POSITION.sub("", reason)
    template, n_cut = _AT.subn("", reason.template)
    return (
        Message(template, **{name: value for name, value in reason.values.items() if name not in ("where", "number")})
        if n_cut
        else reason
    )


def with_left_out(frame: pd.DataFrame, left_out: Sequence[BadRow]) -> pd.DataFrame:
    """A dataset's own frame, to which the rows left out are attached, so that they are stored with it."""
    if left_out:
        # One text, because pandas copies the attributes of a frame with every operation.
        frame.attrs[LEFT_OUT] = json.dumps([[bad.row, as_text(bad.reason)] for bad in left_out], ensure_ascii=False)
    return frame


def left_out_of(frame: pd.DataFrame) -> tuple[BadRow, ...]:
    """The rows that `with_left_out` attached to a frame."""
    return tuple(
        BadRow(int(number), read_message(reason)) for number, reason in json.loads(frame.attrs.get(LEFT_OUT, "[]"))
    )


def empty_reason(text: str, column: str = "") -> Message | None:
    """Why a text counts as empty: no character, or none that is visible (spaces, zero-width characters); else None.

    >>> empty_reason("", "label"), empty_reason("\u3000", "label"), empty_reason("a", "label")
    ("'label' is empty", "'label' holds only spaces", None)
    """
    if not text:
        return EMPTY.format(column=column)
    if text[0] == "#" and text in ERROR_VALUES:
        return IS_ERROR.format(column=column, text=text)
    # Gaiji in the private use area count as visible although str.isprintable is False for them.
    if any(not char.isspace() and (char.isprintable() or "\ue000" <= char <= "\uf8ff") for char in text):
        return None
    return ONLY_SPACES.format(column=column)


def without_invisible(table: Table, columns: Iterable[str | None]) -> Table:
    """The table without characters that cannot be seen at the ends of texts in columns, also joined; with notices."""
    frame, notices = table.frame, list(table.notices)
    names = dict.fromkeys(
        part
        for column in columns
        if column
        for part in ([column] if column in frame else column.split(JOIN))
        if part in frame
    )
    for name in names:
        texts = texts_of_series(frame[name])
        if not any_match(texts, _ANYWHERE):
            continue
        changed = [int(number) for number, text in zip(frame.index, texts, strict=True) if bare(text) != text]
        if changed:
            notices += row_notice(changed, INVISIBLE, INVISIBLE_MANY, column=name)
            frame = frame.assign(**{name: series_of_texts(TextColumn.of(map(bare, texts)), frame.index)})
    return table if frame is table.frame else replace(table, frame=frame, notices=tuple(notices))


def bare(text: str) -> str:
    """A text without characters at its ends that cannot be seen; one of these alone as it is.

    >>> bare("\ufeffa\u200b")
    'a'
    """
    return _AT_END.sub("", _AT_START.sub("", text)) or text


def refuse_other_than_sentences(name: str, texts: Sequence[str]) -> None:
    """Raise InputError for a column, taken for sentences, that holds something else: numbers, JSON, or a few labels."""
    n = len(texts)
    for what, is_such in ((NUMBERS, _is_number), (JSON_VALUES, _is_json)):
        n_such = sum(map(is_such, texts))
        if n_such * 2 > n:
            raise InputError(NO_SENTENCES.format(column=name, n=n_such, rows=count(n, "row"), what=what))
    distinct: set[str] = set()
    for text in texts:
        distinct.add(text)
        if len(distinct) > FEW:
            return
    if len(distinct) > 1 and n >= FEW * len(distinct) and max(map(len, distinct)) <= LONGEST_LABEL:
        raise InputError(FEW_TEXTS.format(column=name, n=len(distinct), rows=count(n, "row")))


def _is_number(text: str) -> bool:
    return _NUMBER.fullmatch(text) is not None


def _is_json(text: str) -> bool:
    """Whether a text is a list or an object of JSON; "[MASK] of [MASK]" is none."""
    if text.strip()[:1] not in ("[", "{"):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def missing_notice(numbers: Sequence[int], column: str, texts: Sequence[str]) -> tuple[str, ...]:
    """The notice of the rows of a column whose text is what programs write for a value that is not there."""
    such = {text for text in set(texts) if text.strip().casefold() in WRITTEN_FOR_MISSING}
    odd = [number for number, text in zip(numbers, texts, strict=True) if text in such] if such else []
    return row_notice(odd, MISSING, MISSING_MANY, column=column, texts=quoted(sorted(such)))


def spaces_notice(numbers: Sequence[int], pairs: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """The notice of the pairs of which one sentence alone has a space at an end, or two together."""
    odd = [
        number
        for number, (first, second) in zip(numbers, pairs, strict=True)
        if _has_stray_space(first) != _has_stray_space(second)
    ]
    return row_notice(odd, SPACES, SPACES_MANY)


def _has_stray_space(text: str) -> bool:
    return text != text.strip() or "  " in text


def repeated_rows(numbers: Sequence[int], keys: Sequence[Hashable]) -> list[int]:
    """The numbers of the rows whose key an earlier row has."""
    firsts = first_places(keys)
    return [numbers[place] for place in np.flatnonzero(firsts < np.arange(len(firsts))).tolist()]


def first_places(keys: Sequence[Hashable]) -> np.ndarray:
    """Where the first of the keys is that equals each: int64 (n,).

    >>> first_places(["a", "b", "a"]).tolist()
    [0, 1, 0]
    """
    # Few keys share their hash with another, and only these are kept.
    hashes = np.fromiter(map(hash, keys), np.int64, len(keys))
    found, n_each = np.unique(hashes, return_counts=True)
    firsts = np.arange(len(keys))
    first_by_key: dict[Hashable, int] = {}
    for place in np.flatnonzero(np.isin(hashes, found[n_each > 1])).tolist():
        firsts[place] = first_by_key.setdefault(keys[place], place)
    return firsts


def row_notice(numbers: Sequence[int], one: str, many: str, **values: object) -> tuple[str, ...]:
    """A notice such as "2 rows repeat an earlier pair: 4, 9.", or none for no rows.

    one, many: the sentence for one row and for more, with places for the `rows` that are counted, the `listed` numbers
    and the `values`.
    """
    if not numbers:
        return ()
    sentence = one if len(numbers) == 1 else many
    return (sentence.format(rows=count(len(numbers), "row"), listed=_listed(numbers), **values),)


def repeated_pairs_notice(numbers: Sequence[int], pairs: Sequence[Hashable]) -> tuple[str, ...]:
    """The notice of the rows whose pair an earlier row has."""
    return row_notice(
        repeated_rows(numbers, pairs),
        Message("{rows} repeats an earlier pair (kept): {listed}."),
        Message("{rows} repeat an earlier pair (kept): {listed}."),
    )


def _listed(numbers: Sequence[int]) -> str:
    return list_of([*map(str, numbers[:ROWS_IN_NOTICE]), *(["…"] if len(numbers) > ROWS_IN_NOTICE else [])])


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
        for block in _prefixed(values):
            digest.update(block)
    return digest.hexdigest()


def texts_of(frame: pd.DataFrame, name: str, *, required: bool = True) -> Sequence[str]:
    """A column of a dataset's own frame; "" throughout where one that is not required is absent.

    Raises InputError when a required column is absent, or listing every row that holds no str.
    """
    if name not in frame.columns:
        if required:
            raise InputError(
                Message(
                    "The frame has no column '{name}'; it has: {columns}.",
                    name=name,
                    columns=unquoted(frame.columns),
                )
            )
        return ("",) * len(frame)
    texts = texts_of_series(frame[name])
    if isinstance(texts, TextColumn):
        return texts
    values: Sequence[object] = texts  # an object's type is not known before
    bad = [
        BadRow(number, Message("'{name}' holds {value!r}", name=name, value=value))
        for number, value in enumerate(values, start=1)
        if not isinstance(value, str)
    ]
    if bad:
        raise InputError(
            Message(
                "The frame's column '{name}' must hold texts only. {ROW_NUMBERS}", name=name, ROW_NUMBERS=ROW_NUMBERS
            ),
            bad,
        )
    return texts


def numbers_of(frame: pd.DataFrame) -> tuple[int, ...]:
    """The column "row" of a dataset's own frame, or 1, 2, 3 … where it is absent."""
    return tuple(int(number) for number in frame["row"]) if "row" in frame.columns else tuple(range(1, len(frame) + 1))


def _prefixed(values: Sequence[str | int | float]) -> Iterator[bytes]:
    """The values with their lengths, one after the other, some at a time."""
    if isinstance(values, tuple) and 2 * len(distinct := set(values)) < len(values):  # as categories are
        known = {value: _length_prefixed(value) for value in distinct}
        prefixed: Iterator[bytes] = map(known.__getitem__, values)
    else:
        prefixed = map(_length_prefixed, values)
    while block := b"".join(islice(prefixed, BLOCK)):
        yield block


def _length_prefixed(value: str | int | float) -> bytes:
    if isinstance(value, str):
        encoded = value.encode("utf-8", "surrogatepass")
    else:
        encoded = struct.pack(">d", math.nan if math.isnan(value) else value + 0.0)  # + 0.0: -0.0 is 0.0
    return len(encoded).to_bytes(8, "big") + encoded
