"""JSON lines, or one JSON list of objects, to rows of strings."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import islice
from json.encoder import encode_basestring
from typing import Any

from engine.datasets.formats import bounds
from engine.datasets.formats.bounds import refuse_bad_rows
from engine.datasets.formats.grid import MAX_COLUMNS, PLACES, Grid, GridBuilder, quoted
from engine.datasets.formats.text_source import TextSource
from engine.errors import BadRow, InputError
from engine.language.quantities import count
from engine.messages.message import Message

# What the json module says of a text, for the catalogue.
JSON_MESSAGES = (
    Message("Expecting value"),
    Message("Expecting ',' delimiter"),
    Message("Expecting ':' delimiter"),
    Message("Extra data"),
    Message("Expecting property name enclosed in double quotes"),
    Message("Unterminated string starting at"),
    Message("Invalid control character at"),
    Message("Invalid \\escape"),
)
_EXPECTED_FORMAT = Message(
    'Needed: one object per line, such as {"text": "…", "label": "…"}, or one list of such objects.'
)
_SPACE = " \t\n\r"
WRAPPERS = ("data", "rows", "examples", "instances", "records")  # what one object calls the list of its rows
MISSING = "NaN"  # not JSON, but what pandas writes for a missing value


class _Number(str):
    """A number as it is spelled: 1e5, 0.10 and 5,000 digits stay what they are."""


class _RepeatedKey(ValueError):
    """An object names a key twice, so that one of the two values would be lost."""


def read_json(source: TextSource, name: str, *, skip_bad_rows: bool = False) -> Grid:
    """Rows of a JSON list of objects, or of lines that are objects (a row's number is its line).

    Columns come in order of first appearance; a key that an object lacks is "" there, as is null.
    Numbers keep their spelling, true and false become those words, lists and objects stay JSON.
    Raises InputError listing every line or element that is no object or names a key twice, or for a broken list; with
    `skip_bad_rows` such a line or element is left out as long as others remain.
    """
    items, unit = _items(source, name)
    builder = GridBuilder(name)
    index_by_key: dict[str, int] = {}
    bad: list[BadRow] = []
    n_items = 0
    for number, item in items:
        n_items += 1
        try:
            row = {key: _text(value) for key, value in item.items()} if isinstance(item, Mapping) else None
        except RecursionError as error:
            row, item = None, error
        if row is None:
            bad.append(BadRow(number, _fault(item, PLACES[unit].format(number=number))))
            refuse_bad_rows(name, bad, _EXPECTED_FORMAT)
            continue
        for key in row:
            if key not in index_by_key:
                index_by_key[key] = len(index_by_key)
                if len(index_by_key) <= MAX_COLUMNS:
                    builder.add_column(key)
        if len(index_by_key) > MAX_COLUMNS:
            raise InputError(
                Message(
                    "{name} has {index_by_key:,} different keys; at most {MAX_COLUMNS:,} are read as columns.",
                    name=name,
                    index_by_key=len(index_by_key),
                    MAX_COLUMNS=MAX_COLUMNS,
                )
            )
        builder.add(number, [row.get(key, "") for key in index_by_key])
    if bad and not (skip_bad_rows and builder.n_rows):
        raise InputError(
            Message(
                "{name}: {unit} of {n_items:,} cannot be read as a row. {_EXPECTED_FORMAT}",
                name=name,
                unit=count(len(bad), unit),
                n_items=n_items,
                _EXPECTED_FORMAT=_EXPECTED_FORMAT,
            ),
            sorted(bad, key=lambda row: row.row),
        )
    return builder.finished(left_out=bad, skip_bad_rows=skip_bad_rows)


def lines_of_object(source: TextSource) -> str | None:
    """JSON lines of the rows of a text that is one object with a table in it; None of any other text.

    A table by columns or by rows as `DataFrame.to_json` of pandas writes it (by columns by default, and orient="index",
    "split", "table"), or a list of objects under one of WRAPPERS.
    """
    start = next((block for block in source.blocks() if block.strip()), "").lstrip()
    first_line, _, others = start.partition("\n")
    if not start.startswith("{"):
        return None
    whole = _one_object(first_line, source.text) if others.strip() else _Decoder().value_or_error(source.text())
    rows = _rows_of_object(whole) if isinstance(whole, Mapping) else None
    try:
        return None if rows is None else "".join([f"{_json(row)}\n" for row in rows])
    except RecursionError:
        return None


def _rows_of_object(table: Mapping[str, Any]) -> list[Mapping[str, object]] | None:
    columns, values = table.get("columns", ()), list(table.values())
    rows = next((table[name] for name in WRAPPERS if name in table), ())
    if _is_list_of(columns, str) and _is_list_of(rows, list) and all(len(row) == len(columns) for row in rows):
        return [dict(zip(columns, row, strict=True)) for row in rows]
    if _is_list_of(rows, Mapping) and sum(_is_list_of(value, Mapping) for value in values) == 1:
        return list(rows)
    if not _is_list_of(values, Mapping) or any(not value or _has_parts(value) for value in values):
        return None
    if all(key.isdecimal() for key in table):
        return values
    if all(column.keys() == values[0].keys() for column in values):
        return [{name: column[key] for name, column in table.items()} for key in values[0]]
    return None


def _is_list_of(value: object, kind: type) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, kind) for item in value)


def _has_parts(row: Mapping[str, object]) -> bool:
    return any(isinstance(value, (Mapping, list)) for value in row.values())


def raw_rows(text: str, left_out: Collection[int] = ()) -> dict[int, str]:
    """Row number -> the JSON of the row: a line unchanged, an element of a list on one line.

    `text` passed `read_json`, which left out the rows of the numbers `left_out`.

    >>> raw_rows('{"n": 1.50}\\n\\n{"n": null}')
    {1: '{"n": 1.50}', 3: '{"n": null}'}
    >>> raw_rows('[{"n": 1.50},\\n {"n": [1e5, true]}]')
    {1: '{"n": 1.50}', 2: '{"n": [1e5, true]}'}
    """
    return dict(numbered_rows(text, left_out))


def numbered_rows(text: str, left_out: Collection[int] = ()) -> Iterator[tuple[int, str]]:
    """What `raw_rows` returns, one after the other, by ascending numbers."""
    if is_list(text):
        for number, element in enumerate(_elements(text), start=1):
            if number not in left_out:
                yield number, _json(element)
        return
    first_lines = [line for _, line in islice(_filled_lines(text), 2)]
    if len(first_lines) > 1 and (whole := _one_object(first_lines[0], lambda: text)) is not None:
        yield 1, _json(whole)
        return
    yield from _filled_lines(text)


def _filled_lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines of a text that are not blank, stripped, with their numbers from 1."""
    start, number = 0, 0
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        number += 1
        if line := text[start:end].strip():
            yield number, line
        start = end + 1


def texts_of_row(raw: str) -> dict[str, str]:
    """The texts of a row that `raw_rows` returned, by key, as `read_json` has them.

    >>> texts_of_row('{"n": 1.50, "sure": true, "note": null}')
    {'n': '1.50', 'sure': 'true', 'note': ''}
    """
    row = _Decoder().value_or_error(raw)
    return {key: _text(value) for key, value in row.items()} if isinstance(row, Mapping) else {}


def is_list(text: str) -> bool:
    """Whether the text starts as one JSON list rather than lines of objects."""
    return text.lstrip().startswith("[")


def _items(source: TextSource, name: str) -> tuple[Iterator[tuple[int, object]], str]:
    """The numbered elements of the text where it is one list, else what its lines hold; and the word for one."""
    start = next((block for block in source.blocks() if block.strip()), "")
    if is_list(start):
        text = source.text()
        is_sound, why = _is_sound_list(text)
        if is_sound:
            return enumerate(_elements(text), start=1), "element"
        first_line = _Decoder().value_or_error(text.split("\n", 1)[0])
        if isinstance(first_line, Exception) and why is not None:
            raise InputError(
                Message(
                    "{name} is not valid JSON: line {lineno}, character {colno}: {msg}. {_EXPECTED_FORMAT}",
                    name=name,
                    lineno=why.lineno,
                    colno=why.colno,
                    msg=Message(why.msg),
                    _EXPECTED_FORMAT=_EXPECTED_FORMAT,
                )
            )
    if (whole := _one_object(start.lstrip().split("\n", 1)[0], source.text)) is not None:
        return iter([(1, whole)]), "line"
    return _line_objects(source.lines()), "line"


def _one_object(first_line: str, text: Callable[[], str]) -> Mapping[str, object] | None:
    """The object that the whole text is, written over several lines; None for lines of objects and any other text.

    text: asked for only where the first line that is not empty may be the beginning of such an object.
    """
    if not first_line.startswith("{") or not isinstance(_Decoder().value_or_error(first_line), json.JSONDecodeError):
        return None
    value = _Decoder().value_or_error(text())
    return value if isinstance(value, Mapping) else None


def _is_sound_list(text: str) -> tuple[bool, json.JSONDecodeError | None]:
    """Whether the text is one list and nothing more, element by element; if not, the error where it is broken."""
    try:
        for _ in _elements(text):
            pass
    except (IndexError, ValueError, RecursionError):
        error = _Decoder().value_or_error(text)
        return False, error if isinstance(error, json.JSONDecodeError) else None
    return True, None


def _elements(text: str) -> Iterator[object]:
    """The elements of a JSON list; in place of one with a repeated key, the error.

    Raises IndexError or ValueError, during iteration, where the text is no list or more than one.
    """
    decoder = _Decoder()
    start = _after_space(text, text.index("[") + 1)
    if text[start] != "]":
        while True:
            element, start = decoder.value_from(text, start)
            yield element
            bounds.report(start, len(text))
            start = _after_space(text, start)
            if text[start] == "]":
                break
            if text[start] != ",":
                raise ValueError(Message("no comma between two elements"))
            start = _after_space(text, start + 1)
    if text[start + 1 :].strip(_SPACE):
        raise ValueError(Message("more than one list"))


def _after_space(text: str, start: int) -> int:
    while text[start] in _SPACE:
        start += 1
    return start


def _line_objects(lines: Iterable[str]) -> Iterator[tuple[int, object]]:
    decoder = _Decoder()
    # The lines end in line feeds only; str.splitlines also splits at U+2028, which JSON allows inside strings.
    for number, line in enumerate(lines, start=1):
        if line.strip():
            yield number, decoder.value_or_error(line)


class _Decoder:
    """Decodes JSON with every number as it is spelled, and finds keys that an object has twice."""

    def __init__(self) -> None:
        self._repeated: list[str] = []  # of the value that is being decoded
        self._decoder = json.JSONDecoder(
            parse_float=_Number, parse_int=_Number, parse_constant=_Number, object_pairs_hook=self._object
        )

    def value_or_error(self, text: str) -> object:
        """The value of the whole text, or the error why there is none."""
        self._repeated.clear()
        try:
            value: object = self._decoder.decode(text)
        except (ValueError, RecursionError) as error:  # RecursionError: "[[[[…", nested too deep
            return error
        return _RepeatedKey(self._repeated[0]) if self._repeated else value

    def value_from(self, text: str, start: int) -> tuple[object, int]:
        """The value that begins at `start`, or the error of a repeated key, and where it ends. The text is sound."""
        self._repeated.clear()
        value, end = self._decoder.raw_decode(text, start)
        return (_RepeatedKey(self._repeated[0]) if self._repeated else value), end

    def _object(self, pairs: list[tuple[str, object]]) -> dict[str, object]:
        values = dict(pairs)
        if len(values) < len(pairs):
            self._repeated += [key for key, n in Counter(key for key, _ in pairs).items() if n > 1]
        return values


def _fault(item: object, where: str) -> Message:
    """Why an item is no row; `rows.left_out_notice` gives such reasons without their beginning, the line or element."""
    if isinstance(item, json.JSONDecodeError):
        return Message(
            "{where} is not JSON: {msg} at character {pos}", where=where, msg=Message(item.msg), pos=item.pos + 1
        )
    if isinstance(item, _RepeatedKey):
        return Message(
            "{where} names the key {item} twice in one object; only one of the values could be read",
            where=where,
            item=quoted([str(item)]),
        )
    if isinstance(item, Exception):
        return Message("{where} is nested too deep", where=where)
    kind = {
        list: Message("a list"),
        str: Message("a text or number"),
        _Number: Message("a text or number"),
        bool: Message("true or false"),
    }.get(type(item), "null")
    return Message("{where} is {kind}, not an object", where=where, kind=kind)


def _text(value: object) -> str:
    if type(value) is str:
        return value
    if isinstance(value, _Number):
        return "" if value == MISSING else str(value)
    return "" if value is None else _json(value)


def _json(value: object) -> str:
    """The JSON of a decoded value on one line, with every number as it was spelled. RecursionError when too deep."""
    if type(value) is str:
        return encode_basestring(value)
    if isinstance(value, _Number):
        return str(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join([f"{encode_basestring(key)}: {_json(item)}" for key, item in value.items()]) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_json, value)) + "]"
    return json.dumps(value)
