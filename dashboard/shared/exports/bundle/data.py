"""The data of a run as a file that its command reads. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from engine.datasets.formats.columns import JOIN, guess, normalize_name
from engine.datasets.formats.delimited import csv_text
from engine.datasets.formats.formulas import DIGEST_DIGITS, SIGNATURE_COLUMN, escape_formulas
from engine.datasets.formats.json_rows import texts_of_row
from engine.datasets.further_columns import PREFIX
from engine.datasets.labelled.outside_vectors import without_vectors
from engine.datasets.masked.masked_sentences import WRITTEN_MASK, MaskedSentences
from engine.datasets.minimal_pairs.export import export_pairs
from engine.datasets.minimal_pairs.files import read_pairs
from engine.datasets.minimal_pairs.forms import JUDGEMENTS
from engine.datasets.minimal_pairs.pairs import ROLES, MinimalPairs
from engine.errors import InputError

DATA = "data.csv"
ROWS_TRIED = 20


class DataFile(NamedTuple):
    """A file of data: its name and content, and the options of a command that say which column plays which role."""

    name: str
    content: bytes
    columns: tuple[str, ...] = ()


def data_file(dataset: Any, *, by_names_alone: bool = False) -> DataFile:
    """The file: of minimal pairs their own, where a command can be told its columns; else a table of texts and roles.

    A file of their own keeps its name, so that a command writes the same sources; several become a zip of them.
    by_names_alone: the columns must be recognised by their names, as no options go with the file.
    """
    if not isinstance(dataset, MinimalPairs):
        return DataFile(DATA, data_csv(dataset))
    columns = _own_columns(dataset)
    if columns is None or (columns and by_names_alone):
        frame = _roles_and_others(dataset)
        while by_names_alone and (others := _taken_for_roles(frame)):
            frame = frame.rename(columns={name: f"{PREFIX}{name}" for name in others.values()})
        return DataFile(DATA, _csv(frame, dataset), _options({role: role for role in _taken_for_roles(frame)}))
    exported = export_pairs(dataset, dataset.rows, label="")
    return DataFile(exported.name.rpartition("/")[2], exported.content, _options(columns))


def name_and_options(dataset: Any) -> tuple[str, tuple[str, ...]]:
    """Name and options of `data_file`; a table of texts and roles, whose name is known, is not written for it."""
    if not isinstance(dataset, MinimalPairs):
        return DATA, ()
    if not dataset.originals:
        return DATA, _options({role: role for role in _taken_for_roles(_roles_and_others(dataset))})
    file = data_file(dataset)
    return file.name, file.columns


def is_renumbered(dataset: Any) -> bool:
    """Whether the rows of the file have other numbers than those of the dataset, because some are left out."""
    return tuple(dataset.rows) != tuple(range(1, len(dataset) + 1))


def data_csv(dataset: Any) -> bytes:
    """A dataset, but of minimal pairs, as CSV whose columns are recognised by their names, without the numbers of rows.

    A row has no number of its own in the file, because messages about a file name the places of rows in it. Where a
    text would be run as a formula by a spreadsheet, the table is escaped and signed as an export is, so that the reader
    takes the apostrophes off again.
    """
    if isinstance(dataset, MaskedSentences):
        # The mask stands in the text, because the reader would mask the first occurrence of the word.
        frame = dataset.to_frame().drop(columns=["row", "start"])
        frame["text"] = [f"{before}{WRITTEN_MASK}{after}" for before, _, after in dataset.parts]
    else:
        frame = without_vectors(dataset.to_frame()).drop(columns="row")
    return _csv(frame, dataset)


def _csv(frame: pd.DataFrame, dataset: Any) -> bytes:
    escaped = escape_formulas(frame)
    if list(escaped.columns) != list(frame.columns) or not escaped.equals(frame):
        frame = escaped.assign(**{SIGNATURE_COLUMN: dataset.content_hash[:DIGEST_DIGITS]})
    return csv_text(frame).encode("utf-8-sig")


def _sentences_and_categories(pairs: MinimalPairs) -> dict[str, Sequence[str]]:
    """The texts of every role."""
    texts: tuple[Sequence[str], ...] = (pairs.acceptable, pairs.unacceptable, pairs.categories)
    return dict(zip((role.name for role in ROLES), texts, strict=True))


def _roles_and_others(pairs: MinimalPairs) -> pd.DataFrame:
    """What such a file is recognised by, then the other columns; one that has the same name gets a prefix."""
    texts = pairs.data_kind.columns(pairs.acceptable, pairs.unacceptable, pairs.categories, pairs.labels)
    # Beside a judgement a column of texts would be no running text.
    taken = {*texts, SIGNATURE_COLUMN, *(JUDGEMENTS if pairs.data_kind.in_windows else ())}
    others = {
        f"{PREFIX}{name}" if name in taken or normalize_name(name) in taken else name: values
        for name, values in pairs.further.items()
        if texts.get(name) != values
    }
    return pd.DataFrame({**texts, **others})


def _taken_for_roles(frame: pd.DataFrame) -> dict[str, str]:
    """The columns that would be recognised, by the role whose own column is there."""
    guessed = guess(frame.columns, [role.name for role in ROLES])
    return {role: str(name) for role, name in guessed.items() if role in frame and name != role}


def _options(columns: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(word for role, name in columns.items() for word in ("--column", f"{role}={name}"))


def _own_columns(pairs: MinimalPairs) -> dict[str, str] | None:
    """The columns of the pairs' own files to be named, by role, as others are recognised; "" for none.

    None where there is no file, where no column that all files have holds what a role has in every row, and where the
    first rows of each file are not read back so.
    """
    if not pairs.originals:
        return None
    if pairs.data_kind.roles != ROLES:
        return _own_category(pairs)
    texts = _sentences_and_categories(pairs)
    # Pairs from no file, which are joined with those of files, are written with the names of the roles.
    rows = [
        texts_of_row(original) if original else {role: values[i] for role, values in texts.items()}
        for i, original in enumerate(pairs.originals)
    ]
    headers: dict[str, dict[str, None]] = {}
    for source, row in zip(pairs.sources, rows, strict=True):
        headers.setdefault(source, {}).update(dict.fromkeys(row))
    guesses = {source: guess(header, texts) for source, header in headers.items()}
    columns: dict[str, str] = {}
    for role, values in texts.items():
        if all(
            _text(row, guesses[source][role], role) == value
            for source, row, value in zip(pairs.sources, rows, values, strict=True)
        ):
            continue
        common = [name for name in rows[0] if all(name in header for header in headers.values())]
        alike = [
            name
            for name in ("", *common)
            if all(_text(row, name, role) == value for row, value in zip(rows, values, strict=True))
        ]
        if not alike:
            return None
        columns[role] = alike[0]
    return columns if _reads_back(pairs, columns) else None


def _own_category(pairs: MinimalPairs) -> dict[str, str] | None:
    """As `_own_columns`, where the layout names all but the column of the category."""
    alike = [
        name for name, values in pairs.further.items() if tuple(value.strip() for value in values) == pairs.categories
    ]
    choices = ({}, *({"category": name} for name in ("", *alike)))
    return next((columns for columns in choices if _reads_back(pairs, columns, n_tried=pairs.n)), None)


def _text(row: Mapping[str, str], column: str | None, role: str) -> str:
    """The text of a row in a column, or in joined ones, as the reader of minimal pairs has it; "" for no column."""
    if not column:
        return ""
    text = row[column] if column in row else " ".join(row.get(part, "") for part in column.split(JOIN))
    return text.strip() if role == "category" else text


def _reads_back(pairs: MinimalPairs, columns: Mapping[str, str], n_tried: int = ROWS_TRIED) -> bool:
    """Whether the first rows of each file of the pairs are read as they are."""
    n_by_source: Counter[str] = Counter()
    first = []
    for row, source in zip(pairs.rows, pairs.sources, strict=True):
        n_by_source[source] += 1
        first += [row] if n_by_source[source] <= n_tried else []
    some = pairs.subset(first)
    exported = export_pairs(some, first, label="")
    try:
        again = read_pairs([(exported.name, exported.content)], columns or None)
    except InputError:
        return False
    return _rows(again) == _rows(some)


def _rows(pairs: MinimalPairs) -> list[tuple[str | bool | None, ...]]:
    """What each row is read as; sorted where results depend on no order."""
    rows = zip(pairs.formats, *_sentences_and_categories(pairs).values(), strict=True)
    read = [(*row, label) for row, label in zip(rows, pairs.labels or (None,) * pairs.n, strict=True)]
    return read if pairs.data_kind.is_ordered else sorted(read, key=str)
