"""The roles of the columns of a table: guessed from the names in published datasets, or chosen."""

from __future__ import annotations

import re
import shlex
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from engine.datasets.formats import encodings, headerless
from engine.datasets.formats.grid import quoted
from engine.datasets.text_column import Rows, TextColumn, texts_of_series
from engine.errors import InputError
from engine.messages.message import Message, together

# Between two columns whose texts are joined by one space into one sentence.
JOIN = " + "
CHOSEN = Message("Columns as chosen: ")
SHEET_CHOSEN = Message("Sheet as chosen: ")
SCORES_GIVEN, VECTORS_GIVEN = Message("Scores from: "), Message("Vectors from: ")
QUOTING_CHOSEN = Message("Quoting as chosen: ")
SHEETS = "sheets"  # of the attributes of a frame: the titles of all sheets of its workbook, where there are several
# What a notice of one of several files begins with.
IN_FILE = "In .+?: "

# What a refusal says of all data that can be read; the roles of each are those of its module.
KINDS_OF_DATA = Message(
    "What is read, and the columns of each. Clusters and Classification: labelled sentences ('text', 'label'). Fill-mask: "
    "sentences and the word to mask ('text', 'label'), or sentences of domains ('text', 'domain'). Alignment and Metric "
    "study: sentence pairs ('reference', 'candidate'). Minimal pairs: pairs ('acceptable', 'unacceptable'); pairs and "
    "which is acceptable ('first', 'second', 'answer'); lists of sentences and which is acceptable ('options', "
    "'answer'); sentences of items ('item', 'sentence', 'label'); judged sentences ('sentence', 'label'); sentences in "
    "conditions ('item', 'condition', 'sentence') or their regions ('item', 'condition', 'region', 'content'); words with "
    "reading times ('word', 'time'), and an 'item' or a 'context' of each; words to be learned ('word', 'context'); "
    "running text ('text'). Where the first line is a row of data, say so (--header data, or on the page)."
)

# In order of preference, as `normalize_name` returns them. Published names: BLiMP sentence_good and linguistics_term,
# JBLiMP good_sentence and phenomenon, CrowS-Pairs sent_more and bias_type, COMPS prefix_acceptable, JSTS sentence1.
NAMES: Mapping[str, tuple[str, ...]] = {
    "text": ("text", "sentence", "文", "本文", "文章", "テキスト", "body", "title", "タイトル", "見出し"),
    "label": ("label", "class", "category", "ラベル", "クラス", "分類", "カテゴリ", "カテゴリー"),
    "reference": (
        "reference",
        "ref",
        "sentence1",
        "sentence_1",
        "sentence_a",
        "text1",
        "参照",
        "参照文",
        "文1",
        "premise",
    ),
    "candidate": (
        "candidate",
        "cand",
        "hypothesis",
        "hyp",
        "sentence2",
        "sentence_2",
        "sentence_b",
        "text2",
        "候補",
        "候補文",
        "文2",
    ),
    "acceptable": (
        "acceptable",
        "sentence_good",
        "good_sentence",
        "sent_more",
        "good",
        "prefix_acceptable + property_phrase",
        "容認可能",
        "容認文",
        "適格文",
        "acceptable_sentence",
        "grammatical",
        "grammatical_sentence",
        "correct",
        "correct_sentence",
    ),
    "unacceptable": (
        "unacceptable",
        "sentence_bad",
        "bad_sentence",
        "sent_less",
        "bad",
        "prefix_unacceptable + property_phrase",
        "容認不可能",
        "非容認文",
        "不適格文",
        "unacceptable_sentence",
        "ungrammatical",
        "ungrammatical_sentence",
        "incorrect",
        "incorrect_sentence",
        "wrong",
    ),
    "category": (
        "phenomenon",
        "linguistics_term",
        "linguistic_phenomenon",
        "uid",
        "bias_type",
        "category",
        "change",
        "negative_sample_type",
        "distraction_type",
        "paradigm",
        "type",
        "現象",
        "分類",
        "カテゴリ",
        "カテゴリー",
    ),
    "domain": (
        "domain",
        "genre",
        "topic",
        "category",
        "ドメイン",
        "分野",
        "領域",
        "ジャンル",
        "カテゴリ",
        "カテゴリー",
    ),
    "human": (
        "human",
        "human_score",
        "human_rating",
        "score",
        "similarity",
        "rating",
        "人手評価",
        "評価",
        "スコア",
        "類似度",
    ),
    "more_references": ("reference2", "reference_2", "ref2", "ref_2", "参照2", "参照文2"),
}


