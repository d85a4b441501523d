"""Sentence pairs, a reference and a candidate each, the dataset of the alignment page."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

import pandas as pd

from engine.datasets import further_columns, human_scores, rows, xc_translate
from engine.datasets.formats import columns as column_names
from engine.datasets.formats.columns import Role
from engine.datasets.formats.files import Table, with_other_rows
from engine.datasets.formats.grid import quoted
from engine.datasets.text_column import group_name, labels
from engine.errors import BadRow, InputError
from engine.messages.message import Message

KIND = "sentence_pairs"
ROLES = (
    Role("reference", True, Message("the sentence to be matched")),
    Role("candidate", True, Message("the sentence that is judged")),
    Role("category", False, Message("a kind of pair, to compare kinds")),
    Role("human", False, Message("human scores of the pair, numbers; a column for each annotator")),
    Role("more_references", False, Message("further references of the same candidate")),
)
# Roles of any number of columns.
MULTI_COLUMN_ROLES = ("human", "more_references")
HUMAN = "human:"

# As `normalize_name` leaves it: reference2, ref_3, 参照文2.
_FURTHER = re.compile(r"(reference|ref|参照|参照文)_?([2-9]|[1-9][0-9])")

# Published layouts whose names say a role only together: the columns of each (normalised), and those with a role.
PUBLISHED: Sequence[tuple[frozenset[str], Mapping[str, str]]] = (
    # JRTE: whether the premise entails the hypothesis; its judges are counts in JSON.
    (
        frozenset(("hypothesis", "premise", "label", "judges", "reasoning", "usage")),
        {"reference": "premise", "candidate": "hypothesis", "human": "label"},
    ),
    # MLQE-PE: a source sentence and its translation by a machine, with direct assessments, or critical errors.
    (
        frozenset(("original", "translation", "scores", "z_scores", "z_mean")),
        {"reference": "original", "candidate": "translation", "human": "z_mean"},
    ),
    (
        frozenset(("original", "translation", "scores", "majority")),
        {"reference": "original", "candidate": "translation", "category": "majority"},
    ),
)

Columns = Mapping[str, str | Sequence[str] | None]


@dataclass(frozen=True)
class SentencePairs:
    """References and candidates, aligned with their categories ("" = none).

    `human`: annotator or column name -> scores (nan = missing). `more_references`: for each row the references
    after the first, none of them empty; () when no row has any. `rows` are row numbers in the file (1 = first row
    of data), `left_out` the rows of the file that could not be used and were left out. `further`: the columns of the
    file without a role, by their names there.
    """

    name: str
    references: tuple[str, ...]
    candidates: tuple[str, ...]
    categories: tuple[str, ...]
    human: Mapping[str, tuple[float, ...]]
    rows: tuple[int, ...]
    more_references: tuple[tuple[str, ...], ...] = ()
    notices: tuple[str, ...] = field(default=(), compare=False)
    left_out: tuple[BadRow, ...] = ()
    further: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

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
        return rows.content_hash(
            KIND,
            {
                "row": self.rows,
                "reference": self.references,
                "candidate": self.candidates,
                "category": self.categories,
                **self._further_references(),
                **self._scores(),
                **further_columns.with_prefix(self.further),
            },
            self.left_out,
        )

    def to_frame(self) -> pd.DataFrame:
        """Columns row, reference, candidate, category, "reference 2" … ("" = none), "human:<name>" …, "column:<name>" …"""
        texts = {
            "reference": self.references,
            "candidate": self.candidates,
            "category": self.categories,
            **self._further_references(),
        }
        frame = pd.DataFrame(
            {
                "row": list(self.rows),
                **{name: pd.Series(values, dtype="str") for name, values in texts.items()},
                **{name: pd.Series(values, dtype="float64") for name, values in self._scores().items()},
                **{
                    name: pd.Series(values, dtype="str")
                    for name, values in further_columns.with_prefix(self.further).items()
                },
            }
        )
        return rows.with_left_out(frame, self.left_out)

    @classmethod
    def from_frame(cls, frame: pd.DataFrame, name: str) -> SentencePairs:
        """The dataset whose `to_frame` this is; only reference and candidate must be there."""
        references, candidates = (tuple(rows.texts_of(frame, side)) for side in ("reference", "candidate"))
        numbers = rows.numbers_of(frame)
        further = _without_empty(
            [rows.texts_of(frame, column) for column in frame.columns if str(column).startswith("reference ")]
        )
        # math.nan itself, one object, so that equal datasets compare equal.
        human = {
            str(column).removeprefix(HUMAN): tuple(
                math.nan if pd.isna(score) else float(score) for score in frame[column].tolist()
            )
            for column in frame.columns
            if str(column).startswith(HUMAN)
        }
        return cls(
            name,
            references,
            candidates,
            labels(rows.texts_of(frame, "category", required=False)),
            human,
            numbers,
            further,
            _notices(references, candidates, further, human, numbers),
            rows.left_out_of(frame),
            further_columns.of_own_frame(frame),
        )

    def _further_references(self) -> dict[str, tuple[str, ...]]:
        max_references = max(map(len, self.more_references), default=0)
        return {
            reference_column(index + 2): tuple(
                texts[index] if index < len(texts) else "" for texts in self.more_references
            )
            for index in range(max_references)
        }

    def _scores(self) -> dict[str, tuple[float, ...]]:
        return {f"{HUMAN}{name}": tuple(scores) for name, scores in self.human.items()}


def reference_column(number: int) -> str:
    """The column of a dataset's frame that holds the references of that number, 1 the first.

    >>> reference_column(1), reference_column(2)
    ('reference', 'reference 2')
    """
    return "reference" if number == 1 else Message("reference {number}", number=number)


def guess_columns(table: Table) -> dict[str, str | tuple[str, ...] | None]:
    """The column of each role, judged by its name; for MULTI_COLUMN_ROLES all columns, () for none.

    The columns "human:<name>" of a dataset's own frame are human scores. A column "label" is one when at least half of
    its values are numbers (JSTS), else the category (JNLI), unless another column is either by its name. Layouts in
    PUBLISHED have the roles that stand there.
    """
    spelled = {column_names.normalize_name(str(column)): str(column) for column in table.frame.columns}
    published = next((roles for names, roles in PUBLISHED if spelled.keys() >= names), None)
    if published is not None:
        roles = {role: spelled[column] for role, column in published.items()}
        return {
            **{role.name: roles.get(role.name) for role in ROLES},
            **{role: (roles[role],) if role in roles else () for role in MULTI_COLUMN_ROLES},
        }
    single = [role.name for role in ROLES if role.name not in MULTI_COLUMN_ROLES]
    column_by_role: dict[str, str | tuple[str, ...] | None] = dict(column_names.guess(table.frame.columns, single))
    taken = set(column_by_role.values())
    by_name = human_scores.guess(table.frame)
    human = [
        column
        for column in table.frame.columns
        if column not in taken and (column in by_name or column.startswith(HUMAN))
    ]
    label = next((column for column in table.frame.columns if column_names.normalize_name(column) == "label"), None)
    if label is not None:
        if human_scores.mostly_numbers(table.frame[label]):
            human = human or [label]
        else:
            column_by_role["category"] = column_by_role["category"] or label
    further = [
        column
        for column in table.frame.columns
        if column not in taken and _FURTHER.fullmatch(column_names.normalize_name(column))
    ]
    return {**column_by_role, "human": tuple(human), "more_references": tuple(further)}


def from_table(table: Table, columns: Columns | None = None, *, skip_bad_rows: bool = False) -> SentencePairs:
    """The dataset in a table; `columns` (role to column, or to columns for MULTI_COLUMN_ROLES) overrides the guess.

    Sentences are unchanged; outer spaces of categories are removed; an empty human score is nan, an empty further
    reference is dropped. Repeated pairs are kept; notices name them, missing and constant scores, and their scale.
    XC-Translate is read as published (`xc_translate`).

    Raises InputError: a column is missing, two columns have one name without their prefixes, rows with an empty
    sentence or with a human score that is no number (all listed; with `skip_bad_rows` they are left out, with a
    notice).
    """
    table = xc_translate.as_pairs(table, skip_bad_rows=skip_bad_rows)
    guessed, frame = guess_columns(table), table.frame
    chosen_by_user = {
        role: (column or None if isinstance(column, str) else tuple(column or ()))
        for role, column in (columns or {}).items()
    }
    single = {
        role: _single_column(role, column) for role, column in chosen_by_user.items() if role not in MULTI_COLUMN_ROLES
    }
    chosen = column_names.choose(
        table.name, frame, ROLES, {**_single_columns(guessed), **_no_multi_columns()}, {**single, **_no_multi_columns()}
    )
    table = rows.without_invisible(table, chosen.values())
    several = {role: _columns(table, role, chosen_by_user.get(role, guessed[role])) for role in MULTI_COLUMN_ROLES}
    try:
        with_sentences = rows.usable(
            table,
            {str(chosen[role]): column_names.values(table.frame, chosen[role]) for role in ("reference", "candidate")},
            rows.empty_reason,
            Message("{name}: {bad} of {rows} lack a sentence. Fill them in or remove these rows."),
            skip_bad_rows=skip_bad_rows,
        )
    except InputError as error:
        others = replace(table, frame=table.frame.drop(index=[bad.row for bad in error.rows]), left_out=())
        judge = partial(_with_numbers, columns=several["human"], skip_bad_rows=False)
        raise with_other_rows(error, lambda: others, judge) from error
    table = _with_numbers(with_sentences, several["human"], skip_bad_rows=skip_bad_rows)
    frame = table.frame
    numbers = tuple(int(number) for number in frame.index)
    references, candidates = (tuple(column_names.values(frame, chosen[side])) for side in ("reference", "candidate"))
    rows.refuse_other_than_sentences(str(chosen["reference"]), references)
    rows.refuse_other_than_sentences(str(chosen["candidate"]), candidates)
    categories = labels(column_names.values(frame, chosen["category"]), group_name)
    human = {
        name: tuple(_number(score) for score in column_names.values(frame, column))
        for column, name in further_columns.names_without(HUMAN, several["human"]).items()
    }
    further = _without_empty([column_names.values(frame, column) for column in several["more_references"]])
    notices = (
        table.notices
        + column_names.chosen_notice(guessed, {**chosen, **several})
        + rows.left_out_notice(table.left_out)
        + _notices(references, candidates, further, human, numbers)
    )
    without_role = further_columns.further_columns(
        frame, [*chosen.values(), *several["human"], *several["more_references"]]
    )
    return SentencePairs(
        table.name, references, candidates, categories, human, numbers, further, notices, table.left_out, without_role
    )


def _with_numbers(table: Table, columns: Sequence[str], *, skip_bad_rows: bool) -> Table:
    """The table without the rows with a human score that is no number, as `rows.usable` leaves them out."""
    return rows.usable(
        table,
        {column: column_names.values(table.frame, column) for column in columns},
        human_scores.fault,
        human_scores.NOT_NUMBERS,
        skip_bad_rows=skip_bad_rows,
    )


def _single_columns(guessed: Mapping[str, str | tuple[str, ...] | None]) -> dict[str, str | None]:
    return {role: column for role, column in guessed.items() if not isinstance(column, tuple)}


def _no_multi_columns() -> dict[str, None]:
    return dict.fromkeys(MULTI_COLUMN_ROLES)


def _single_column(role: str, column: str | tuple[str, ...] | None) -> str | None:
    if isinstance(column, tuple):
        if len(column) > 1:
            raise InputError(
                Message("The role '{role}' is played by one column; got {column}.", role=role, column=quoted(column))
            )
        return column[0] if column else None
    return column


def _columns(table: Table, role: str, requested: str | tuple[str, ...] | None) -> tuple[str, ...]:
    columns = (requested,) if isinstance(requested, str) else tuple(dict.fromkeys(requested or ()))
    absent = [column for column in columns if column not in table.frame.columns]
    if absent:
        raise InputError(
            Message(
                "{name} has no column {absent} for the role '{role}'. Found: {columns}.",
                name=table.name,
                absent=quoted(absent),
                role=role,
                columns=quoted(list(table.frame.columns)),
            )
        )
    return columns


def _without_empty(columns: Sequence[Sequence[str]]) -> tuple[tuple[str, ...], ...]:
    """The further references of each row without the empty ones; () where no row has any."""
    further = tuple(
        tuple(text for text in texts if rows.empty_reason(text) is None) for texts in zip(*columns, strict=True)
    )
    return further if any(further) else ()


def _number(score: str) -> float:
    value = human_scores.number(score)
    return math.nan if math.isnan(value) else value  # math.nan itself, so that equal datasets compare equal


def _notices(
    references: Sequence[str],
    candidates: Sequence[str],
    further: Sequence[tuple[str, ...]],
    human: Mapping[str, Sequence[float]],
    numbers: Sequence[int],
) -> tuple[str, ...]:
    pairs = list(zip(references, candidates, further or [()] * len(references), strict=True))
    return (
        *rows.missing_notice(numbers, "reference", references),
        *rows.missing_notice(numbers, "candidate", candidates),
        *rows.repeated_pairs_notice(numbers, pairs),
        *rows.spaces_notice(numbers, list(zip(references, candidates, strict=True))),
        *human_scores.notices(human, numbers),
        *human_scores.far_off_notices(human, numbers),
    )
