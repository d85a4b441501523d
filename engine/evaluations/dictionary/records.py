"""The records of dictionary: what is asked (Settings) and what is found (Result)."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import pandas as pd

from engine.evaluations.shared.declared_tables import Column, Table, declared, documented
from engine.measures.idf import IdfDictionary
from engine.messages.message import Message
from engine.options import Choice, option

MAX_NAME_CHARACTERS = 60


@dataclass(frozen=True)
class Settings:
    """`model`: whose tokenizer counts; None for words, and when the corpus is one file that is a dictionary already.

    name: what the dictionary is called.
    """

    model: str | None
    name: str
    unit: str = option(
        "file",
        "What a document is: idf asks in how many documents a token occurs.",
        choices=(
            Choice("file", "a file", "a novel, an article"),
            Choice("line", "a line", "a sentence or paragraph; of tab-separated lines the last field counts"),
            Choice("blank-line", "the text between blank lines", "what stands between blank lines of a file"),
            Choice(
                "page-break",
                "a page",
                "what stands between page breaks of a file: form feeds, or Aozora Bunko's ［＃改ページ］",
            ),
        ),
    )
    words: bool = option(
        False,
        "Count words (MeCab, unidic-lite) in place of a tokenizer's tokens. Such a dictionary "
        "needs no model and fits every one: each token has the idf of its word.",
    )


# Pasted text is one file; its lines are the documents.
PASTED = Settings(None, "", unit="line")


COUNTS = Table(
    "counts",
    Message("A row for each token of the dictionary."),
    (
        Column("token", "text", "the token, as the tokenizer writes it, or the word"),
        Column("documents", "integer", "documents that hold it", "documents"),
        Column(
            "occurrences",
            "integer",
            "how often it occurs in all documents; 0 throughout where that was not counted",
            "tokens",
        ),
    ),
)
# What the page hands out; the command writes a dictionary's own format.
FILES = (COUNTS,)


@documented
@dataclass(frozen=True)
class Result:
    """A dictionary."""

    settings: Settings
    dataset_name: str
    counts: pd.DataFrame = field(metadata=declared(COUNTS))
    n_documents: int
    n_tokens: int
    unit: str
    tokenizer: str
    notices: tuple[str, ...] = ()
    signature: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def dictionary(self) -> IdfDictionary:
        """The counts as what idf is computed from."""
        tokens = self.counts["token"].tolist()
        occurrences = dict(zip(tokens, self.counts["occurrences"].tolist(), strict=True)) if self.n_tokens else {}
        return IdfDictionary(
            self.settings.name,
            self.n_documents,
            dict(zip(tokens, self.counts["documents"].tolist(), strict=True)),
            self.tokenizer,
            self.unit,
            occurrences,
            self.n_tokens,
        )
