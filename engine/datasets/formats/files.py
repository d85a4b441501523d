"""A file of rows (CSV, TSV, JSON lines, JSON, Excel) or pasted text to a Table of strings.

No value is converted: "NA", "null", "001", "1e5" and "=1+1" stay texts.
"""

from __future__ import annotations

import errno
import os
from codecs import BOM_UTF8
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from engine.datasets.formats import delimited, headerless, sections
from engine.datasets.formats.archives import decompressed, own_name
from engine.datasets.formats.bounds import metered
from engine.datasets.formats.columns import QUOTING_CHOSEN, guess
from engine.datasets.formats.delimited import cut, grid_of_records, read_delimited, read_sections, separated
from engine.datasets.formats.encodings import DETECT, ENCODINGS, Detection, detect, source_in
from engine.datasets.formats.grid import Grid, quoted
from engine.datasets.formats.json_rows import is_list, lines_of_object, read_json
from engine.datasets.formats.records import line_end, lines_of
from engine.datasets.formats.text_source import TextSource, n_bytes, opened
from engine.datasets.formats.workbook import OLE_SIGN, ZIP_SIGN, read_workbook
from engine.datasets.hub import fetching, parquet
from engine.datasets.hub.names import is_hub_name
from engine.errors import BadRow, EngineError, InputError, reason_of
from engine.messages.message import Message, list_of, together
from engine.options import option

MAX_FILE_BYTES = 200 * 2**20
TEXT_SUFFIXES = (".csv", ".tsv", ".txt")
JSON_SUFFIXES = (".jsonl", ".json")
EXCEL_SUFFIXES = (".xlsx", ".xlsm", ".xls")
SUFFIXES = (*TEXT_SUFFIXES, *JSON_SUFFIXES, parquet.SUFFIX, *EXCEL_SUFFIXES)

CONFIG = "config"  # the column that several configurations of a data set of the hub get

# How files begin that are no table whatever they are called -> what they are
OTHER_FILES = {
    b"%pdf-": Message("a PDF document"),
    b"<!doctype html": Message("a web page (HTML)"),
    b"<html": Message("a web page (HTML)"),
    b"version https://git-lfs": Message("a pointer of Git LFS, which stands for the file"),
}
BEGINNING_BYTES = 64

Format = Literal["csv", "tsv", "jsonl", "json", "excel", "pasted"]


@dataclass(frozen=True, eq=False)
class Table:
    """The rows of a file.

    `frame` has str values only ("" where empty) and as index each row's number in the file: 1 is
    the first row of data, blank lines are counted. `encoding` is None where the format fixes it,
    `confidence` is that of its detection, 0 to 1. `json_text`
    is the text of a JSON file, whose types and nested values a frame of texts cannot hold. `left_out`: rows of the
    file that cannot be used, where these are left out. `sheets`: the titles of the sheets of a workbook that hold
    anything, `sheet` that of the one that was read.
    """

    name: str
    frame: pd.DataFrame
    format: Format
    encoding: str | None
    notices: tuple[str, ...] = ()
    confidence: float = 1.0
    json_text: str = field(default="", repr=False)
    left_out: tuple[BadRow, ...] = ()
    sheets: tuple[str, ...] = ()
    sheet: str = ""


@dataclass(frozen=True)
class Reading:
    """How a file of rows is read."""

    skip_bad_rows: bool = option(
        False,
        "Leave out the rows that cannot be used (blank, without a needed text, not "
        "cut into the columns) in place of refusing the file; excluded.csv lists "
        "them.",
    )
    encoding: str = option(
        DETECT,
        "Encoding of a text file. UTF-8 and UTF-16 are recognised; any other is a guess, which a notice states.",
        choices=(DETECT, *ENCODINGS),
    )
    sheet: str = option(
        "",
        "Sheet of an Excel workbook, by its title; a notice names those that there are.",
        metavar="TITLE",
        unset="the first whose columns are recognised, else the first filled one",
    )
    header: str = option(
        headerless.DETECT,
        "How the first row of a table is read: as the names of the columns, or as a row of data.",
        choices=headerless.HEADERS,
    )
    quoting: str = option(
        delimited.DETECT,
        "Which fields of a text file are in quotation marks that are no part of them.",
        choices=delimited.QUOTINGS,
    )


