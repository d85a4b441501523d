"""A file of rows (CSV, TSV, JSON lines, JSON, Excel) or pasted text to a Table of strings.

No value is converted: "NA", "null", "001", "1e5" and "=1+1" stay texts.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import pandas as pd

from engine.datasets.formats.columns import guess
from engine.datasets.formats.delimited import grid_of_records, read_delimited, records, sniff
from engine.datasets.formats.encodings import decode_as
from engine.datasets.formats.grid import Grid, quoted
from engine.datasets.formats.json_rows import is_list, read_json
from engine.datasets.formats.workbook import OLE_SIGN, ZIP_SIGN, read_workbook
from engine.errors import BadRow, InputError

MAX_FILE_BYTES = 200 * 2**20
TEXT_SUFFIXES = (".csv", ".tsv", ".txt")
JSON_SUFFIXES = (".jsonl", ".json")
EXCEL_SUFFIXES = (".xlsx", ".xlsm", ".xls")
SUFFIXES = (*TEXT_SUFFIXES, *JSON_SUFFIXES, *EXCEL_SUFFIXES)

Format = Literal["csv", "tsv", "jsonl", "json", "excel", "pasted"]


@dataclass(frozen=True, eq=False)
class Table:
    """The rows of a file.

    `frame` has str values only ("" where empty) and as index each row's number in the file: 1 is
    the first row of data, blank lines are counted. `encoding` is None where the format fixes it. `json_text`
    is the text of a JSON file, whose types and nested values a frame of texts cannot hold. `left_out`: rows of the
    file that cannot be used, where these are left out.
    """

    name: str
    frame: pd.DataFrame
    format: Format
    encoding: str | None
    notices: tuple[str, ...] = ()
    json_text: str = field(default="", repr=False)
    left_out: tuple[BadRow, ...] = ()


def max_file_bytes() -> int:
    """The size above which no file is read: MAX_FILE_BYTES, or HAKARI_MAX_UPLOAD_MB (MiB)."""
    raw_value = os.environ.get("HAKARI_MAX_UPLOAD_MB", "")
    try:
        return int(float(raw_value) * 2**20) if raw_value else MAX_FILE_BYTES
    except (ValueError, OverflowError) as error:
        raise InputError(f"HAKARI_MAX_UPLOAD_MB must be a number of MiB; got {raw_value!r}.") from error


def read_table(source: Path | bytes, name: str | None = None, *, skip_bad_rows: bool = False) -> Table:
    """The rows of a file, or of an upload's bytes called `name`.

    The format is that of the ending: .csv, .tsv, .txt (comma, tab or semicolon, by the header line),
    .jsonl, .json, .xlsx; for bytes without a name it is determined by their start. Text is read by
    `encodings.decode`. Raises InputError: no such file, too large (checked before reading), empty,
    undecodable, an unknown ending, or rows that do not fit (all of them listed). With `skip_bad_rows` rows that do not
    fit are left out, as long as others remain.
    """
    name = name or (source.name if isinstance(source, Path) else "")
    raw = source if isinstance(source, bytes) else _bytes_of(source)
    title = name or "The file"
    _refuse_size(len(raw), title)
    if not raw.strip():
        raise InputError(f"{title} is empty. A header line with column names and rows under it are needed.")
    suffix = Path(name).suffix.lower()
    if suffix in EXCEL_SUFFIXES or raw.startswith((ZIP_SIGN, OLE_SIGN)):
        return _table(title, read_workbook(raw, title, skip_bad_rows=skip_bad_rows), "excel", None)
    if suffix and suffix not in SUFFIXES:
        raise InputError(f"{title}: files ending in {suffix} cannot be read as a table. Endings that can: "
                         + ", ".join(SUFFIXES[:-1]) + ".")
    text, encoding = decode_as(raw, title)
    _refuse_nul(text, title)
    if not text.strip():
        raise InputError(f"{title} is empty. A header line with column names and rows under it are needed.")
    if suffix in JSON_SUFFIXES or (not suffix and text.lstrip().startswith(("{", "["))):
        rows = read_json(text, title, skip_bad_rows=skip_bad_rows)
        table = _table(title, rows, "json" if is_list(text) else "jsonl", encoding)
        return replace(table, json_text=text)
    separator = sniff(text, suffix)
    rows = read_delimited(text, title, separator, skip_bad_rows=skip_bad_rows)
    return _table(title, rows, "tsv" if separator == "\t" else "csv", encoding)


def paste_table(text: str, columns: Sequence[str], *, skip_bad_rows: bool = False) -> Table:
    """Pasted rows of len(columns) fields, split at tabs if there are any, else at commas.

    `columns` are roles. A first line that names them all (by `columns.guess`), in any order and among
    others, is taken as header. Raises InputError when nothing was pasted, or
    listing every line with the wrong number of fields; with `skip_bad_rows` these are left out.
    """
    name = "The pasted text"
    _refuse_size(len(text), name)
    _refuse_nul(text, name)
    separator = "\t" if "\t" in text else ","
    rows = records(text, separator)
    if not rows:
        raise InputError(f"Nothing was pasted. Needed: lines with {quoted(columns)}, separated by a tab or a comma.")
    if all(guess(rows[0].fields, columns).values()):
        header, body, offset = rows[0].fields, rows[1:], rows[0].number
    else:
        header, body, offset = list(columns), rows, 0
    return _table(name, grid_of_records(name, header, body, offset, separator, skip_bad_rows=skip_bad_rows), "pasted",
                  None)


def _bytes_of(path: Path) -> bytes:
    try:
        _refuse_size(path.stat().st_size, path.name)
        with path.open("rb") as file:
            # The size of a pipe is not known; one byte more than allowed shows that it is too large.
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
    position = text.find("\0")
    if position >= 0:
        raise InputError(f"{name} holds a NUL character in line {text.count(chr(10), 0, position) + 1}: it is no text "
                         "file, or UTF-16 without byte order mark. Save it as UTF-8 and try again.")


def _table(name: str, rows: Grid, format_: Format, encoding: str | None) -> Table:
    index = pd.Index(rows.numbers, name="row")
    columns = dict(zip(rows.columns, rows.values, strict=True))
    return Table(name, pd.DataFrame(columns, index=index, dtype="str"), format_, encoding, rows.notices,
                 left_out=rows.left_out)
