"""Running text: documents in the rows of a table, or each in a plain text file of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

import pandas as pd

from engine.datasets import rows
from engine.datasets.corpora.aozora import is_aozora, strip_aozora
from engine.datasets.formats.columns import normalize_name
from engine.datasets.formats.encodings import DETECT, source_in
from engine.datasets.formats.files import Table, read_table
from engine.errors import InputError
from engine.language.quantities import count
from engine.messages.message import Message

PLAIN = ".txt"
TEXT, TITLE, CATEGORY = "text", "title", "category"
# Names of the column of the documents, by which a table of them is known, and of what each document is called.
TEXTS = ("text", "document", "body", "content", "本文", "文章", "テキスト", "文書")
TITLES = ("title", "タイトル", "題名", "file", "filename", "file_name", "id", "doc_id", "document_id")
AOZORA = Message("{name} is in the notation of Aozora Bunko: header, ruby, notes and colophon are taken off.")
SAME = Message("{notice} The same holds for another {n} of {name}.")
REPEATED = (
    Message("{rows} repeats an earlier document (kept): {listed}."),
    Message("{rows} repeat an earlier document (kept): {listed}."),
)


def text_column(columns: Iterable[str], judgements: Sequence[str] = ()) -> str | None:
    """The column of the documents as spelled in a file, None in a file that has none or a judgement beside them.

    judgements: the names of columns that say of a text what a clusters or a judged file does.

    >>> text_column(["id", "Text"]), text_column(["text", "label"], ["label"]), text_column(["sentence"])
    ('Text', None, None)
    """
    spelled: dict[str, str] = {}
    for column in columns:
        spelled.setdefault(normalize_name(column), column)
    if spelled.keys() & set(judgements):
        return None
    return next((spelled[name] for name in TEXTS if name in spelled), None)


def title_column(columns: Iterable[str]) -> str | None:
    """The column that says what each document is called; None where there is none.

    >>> title_column(["id", "text", "Title"])
    'Title'
    """
    spelled = {normalize_name(column): column for column in columns}
    return next((spelled[name] for name in TITLES if name in spelled), None)


def repeated_notice(numbers: Sequence[int], texts: Sequence[str]) -> tuple[str, ...]:
    """The notice of the rows whose document an earlier row has."""
    return rows.row_notice(rows.repeated_rows(numbers, texts), *REPEATED)


def read_rows(
    source: bytes | Path,
    name: str,
    is_known: Callable[[Table], bool],
    judge: Callable[[Table], object] | None = None,
    *,
    skip_bad_rows: bool = False,
    encoding: str = DETECT,
    **how: str,
) -> Table:
    """The table in a file, as `read_table`; a plain text file that holds none is one document (`is_document`).

    A .txt file is a table where its columns are known (`is_known`), or it has several of them, all rows fitting; where
    rows of one with known columns do not fit, this is an error as in any table.
    Raises InputError as `read_table`, which takes `judge`.
    """
    if not name.lower().endswith(PLAIN):
        return read_table(source, name, skip_bad_rows=skip_bad_rows, encoding=encoding, judge=judge, **how)
    try:
        table = read_table(source, name, skip_bad_rows=skip_bad_rows, encoding=encoding, judge=None, **how)
        if is_known(table) or (len(table.frame.columns) > 1 and not table.left_out):
            return table
    except InputError as error:
        if error.rows and not skip_bad_rows and _is_known_beside(source, name, is_known, encoding, how):
            read_table(
                source, name, skip_bad_rows=False, encoding=encoding, judge=judge, **how
            )  # raises it, with what is wrong elsewhere
    return _document(source, name, encoding)


def _is_known_beside(
    source: bytes | Path, name: str, is_known: Callable[[Table], bool], encoding: str, how: Mapping[str, str]
) -> bool:
    """Whether a file with rows that cannot be read is a table whose columns are known in its other rows."""
    try:
        table = read_table(source, name, skip_bad_rows=True, encoding=encoding, judge=None, **how)
    except InputError:  # no row can be read
        return False
    return len(table.frame.columns) > 1 and is_known(table)  # a text may begin with a line "Text"


def is_document(table: Table) -> bool:
    """Whether a table is a plain text file, as `read_rows` reads one."""
    return list(table.frame.columns) == [TEXT, TITLE, CATEGORY] and len(table.frame) == 1


def documents(name: str, tables: Sequence[Table]) -> Table:
    """The documents of an archive or a folder as one table: a row for each file; its folder is the category.

    Where all files are in one folder there are no categories.
    """
    frame = pd.concat([table.frame for table in tables], ignore_index=True)
    if frame[CATEGORY].nunique() == 1:
        frame[CATEGORY] = ""
    frame.index = pd.RangeIndex(1, len(frame) + 1, name="row")
    notices = dict.fromkeys(notice for table in tables for notice in table.notices)
    return replace(tables[0], name=name, frame=frame, notices=_once(name, notices))


def _once(name: str, notices: Iterable[str]) -> tuple[str, ...]:
    """One notice of those that say the same of several files of an archive, with how many others it is of."""
    alike: dict[tuple[object, ...], list[str]] = {}
    for notice in notices:
        said = notice if isinstance(notice, Message) else Message(notice)
        others = {key: value for key, value in said.values.items() if key not in ("name", "confidence")}
        alike.setdefault((said.template, *others.items()), []).append(notice)
    return tuple(
        first if not others else SAME.format(notice=first, n=count(len(others), "file"), name=name)
        for first, *others in alike.values()
    )


def _document(source: bytes | Path, name: str, encoding: str) -> Table:
    file, detection = source_in(source, encoding, name)
    text = file.text().replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff").strip("\n")
    if not text.strip():
        raise InputError(Message("{name} is empty. A document needs a text.", name=name))
    if "\0" in text:
        raise InputError(Message("{name} holds NUL bytes, as no text does.", name=name))
    of_aozora = is_aozora(text)
    path = PurePosixPath(name)
    row: Mapping[str, list[str]] = {
        TEXT: [strip_aozora(text) if of_aozora else text],
        TITLE: [path.stem],
        CATEGORY: [path.parent.name],
    }
    return Table(
        name,
        pd.DataFrame(row, index=pd.Index([1], name="row"), dtype="str"),
        "csv",
        detection.encoding,
        (*detection.notices(name), *([AOZORA.format(name=name)] if of_aozora else [])),
        detection.confidence,
    )