def max_file_bytes() -> int:
    """The size above which no file is read: MAX_FILE_BYTES, or HAKARI_MAX_UPLOAD_MB (MiB)."""
    raw_value = os.environ.get("HAKARI_MAX_UPLOAD_MB", "")
    try:
        return int(float(raw_value) * 2**20) if raw_value else MAX_FILE_BYTES
    except (ValueError, OverflowError) as error:
        raise InputError(
            Message("HAKARI_MAX_UPLOAD_MB must be a number of MiB; got {raw_value!r}.", raw_value=raw_value)
        ) from error


def read_table(
    source: Path | bytes,
    name: str | None = None,
    *,
    skip_bad_rows: bool = False,
    encoding: str = DETECT,
    sheet: str = "",
    header: str = headerless.DETECT,
    quoting: str = delimited.DETECT,
    judge: Callable[[Table], object] | None = None,
) -> Table:
    """The rows of a file, or of an upload's bytes called `name`.

    A path hub:ORG/NAME… is a data set of the Hugging Face Hub (`hub.names`), whose files are read as one table. The
    format is that of the ending: .csv, .tsv, .txt (comma, tab or semicolon, by the header line),
    .jsonl, .json, .parquet, .xlsx, each also compressed (.csv.gz, .jsonl.xz, .tsv.bz2); for bytes without a name it is
    determined by their start. `encoding`: that of text, one of `encodings.ENCODINGS`, or DETECT; `sheet`: that of a
    workbook, or "" for the one that fits. `header`: what the first row is, a key of `headerless.HEADERS`; `quoting`: how
    fields of text are quoted, one of `delimited.QUOTINGS`. Raises InputError: no such file, too large (checked before
    reading; of a compressed file both sizes),
    empty, undecodable, an unknown ending, more cells than are read (`bounds`), or rows that do not fit (all of them
    listed). With `skip_bad_rows` rows that do not fit are left out, as long as others remain.

    judge: makes the dataset of a table. Where rows do not fit, its InputError of the others is part of that which is
    raised, so that all bad rows are listed at once.
    """
    how = Reading(skip_bad_rows, encoding, sheet, header, quoting)
    try:
        return _of_source(source, name, how)
    except InputError as error:
        if judge is None or skip_bad_rows:
            raise
        without = replace(how, skip_bad_rows=True)
        raise with_other_rows(error, lambda: _of_source(source, name, without), judge) from error


def with_other_rows(error: InputError, others: Callable[[], Table], judge: Callable[[Table], object]) -> InputError:
    """An error with the bad ones among the other rows as well; others: the table without the rows of the error.

    judge: raises InputError for the bad rows of a table.
    """
    if not error.rows:
        return error
    found, messages = list(error.rows), list(error.message.parts)
    try:
        table = others()
        known = {bad.row for bad in found}
        found += [bad for bad in table.left_out if bad.row not in known]  # such as values that are no text
        judge(table)
    except InputError as other:
        found += other.rows
        if other.rows:
            messages += [part for part in other.message.parts if part not in error.message]  # how rows are numbered
    except EngineError:
        pass  # it comes again when these rows are mended
    if len(found) == len(error.rows):
        return error
    return InputError(together(" ", messages), sorted(found, key=lambda bad: bad.row))


def _of_source(source: Path | bytes, name: str | None, how: Reading) -> Table:
    if isinstance(source, Path) and is_hub_name(source):
        return _of_hub(str(source), how)
    name = name or (source.name if isinstance(source, Path) else "")
    return _of_file(source, name, name or Message("The file"), how)


def _of_file(source: Path | bytes, name: str, title: str, how: Reading) -> Table:
    """The rows of a file that is called `name`, and `title` where a reader is told of it. Raises as `read_table`."""
    try:
        with metered():
            source = _checked(_plain(_checked(source, title), name, title), title)
            table = _read(source, own_name(name), title, how)
    except OSError as error:
        raise InputError(
            Message(
                "{title} cannot be read: {error}. Needed: a file with one of the endings {SUFFIXES}.",
                title=source if isinstance(source, Path) else title,
                error=reason_of(error),
                SUFFIXES=list_of(SUFFIXES[:-1]),
            )
        ) from error
    return replace(table, notices=(*_as_chosen(table.format, how), *table.notices))


def detected(source: Path | bytes, name: str) -> Detection:
    """The encoding of a file of text, as `read_table` detects it. Raises InputError as `encodings.detect`."""
    return detect(_plain(source, name, name), name)


def _plain(source: Path | bytes, name: str, title: str) -> Path | bytes:
    return source if own_name(name) == name else decompressed(source, title, max_file_bytes())


