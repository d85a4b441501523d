"""Pairs in other forms than a row with two columns, made into such rows: with the side that is right in a column, with
the options in one cell, with a row for each sentence. And sentences in conditions with a row for each region.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import pandas as pd

from engine.datasets import rows
from engine.datasets.formats.columns import normalize_name, values
from engine.datasets.formats.files import Table
from engine.datasets.formats.grid import quoted
from engine.datasets.formats.headerless import CLIMP_LABEL, CLIMP_TURNS
from engine.datasets.minimal_pairs import designs, items, suites
from engine.datasets.minimal_pairs.judged import judgement
from engine.errors import BadRow, InputError
from engine.messages.message import Message

ACCEPTABLE, UNACCEPTABLE = items.ACCEPTABLE, items.UNACCEPTABLE
NO_SIDE = Message("'{column}' holds {text!r}, which says neither side")
NO_LIST = Message('\'{column}\' is no list of two or more texts, such as ["…", "…"]')
NO_OPTION = Message("'{column}' holds {text!r}, which is none of the {n} options")
UNUSABLE_SIDES = Message(
    "{name}: {bad} of {rows} do not say which sentence is acceptable. Needed: 0 or 1, 1 or 2, a or b, first or second, the "
    "name of the column, or its sentence."
)
UNUSABLE_OPTIONS = Message(
    "{name}: {bad} of {rows} have no list of options, or do not say which of them is acceptable. Needed: its number, "
    "from 0 or from 1, its letter, or its text."
)
UNUSABLE_TURNS = Message(
    "{name}: {bad} of {rows} are not in turn an acceptable sentence (1) and an unacceptable one (0) of one paradigm."
)
UNUSABLE_REGIONS = Message(
    "{name}: {bad} of {rows} lack an item, a condition or the number of a region, or repeat a region of their sentence."
)
ANSWERED = Message(
    "'{answer}' says which sentence of a pair is acceptable: that of '{first}' in {n_first:,} rows, that of '{second}' in "
    "{n_second:,}."
)
OPTIONS = Message(
    "{n_items:,} rows with options in '{options}' are read as {n_pairs:,} pairs: each other option with the acceptable "
    "one that '{answer}' says."
)
TURNS = Message("{n_rows:,} sentences in turn are read as {n_pairs:,} pairs, as CLiMP is published.")
LONG = Message("{n_regions:,} regions, a row for each, are read as {n_sentences:,} sentences.")
NOT_KEPT = Message("Of columns that have several values in a sentence none is kept: {columns}.")


def with_sides(table: Table, columns: Mapping[str, str], *, skip_bad_rows: bool) -> Table:
    """A table of two sentences (`first`, `second`) and an `answer` which is acceptable, as one of pairs."""
    first, second, answer = (columns[role] for role in ("first", "second", "answer"))
    frame = table.frame
    sentences = list(zip(values(frame, first), values(frame, second), strict=True))
    answers = values(frame, answer)
    sides = _sides(table.name, answer, answers, (first, second), sentences)
    bad = [
        BadRow(int(number), NO_SIDE.format(column=answer, text=text))
        for number, text, side in zip(frame.index, answers, sides, strict=True)
        if side is None
    ]
    numbers = [int(number) for number in frame.index]
    side_by_row = {number: side for number, side in zip(numbers, sides, strict=True) if side is not None}
    pair_by_row = dict(zip(numbers, sentences, strict=True))
    table = rows.without_rows(table, bad, UNUSABLE_SIDES, skip_bad_rows=skip_bad_rows)
    kept = [(pair_by_row[number], side_by_row[number]) for number in map(int, table.frame.index)]
    n_first = sum(side == 0 for _, side in kept)
    notice = ANSWERED.format(answer=answer, first=first, second=second, n_first=n_first, n_second=len(kept) - n_first)
    return _as_pairs(
        table,
        table.frame.drop(columns=[column for column in (first, second, answer) if column in table.frame]),
        [pair[side] for pair, side in kept],
        [pair[1 - side] for pair, side in kept],
        notice,
    )


def of_options(table: Table, columns: Mapping[str, str], *, skip_bad_rows: bool) -> Table:
    """A table of lists of sentences in one cell (`options`) and the `answer` which is acceptable, as one of pairs.

    Rows keep their numbers where each has two options; else the pairs are numbered on, and ITEM is the row of the file.
    """
    column, answer = columns["options"], columns["answer"]
    frame = table.frame
    options = {int(number): texts_in(cell) for number, cell in zip(frame.index, frame[column], strict=True)}
    answers = dict(zip(options, frame[answer].str.strip(), strict=True))
    first_number = _first_number(table.name, answer, options, answers)
    chosen = {number: _chosen(texts, answers[number], first_number) for number, texts in options.items()}
    bad = [
        BadRow(
            number,
            NO_LIST.format(column=column)
            if len(texts) < 2
            else NO_OPTION.format(column=answer, text=answers[number], n=len(texts)),
        )
        for number, texts in options.items()
        if chosen[number] is None
    ]
    table = rows.without_rows(table, bad, UNUSABLE_OPTIONS, skip_bad_rows=skip_bad_rows)
    pairs = [
        (number, texts[right], other)
        for number, texts in options.items()
        if (right := chosen[number]) is not None
        for place, other in enumerate(texts)
        if place != right
    ]
    numbers = [number for number, _, _ in pairs]
    notice = OPTIONS.format(n_items=len(table.frame), n_pairs=len(pairs), options=column, answer=answer)
    further = table.frame.drop(columns=[column, answer]).loc[numbers]
    if len(set(numbers)) < len(numbers):
        said = rows.left_out_notice(table.left_out)  # with the numbers of the file
        table = replace(table, left_out=(), notices=(*table.notices, *said))
        further = _without(further, [items.ITEM]).assign(**{items.ITEM: list(map(str, numbers))})
        further.index = pd.Index(range(1, len(pairs) + 1), name="row")
    return _as_pairs(table, further, [good for _, good, _ in pairs], [bad for _, _, bad in pairs], notice)


def of_climp(table: Table, *, skip_bad_rows: bool) -> Table:
    """CLiMP as `headerless` names its columns: a sentence in each row, an acceptable and an unacceptable one in turn."""
    frame = table.frame
    if CLIMP_TURNS in frame:
        paradigm = pd.Series("ba_construction", index=frame.index, dtype="str")
        turns = [str(1 - place % 2) for place in range(len(frame))]
        index = list(map(str, range(len(frame))))
        frame = pd.DataFrame(
            {
                "index": pd.Series(index, index=frame.index, dtype="str"),
                "phenomenon": paradigm,
                "paradigm": paradigm,
                "sentence": frame[CLIMP_TURNS],
                CLIMP_LABEL: pd.Series(turns, index=frame.index, dtype="str"),
            }
        )
    bad, pairs = [], []
    of_rows = list(zip(frame.index.tolist(), frame["paradigm"], frame[CLIMP_LABEL], frame["sentence"], strict=True))
    place = 0
    while place < len(of_rows):
        number, paradigm_name, label, good = of_rows[place]
        follows = of_rows[place + 1] if place + 1 < len(of_rows) else None
        if label == "1" and follows is not None and follows[1:3] == (paradigm_name, "0"):
            pairs.append((number, good, follows[3]))
            place += 2
            continue
        bad.append(BadRow(int(number), Message("no pair: '{label}' is {text!r}", label=CLIMP_LABEL, text=label)))
        place += 1
    table = rows.without_rows(replace(table, frame=frame), bad, UNUSABLE_TURNS, skip_bad_rows=skip_bad_rows)
    further = frame.loc[[number for number, _, _ in pairs], ["index", "phenomenon", "paradigm"]]
    further = further.rename(columns={"index": "CLiMP's index"})
    notice = TURNS.format(n_rows=2 * len(pairs), n_pairs=len(pairs))
    return _as_pairs(table, further, [good for _, good, _ in pairs], [other for _, _, other in pairs], notice)


def of_blimp_nl(table: Table, columns: Mapping[str, str], *, skip_bad_rows: bool) -> Table:
    """BLiMP-NL as its authors publish it, a row for each sentence, with the columns of its pairs; each sentence's
    critical word marks its region.

    columns: by their normalised names, as spelled.
    """
    frame = table.frame.rename(columns={columns["item"]: "item_id", columns["phenomenon"]: "linguistic_phenomenon"})
    paradigm, critical = columns["paradigm"], columns.get("critical_word(s)")
    key = (frame[paradigm] + " " + frame["item_id"]).rename(items.ITEM)
    long = replace(table, frame=frame.assign(**{items.ITEM: key}), json_text="")
    roles = {items.ITEM: items.ITEM, items.SENTENCE: columns["sentence"], items.LABEL: columns["grammaticality"]}
    pairs = items.as_pairs(long, roles, skip_bad_rows=skip_bad_rows)
    renamed = pairs.frame.rename(
        columns={ACCEPTABLE: "sentence_good", UNACCEPTABLE: "sentence_bad", columns.get("cue_word(s)", ""): "cue_word"}
    )
    if critical is not None:
        is_good = frame[columns["grammaticality"]].map(judgement).eq(True)
        of_good = dict(zip(key[is_good], frame.loc[is_good, critical], strict=True))
        renamed = renamed.rename(columns={critical: "unacceptable_region"})
        renamed["acceptable_region"] = renamed[items.ITEM].map(of_good).astype("str")
    return replace(pairs, frame=renamed.drop(columns=[items.ITEM, *_numbers_of(columns, renamed)]))


def sentences_of_regions(table: Table, columns: Mapping[str, str], *, skip_bad_rows: bool) -> Table:
    """Sentences in conditions with a row for each region, as one with a row for each sentence and its regions.

    columns: of `item`, `condition`, `region` and `content`. The row of a sentence is that of its first region. Columns
    that say the same in all rows of a sentence are kept.
    """
    item, condition, region, content = (columns[role] for role in ("item", "condition", "region", "content"))
    frame, bad = table.frame, []
    suite = next((name for name in map(str, frame) if normalize_name(name) in ("suite", "suite_name")), None)
    sentences: dict[tuple[str, str, str], dict[int, str]] = {}
    first_row: dict[tuple[str, str, str], int] = {}
    keys: list[tuple[str, str, str]] = []
    suites_of_rows = frame[suite] if suite is not None else [""] * len(frame)
    for row, of_suite, of_item, of_condition, number, text in zip(
        frame.index, suites_of_rows, frame[item], frame[condition], frame[region], frame[content], strict=True
    ):
        key = (of_suite.strip(), of_item.strip(), of_condition.strip())
        keys.append(key)
        number = number.strip().removesuffix(".0")
        if not key[1] or not key[2] or not suites.is_number(number) or int(number) in sentences.get(key, {}):
            reason = Message(
                "item {item!r}, condition {condition!r}, region {number!r}",
                item=key[1],
                condition=key[2],
                number=number,
            )
            bad.append(BadRow(int(row), reason))
            continue
        sentences.setdefault(key, {})[int(number)] = text
        first_row.setdefault(key, int(row))
    kept = rows.without_rows(table, bad, UNUSABLE_REGIONS, skip_bad_rows=skip_bad_rows)
    n_regions = max(max(contents) for contents in sentences.values())
    further, several = _of_sentences(frame, keys, [*columns.values(), *([suite] if suite is not None else [])])
    made = pd.DataFrame(
        {
            designs.SUITE: [key[0] for key in sentences],
            designs.ITEM: [key[1] for key in sentences],
            designs.CONDITION: [key[2] for key in sentences],
            **{name: [by_key[key] for key in sentences] for name, by_key in further.items()},
            **{
                f"{designs.REGION}{number}": [contents.get(number, "") for contents in sentences.values()]
                for number in range(1, n_regions + 1)
            },
        },
        index=pd.Index([first_row[key] for key in sentences], name="row"),
        dtype="str",
    )
    notices = [LONG.format(n_regions=len(kept.frame), n_sentences=len(made))]
    notices += [NOT_KEPT.format(columns=quoted(several))] if several else []
    return replace(kept, frame=made, json_text="", notices=(*kept.notices, *notices))


def _sides(
    name: str,
    column: str,
    answers: Sequence[str],
    columns: tuple[str, str],
    sentences: Sequence[tuple[str, str]],
) -> list[int | None]:
    """The side that each answer says, 0 or 1, or None. Raises InputError where 1 may be either."""
    said = [answer.strip().casefold().removesuffix(".0") for answer in answers]
    words = {"a": 0, "b": 1, "first": 0, "second": 1}
    words |= {normalize_name(title): side for side, title in enumerate(columns)}
    if set(said) <= {"1", ""}:
        raise InputError(
            Message(
                "{name}: '{column}' holds 1 in every row, which is the first of two from 1 and the second from 0. Write "
                "the name of the column that holds the acceptable sentence.",
                name=name,
                column=column,
            )
        )
    words |= {"1": 0, "2": 1} if "2" in said and "0" not in said else {"0": 0, "1": 1}
    return [
        words.get(normalize_name(text), next((side for side in (0, 1) if pair[side].strip() == answer.strip()), None))
        for text, answer, pair in zip(said, answers, sentences, strict=True)
    ]


def texts_in(cell: str) -> list[str]:
    """The texts of a list in JSON or Python's spelling; [] for anything else."""
    for read in (json.loads, ast.literal_eval):
        try:
            listed = read(cell)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue
        if isinstance(listed, Mapping):  # as datasets of the Hub hold choices: texts and their labels
            listed = listed.get("text")
        if isinstance(listed, list) and all(isinstance(text, str) for text in listed):
            return listed
    return []


