"""A file of rows (CSV, TSV, JSON lines, JSON, Excel) or pasted text to a Table of strings.

Nothing is converted on the way: "NA", "null", "001", "1e5" and "=1+1" stay the texts they are.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import pandas as pd

from engine.datasets.formats.columns import guess
from engine.datasets.formats.delimited import fitted, read_delimited, records, sniff
from engine.datasets.formats.encodings import decode_as
from engine.datasets.formats.grid import Grid, quoted
from engine.datasets.formats.json_rows import is_list, read_json
from engine.datasets.formats.workbook import OLE_SIGN, ZIP_SIGN, read_workbook
from engine.errors import InputError

MAX_FILE_BYTES = 200 * 2**20
TEXT_SUFFIXES = (".csv", ".tsv", ".txt")
JSON_SUFFIXES = (".jsonl", ".json")
EXCEL_SUFFIXES = (".xlsx", ".xlsm", ".xls")
SUFFIXES = (*TEXT_SUFFIXES, *JSON_SUFFIXES, *EXCEL_SUFFIXES)

Format = Literal["csv", "tsv", "jsonl", "json", "excel", "pasted"]


@dataclass(frozen=True, eq=False)
class Table:
    """Rows as a file holds them.

    `frame` has str values only ("" where empty) and as index each row's number in the file: 1 is
    the first row of data, blank lines are counted. `encoding` is None where the format fixes it. `json_text`
    is what a JSON file holds, whose types and nested values a frame of texts cannot show.
    """

    name: str
    frame: pd.DataFrame
    format: Format
    encoding: str | None
    notices: tuple[str, ...] = ()
    json_text: str = field(default="", repr=False)


def max_file_bytes() -> int:
    """The size above which no file is read: MAX_FILE_BYTES, or HAKARI_MAX_UPLOAD_MB (MiB)."""
    given = os.environ.get("HAKARI_MAX_UPLOAD_MB", "")
    try:
        return int(float(given) * 2**20) if given else MAX_FILE_BYTES
    except (ValueError, OverflowError) as error:
        raise InputError(f"HAKARI_MAX_UPLOAD_MB must be a number of MiB; got {given!r}.") from error


def read_table(source: Path | bytes, name: str | None = None) -> Table:
    """The rows of a file, or of an upload's bytes called `name`.

    The ending decides: .csv, .tsv, .txt (comma, tab or semicolon, as the header line shows),
    .jsonl, .json, .xlsx; bytes without a name are judged by their start. Text is read by
    `encodings.decode`. Raises InputError: no such file, too large (checked before reading), empty,
    undecodable, an unknown ending, or rows that do not fit (all of them listed).
    """
    name = name or (source.name if isinstance(source, Path) else "")
    raw = source if isinstance(source, bytes) else _bytes_of(source)
    shown = name or "The file"
    _refuse_size(len(raw), shown)
    if not raw.strip():
        raise InputError(f"{shown} is empty. A header line with column names and rows under it are needed.")
    suffix = Path(name).suffix.lower()
    if suffix in EXCEL_SUFFIXES or raw.startswith((ZIP_SIGN, OLE_SIGN)):
        return _table(shown, read_workbook(raw, shown), "excel", None)
    if suffix and suffix not in SUFFIXES:
        raise InputError(f"{shown}: files ending in {suffix} cannot be read as a table. Endings that can: "
                         + ", ".join(SUFFIXES[:-1]) + ".")
    text, encoding = decode_as(raw, shown)
    _refuse_nul(text, shown)
    if not text.strip():
        raise InputError(f"{shown} is empty. A header line with column names and rows under it are needed.")
    if suffix in JSON_SUFFIXES or (not suffix and text.lstrip().startswith(("{", "["))):
        table = _table(shown, read_json(text, shown), "json" if is_list(text) else "jsonl", encoding)
        return replace(table, json_text=text)
    separator = sniff(text, suffix)
    return _table(shown, read_delimited(text, shown, separator), "tsv" if separator == "\t" else "csv", encoding)


def paste_table(text: str, columns: Sequence[str]) -> Table:
    """Pasted rows of len(columns) fields, cut at tabs if there are any, else at commas.

    `columns` are roles. A first line that names them all (as `columns.guess` understands names), in any
    order and among others, is taken as header. Raises InputError when nothing was pasted, or
    listing every line with the wrong number of fields.
    """
    name = "The pasted text"
    _refuse_size(len(text), name)
    _refuse_nul(text, name)
    separator = "\t" if "\t" in text else ","
    rows = records(text, separator)
    if not rows:
        raise InputError(f"Nothing was pasted. Needed: lines with {quoted(columns)}, separated by a tab or a comma.")
    if all(guess(rows[0].fields, columns).values()):
        return _table(name, fitted(name, rows[0].fields, rows[1:], rows[0].number, separator), "pasted", None)
    return _table(name, fitted(name, columns, rows, 0, separator), "pasted", None)


def _bytes_of(path: Path) -> bytes:
    try:
        _refuse_size(path.stat().st_size, path.name)
        with path.open("rb") as file:
            # A pipe has no size beforehand; one byte more than allowed tells that it is too large.
            return file.read(max_file_bytes() + 1)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}. Needed: a file with one of the endings "
                         + ", ".join(SUFFIXES[:-1]) + ".") from error


def _refuse_size(n_bytes: int, name: str) -> None:
    limit = max_file_bytes()
    if n_bytes > limit:
        raise InputError(f"{name} is too large: {n_bytes / 2**20:,.1f} MiB; at most {limit / 2**20:,.1f} MiB are read. "
                         "Split it into several files, or raise the limit with HAKARI_MAX_UPLOAD_MB.")


def _refuse_nul(text: str, name: str) -> None:
    place = text.find("\0")
    if place >= 0:
        raise InputError(f"{name} holds a NUL character in line {text.count(chr(10), 0, place) + 1}: it is no text "
                         "file, or UTF-16 without byte order mark. Save it as UTF-8 and try again.")


def _table(name: str, rows: Grid, format_: Format, encoding: str | None) -> Table:
    index = pd.Index(rows.numbers, name="row")
    columns = dict(zip(rows.columns, rows.values, strict=True))
    return Table(name, pd.DataFrame(columns, index=index, dtype="str"), format_, encoding, rows.notices)