def _of_hub(name: str, how: Reading) -> Table:
    """The rows of all files of a data set of the hub, numbered on, under its name with the commit."""
    fetched = fetching.fetch(name, max_file_bytes())
    several = len(fetched.files) > 1
    with metered():
        tables = [
            _of_file(path, path.name, part.file if several else fetched.name, how) for part, path in fetched.files
        ]
    notices = dict.fromkeys((fetched.notice, *(notice for table in tables for notice in table.notices)))
    if not several:
        return replace(tables[0], name=fetched.name, notices=tuple(notices))
    frames, left_out, last = [], [], 0
    configs = [part.config for part, _ in fetched.files]
    for table, config in zip(tables, configs, strict=True):
        frame = table.frame.set_axis(table.frame.index + last)
        if len(set(configs)) > 1 and CONFIG not in frame:
            frame = frame.assign(**{CONFIG: pd.Series(config, index=frame.index, dtype="str")})
        frames.append(frame)
        left_out += [BadRow(bad.row + last, bad.reason) for bad in table.left_out]
        last = max(int(frame.index.max()), *(bad.row for bad in left_out), last)
    joined = pd.concat(frames).fillna("").rename_axis("row")
    # Of rows that come from several files the texts are kept, not the spelling of each JSON.
    return replace(
        tables[0], name=fetched.name, frame=joined, json_text="", left_out=tuple(left_out), notices=tuple(notices)
    )


def _as_chosen(format_: Format, how: Reading) -> list[str]:
    """The options of a command that say how the first row and the quotation marks were read, if not as detected."""
    options: list[str] = []
    if how.header != headerless.DETECT and format_ not in ("json", "jsonl"):
        options.append(headerless.chosen(how.header))
    if how.quoting != delimited.DETECT and format_ in ("csv", "tsv"):
        options.append(Message("{CHOSEN}--quoting {quoting}", CHOSEN=QUOTING_CHOSEN, quoting=how.quoting))
    return options


def _read(source: Path | bytes, name: str, title: str, how: Reading) -> Table:
    with opened(source) as file:
        start = file.read(BEGINNING_BYTES)
    suffix = Path(name).suffix.lower()
    if suffix in EXCEL_SUFFIXES or start.startswith((ZIP_SIGN, OLE_SIGN)):
        grid = read_workbook(source, title, skip_bad_rows=how.skip_bad_rows, sheet=how.sheet, header=how.header)
        return _table(title, grid, "excel", None)
    if suffix and suffix not in SUFFIXES:
        raise InputError(
            Message(
                "{title}: files ending in {suffix} cannot be read as a table. Endings that can: {SUFFIXES}.",
                title=title,
                suffix=suffix,
                SUFFIXES=list_of(SUFFIXES[:-1]),
            )
        )
    beginning = start.removeprefix(BOM_UTF8).lstrip().lower()
    if (other := next((what for sign, what in OTHER_FILES.items() if beginning.startswith(sign)), None)) is not None:
        raise InputError(
            Message(
                "{title} is {other}, no table. Give the table itself, as CSV, TSV, JSON lines, Parquet or Excel.",
                title=title,
                other=other,
            )
        )
    if suffix == parquet.SUFFIX:
        source, name = parquet.json_lines(source, title), f"{name}.jsonl"
        suffix = ".jsonl"
    text, detection = source_in(source, how.encoding, title)
    first_block, has_line_feed = _checked_text(text, title)
    if suffix in JSON_SUFFIXES or (not suffix and first_block.lstrip().startswith(("{", "["))):
        encoding = text.encoding
        if (of_object := lines_of_object(text)) is not None:
            text = TextSource(of_object.encode("utf-8", "backslashreplace"), "utf-8")  # half of a surrogate pair stays
        rows = read_json(text, title, skip_bad_rows=how.skip_bad_rows)
        table = _table(title, rows, "json" if is_list(first_block) else "jsonl", encoding, detection)
        return replace(table, json_text=text.text())
    end = line_end(has_line_feed)
    if how.header == headerless.DETECT and sections.has_headings(lambda: text.lines(end=end)):
        return _table(title, read_sections(lambda: text.lines(end=end), title), "tsv", text.encoding, detection)
    separator, lines = separated(lambda: text.lines(end=end), title, suffix)
    rows = read_delimited(
        lines, title, separator, skip_bad_rows=how.skip_bad_rows, header=how.header, quoting=how.quoting
    )
    return _table(title, rows, "tsv" if separator == "\t" else "csv", text.encoding, detection)


