"""Words in contexts whose learning is followed over checkpoints, with the ages at which children learn them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from engine.datasets import rows
from engine.datasets.formats.columns import Role, normalize_name
from engine.datasets.formats.files import Table
from engine.datasets.formats.json_rows import texts_of_row
from engine.errors import BadRow, InputError
from engine.language.quantities import count
from engine.language.words import uses_spaces
from engine.messages.message import Message

Span = tuple[int, int]
# The columns of a text; AGE holds the age of children in months, or the shares by month that it follows from.
WORD, CONTEXT, TEXT, AGE = "word", "context", "text", "aoa"
MONTHS = tuple(range(16, 31))  # of the columns of norms: the share of children who say the word
FEWEST_MONTHS = 3
ROLES = (
    Role("word", True, Message("the word")),
    Role("context", True, Message("the text before it")),
    Role("aoa", False, Message("the age at which children learn the word; else columns 16 to 30, shares by month")),
)
NAMES: Mapping[str, tuple[str, ...]] = {
    "word": ("word", "target_word", "target", "uni_lemma", "単語", "語"),
    "context": ("context", "prefix", "preceding_context", "left_context"),
    "aoa": ("aoa", "age_of_acquisition", "child_aoa", "獲得年齢"),
}
UNUSABLE = Message(
    "{name}: {bad} of {rows} lack a word, or have an age or a share that is no number. Correct or remove these rows."
)
NO_WORD = Message("'{column}' is empty")
NO_NUMBER = Message("'{column}' holds {text!r}, which is no number")
UNPACKED = Message("{words} with a list of contexts each are read; words of one letter are left out, as BabyLM does.")
READ = Message("{words} in {contexts}; of {n} of them the file has the age at which children learn them.")
NORMS = Message("The ages at which children learn words are from {name}: {n} of {words}.")
NOT_OF_WORDS = Message(
    "{name} holds shares of children who say a word, by month; they go with words in contexts, in a file or folder beside."
)


def is_word_lists(table: Table) -> bool:
    """Whether a table is BabyLM's JSON object: of each word a list of objects with a context."""
    if len(table.frame) != 1 or table.frame.shape[1] == 0:
        return False
    return all(str(cell).startswith("[{") for cell in table.frame.iloc[0]) and all(
        _contexts(cell) is not None for cell in table.frame.iloc[0].head(3)
    )


def unpacked(table: Table) -> Table:
    """Such a table with a row for each context of each word; any other as it is.

    Words of one letter are left out, as the challenge's script does. Raises InputError for a list that is none.
    """
    if not is_word_lists(table):
        return table
    pairs = []
    for word, cell in table.frame.iloc[0].items():
        contexts = _contexts(cell)
        if contexts is None:
            raise InputError(
                Message(
                    "{name}: {word!r} has no list of contexts, each an object with the key context.",
                    name=table.name,
                    word=str(word),
                )
            )
        pairs += [(str(word), context) for context in contexts] if len(str(word)) > 1 else []
    frame = pd.DataFrame(
        pairs, columns=[WORD, CONTEXT], index=pd.Index(range(1, len(pairs) + 1), name="row"), dtype="str"
    )
    notice = UNPACKED.format(words=count(frame[WORD].nunique(), "word"))
    return replace(table, frame=frame, notices=(*table.notices, notice), json_text="")


def guessed_columns(spelled: Mapping[str, str]) -> dict[str, str | None]:
    """The column of each role by its name; spelled: by normalised name."""
    return {role.name: next((spelled[name] for name in NAMES[role.name] if name in spelled), None) for role in ROLES}


def is_norms(table: Table) -> bool:
    """Whether a table has the shares of children who say a word, by month, and no contexts."""
    spelled = {normalize_name(str(name)): str(name) for name in table.frame.columns}
    guessed = guessed_columns(spelled)
    return guessed["word"] is not None and guessed["context"] is None and len(_months(table)) >= FEWEST_MONTHS


def ages_of(table: Table) -> dict[str, str]:
    """What AGE holds of each word of norms: the shares by month; of a word its first row."""
    frame = table.frame
    word = guessed_columns({normalize_name(str(name)): str(name) for name in frame.columns})["word"]
    ages: dict[str, str] = {}
    for name, shares in zip(frame[str(word)].str.strip(), _shares(frame, _months(table)), strict=True):
        ages.setdefault(name, shares)
    return ages


