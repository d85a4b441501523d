"""Sentence pairs, a reference and a candidate each: what the alignment page weighs."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import pandas as pd

from engine.datasets import columns as column_names
from engine.datasets import rows
from engine.datasets.columns import Role
from engine.datasets.files import Table

KIND = "sentence_pairs"
ROLES = (
    Role("reference", True, "the sentence to be matched"),
    Role("candidate", True, "the sentence that is judged"),
    Role("category", False, "a kind of pair, to compare kinds"),
    Role("human", False, "a human score of the pair, a number"),
)


@dataclass(frozen=True)
class SentencePairs:
    """References and candidates, aligned with their categories ("" = none) and human scores (nan = none).

    `rows` are row numbers in the file (1 = first row of data).
    """

    name: str
    references: tuple[str, ...]
    candidates: tuple[str, ...]
    categories: tuple[str, ...]
    human: tuple[float, ...]
    rows: tuple[int, ...]
    notices: tuple[str, ...] = field(default=(), compare=False)

    @property
    def n(self) -> int:
        """Number of pairs."""
        return len(self.references)

    def __len__(self) -> int:
        """Number of pairs."""
        return self.n

    @cached_property
    def content_hash(self) -> str:
        """SHA-256 of all columns in their order; name and notices do not count."""
        return rows.content_hash(KIND, {"row": self.rows, "reference": self.references, "candidate": self.candidates,
                                        "category": self.categories, "human": self.human})

    def to_frame(self) -> pd.DataFrame:
        """Columns row, reference, candidate, category, human."""
        return pd.DataFrame({
            "row": list(self.rows), "reference": pd.Series(self.references, dtype="str"),
            "candidate": pd.Series(self.candidates, dtype="str"), "category": pd.Series(self.categories, dtype="str"),
            "human": pd.Series(self.human, dtype="float64"),
        })

    @classmethod
    def from_frame(cls, frame: pd.DataFrame, name: str) -> SentencePairs:
        """The dataset whose `to_frame` this is; row, category and human may be absent."""
        references, candidates = rows.texts_of(frame, "reference"), rows.texts_of(frame, "candidate")
        given = frame["human"].tolist() if "human" in frame.columns else [math.nan] * len(frame)
        # math.nan itself, one object, so that equal datasets compare equal.
        human = tuple(math.nan if pd.isna(score) else float(score) for score in given)
        numbers = rows.numbers_of(frame)
        return cls(name, references, candidates, rows.texts_of(frame, "category", required=False), human, numbers,
                   _notices(references, candidates, numbers))


def guess_columns(table: Table) -> dict[str, str | None]:
    """The column of each role, judged by its name; None where no name is known.

    A column "label" is the human score when at least half of its values are numbers (JSTS),
    else the category (JNLI), unless another column is either by its name.
    """
    found = column_names.guess(table.frame.columns, [role.name for role in ROLES])
    label = next((column for column in table.frame.columns if column_names.fold(column) == "label"), None)
    if label is not None:
        numeric = sum(_number_fault(value) is None for value in table.frame[label]) * 2 >= len(table.frame)
        role = "human" if numeric else "category"
        found[role] = found[role] or label
    return found


def from_table(table: Table, columns: Mapping[str, str | None] | None = None) -> SentencePairs:
    """The dataset in a table; `columns` (role to column) goes before the guess.

    Sentences stay untouched; categories lose outer spaces; an empty human score is nan. Repeated
    pairs are kept and noticed. Raises InputError: a column is missing, rows with an empty sentence
    or with a human score that is no number (all listed).
    """
    chosen = column_names.choose(table.name, table.frame, ROLES, guess_columns(table), columns)
    numbers = tuple(int(number) for number in table.frame.index)
    references = column_names.values(table.frame, chosen["reference"])
    candidates = column_names.values(table.frame, chosen["candidate"])
    rows.refuse_bad_rows(table.name, numbers,
                         {str(chosen["reference"]): references, str(chosen["candidate"]): candidates}, rows.emptiness,
                         "lack a sentence", "Fill them in or remove these rows.")
    categories = tuple(category.strip() for category in column_names.values(table.frame, chosen["category"]))
    scores = column_names.values(table.frame, chosen["human"])
    rows.refuse_bad_rows(table.name, numbers, {str(chosen["human"]): scores}, _number_fault,
                         "have a human score that is not a number", "Write a number such as 3.5, or leave it empty.")
    human = tuple(_number(score) for score in scores)
    return SentencePairs(table.name, references, candidates, categories, human, numbers,
                         table.notices + _notices(references, candidates, numbers))


def _number(score: str) -> float:
    return float(unicodedata.normalize("NFKC", score)) if score.strip() else math.nan


def _number_fault(score: str) -> str | None:
    try:
        # float() also reads 1_000, inf and nan, which no rater means.
        if not score.strip() or ("_" not in score and math.isfinite(_number(score))):
            return None
    except ValueError:
        pass
    return f"holds '{score if len(score) <= 40 else score[:40] + '…'}'"


def _notices(references: Sequence[str], candidates: Sequence[str], numbers: Sequence[int]) -> tuple[str, ...]:
    pairs = list(zip(references, candidates, strict=True))
    return rows.noticed(rows.repeated(numbers, pairs), "repeat{s} an earlier pair (kept)")
