"""Masked sentences, each with one word to predict, the dataset of the fill-mask page."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import pandas as pd

from engine.datasets import further_columns, rows
from engine.datasets.formats import columns as column_names
from engine.datasets.formats.columns import Role
from engine.datasets.formats.files import Table
from engine.datasets.formats.grid import ROW_NUMBERS
from engine.datasets.text_column import group_name
from engine.errors import BadRow, InputError
from engine.messages.message import Message, together

KIND = "masked_sentences"
ROLES = (
    Role("text", True, Message("the sentence: whole, or with [MASK], <mask> or ＿＿ where the word is")),
    Role("label", True, Message("the word that is masked")),
    Role("domain", False, Message("what the sentence is about, to compare domains")),
)
MARKER = "＿＿"
# The mask in a file that is written: it does not join with another ＿ beside it.
WRITTEN_MASK = "[MASK]"
_MARKERS = re.compile(r"\[MASK\]|<mask>|＿{2,}", re.IGNORECASE)

# What may be wrong with a sentence that was typed: as in a table, without quotation marks around the title.
OF_ONE_SENTENCE = (
    Message("{column} is empty"),
    Message("{column} holds only spaces"),
    Message("{column} holds {n_masks} masks, and one word is masked"),
    Message("{column} holds neither a mask nor the label '{label}'"),
)


@dataclass(frozen=True)
class MaskedSentences:
    """Whole sentences with the word to be masked, aligned: `texts[i][starts[i]:]` begins with `labels[i]`.

    `domains` may be "". `rows` are row numbers in the file (1 = first row of data), `left_out` the rows of the file
    that could not be used and were left out. `further`: the columns of the file without a role, by their names there.
    """

    name: str
    texts: tuple[str, ...]
    labels: tuple[str, ...]
    starts: tuple[int, ...]
    domains: tuple[str, ...]
    rows: tuple[int, ...]
    notices: tuple[str, ...] = field(default=(), compare=False)
    left_out: tuple[BadRow, ...] = ()
    further: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def n(self) -> int:
        """Number of sentences."""
        return len(self.texts)

    def __len__(self) -> int:
        """Number of sentences."""
        return self.n

    @cached_property
    def parts(self) -> tuple[tuple[str, str, str], ...]:
        """Each sentence as the text before the word, the word, and the text after it."""
        return tuple(
            (text[:start], label, text[start + len(label) :])
            for text, label, start in zip(self.texts, self.labels, self.starts, strict=True)
        )

    @cached_property
    def content_hash(self) -> str:
        """SHA-256 of all columns in their order; name and notices do not count."""
        return rows.content_hash(
            KIND,
            {
                "row": self.rows,
                "text": self.texts,
                "label": self.labels,
                "start": self.starts,
                "domain": self.domains,
                **further_columns.with_prefix(self.further),
            },
            self.left_out,
        )

    def to_frame(self) -> pd.DataFrame:
        """Columns row, text, label, start, domain, then "column:<name>" …"""
        frame = pd.DataFrame(
            {
                "row": list(self.rows),
                "text": pd.Series(self.texts, dtype="str"),
                "label": pd.Series(self.labels, dtype="str"),
                "start": list(self.starts),
                "domain": pd.Series(self.domains, dtype="str"),
                **{
                    name: pd.Series(values, dtype="str")
                    for name, values in further_columns.with_prefix(self.further).items()
                },
            }
        )
        return rows.with_left_out(frame, self.left_out)

    @classmethod
    def from_frame(cls, frame: pd.DataFrame, name: str) -> MaskedSentences:
        """The dataset whose `to_frame` this is; row, start (the first occurrence) and domain may be absent.

        Raises InputError listing every row whose text does not hold its label there.
        """
        texts, labels = (tuple(rows.texts_of(frame, column)) for column in ("text", "label"))
        numbers = rows.numbers_of(frame)
        starts = (
            tuple(int(start) for start in frame["start"])
            if "start" in frame.columns
            else tuple(text.find(label) for text, label in zip(texts, labels, strict=True))
        )
        bad = [
            BadRow(number, Message("'text' does not hold '{label}' at {start}", label=label, start=start))
            for number, text, label, start in zip(numbers, texts, labels, starts, strict=True)
            if start < 0 or not label or text[start : start + len(label)] != label
        ]
        if bad:
            raise InputError(
                Message(
                    "The frame's column 'start' must say where each label is. {ROW_NUMBERS}",
                    ROW_NUMBERS=ROW_NUMBERS,
                ),
                bad,
            )
        return cls(
            name,
            texts,
            labels,
            starts,
            tuple(rows.texts_of(frame, "domain", required=False)),
            numbers,
            _notices(texts, labels, starts, numbers),
            rows.left_out_of(frame),
            further_columns.of_own_frame(frame),
        )


def guess_columns(table: Table) -> dict[str, str | None]:
    """The column of each role, judged by its name; None where no name is known."""
    return column_names.guess(table.frame.columns, [role.name for role in ROLES])


def from_table(
    table: Table, columns: Mapping[str, str | None] | None = None, *, skip_bad_rows: bool = False
) -> MaskedSentences:
    """The dataset in a table; `columns` (role to column) overrides the guess.

    Where a sentence holds a mask ([MASK], <mask>, or two or more of ＿) it is replaced by the label; else the first
    occurrence of the label is masked. Sentences are unchanged otherwise; outer spaces of labels and domains are
    removed. Repeated rows are kept, with a notice. Raises InputError: a column is missing, or listing all
    rows with an empty sentence or label, several masks, or a label that the sentence does not hold; with
    `skip_bad_rows` they are left out, with a notice.
    """
    chosen = column_names.choose(table.name, table.frame, ROLES, guess_columns(table), columns)
    table = rows.without_invisible(table, chosen.values())
    sentences, labels = _sentences_and_labels(table, chosen)
    titles = str(chosen["text"]), str(chosen["label"])
    bad = [
        BadRow(int(number), reason)
        for number, text, label in zip(table.frame.index, sentences, labels, strict=True)
        if (reason := together(" and ", _faults(text, label, *titles)))
    ]
    table = rows.without_rows(
        table,
        bad,
        Message(
            "{name}: {bad} of {rows} cannot be masked. Write the label as it "
            "is in the sentence, or one mask ([MASK], <mask> or ＿＿) in its "
            "place."
        ),
        skip_bad_rows=skip_bad_rows,
    )
    sentences, labels = _sentences_and_labels(table, chosen)
    numbers = tuple(int(number) for number in table.frame.index)
    inserted = [insert_label(text, label) for text, label in zip(sentences, labels, strict=True)]
    texts, starts = tuple(text for text, _ in inserted), tuple(start for _, start in inserted)
    domains = tuple(map(group_name, column_names.values(table.frame, chosen["domain"])))
    rows.refuse_other_than_sentences(str(chosen["text"]), texts)
    notices = (
        table.notices
        + column_names.chosen_notice(guess_columns(table), chosen)
        + rows.left_out_notice(table.left_out)
        + _notices(texts, labels, starts, numbers)
    )
    return MaskedSentences(
        table.name,
        texts,
        labels,
        starts,
        domains,
        numbers,
        notices,
        table.left_out,
        further_columns.further_columns(table.frame, chosen.values()),
    )


def single_sentence(text: str, label: str, domain: str, name: str) -> MaskedSentences:
    """A dataset of a single sentence that a user typed, whole or with a mask. Raises InputError as `from_table`."""
    label = label.strip()
    if faults := _faults(text, label, Message("the sentence"), Message("the word")):
        untitled = (Message(fault.template.replace("'{column}'", "{column}"), **fault.values) for fault in faults)
        raise InputError(
            Message(
                "This cannot be masked: {fault}. Put {MARKER} where the word should be.",
                fault=together(" and ", untitled),
                MARKER=MARKER,
            )
        )
    text_with_word, start = insert_label(text, label)
    return MaskedSentences(name, (text_with_word,), (label,), (start,), (domain,), (1,))


def insert_label(text: str, label: str) -> tuple[str, int]:
    """The sentence with its mask, if any, replaced by the label, and the position of the label (-1: none).

    >>> insert_label("とても面白い＿＿だった。", "本")
    ('とても面白い本だった。', 6)
    """
    mask = _MARKERS.search(text)
    if mask is None:
        return text, text.find(label)
    return text[: mask.start()] + label + text[mask.end() :], mask.start()


def _sentences_and_labels(table: Table, chosen: Mapping[str, str | None]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    labels = column_names.values(table.frame, chosen["label"])
    return tuple(column_names.values(table.frame, chosen["text"])), tuple(label.strip() for label in labels)


def _faults(text: str, label: str, text_title: str, label_title: str) -> list[Message]:
    empty = [
        reason
        for title, value in ((text_title, text), (label_title, label))
        if (reason := rows.empty_reason(value, title))
    ]
    if empty:
        return empty
    n_masks = len(_MARKERS.findall(text))
    if n_masks > 1:
        return [Message("'{column}' holds {n_masks} masks, and one word is masked", column=text_title, n_masks=n_masks)]
    if n_masks == 0 and label not in text:
        return [Message("'{column}' holds neither a mask nor the label '{label}'", column=text_title, label=label)]
    return []


def _notices(
    texts: Sequence[str], labels: Sequence[str], starts: Sequence[int], numbers: Sequence[int]
) -> tuple[str, ...]:
    again = rows.repeated_rows(numbers, list(zip(texts, labels, starts, strict=True)))
    return rows.row_notice(
        again,
        Message("{rows} repeats an earlier sentence and word (kept): {listed}."),
        Message("{rows} repeat an earlier sentence and word (kept): {listed}."),
    )
