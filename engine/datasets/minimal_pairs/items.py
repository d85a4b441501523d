"""Items of several sentences, one of them acceptable: each of the others becomes a pair with the acceptable one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from engine.datasets import rows
from engine.datasets.formats.columns import normalize_name
from engine.datasets.formats.files import Table
from engine.datasets.minimal_pairs.judged import judgement
from engine.errors import BadRow
from engine.messages.message import Message

# The columns of a file of items, and those that it is read as.
ITEM, SENTENCE, LABEL = "item", "sentence", "label"
ACCEPTABLE, UNACCEPTABLE = "acceptable", "unacceptable"
READ_AS = Message(
    "{n_items:,} items of several sentences are read as {n_pairs:,} pairs: each unacceptable sentence "
    "with the acceptable one of its item."
)
NO_ITEM = Message(
    "{name}: {bad} of {rows} are of no item with one acceptable sentence (label 1) and others (label "
    "0). Correct or remove these rows."
)


def item_columns(table: Table) -> Mapping[str, str] | None:
    """ITEM, SENTENCE and LABEL as spelled in the file; None where it has not all of them, or names sides of pairs."""
    spelled = {normalize_name(str(column)): str(column) for column in table.frame.columns}
    if {ACCEPTABLE, UNACCEPTABLE} & spelled.keys() or not {ITEM, SENTENCE, LABEL} <= spelled.keys():
        return None
    return {name: spelled[name] for name in (ITEM, SENTENCE, LABEL)}


def as_pairs(table: Table, columns: Mapping[str, str] | None = None, *, skip_bad_rows: bool) -> Table:
    """A table of items as one of pairs with ACCEPTABLE, UNACCEPTABLE, ITEM and the file's other columns.

    columns: which hold ITEM, SENTENCE and LABEL, if not those of these names. A row is that of the unacceptable
    sentence. Any other table as it is. Raises InputError for labels other than 0 and
    1, for blank sentences and for items without exactly one acceptable sentence or without another, every row listed;
    with `skip_bad_rows` these are left out.
    """
    given, columns = columns, columns or item_columns(table)
    if columns is None:
        return table
    numbers: list[int] = table.frame.index.tolist()
    texts = dict(zip(numbers, table.frame[columns[LABEL]], strict=True))
    labels = {number: judgement(text) for number, text in texts.items()}
    items = table.frame[columns[ITEM]].str.strip()
    bad = [
        BadRow(number, Message("'{LABEL}' holds {number!r}, not 0 or 1", LABEL=columns[LABEL], number=texts[number]))
        for number, label in labels.items()
        if label is None
    ]
    bad += [
        BadRow(number, Message("'{ITEM}' is empty", ITEM=columns[ITEM]))
        for number, item in zip(numbers, items, strict=True)
        if not item
    ]
    known = {row.row for row in bad}
    bad += [
        BadRow(number, reason)
        for number, text in zip(numbers, table.frame[columns[SENTENCE]], strict=True)
        if number not in known and (reason := rows.empty_reason(text, columns[SENTENCE]))
    ]
    known = {row.row for row in bad}
    for item, members in table.frame.groupby(items, sort=False).groups.items():
        n_acceptable = sum(labels[number] is True for number in members)
        if item and (n_acceptable != 1 or len(members) < 2):
            bad += [
                BadRow(
                    int(number),
                    Message(
                        "item {item!r} has {n_acceptable} acceptable of {members} sentences",
                        item=item,
                        n_acceptable=n_acceptable,
                        members=len(members),
                    ),
                )
                for number in members
                if number not in known
            ]
    table = rows.without_rows(table, sorted(bad, key=lambda row: row.row), NO_ITEM, skip_bad_rows=skip_bad_rows)
    if skip_bad_rows and bad:  # what is left may be of an item that is no longer whole
        return as_pairs(table, given, skip_bad_rows=True)
    frame, items = table.frame, items[table.frame.index]
    is_acceptable = frame[columns[LABEL]].map(judgement).astype(bool)
    sentence_of = dict(zip(items[is_acceptable], frame.loc[is_acceptable, columns[SENTENCE]], strict=True))
    pairs = (
        frame[~is_acceptable]
        .rename(columns={columns[SENTENCE]: UNACCEPTABLE, columns[ITEM]: ITEM})
        .drop(columns=columns[LABEL])
        .assign(**{ITEM: items[~is_acceptable]})
    )
    pairs.insert(0, ACCEPTABLE, items[~is_acceptable].map(sentence_of).astype("str"))
    notice = READ_AS.format(n_items=len(sentence_of), n_pairs=len(pairs))
    return replace(table, frame=pairs, notices=(*table.notices, notice))