def _first_number(name: str, column: str, options: Mapping[int, Sequence[str]], answers: Mapping[int, str]) -> int:
    """The number of the first option, 0 or 1. Raises InputError where the numbers may be either."""
    numbers = [(int(text), len(options[row])) for row, text in answers.items() if text.isdecimal() and len(text) < 4]
    if not numbers or any(number == 0 for number, _ in numbers):
        return 0
    if any(number == n for number, n in numbers):
        return 1
    raise InputError(
        Message(
            "{name}: the numbers in '{column}' may begin at 0 or at 1; neither 0 nor the number of the last option is "
            "among them. Write letters (A, B …), or the text of the option.",
            name=name,
            column=column,
        )
    )


def _chosen(texts: Sequence[str], answer: str, first_number: int) -> int | None:
    """The place of the option that an answer says, None for none."""
    if answer.isdecimal() and len(answer) < 4:
        place = int(answer) - first_number
    elif len(answer) == 1 and answer.isascii() and answer.isalpha() and answer not in texts:
        place = ord(answer.casefold()) - ord("a")
    else:
        stripped = [text.strip() for text in texts]
        place = stripped.index(answer) if answer in stripped else -1
    return place if len(texts) > 1 and 0 <= place < len(texts) else None


def _of_sentences(
    frame: pd.DataFrame, keys: Sequence[tuple[str, str, str]], taken: Sequence[str]
) -> tuple[dict[str, dict[tuple[str, str, str], str]], list[str]]:
    """The columns that have one value in each sentence, and the names of the others."""
    further: dict[str, dict[tuple[str, str, str], str]] = {}
    several = []
    for name in map(str, frame.columns):
        if name in taken:
            continue
        by_key: dict[tuple[str, str, str], str] = {}
        if all(by_key.setdefault(key, value) == value for key, value in zip(keys, frame[name], strict=True)):
            further[name] = by_key
        else:
            several.append(name)
    return further, several


def _as_pairs(
    table: Table, further: pd.DataFrame, acceptable: Sequence[str], unacceptable: Sequence[str], notice: str
) -> Table:
    """Pairs with the further columns of their rows, of which those that are called as the sides get another name."""
    frame = _without(further, [ACCEPTABLE, UNACCEPTABLE])
    sides = {ACCEPTABLE: acceptable, UNACCEPTABLE: unacceptable}
    made = pd.DataFrame({name: pd.Series(list(texts), index=frame.index, dtype="str") for name, texts in sides.items()})
    return replace(table, frame=pd.concat([made, frame], axis=1), json_text="", notices=(*table.notices, notice))


def _without(frame: pd.DataFrame, names: Iterable[str]) -> pd.DataFrame:
    """The frame with columns of these names called otherwise."""
    taken = set(names)
    return frame.rename(columns={name: f"{name} (2)" for name in map(str, frame) if normalize_name(name) in taken})


def _numbers_of(columns: Mapping[str, str], frame: pd.DataFrame) -> list[str]:
    """The columns of BLiMP-NL that number what others name."""
    named = (columns.get("number_(phenomenon)"), columns.get("number_(paradigm)"), columns["grammaticality"])
    return [name for name in named if name is not None and name in frame]
