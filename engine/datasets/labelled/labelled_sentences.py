"""Labelled sentences: what the clusters page weighs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import pandas as pd

from engine.datasets import rows
from engine.datasets.formats import columns as column_names
from engine.datasets.formats.columns import Role
from engine.datasets.formats.files import Table
from engine.datasets.formats.grid import quoted
from engine.errors import InputError
from engine.language.quantities import count

KIND = "labelled_sentences"
ROLES = (
    Role("text", True, "the sentence"),
    Role("label", True, "the group it belongs to"),
)
# More are hardly groups: an identifier, a date or a free text was taken for the label.
MOST_LABELS = 1000
COLUMNS_IN_MESSAGE = 10


@dataclass(frozen=True)
class LabelledSentences:
    """Sentences and their labels, aligned; `rows` are their row numbers in the file (1 = first row of data)."""

    name: str
    texts: tuple[str, ...]
    labels: tuple[str, ...]
    rows: tuple[int, ...]
    notices: tuple[str, ...] = field(default=(), compare=False)

    @property
    def n(self) -> int:
        """Number of sentences."""
        return len(self.texts)

    def __len__(self) -> int:
        """Number of sentences."""
        return self.n

    @cached_property
    def content_hash(self) -> str:
        """SHA-256 of rows, texts and labels in their order; name and notices do not count."""
        return rows.content_hash(KIND, {"row": self.rows, "text": self.texts, "label": self.labels})

    def to_frame(self) -> pd.DataFrame:
        """Columns row, text, label."""
        return pd.DataFrame({"row": list(self.rows), "text": pd.Series(self.texts, dtype="str"),
                             "label": pd.Series(self.labels, dtype="str")})

    @classmethod
    def from_frame(cls, frame: pd.DataFrame, name: str) -> LabelledSentences:
        """The dataset whose `to_frame` this is; without a column row the rows are 1, 2, 3 …"""
        texts, labels = rows.texts_of(frame, "text"), rows.texts_of(frame, "label")
        numbers = rows.numbers_of(frame)
        return cls(name, texts, labels, numbers, _notices(texts, labels, numbers))


def guess_columns(table: Table) -> dict[str, str | None]:
    """The column of each role, judged by its name; None where no name is known."""
    return column_names.guess(table.frame.columns, [role.name for role in ROLES])


def from_table(table: Table, columns: Mapping[str, str | None] | None = None) -> LabelledSentences:
    """The dataset in a table; `columns` (role to column) goes before the guess.

    Texts stay untouched; labels lose outer spaces, which nobody means. Repeated rows are kept and
    noticed. Raises InputError: a column is missing, rows with an empty sentence or label (all
    listed), fewer than 2 sentences, fewer than 2 labels or more than 1,000.
    """
    chosen = column_names.choose(table.name, table.frame, ROLES, guess_columns(table), columns)
    numbers = tuple(int(number) for number in table.frame.index)
    texts = column_names.values(table.frame, chosen["text"])
    labels = tuple(label.strip() for label in column_names.values(table.frame, chosen["label"]))
    rows.refuse_bad_rows(table.name, numbers, {str(chosen["text"]): texts, str(chosen["label"]): labels},
                         rows.emptiness, "lack a sentence or a label", "Fill them in or remove these rows.")
    if len(texts) < 2:
        raise InputError(f"Clustering needs at least 2 sentences, of 2 labels; {table.name} has {len(texts)}. "
                         "Add sentences of a second group.")
    kinds = sorted(set(labels))
    if len(kinds) < 2:
        raise InputError(f"Clustering needs at least 2 labels; got 1 ({quoted(kinds)}) over "
                         f"{count(len(texts), 'sentence')}. Add a second group.")
    if len(kinds) > MOST_LABELS:
        raise InputError(f"{table.name}: the column '{chosen['label']}' holds {len(kinds):,} different labels over "
                         f"{count(len(texts), 'sentence')}; at most {MOST_LABELS:,} are weighed. Is it the right "
                         "column? " + _better_columns(table.frame, {chosen["text"], chosen["label"]}))
    return LabelledSentences(table.name, texts, labels, numbers, table.notices + _notices(texts, labels, numbers))


def _better_columns(frame: pd.DataFrame, taken: set[str | None]) -> str:
    """The columns that could be labels, those of fewest values first."""
    sizes = {str(name): frame[name].nunique() for name in frame.columns if name not in taken}
    fitting = sorted((n, name) for name, n in sizes.items() if 2 <= n <= min(MOST_LABELS, len(frame) // 2))
    if not fitting:
        return "No other column holds fewer: add one with the group of each sentence, or merge labels."
    listed = ", ".join(f"'{name}' ({n:,} values)" for n, name in fitting[:COLUMNS_IN_MESSAGE])
    return f"Columns with fewer: {listed}. Choose one of them as the label."


def _notices(texts: tuple[str, ...], labels: tuple[str, ...], numbers: tuple[int, ...]) -> tuple[str, ...]:
    again = rows.repeated(numbers, texts)
    same_label = set(rows.repeated(numbers, list(zip(texts, labels, strict=True))))
    other_label = [row for row in again if row not in same_label]
    return (rows.noticed([row for row in again if row in same_label], "repeat{s} an earlier sentence and label (kept)")
            + rows.noticed(other_label, "give{s} an earlier sentence another label (kept)"))