def as_texts(table: Table, columns: Mapping[str, str], *, skip_bad_rows: bool) -> Table:
    """The file with a row for each word in a context: WORD, CONTEXT, AGE, and TEXT, the context with the word after it.

    Between them stands a space where they are written with spaces. Raises InputError for rows without a word and for an
    age that is no number (with `skip_bad_rows` left out).
    """
    frame = table.frame
    words = frame[columns["word"]].str.strip()
    bad = {int(number): NO_WORD.format(column=columns["word"]) for number in frame.index[words == ""]}
    ages = [""] * len(frame)
    if "aoa" in columns:
        texts = frame[columns["aoa"]].str.strip()
        numbers = pd.to_numeric(texts, errors="coerce").to_numpy(dtype=np.float64)
        missing = texts.str.casefold().isin(("", "na", "nan", "none"))
        wrong = ~missing.to_numpy() & ~np.isfinite(numbers)
        for number, text in zip(frame.index[wrong], texts[wrong], strict=True):
            bad.setdefault(int(number), NO_NUMBER.format(column=columns["aoa"], text=text))
        ages = ["" if np.isnan(age) else repr(age) for age in numbers.tolist()]
    elif len(months := _months(table)) >= FEWEST_MONTHS:
        ages = _shares(frame, months)
    ages_by_row = dict(zip(frame.index.tolist(), ages, strict=True))
    table = rows.without_rows(
        table, [BadRow(number, bad[number]) for number in sorted(bad)], UNUSABLE, skip_bad_rows=skip_bad_rows
    )
    frame = table.frame
    words, contexts = frame[columns["word"]].str.strip(), frame[columns["context"]]
    made = pd.DataFrame(
        {
            WORD: words,
            CONTEXT: contexts,
            TEXT: [_joined(context, word) for context, word in zip(contexts, words, strict=True)],
            AGE: [ages_by_row[number] for number in frame.index],
        },
        index=frame.index,
        dtype="str",
    )
    return replace(
        table, frame=made, notices=(*table.notices, *read_notice(made[WORD].tolist(), made[AGE].tolist())), json_text=""
    )


def read_notice(words: Sequence[str], ages: Sequence[str]) -> tuple[Message, ...]:
    """How many words were read in how many contexts, and of how many an age is known."""
    with_age = {word for word, age in zip(words, ages, strict=True) if age}
    return (
        READ.format(words=count(len(set(words)), "word"), contexts=count(len(words), "row"), n=f"{len(with_age):,}"),
    )


def regions_of(originals: Sequence[str]) -> list[list[tuple[int, Span]]]:
    """The word of each text, as region 1, with its characters; originals: rows of `as_texts`."""
    found: list[list[tuple[int, Span]]] = []
    for original in originals:
        row = texts_of_row(original) if original else {}
        length = len(row.get(TEXT, ""))
        found.append([(1, (length - len(row[WORD]), length))] if row.get(WORD) else [])
    return found


def ages_from(tables: Sequence[Table], words: Sequence[str]) -> tuple[dict[str, str], list[Message]]:
    """What AGE holds of the words of norms, and what is said of them."""
    found: dict[str, str] = {}
    said = []
    for table in tables:
        own = ages_of(table)
        found = {word: age for word, age in own.items() if age} | found
        there = {word for word in words if own.get(word)}
        said.append(NORMS.format(name=table.name, n=f"{len(there):,}", words=count(len(set(words)), "word")))
    return found, said


def _contexts(cell: Any) -> list[str] | None:
    try:
        found = json.loads(str(cell))
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, list) or not all(
        isinstance(entry, dict) and isinstance(entry.get(CONTEXT), str) for entry in found
    ):
        return None
    return [entry[CONTEXT] for entry in found]


def _months(table: Table) -> dict[int, str]:
    """The columns of shares by month."""
    names = {str(name).strip(): str(name) for name in table.frame.columns}
    return {month: names[str(month)] for month in MONTHS if str(month) in names}


def _shares(frame: pd.DataFrame, months: Mapping[int, str]) -> list[str]:
    """The shares of each row by month as a JSON object, without those that are not known; "" for too few of them."""
    columns = [pd.to_numeric(frame[months[month]], errors="coerce").tolist() for month in sorted(months)]
    found = []
    for shares in zip(*columns, strict=True):
        known = {str(month): share for month, share in zip(sorted(months), shares, strict=True) if not np.isnan(share)}
        found.append(json.dumps(known) if len(known) >= FEWEST_MONTHS else "")
    return found


def _joined(context: str, word: str) -> str:
    before = context.strip()
    return f"{before} {word}" if before and uses_spaces(before + word) else before + word