def table_of_hub(source: Path | bytes, name: str, **reading: Any) -> Table:
    """`read_table` of a data set of the hub by its name alone, as `reader_process.Reader` calls it; source: nothing."""
    return read_table(Path(name), **reading)


def paste_table(
    text: str, columns: Sequence[str], *, skip_bad_rows: bool = False, judge: Callable[[Table], object] | None = None
) -> Table:
    """Pasted rows of len(columns) fields, split at tabs if there are any, else at commas.

    `columns` are roles. A first line that names them all (by `columns.guess`), in any order and among
    others, is taken as header. Raises InputError when nothing was pasted, or
    listing every line with the wrong number of fields; with `skip_bad_rows` these are left out. judge: as `read_table`
    takes it.
    """
    try:
        return _pasted(text, columns, skip_bad_rows=skip_bad_rows)
    except InputError as error:
        if judge is None or skip_bad_rows:
            raise
        raise with_other_rows(error, lambda: _pasted(text, columns, skip_bad_rows=True), judge) from error


def _pasted(text: str, columns: Sequence[str], *, skip_bad_rows: bool) -> Table:
    name = Message("The pasted text")
    _refuse_size(len(text), name)
    _refuse_nul(text, name)
    separator = "\t" if "\t" in text else ","
    rows, quoting = cut(lambda: lines_of(text), separator)
    first = next(rows, None)
    if first is None:
        raise InputError(
            Message(
                "Nothing was pasted. Needed: lines with {columns}, separated by a tab or a comma.",
                columns=quoted(columns),
            )
        )
    header, body, offset = list(columns), chain([first], rows), 0
    if all(guess(first.fields, columns).values()):
        header, body, offset = first.fields, chain(rows), first.number
    return _table(
        name,
        grid_of_records(name, header, body, offset, separator, skip_bad_rows=skip_bad_rows, quoting=quoting),
        "pasted",
        None,
    )


def _checked(source: Path | bytes, title: str) -> Path | bytes:
    """The source, not empty and not too large; the bytes of a pipe, which can be read only once."""
    if isinstance(source, Path):
        if source.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not source.is_file() and source.exists():
            with source.open("rb") as file:
                # Its size is not known; one byte more than allowed shows that it is too large.
                source = file.read(max_file_bytes() + 1)
    n = n_bytes(source)
    _refuse_size(n, title)
    if not n:
        raise _empty(title)
    return source


def _checked_text(text: TextSource, title: str) -> tuple[str, bool]:
    """The start of the text that is not blank, and whether there is a line feed in it. Raises InputError: no text."""
    first_block, has_line_feed, n_lines = "", False, 0
    for block in text.blocks():
        _refuse_nul(block, title, n_lines)
        n_lines += block.count("\n")
        has_line_feed = has_line_feed or "\n" in block
        if not first_block.strip():
            first_block = block
    if not first_block.strip():
        raise _empty(title)
    return first_block, has_line_feed


def _empty(title: str) -> InputError:
    return InputError(
        Message("{title} is empty. A header line with column names and rows under it are needed.", title=title)
    )


def _refuse_size(n_bytes: int, name: str) -> None:
    limit = max_file_bytes()
    if n_bytes > limit:
        raise InputError(
            Message(
                "{name} is too large: {n_bytes:,.1f} MiB; at most {limit:,.1f} MiB are read. Split "
                "it into several files, or raise the limit with HAKARI_MAX_UPLOAD_MB.",
                name=name,
                n_bytes=n_bytes / 2**20,
                limit=limit / 2**20,
            )
        )


def _refuse_nul(text: str, name: str, n_lines_before: int = 0) -> None:
    position = text.find("\0")
    if position >= 0:
        line = n_lines_before + text.count("\n", 0, position) + 1
        raise InputError(
            Message(
                "{name} holds a NUL character in line {line}: it is no text file, or UTF-16 without "
                "byte order mark. Save it as UTF-8 and try again, or choose its encoding.",
                name=name,
                line=line,
            )
        )


def _table(name: str, rows: Grid, format_: Format, encoding: str | None, detection: Detection | None = None) -> Table:
    notices = detection.notices(name) if detection else ()
    return Table(
        name,
        rows.frame,
        format_,
        encoding,
        (*notices, *rows.notices),
        detection.confidence if detection else 1.0,
        left_out=rows.left_out,
        sheets=rows.sheets,
        sheet=rows.sheet,
    )
