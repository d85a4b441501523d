"""Labelled sentences, the dataset of the clusters page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import pandas as pd

from engine.datasets import further_columns, rows
from engine.datasets.formats import columns as column_names
from engine.datasets.formats.columns import Role
from engine.datasets.formats.files import Table
from engine.datasets.formats.grid import quoted
from engine.datasets.labelled.outside_vectors import OutsideVectors, vectors_of, with_vectors
from engine.datasets.text_column import group_name
from engine.errors import BadRow, InputError
from engine.language.quantities import count
from engine.messages.message import Message, together

KIND = "labelled_sentences"
ROLES = (
    Role("text", True, Message("the sentence")),
    Role("label", True, Message("the group it belongs to")),
)
# More labels are hardly groups: an identifier, a date or a free text was chosen as the label.
MAX_LABELS = 1000
COLUMNS_IN_MESSAGE = 10
VALUES = Message("'{name}' ({n:,} values)")


@dataclass(frozen=True)
class LabelledSentences:
    """Sentences and their labels, aligned; `rows` are their row numbers in the file (1 = first row of data).

    `left_out`: rows of the file that could not be used and were left out. `further`: the columns of the file without a
    role, by their names there. `vectors`: those that were computed elsewhere, by models.
    """

    name: str
    texts: tuple[str, ...]
    labels: tuple[str, ...]
    rows: tuple[int, ...]
    notices: tuple[str, ...] = field(default=(), compare=False)
    left_out: tuple[BadRow, ...] = ()
    further: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    vectors: tuple[OutsideVectors, ...] = ()

    @property
    def n(self) -> int:
        """Number of sentences."""
        return len(self.texts)

    def __len__(self) -> int:
        """Number of sentences."""
        return self.n

    @cached_property
    def content_hash(self) -> str:
        """SHA-256 of all columns in their order; name and notices do not count."""
        vectors = {"vectors": [of_model.content() for of_model in self.vectors]} if self.vectors else {}
        further = further_columns.with_prefix(self.further)
        return rows.content_hash(
            KIND,
            {"row": self.rows, "text": self.texts, "label": self.labels, **further, **vectors},
            self.left_out,
        )

    @cached_property
    def own_hash(self) -> str:
        """The content hash of the same sentences without vectors: what runs are known by that may be compared."""
        return replace(self, vectors=()).content_hash if self.vectors else self.content_hash

    def to_frame(self) -> pd.DataFrame:
        """Columns row, text, label, then "column:<name>" …"""
        texts = {"text": self.texts, "label": self.labels, **further_columns.with_prefix(self.further)}
        frame = pd.DataFrame(
            {"row": list(self.rows), **{name: pd.Series(values, dtype="str") for name, values in texts.items()}}
        )
        return rows.with_left_out(with_vectors(frame, self.vectors), self.left_out)

    @classmethod
    def from_frame(cls, frame: pd.DataFrame, name: str) -> LabelledSentences:
        """The dataset whose `to_frame` this is; without a column row the rows are 1, 2, 3 …"""
        texts, labels = (tuple(rows.texts_of(frame, column)) for column in ("text", "label"))
        numbers = rows.numbers_of(frame)
        return cls(
            name,
            texts,
            labels,
            numbers,
            _notices(texts, labels, numbers),
            rows.left_out_of(frame),
            further_columns.of_own_frame(frame),
            vectors_of(frame),
        )


def guess_columns(table: Table) -> dict[str, str | None]:
    """The column of each role, judged by its name; None where no name is known."""
    return column_names.guess(table.frame.columns, [role.name for role in ROLES])


def from_table(
    table: Table, columns: Mapping[str, str | None] | None = None, *, skip_bad_rows: bool = False
) -> LabelledSentences:
    """The dataset in a table; `columns` (role to column) overrides the guess.

    Texts are unchanged; outer spaces of labels are removed. Repeated rows are kept, with a notice. Raises
    InputError: a column is missing, rows with an empty sentence or label (all listed; with `skip_bad_rows` they are
    left out, with a notice), fewer than 2 sentences, fewer than 2 labels or more than 1,000.
    """
    dataset = part_from_table(table, columns, skip_bad_rows=skip_bad_rows)
    texts, labels = dataset.texts, dataset.labels
    if len(texts) < 2:
        raise InputError(
            Message(
                "Clustering needs at least 2 sentences, of 2 labels; {name} has {texts}. Add "
                "sentences of a second group.",
                name=table.name,
                texts=len(texts),
            )
        )
    chosen = column_names.choose(table.name, table.frame, ROLES, guess_columns(table), columns)
    check_labels(
        table.name,
        str(chosen["label"]),
        labels,
        lambda: _better_columns(table.frame, {chosen["text"], chosen["label"]}),
    )
    return dataset


def part_from_table(
    table: Table, columns: Mapping[str, str | None] | None = None, *, skip_bad_rows: bool = False
) -> LabelledSentences:
    """As `from_table`, for sentences to be appended to others: a single one will do, and a single label."""
    chosen = column_names.choose(table.name, table.frame, ROLES, guess_columns(table), columns)
    table = rows.without_invisible(table, chosen.values())
    texts, labels = _texts_and_labels(table, chosen)
    table = rows.usable(
        table,
        {str(chosen["text"]): texts, str(chosen["label"]): labels},
        rows.empty_reason,
        Message("{name}: {bad} of {rows} lack a sentence or a label. Fill them in or remove these rows."),
        skip_bad_rows=skip_bad_rows,
    )
    texts, labels = _texts_and_labels(table, chosen)
    rows.refuse_other_than_sentences(str(chosen["text"]), texts)
    numbers = tuple(int(number) for number in table.frame.index)
    notices = (
        table.notices
        + column_names.chosen_notice(guess_columns(table), chosen)
        + rows.left_out_notice(table.left_out)
        + _notices(texts, labels, numbers)
    )
    return LabelledSentences(
        table.name,
        texts,
        labels,
        numbers,
        notices,
        table.left_out,
        further_columns.further_columns(table.frame, chosen.values()),
    )


def check_labels(name: str, column: str, labels: Sequence[str], advice: Callable[[], str] | None = None) -> None:
    """Raise InputError for fewer than 2 different labels or more than MAX_LABELS, whose message ends with `advice`."""
    distinct_labels = sorted(set(labels))
    if len(distinct_labels) < 2:
        raise InputError(
            Message(
                "Clustering needs at least 2 labels; got 1 ({distinct_labels}) over {labels}. Add a second group.",
                distinct_labels=quoted(distinct_labels),
                labels=count(len(labels), "sentence"),
            )
        )
    if len(distinct_labels) > MAX_LABELS:
        raise InputError(
            Message(
                "{name}: the column '{column}' holds {distinct_labels:,} different labels over "
                "{labels}; at most {MAX_LABELS:,} are supported. Is it the right column?{advice}",
                name=name,
                column=column,
                distinct_labels=len(distinct_labels),
                labels=count(len(labels), "sentence"),
                MAX_LABELS=MAX_LABELS,
                advice=Message(" {advice}", advice=advice()) if advice else "",
            )
        )


def _texts_and_labels(table: Table, chosen: Mapping[str, str | None]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    labels = column_names.values(table.frame, chosen["label"])
    return tuple(column_names.values(table.frame, chosen["text"])), tuple(map(group_name, labels))


def _better_columns(frame: pd.DataFrame, taken: set[str | None]) -> str:
    """Advice on the columns that could be labels, those with the fewest values first."""
    sizes = {str(name): frame[name].nunique() for name in frame.columns if name not in taken}
    fitting = sorted((n, name) for name, n in sizes.items() if 2 <= n <= min(MAX_LABELS, len(frame) // 2))
    if not fitting:
        return Message("No other column holds fewer: add one with the group of each sentence, or merge labels.")
    listed = together(", ", (VALUES.format(name=name, n=n) for n, name in fitting[:COLUMNS_IN_MESSAGE]))
    return Message("Columns with fewer: {listed}. Choose one of them as the label.", listed=listed)


def _notices(texts: tuple[str, ...], labels: tuple[str, ...], numbers: tuple[int, ...]) -> tuple[str, ...]:
    repeats = rows.repeated_rows(numbers, texts)
    same_label = set(rows.repeated_rows(numbers, list(zip(texts, labels, strict=True))))
    other_label = [row for row in repeats if row not in same_label]
    repeated = [row for row in repeats if row in same_label]
    missing = rows.missing_notice(numbers, "text", texts) + rows.missing_notice(numbers, "label", labels)
    return (
        missing
        + rows.row_notice(
            repeated,
            Message("{rows} repeats an earlier sentence and label (kept): {listed}."),
            Message("{rows} repeat an earlier sentence and label (kept): {listed}."),
        )
        + rows.row_notice(
            other_label,
            Message("{rows} gives an earlier sentence another label (kept): {listed}."),
            Message("{rows} give an earlier sentence another label (kept): {listed}."),
        )
    )
