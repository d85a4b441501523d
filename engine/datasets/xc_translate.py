"""XC-Translate as published: translations of an entity-centred sentence with the mentions that count as right, and the
predictions of systems in files of their own, joined by id.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

import pandas as pd

from engine.datasets import rows
from engine.datasets.formats.files import Table, read_table
from engine.datasets.several import read_all
from engine.errors import BadRow, InputError
from engine.language.quantities import count
from engine.messages.message import Message, list_of

ID, TARGETS, TYPES, PREDICTION, SYSTEM = "id", "targets", "entity_types", "prediction", "system"
ACCEPTED = "accepted_mentions"  # the column of accepted forms that a dataset gets
TRANSLATION, MENTION = "translation", "mention"  # of each target
MOST_REFERENCES = 99
SHOWN = 5  # ids in a notice
UNUSABLE = Message("{name}: {bad} of {rows} have no prediction, or no targets. Predictions are joined by id.")
UNUSED = Message("{name} has {n} of which the references have no id: {listed}.")
NO_PREDICTION = Message("no prediction for {id}")
NO_TARGETS = Message("{id} has no list of targets, each with a translation and a mention")
# The authors' code takes the beginning of the id of a prediction.
_INSTANCE = re.compile(r"Q[0-9]+_[0-9]")


def is_published(table: Table) -> bool:
    """Whether these are references as published: JSON with an id and targets of translation and mention."""
    return {ID, TARGETS} <= set(table.frame.columns) and any(_targets(cell) for cell in table.frame[TARGETS])


def read_predictions(named: Sequence[tuple[str, Path | bytes]], **reading: Any) -> list[Table]:
    """The tables of files of predictions, (name, path or content); reading, errors: as `read_table` has them."""
    return [table for _, table in read_all(named, lambda source: read_table(source[1], source[0], **reading))]


def with_predictions(references: Table, predictions: Sequence[Table]) -> Table:
    """The references with the predictions of one file or several, by id; each file is a system, named after it.

    The rows of a further system are numbered on. A reference without a prediction has an empty one. Of an id that a
    file has twice the last prediction counts, as in the authors' code. Raises InputError for references of another
    layout and for predictions without the columns id and prediction.
    """
    if not is_published(references):
        raise InputError(
            Message(
                "{name} has no columns {ID} and {TARGETS} as XC-Translate has, so predictions cannot "
                "be joined with it.",
                name=references.name,
                ID=ID,
                TARGETS=TARGETS,
            )
        )
    frame, parts, notices = references.frame, [], list(references.notices)
    last = int(frame.index.max())
    names = _system_names([table.name for table in predictions])
    known = set(frame[ID])
    for number, (system, table) in enumerate(zip(names, predictions, strict=True)):
        if missing := [name for name in (ID, PREDICTION) if name not in table.frame.columns]:
            raise InputError(
                Message(
                    "{name} has no column {missing}; predictions have {ID} and {PREDICTION}.",
                    name=table.name,
                    missing=list_of(missing),
                    ID=ID,
                    PREDICTION=PREDICTION,
                )
            )
        by_id = {_instance(name): text for name, text in zip(table.frame[ID], table.frame[PREDICTION], strict=True)}
        by_id |= dict(zip(table.frame[ID], table.frame[PREDICTION], strict=True))
        if repeated := list(dict.fromkeys(table.frame[ID][table.frame[ID].duplicated()])):
            notices.append(
                Message(
                    "{name} has several predictions of {listed}; the last one counts.",
                    name=table.name,
                    listed=_some(repeated),
                )
            )
        unknown = [name for name in table.frame[ID] if not known & {name, _instance(name)}]
        if unknown:
            notices.append(UNUSED.format(name=table.name, n=count(len(unknown), "prediction"), listed=_some(unknown)))
        of_system = frame.assign(**{PREDICTION: [by_id.get(name, "") for name in frame[ID]], SYSTEM: system})
        parts.append(of_system.set_axis(frame.index + number * last))
    return replace(references, frame=pd.concat(parts), notices=tuple(notices), json_text="")


def as_pairs(table: Table, *, skip_bad_rows: bool = False) -> Table:
    """References with their predictions as sentence pairs, a row for each; any other table as it is.

    The candidate is the prediction, the first translation the reference, others further references; ACCEPTED has the
    mentions of all targets as a list in JSON, the category the types of the entity. Raises InputError for references
    without predictions, and for rows without a prediction or without targets, all listed with their ids (with
    `skip_bad_rows` they are left out).
    """
    if not is_published(table):
        return table
    if PREDICTION not in table.frame.columns:
        raise InputError(
            Message(
                "{name} holds references of XC-Translate without predictions. Give the file of "
                "predictions too (metric-study --predictions FILE), or a column {PREDICTION}.",
                name=table.name,
                PREDICTION=PREDICTION,
            )
        )
    faults = [
        BadRow(int(number), fault)
        for number, *cells in table.frame[[ID, TARGETS, PREDICTION]].itertuples(name=None)
        if (fault := _fault(*cells))
    ]
    table = rows.without_rows(table, faults, UNUSABLE, skip_bad_rows=skip_bad_rows)
    frame = table.frame
    targets = [_targets(cell) for cell in frame[TARGETS]]
    translations = [list(dict.fromkeys(text for text, _ in of_row))[:MOST_REFERENCES] for of_row in targets]
    columns = {
        "reference" if not index else f"reference{index + 1}": [
            texts[index] if index < len(texts) else "" for texts in translations
        ]
        for index in range(max(map(len, translations)))
    }
    columns[ACCEPTED] = [
        json.dumps(list(dict.fromkeys(mention for _, mention in of_row)), ensure_ascii=False) for of_row in targets
    ]
    if TYPES in frame:
        columns["category"] = [_types(cell) for cell in frame[TYPES]]
    kept = frame.drop(columns=[name for name in (TARGETS, TYPES, PREDICTION, *columns) if name in frame])
    pairs = pd.DataFrame({"candidate": frame[PREDICTION], **columns}, index=frame.index, dtype="str")
    return replace(table, frame=pd.concat([pairs, kept], axis=1), json_text="")


def _targets(cell: str) -> list[tuple[str, str]]:
    """Translation and mention of each target; [] where the cell is no list of such."""
    try:
        listed = json.loads(cell) if cell.lstrip().startswith("[") else []
    except (ValueError, RecursionError):
        return []
    pairs = []
    for target in listed:
        texts = (target.get(TRANSLATION), target.get(MENTION)) if isinstance(target, dict) else (None, None)
        if not all(isinstance(text, str) and text.strip() for text in texts):
            return []
        pairs.append((str(texts[0]), str(texts[1])))
    return pairs


def _fault(name: str, targets: str, prediction: str) -> Message | None:
    return (
        None
        if _targets(targets) and prediction.strip()
        else NO_PREDICTION.format(id=name)
        if _targets(targets)
        else NO_TARGETS.format(id=name)
    )


def _types(cell: str) -> str:
    """The types of an entity with commas between them; another text as it is."""
    try:
        listed = json.loads(cell) if cell.lstrip().startswith("[") else cell
    except (ValueError, RecursionError):
        return cell
    return ", ".join(map(str, listed)) if isinstance(listed, list) else cell


def _instance(name: str) -> str:
    match = _INSTANCE.match(name)
    return match[0] if match else name


def _some(names: Sequence[str]) -> str:
    return ", ".join([*names[:SHOWN], *("…" for _ in names[SHOWN : SHOWN + 1])])


def _system_names(files: Sequence[str]) -> list[str]:
    """The names of systems: those of the files without their endings, with a number where two are the same.

    >>> _system_names(["ja_JP.gpt-4.json", "a/x.jsonl", "b/x.jsonl"])
    ['ja_JP.gpt-4', 'x', 'x (2)']
    """
    names: list[str] = []
    for file in files:
        stem = PurePosixPath(file).stem
        name, number = stem, 1
        while name in names:
            number += 1
            name = f"{stem} ({number})"
        names.append(name)
    return names