class Role(NamedTuple):
    """The use of a column; `required` roles must have one."""

    name: str
    required: bool
    description: str


def normalize_name(name: str) -> str:
    """A column name for comparison: NFKC, lower case, and _ for spaces and hyphens."""
    return re.sub(r"[\s_-]+", "_", unicodedata.normalize("NFKC", name).casefold().strip())


def n_known(columns: Iterable[str]) -> int:
    """How many columns have a name that is known for some role.

    >>> n_known(["Text", "label", "memo"])
    2
    """
    known = {part for aliases in NAMES.values() for alias in aliases for part in alias.split(JOIN)}
    return len(known & {normalize_name(column) for column in columns})


def header_place(rows: Sequence[Sequence[str]]) -> int:
    """Which of the first rows of a file names its columns: the first, or one below a title or merged cells.

    That is one with two known names, where the first has fewer and fills fewer cells.

    >>> header_place([["Survey 2026", "", ""], ["text", "label", "memo"]]), header_place([["a", "b"], ["text", "label"]])
    (1, 0)
    """
    if n_known(rows[0]) > 1:
        return 0
    n_filled = [sum(map(bool, map(str.strip, row))) for row in rows]
    return next((place for place, row in enumerate(rows) if n_filled[place] > n_filled[0] and n_known(row) > 1), 0)


def above_header_notice(name: str, above: Sequence[Sequence[str]]) -> Message:
    """What stands above the row that names the columns, and is not read."""
    return Message(
        "{name}: what stands above the names of its columns is left out: {titles}.",
        name=name,
        titles=quoted([text for row in above for text in row if text.strip()]),
    )


def guess(columns: Iterable[str], roles: Iterable[str]) -> dict[str, str | None]:
    """For each role the column that its known NAMES point to, or None; no column is taken twice.

    Two columns to be joined are returned as "prefix_acceptable + property_phrase".
    """
    by_normalized_name: dict[str, str] = {}
    for column in columns:
        by_normalized_name.setdefault(normalize_name(column), column)
    taken: set[str] = set()
    column_by_role: dict[str, str | None] = {}
    for role in roles:
        parts = next(
            (
                parts
                for parts in (alias.split(JOIN) for alias in NAMES[role])
                if all(part in by_normalized_name for part in parts) and by_normalized_name[parts[0]] not in taken
            ),
            [],
        )
        column_by_role[role] = JOIN.join(by_normalized_name[part] for part in parts) or None
        taken.update(by_normalized_name[part] for part in parts[:1])
    return column_by_role


def choose(
    name: str,
    frame: pd.DataFrame,
    roles: Sequence[Role],
    guessed: Mapping[str, str | None],
    chosen_by_user: Mapping[str, str | None] | None,
) -> dict[str, str | None]:
    """The column of every role: as in `chosen_by_user` ("" or None = none), or as guessed for other roles.

    Raises InputError that lists the columns and what is needed: a role that does not exist, a
    column that does not exist, a required role without column, or one column for two of them.
    """
    chosen_by_user = chosen_by_user or {}
    role_names = [role.name for role in roles]
    available = Message("Found: {columns}.", columns=quoted(list(frame.columns)))
    unknown = [role for role in chosen_by_user if role not in role_names]
    if unknown:
        raise InputError(
            Message(
                "There is no role {unknown}; columns can be chosen for: {role_names}.",
                unknown=quoted(unknown),
                role_names=quoted(role_names),
            )
        )
    chosen = {role: (chosen_by_user if role in chosen_by_user else guessed)[role] or None for role in role_names}
    absent = [column for column in chosen.values() if column and not _exists(column, frame)]
    if absent:
        raise InputError(
            Message("{name} has no column {absent}. {available}", name=name, absent=quoted(absent), available=available)
        )
    missing = [role for role in roles if role.required and not chosen[role.name]]
    if missing:
        needed = _needed(missing)
        sheets = frame.attrs.get(SHEETS, "")
        hint = (
            Message(" It is one sheet of {sheets}; another can be chosen (--sheet, or on the page).", sheets=sheets)
            if sheets
            else Message(" Are the columns separated by commas, tabs or semicolons?")
            if len(frame.columns) == 1
            else ""
        )
        lacking = Message(
            "{name} lacks a needed column: {needed}. {available}{hint} The first line of a file "
            "must name its columns; rename one, or say which column plays which role.",
            name=name,
            needed=needed,
            available=available,
            hint=hint,
        )
        raise InputError(together(" ", (lacking, KINDS_OF_DATA)))
    required = [str(chosen[role.name]) for role in roles if role.required]
    if len(set(required)) < len(required):
        raise InputError(
            Message(
                "{name}: the column {required} cannot be {role_names} at once.",
                name=name,
                required=quoted(sorted(set(required))),
                role_names=quoted(role_names[:2]),
            )
        )
    return chosen


