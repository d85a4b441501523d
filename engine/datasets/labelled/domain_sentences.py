"""Sentences of several domains, from which masked sentences are built."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise

import pandas as pd

from engine.datasets import rows
from engine.datasets.corpora.corpus import split_sentences
from engine.datasets.formats import columns as column_names
from engine.datasets.formats.columns import Role
from engine.datasets.formats.files import Table
from engine.datasets.text_column import group_name
from engine.errors import BadRow
from engine.language.quantities import count
from engine.messages.message import Message

KIND = "domain_sentences"
ROLES = (
    Role("text", True, Message("a sentence, or a text that is split into sentences")),
    Role("domain", True, Message("its subject, to compare domains")),
)


@dataclass(frozen=True)
class DomainSentences:
    """Sentences and their domains, aligned; `rows` are the numbers of their rows (or reviews), from 1.

    `left_out`: rows of the file that could not be used and were left out.
    """

    name: str
    texts: tuple[str, ...]
    domains: tuple[str, ...]
    rows: tuple[int, ...]
    notices: tuple[str, ...] = field(default=(), compare=False)
    left_out: tuple[BadRow, ...] = ()

    @property
    def n(self) -> int:
        """Number of sentences."""
        return len(self.texts)

    def __len__(self) -> int:
        """Number of sentences."""
        return self.n

    @cached_property
    def content_hash(self) -> str:
        """SHA-256 of rows, texts and domains in their order; name and notices do not count."""
        return rows.content_hash(KIND, {"row": self.rows, "text": self.texts, "domain": self.domains}, self.left_out)

    def to_frame(self) -> pd.DataFrame:
        """Columns row, text, domain."""
        return pd.DataFrame(
            {
                "row": list(self.rows),
                "text": pd.Series(self.texts, dtype="str"),
                "domain": pd.Series(self.domains, dtype="str"),
            }
        )


def guess_columns(table: Table) -> dict[str, str | None]:
    """The column of each role, judged by its name; None where no name is known."""
    return column_names.guess(table.frame.columns, [role.name for role in ROLES])


def from_table(
    table: Table, columns: Mapping[str, str | None] | None = None, *, skip_bad_rows: bool = False
) -> DomainSentences:
    """The sentences in a table; `columns` (role to column) overrides the guess.

    A text of several sentences is split (at line ends and after 。！？), with a notice. Raises InputError: a column is
    missing, or rows with an empty text or domain (all listed; with `skip_bad_rows` they are left out, with a notice).
    """
    chosen = column_names.choose(table.name, table.frame, ROLES, guess_columns(table), columns)
    table = rows.without_invisible(table, chosen.values())
    texts, domains = _texts_and_domains(table, chosen)
    table = rows.usable(
        table,
        {str(chosen["text"]): texts, str(chosen["domain"]): domains},
        rows.empty_reason,
        Message("{name}: {bad} of {rows} lack a sentence or a domain. Fill them in or remove these rows."),
        skip_bad_rows=skip_bad_rows,
    )
    texts, domains = _texts_and_domains(table, chosen)
    numbers = tuple(int(number) for number in table.frame.index)
    sentences = split_into_sentences(
        table.name, zip(numbers, texts, domains, strict=True), table.notices + rows.left_out_notice(table.left_out)
    )
    return replace(sentences, left_out=table.left_out)


def split_into_sentences(
    name: str, texts: Iterable[tuple[int, str, str]], notices: tuple[str, ...] = ()
) -> DomainSentences:
    """The sentences of texts, given as (row, text, domain); a notice gives the number of rows with several."""
    items = [(row, sentence, domain) for row, text, domain in texts for sentence in split_sentences(text)]
    n_split_rows = len({row for (row, *_), (next_row, *_) in pairwise(items) if row == next_row})
    if n_split_rows:
        notices += (
            Message(
                "{n_split_rows} with several sentences taken apart: {items} in all.",
                n_split_rows=count(n_split_rows, "row"),
                items=count(len(items), "sentence"),
            ),
        )
    numbers, sentences, domains = zip(*items, strict=True) if items else ((), (), ())
    return DomainSentences(name, sentences, domains, numbers, notices)


def _texts_and_domains(table: Table, chosen: Mapping[str, str | None]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    domains = column_names.values(table.frame, chosen["domain"])
    return tuple(column_names.values(table.frame, chosen["text"])), tuple(map(group_name, domains))
