"""Templates of one's own as a table: a file with a row for each, such as the templates.csv that a run writes."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from engine.datasets.formats.columns import normalize_name
from engine.datasets.formats.files import SUFFIXES, Table, read_table
from engine.datasets.rows import EMPTY, without_rows
from engine.errors import BadRow, InputError
from engine.evaluations.minimal_pairs.prompts.templates import IN_TEMPLATE, PLACE, YES_NO
from engine.evaluations.minimal_pairs.records import OWN_PROMPTS
from engine.messages.message import Message, list_of

TEXT, SCORE, ANSWERS, MODEL = "text", "score", "answers", "model"
SEPARATOR = ","
_NAMES = {TEXT: (TEXT, "template_text", "テンプレート"), SCORE: (SCORE, "kind", "種類"), ANSWERS: (ANSWERS, "回答")}
_SCORES = {
    **dict.fromkeys((IN_TEMPLATE.casefold(), "in-template", "in_template"), IN_TEMPLATE),
    **dict.fromkeys((YES_NO.casefold(), "yes-no", "yes_no"), YES_NO),
}
UNUSABLE = Message("{name}: {bad} of {rows} hold no template that can be used. Correct them, or leave them out.")
NO_SCORE = Message("'{column}' holds {score!r}; what is scored is {in_template} or {yes_no}")
PLACES = Message("'{column}' has {n} places for the sentence; write {place} once, where it stands")
TWICE = Message("the template is in row {row}, too, and would have two votes")
NOT_TWO = Message("'{column}' holds {answers!r}; the answers are two, the one for an acceptable sentence first: Yes,No")
OTHERS = Message("its answers are {answers!r} and those of row {row} are {first!r}; all questions have the same")


def is_file(word: str) -> bool:
    """Whether a word names a table of templates: a file that is there, or one by its ending.

    >>> is_file("own"), is_file("templates.csv")
    (False, True)
    """
    return word.lower().endswith(SUFFIXES) or Path(word).is_file()


def read_templates(source: bytes | Path, name: str) -> dict[str, Any]:
    """The settings that a table of templates stands for: prompts, in_template, yes_no and answers.

    Columns: score (in-template LP or Yes/No), text with {sentence} once, and of questions answers ("Yes,No" where there is
    no such column). The rows of further models, which templates.csv has, are those of the first. Raises InputError with
    every row that cannot be used, for a file that cannot be read and for one without the two columns.
    """
    table = read_table(source, name)
    spelled = {normalize_name(str(column)): str(column) for column in table.frame.columns}
    columns = {role: next((spelled[each] for each in names if each in spelled), "") for role, names in _NAMES.items()}
    if not (columns[TEXT] and columns[SCORE]):
        raise InputError(
            Message(
                "{name} has no templates: it needs the columns {text} and {score}, and has {columns}. The file templates.csv "
                "that a run with prompts writes is one.",
                name=table.name,
                text=TEXT,
                score=SCORE,
                columns=list_of(map(str, table.frame.columns)),
            )
        )
    if MODEL in spelled:
        models = table.frame[spelled[MODEL]]
        table = replace(table, frame=table.frame[(models == models.iloc[0]).to_numpy()])
    return _settings(table, columns)


def _text(cell: object) -> str:
    """A template with the line breaks that it was written with, whatever system the file has passed."""
    return str(cell).replace("\r\n", "\n")


def _answers(cell: str) -> tuple[str, ...]:
    """Words between commas of either width, or a list as JSON lines and Parquet have it."""
    try:
        listed = json.loads(cell)
    except (ValueError, RecursionError):
        listed = None
    words = listed if isinstance(listed, list) else re.split("[,、，]", cell)
    return tuple(str(word).strip() for word in words)


def _settings(table: Table, columns: dict[str, str]) -> dict[str, Any]:
    found: dict[str, dict[str, int]] = {IN_TEMPLATE: {}, YES_NO: {}}  # by score: template -> its row
    answers: tuple[str, ...] = ()
    answered_in, bad = 0, []
    for number, line in table.frame.iterrows():
        row, text, score = int(str(number)), _text(line[columns[TEXT]]), str(line[columns[SCORE]]).strip()
        known = _SCORES.get(score.casefold())
        earlier = next((rows[text] for rows in found.values() if text in rows), None)
        own = _answers(str(line[columns[ANSWERS]])) if columns[ANSWERS] else ()
        own = own if known == YES_NO and any(own) else ()
        reason = None
        if not text.strip():
            reason = EMPTY.format(column=columns[TEXT])
        elif known is None:
            reason = NO_SCORE.format(column=columns[SCORE], score=score, in_template=IN_TEMPLATE, yes_no=YES_NO)
        elif text.count(PLACE) != 1:
            reason = PLACES.format(column=columns[TEXT], n=text.count(PLACE), place=PLACE)
        elif earlier is not None:
            reason = TWICE.format(row=earlier)
        elif own and (len(own) != 2 or not all(own)):
            reason = NOT_TWO.format(column=columns[ANSWERS], answers=SEPARATOR.join(own))
        elif own and answers and own != answers:
            reason = OTHERS.format(answers=SEPARATOR.join(own), row=answered_in, first=SEPARATOR.join(answers))
        if reason is not None:
            bad.append(BadRow(row, reason))
            continue
        assert known is not None  # or there is a reason
        found[known][text] = row
        if own and not answers:
            answers, answered_in = own, row
    without_rows(table, bad, UNUSABLE, skip_bad_rows=False)
    return {
        "prompts": OWN_PROMPTS,
        "in_template": tuple(found[IN_TEMPLATE]),
        "yes_no": tuple(found[YES_NO]),
        "answers": answers,
    }