def chosen_notice(guessed: Mapping[str, Any], chosen: Mapping[str, Any]) -> tuple[str, ...]:
    """The columns that are not as guessed, as options of a command; none where all are.

    A role has one column, several, or "" or None for none.

    >>> chosen_notice({"text": "text", "label": "class"}, {"text": "my title", "label": "class"})
    ("Columns as chosen: --column 'text=my title'",)
    """
    words: list[str] = []
    for role, column in chosen.items():
        if (column or None) != (guessed.get(role) or None):
            names = [column or ""] if isinstance(column, str) or not column else list(column)
            words += [word for name in names for word in ("--column", f"{role}={name}")]
    return (Message("Columns as chosen: {words}", words=shlex.join(words)),) if words else ()


def scores_notice(file: str, label: str = "") -> Message:
    """Which file of scores was given, as the option of a command.

    >>> scores_notice("my scores.csv", "GPT")
    "Scores from: --scores 'GPT=my scores.csv'"
    """
    words = shlex.join(["--scores", f"{label}={file}" if label else file])
    return Message("Scores from: {words}", words=words)


def vectors_notice(file: str, label: str = "") -> Message:
    """Which file of vectors was given, as the option of a command.

    >>> vectors_notice("e5.npy")
    'Vectors from: --vectors e5.npy'
    """
    words = shlex.join(["--vectors", f"{label}={file}" if label else file])
    return Message("Vectors from: {words}", words=words)


def options_of_notices(notices: Sequence[str]) -> list[str]:
    """The options of a command that are named in notices of a dataset: columns, encoding, sheet and so on.

    Those of several files (IN_FILE) are the same options, as they are chosen for all files at once; each stands there
    once.

    >>> options_of_notices(["1 row was left out.", "Columns as chosen: --column 'text=my title'"])
    ['--column', 'text=my title']
    >>> options_of_notices([f"In {name}: Columns as chosen: --column acceptable=x" for name in ("a.csv", "b.csv")])
    ['--column', 'acceptable=x']
    """
    options: dict[tuple[str, ...], None] = {}
    for prefix in (
        CHOSEN,
        encodings.CHOSEN,
        SHEET_CHOSEN,
        headerless.CHOSEN,
        QUOTING_CHOSEN,
        SCORES_GIVEN,
        VECTORS_GIVEN,
    ):
        for notice in notices:
            if match := re.match(rf"(?:{IN_FILE})?{re.escape(prefix)}", notice, re.DOTALL):
                words = shlex.split(notice[match.end() :])
                options |= dict.fromkeys(zip(words[::2], words[1::2], strict=True))
    return [word for option in options for word in option]


def values(frame: pd.DataFrame, column: str | None) -> Sequence[str]:
    """The texts of a column, or of joined ones; "" throughout for None."""
    if column is None:
        return ("",) * len(frame)
    if column in frame.columns:
        return texts_of_series(frame[column])
    return TextColumn.of(map(" ".join, Rows(*(texts_of_series(frame[part]) for part in column.split(JOIN)))))


def _needed(missing: Sequence[Role]) -> str:
    """The roles that have no column, one or two, with what they mean and other names for their columns."""
    first, *further = missing
    names = quoted(NAMES[first.name][1:6])
    if not further:
        return Message(
            "'{name}' ({description}; also read: {names})", name=first.name, description=first.description, names=names
        )
    (second,) = further
    return Message(
        "'{name}' ({description}; also read: {names}); '{name_}' ({description_}; also read: {name__})",
        name=first.name,
        description=first.description,
        names=names,
        name_=second.name,
        description_=second.description,
        name__=quoted(NAMES[second.name][1:6]),
    )


def _exists(column: str, frame: pd.DataFrame) -> bool:
    return column in frame.columns or all(part in frame.columns for part in column.split(JOIN))
