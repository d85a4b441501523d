"""Minimal pairs, an acceptable sentence and an unacceptable one each: what the minimal pairs page weighs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import pandas as pd

from engine.datasets import columns as column_names
from engine.datasets import rows
from engine.datasets.columns import JOIN, Role
from engine.datasets.files import Table
from engine.errors import InputError

KIND = "minimal_pairs"
ROLES = (
    Role("acceptable", True, "the sentence a model should prefer; in CrowS-Pairs the one that stereotypes more"),
    Role("unacceptable", True, "the sentence it should not prefer"),
    Role("category", False, "the phenomenon, to compare phenomena"),
)

# French CrowS-Pairs was published with a row that lacks its second sentence. Nobody should have to edit a benchmark.
LAYOUT_WITH_GAPS = ("sent_more", "sent_less")


@dataclass(frozen=True)
class MinimalPairs:
    """Acceptable and unacceptable sentences, aligned with their categories ("" = none).

    `rows` are row numbers in the file (1 = first row of data).
    """

    name: str
    acceptable: tuple[str, ...]
    unacceptable: tuple[str, ...]
    categories: tuple[str, ...]
    rows: tuple[int, ...]
    notices: tuple[str, ...] = field(default=(), compare=False)

    @property
    def n(self) -> int:
        """Number of pairs."""
        return len(self.acceptable)

    def __len__(self) -> int:
        """Number of pairs."""
        return self.n

    @cached_property
    def content_hash(self) -> str:
        """SHA-256 of all columns in their order; name and notices do not count."""
        return rows.content_hash(KIND, {"row": self.rows, "acceptable": self.acceptable,
                                        "unacceptable": self.unacceptable, "category": self.categories})

    def to_frame(self) -> pd.DataFrame:
        """Columns row, acceptable, unacceptable, category."""
        return pd.DataFrame({
            "row": list(self.rows), "acceptable": pd.Series(self.acceptable, dtype="str"),
            "unacceptable": pd.Series(self.unacceptable, dtype="str"),
            "category": pd.Series(self.categories, dtype="str"),
        })

    @classmethod
    def from_frame(cls, frame: pd.DataFrame, name: str) -> MinimalPairs:
        """The dataset whose `to_frame` this is; row and category may be absent."""
        acceptable, unacceptable = rows.texts_of(frame, "acceptable"), rows.texts_of(frame, "unacceptable")
        numbers = rows.numbers_of(frame)
        return cls(name, acceptable, unacceptable, rows.texts_of(frame, "category", required=False), numbers,
                   _notices(acceptable, unacceptable, numbers))


def guess_columns(table: Table) -> dict[str, str | None]:
    """The column of each role, judged by its name; None where no name is known.

    BLiMP, JBLiMP, CrowS-Pairs (acceptable = sent_more, whatever stereo_antistereo says) and COMPS
    (sentence = prefix, space, property phrase) are understood as published.
    """
    return column_names.guess(table.frame.columns, [role.name for role in ROLES])


def from_table(table: Table, columns: Mapping[str, str | None] | None = None) -> MinimalPairs:
    """The dataset in a table; `columns` (role to column) goes before the guess.

    Sentences stay untouched; categories lose outer spaces. Repeated pairs and pairs of identical
    sentences are kept and noticed; in CrowS-Pairs' layout pairs that lack a sentence are left out
    and noticed. Raises InputError: a column is missing, or rows with an empty sentence (all listed).
    """
    chosen = column_names.choose(table.name, table.frame, ROLES, guess_columns(table), columns)
    frame, gaps = _without_gaps(table.frame, str(chosen["acceptable"]), str(chosen["unacceptable"]))
    numbers = tuple(int(number) for number in frame.index)
    acceptable = column_names.values(frame, chosen["acceptable"])
    unacceptable = column_names.values(frame, chosen["unacceptable"])
    rows.refuse_bad_rows(table.name, numbers,
                         {str(chosen["acceptable"]): acceptable, str(chosen["unacceptable"]): unacceptable},
                         rows.emptiness, "lack a sentence", "Fill them in or remove these rows.")
    categories = tuple(category.strip() for category in column_names.values(frame, chosen["category"]))
    return MinimalPairs(table.name, acceptable, unacceptable, categories, numbers,
                        table.notices + gaps + _notices(acceptable, unacceptable, numbers))


def joined(datasets: Sequence[MinimalPairs]) -> MinimalPairs:
    """Several datasets, such as the files of BLiMP, as one; a notice says which rows are whose.

    Rows are numbered on from dataset to dataset, so that no two pairs share a number. Raises
    InputError for none.
    """
    if not datasets:
        raise InputError("There are no minimal pairs to join. Give at least one file.")
    if len(datasets) == 1:
        return datasets[0]
    numbers: list[int] = []
    notices: list[str] = []
    for dataset in datasets:
        offset = max(numbers, default=0)
        numbers += [offset + row for row in dataset.rows]
        notices.append(f"Rows from {offset + 1:,} on come from {dataset.name}.")
        notices += [f"In {dataset.name}: {notice}" for notice in dataset.notices]
    return MinimalPairs(
        name=JOIN.join(dataset.name for dataset in datasets),
        acceptable=tuple(sentence for dataset in datasets for sentence in dataset.acceptable),
        unacceptable=tuple(sentence for dataset in datasets for sentence in dataset.unacceptable),
        categories=tuple(category for dataset in datasets for category in dataset.categories),
        rows=tuple(numbers), notices=tuple(notices),
    )


def _without_gaps(frame: pd.DataFrame, acceptable: str, unacceptable: str) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """In LAYOUT_WITH_GAPS the rows with both sentences, if any, and a notice of the others; else the whole frame."""
    if (column_names.fold(acceptable), column_names.fold(unacceptable)) != LAYOUT_WITH_GAPS:
        return frame, ()
    whole = [not rows.emptiness(good) and not rows.emptiness(bad)
             for good, bad in zip(frame[acceptable], frame[unacceptable], strict=True)]
    if all(whole) or not any(whole):
        return frame, ()
    gaps = [int(number) for number, is_whole in zip(frame.index, whole, strict=True) if not is_whole]
    return frame[whole], rows.noticed(gaps, "without one of the sentences left out")


def _notices(acceptable: Sequence[str], unacceptable: Sequence[str], numbers: Sequence[int]) -> tuple[str, ...]:
    pairs = list(zip(acceptable, unacceptable, strict=True))
    identical = [number for number, (good, bad) in zip(numbers, pairs, strict=True) if good == bad]
    return (rows.noticed(rows.repeated(numbers, pairs), "repeat{s} an earlier pair (kept)")
            + rows.noticed(identical, "with two identical sentences (kept; such a pair is always a tie)"))
