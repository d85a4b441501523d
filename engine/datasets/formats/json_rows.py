"""JSON lines, or one JSON list of objects, to rows of strings."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence

from engine.datasets.formats.grid import MAX_COLUMNS, Grid, grid
from engine.errors import BadRow, InputError
from engine.language.quantities import count

# Numbers keep their spelling: "1e5" and "0.10" must not become 100000.0 and 0.1. NaN is a missing value.
_DECODER = json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=lambda word: None if word == "NaN" else word)
_EXPECTED_FORMAT = 'Needed: one object per line, such as {"text": "…", "label": "…"}, or one list of such objects.'


def read_json(text: str, name: str) -> Grid:
    """Rows of a JSON list of objects, or of lines that are objects (a row's number is its line).

    Columns come in order of first appearance; a key that an object lacks is "" there, as is null.
    Numbers keep their spelling, true and false become those words, lists and objects stay JSON.
    Raises InputError listing every line or element that is no object, or for a list that is broken.
    """
    items, unit = _list_elements(text, name), "element"
    if items is None:
        items, unit = _line_objects(text), "line"
    bad = [BadRow(number, f"{unit} {number} {_fault(item)}") for number, item in items
           if not isinstance(item, Mapping)]
    if bad:
        raise InputError(f"{name}: {count(len(bad), unit)} of {len(items):,} cannot be read as a row. "
                         f"{_EXPECTED_FORMAT}", bad)
    objects = [(number, item) for number, item in items if isinstance(item, Mapping)]
    header = dict.fromkeys(key for _, item in objects for key in item)
    if len(header) > MAX_COLUMNS:
        raise InputError(f"{name} has {len(header):,} different keys; at most {MAX_COLUMNS:,} are read as columns.")
    return grid(name, list(header), [(number, [_text(item.get(key)) for key in header]) for number, item in objects])


def raw_rows(text: str) -> dict[int, str]:
    """Row number -> the JSON of the row: a line unchanged, an element of a list on one line. `text` passed `read_json`.

    >>> raw_rows('{"n": 1.50}\\n\\n{"n": null}')
    {1: '{"n": 1.50}', 3: '{"n": null}'}
    """
    if is_list(text):
        return {number: json.dumps(element, ensure_ascii=False)
                for number, element in enumerate(json.loads(text), start=1)}
    return {number: line.strip() for number, line in enumerate(io.StringIO(text), start=1) if line.strip()}


def is_list(text: str) -> bool:
    """Whether the text starts as one JSON list rather than lines of objects."""
    return text.lstrip().startswith("[")


def _list_elements(text: str, name: str) -> Sequence[tuple[int, object]] | None:
    """The elements when the whole text is one list, None when it is lines."""
    if not is_list(text):
        return None
    document = _decode_or_error(text)
    if isinstance(document, list):
        return list(enumerate(document, start=1))
    if isinstance(document, json.JSONDecodeError) and isinstance(_decode_or_error(text.split("\n", 1)[0]), Exception):
        raise InputError(f"{name} is not valid JSON: line {document.lineno}, character {document.colno}: "
                         f"{document.msg}. {_EXPECTED_FORMAT}")
    return None


def _line_objects(text: str) -> Sequence[tuple[int, object]]:
    # A file object splits at line feeds only; str.splitlines also splits at U+2028, which JSON allows inside strings.
    lines = enumerate(io.StringIO(text), start=1)
    return [(number, _decode_or_error(line)) for number, line in lines if line.strip()]


def _decode_or_error(text: str) -> object:
    try:
        return _DECODER.decode(text)
    except (ValueError, RecursionError) as error:  # RecursionError: "[[[[…", nested too deep
        return error


def _fault(item: object) -> str:
    if isinstance(item, json.JSONDecodeError):
        return f"is not JSON: {item.msg} at character {item.pos + 1}"
    if isinstance(item, Exception):
        return "is nested too deep"
    kind = {list: "a list", str: "a text or number", bool: "true or false"}.get(type(item), "null")
    return f"is {kind}, not an object"


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return json.dumps(value, ensure_ascii=False)
