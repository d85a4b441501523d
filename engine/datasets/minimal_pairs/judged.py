"""Single sentences with judgements, acceptable (1) or not (0): JCoLA, CoLA and one's own, as `pairs` reads them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from engine.datasets import rows
from engine.datasets.formats import columns as column_names
from engine.datasets.formats import headerless
from engine.datasets.formats.columns import normalize_name
from engine.datasets.formats.files import Table
from engine.datasets.formats.json_rows import texts_of_row
from engine.datasets.minimal_pairs.layouts import COLA_COLUMNS, JUDGED, JudgedFormat
from engine.errors import BadRow
from engine.messages.message import Message

LABELS = {"0": False, "1": True}
_JUDGEMENTS = LABELS | {
    "0.0": False,
    "1.0": True,
    "false": False,
    "true": True,
    "unacceptable": False,
    "acceptable": True,
    "ungrammatical": False,
    "grammatical": True,
}
NOT_A_LABEL = Message("'{column}' holds {text!r}, not 0 or 1")
UNUSABLE = Message(
    "{name}: {bad} of {rows} lack a sentence or a judgement. A judgement is 1 (acceptable) or 0; "
    "correct or remove these rows."
)
REPEATED = (
    Message("{rows} repeats an earlier sentence (kept): {listed}."),
    Message("{rows} repeat an earlier sentence (kept): {listed}."),
)
# Of the third column of CoLA: its annotation in the literature, "" where acceptable; the reader names an empty header.
_ANNOTATION = re.compile(r"column 3|[*?#%]+")
# Prefix of a column that says how far a person prefers the acceptable sentence of a pair, above 0, or the other.
PREFERENCE = "preference:"
# Columns that say how acceptable people find the acceptable and the unacceptable sentence of a pair; one person's have
# the name after a colon. Of single sentences, the prefix of a column for each person.
RATINGS = ("acceptable_rating", "unacceptable_rating")
ACCEPTABILITY = "acceptability:"
# One of RATINGS, with a number where the file had the column already, or with a person.
_RATING = re.compile(rf"(?:{'|'.join(RATINGS)})(?: \(\d+\))?(?::.*)?", re.DOTALL)


def judgement(text: str) -> bool | None:
    """Whether a text says acceptable, as 1, 1.0, true or the word, or not, as 0, 0.0 or false; None for neither.

    >>> judgement("TRUE"), judgement("0.0"), judgement("2")
    (True, False, None)
    """
    return _JUDGEMENTS.get(text.strip().casefold())


def is_judgement(column: str, layout: JudgedFormat | None) -> bool:
    """Whether a column holds judgements: that of single sentences in `layout`, or what people gave to a sentence or to
    the difference in a pair.

    >>> [is_judgement(column, None) for column in ("acceptable_rating (2)", "acceptable_rating:Ann (2)", "rating")]
    [True, True, False]
    """
    return (
        _RATING.fullmatch(column) is not None
        or column.startswith((PREFERENCE, ACCEPTABILITY))
        or (layout is not None and normalize_name(column) == layout.label)
    )


def with_header(table: Table) -> Table:
    """The table of CoLA's own files, which begin with a row of data in place of a header, with COLA_COLUMNS.

    Any other table as it is, and one whose first row was chosen to be names. Known by four columns, the second of which
    is called 0 or 1 and the third by an annotation.
    """
    if headerless.chosen(headerless.NAMES) in table.notices:
        return table
    names = [str(column) for column in table.frame.columns]
    if len(names) != len(COLA_COLUMNS) or names[1] not in LABELS or not _ANNOTATION.fullmatch(names[2]):
        return table
    first = [name if index != 2 or name != "column 3" else "" for index, name in enumerate(names)]
    header = pd.DataFrame([first], columns=list(COLA_COLUMNS), index=[0], dtype="str")
    frame = pd.concat([header, table.frame.set_axis(list(COLA_COLUMNS), axis=1)])
    # What was taken for the header is row 1.
    frame.index = pd.Index(frame.index + 1, name="row")
    return replace(table, frame=frame, left_out=tuple(BadRow(bad.row + 1, bad.reason) for bad in table.left_out))


def sentence_column(table: Table, layout: JudgedFormat) -> str:
    """The column of the sentences, as spelled in the file."""
    return _spelled(table, layout.sentence)


def usable(table: Table, layout: JudgedFormat, *, skip_bad_rows: bool) -> Table:
    """The table without the rows that have no sentence, or another judgement than 0 or 1.

    Without `skip_bad_rows`, or when no row would remain, such rows raise InputError, in which every one is listed.
    """
    sentence, label = sentence_column(table, layout), _spelled(table, layout.label)

    def fault(text: str, column: str) -> str | None:
        if column == sentence:
            return rows.empty_reason(text, column)
        return None if judgement(text) is not None else NOT_A_LABEL.format(column=column, text=text)

    return rows.usable(
        table,
        {column: column_names.values(table.frame, column) for column in (sentence, label)},
        fault,
        UNUSABLE,
        skip_bad_rows=skip_bad_rows,
    )


def labels(formats: Sequence[str], originals: Sequence[str]) -> tuple[bool | None, ...]:
    """The judgement of each row, from the file's own row; None where there is none."""
    return tuple(
        next(
            (
                judgement(value)
                for name, value in texts_of_row(original).items()
                if normalize_name(name) == JUDGED[layout].label
            ),
            None,
        )
        if original
        else None
        for layout, original in zip(formats, originals, strict=True)
    )


def repeated_notice(numbers: Sequence[int], sentences: Sequence[str]) -> tuple[str, ...]:
    """The notice of the rows whose sentence an earlier row has."""
    return rows.row_notice(rows.repeated_rows(numbers, sentences), *REPEATED)


def _spelled(table: Table, name: str) -> str:
    return next(str(column) for column in table.frame.columns if normalize_name(str(column)) == name)
