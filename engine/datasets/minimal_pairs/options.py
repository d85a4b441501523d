"""Rows that hold several sentences in a cell, as BabyLM's entity tracking and its two tests with invented words do."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from engine.datasets import rows
from engine.datasets.formats.bounds import current_meter
from engine.datasets.formats.columns import normalize_name
from engine.datasets.formats.files import Table
from engine.datasets.minimal_pairs import items
from engine.datasets.minimal_pairs.layouts import ENTITIES, FORMS, OPTIONS
from engine.errors import BadRow
from engine.messages.message import Message

# Columns of the pairs of a row: how each sentence goes on, and the place of the other option in the row.
SIDES = ("right_option", "other_option")
OPTION = "option"
NOT_OPTIONS = Message(
    "{name}: {bad} of {rows} do not hold the options of one beginning: a list of two texts or more, the right one "
    "first. Correct or remove these rows."
)
NOT_FORMS = Message(
    "{name}: {bad} of {rows} do not hold two sentences with a tab between them and the share of people who choose the "
    "first (0 to 1). Correct or remove these rows."
)
CHOSEN = Message(
    "{name}: the sentence that more people choose is read as the acceptable one; {n_even} of {n:,} rows are even, "
    "and their first sentence is."
)


@dataclass(frozen=True)
class _Reader:
    """How rows of one layout are read. read: a row -> its pairs as columns; raises ValueError with the reason."""

    read: Callable[[Mapping[str, str]], list[dict[str, str]]]
    message: Message


def layout_of(table: Table) -> str:
    """The layout of OPTIONS that a table has, "" for another one, and for one that names the sides of pairs.

    >>> from engine.datasets.formats.files import read_table
    >>> layout_of(read_table(b'{"sentences": "a b\\\\tb c", "ratio": 0.25}', "wug.jsonl"))
    'WUG'
    """
    names = {normalize_name(str(column)) for column in table.frame.columns}
    if names & {items.ACCEPTABLE, items.UNACCEPTABLE}:
        return ""
    return next((layout.name for layout in OPTIONS.values() if names >= {layout.sentences, *layout.marks}), "")


def sentence_column(table: Table, name: str) -> str:
    """The column of the sentences of a layout, as spelled in the file."""
    return _spelled(table)[OPTIONS[name].sentences]


def as_pairs(table: Table, name: str, *, skip_bad_rows: bool) -> Table:
    """The table as one of pairs: `items.ACCEPTABLE`, `items.UNACCEPTABLE` and the file's other columns.

    Where a row has several options, the first is right: each of the others becomes a pair with it, numbered as the
    pairs come, of the item that is the row. Raises InputError for rows that do not hold what the layout has, every one
    listed; with `skip_bad_rows` these are left out.
    """
    reader, spelled = _READERS[name], _spelled(table)
    pairs: dict[int, list[dict[str, str]]] = {}
    bad = []
    for number, row in zip(table.frame.index.tolist(), table.frame.to_dict("records"), strict=True):
        try:
            pairs[number] = reader.read({key: row[column] for key, column in spelled.items()})
        except ValueError as error:
            bad.append(BadRow(number, error.args[0]))
    table = rows.without_rows(table, bad, reader.message, skip_bad_rows=skip_bad_rows)
    current_meter().count_cells(sum(map(len, pairs.values())) * (len(table.frame.columns) + 6), table.name)
    numbers = [number for number in pairs for _ in pairs[number]]
    made = pd.DataFrame([of_row for number in pairs for of_row in pairs[number]], dtype="str")
    kept = table.frame.loc[numbers].drop(columns=[spelled["input_prefix"]] if name == ENTITIES else [])
    frame = pd.concat([made, kept.reset_index(drop=True)], axis=1)
    if name == ENTITIES:
        frame.insert(2, items.ITEM, pd.Series(list(map(str, numbers)), dtype="str"))
        frame.index = pd.Index(range(1, len(frame) + 1), name="row")
        notice = items.READ_AS.format(n_items=len(pairs), n_pairs=len(frame))
        # Rows that were left out have the numbers of the file, not those of the pairs.
        notices = (*table.notices, notice, *rows.left_out_notice(table.left_out))
        return replace(table, frame=frame, notices=notices, left_out=(), json_text="")
    frame.index = pd.Index(numbers, name="row")
    n_even = sum(float(text) == 0.5 for text in frame[spelled["ratio"]])
    return replace(
        table,
        frame=frame,
        notices=(*table.notices, CHOSEN.format(name=table.name, n_even=n_even, n=len(frame))),
        json_text="",
    )


def _of_entities(row: Mapping[str, str]) -> list[dict[str, str]]:
    options = _texts(row["options"])
    if options is None:
        raise ValueError(Message("'{column}' is no list of texts", column="options"))
    if len(options) < 2:
        raise ValueError(Message("'{column}' has {n} of them, not two or more", column="options", n=len(options)))
    prefix, right = row["input_prefix"], options[0]
    if not prefix.strip() or not all(map(str.strip, options)):
        raise ValueError(Message("the beginning or an option is empty"))
    return [
        {
            items.ACCEPTABLE: prefix + right,
            items.UNACCEPTABLE: prefix + other,
            OPTION: str(place),
            SIDES[0]: right,
            SIDES[1]: other,
        }
        for place, other in enumerate(options[1:], start=2)
    ]


def _of_forms(row: Mapping[str, str]) -> list[dict[str, str]]:
    sentences = row["sentences"].split("\t")
    if len(sentences) != 2 or not all(map(str.strip, sentences)):
        raise ValueError(Message("'{column}' is not two sentences with a tab between them", column="sentences"))
    try:
        ratio = float(row["ratio"])
    except ValueError:
        ratio = float("nan")
    if not 0 <= ratio <= 1:
        raise ValueError(
            Message("'{column}' holds {text!r}, not a share from 0 to 1", column="ratio", text=row["ratio"])
        )
    chosen, other = sentences if ratio >= 0.5 else sentences[::-1]
    return [{items.ACCEPTABLE: chosen, items.UNACCEPTABLE: other}]


_READERS: Mapping[str, _Reader] = {
    ENTITIES: _Reader(_of_entities, NOT_OPTIONS),
    FORMS: _Reader(_of_forms, NOT_FORMS),
}


def _texts(cell: str) -> list[str] | None:
    try:
        value: Any = json.loads(cell)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, list) and all(isinstance(text, str) for text in value) else None


def _spelled(table: Table) -> dict[str, str]:
    return {normalize_name(str(column)): str(column) for column in table.frame.columns}
