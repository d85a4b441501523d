"""Runs as rows of a table. Pure: no streamlit."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import MISSING, fields
from functools import cache
from itertools import accumulate
from typing import Any

import pandas as pd

from dashboard.runs.comparing import flat, value_in_words
from dashboard.shared.headlines import (
    dataset_title,
    default_title,
    in_a_line,
    owner_word,
    run_title,
    stored,
    stored_finding,
)
from engine.evaluations.catalog import EVALUATIONS
from engine.evaluations.shared.finding import spoken
from engine.language.quantities import count
from engine.messages.languages import mark, tr, translated
from engine.messages.message import list_of
from engine.runs.storage.json_codec import to_json_value
from engine.runs.storage.run_record import RunRecord

STAR = "★ "
JOINER = "\u2060"  # of no width
LINES = 5  # of a row
NARROW = 14  # characters; lines that are as short end at punctuation alone
BEFORE, AFTER = " （「", " 、。）」："  # what a line may end before and after
OPEN = mark("Open")
STATES = {
    "queued": mark("queued"),
    "running": mark("running"),
    "done": mark("done"),
    "failed": mark("failed"),
    "cancelled": mark("cancelled"),
}
MODEL_SETTINGS = ("models", "model")  # in a column of their own
COLUMNS = ("open", "age", "name", "headline", "dataset", "models", "owner", "settings", "tags")


def rows(
    runs: Sequence[RunRecord],
    *,
    starred: Collection[str],
    owner_names: Mapping[str, str],
    title: Callable[[str], str],
    ago: Callable[[Any], str],
    lengths: Mapping[str, int],
) -> pd.DataFrame:
    """A row for each run, in their order, with the columns of COLUMNS.

    starred: ids. owner_names: by owner. title: of a kind. ago: how long ago a time was. The age is that of the run, of
    one in the bin the time since it was moved there. lengths: of the longest line of a column (`folded`).
    """
    values = [
        (
            tr(OPEN),
            ago(run.deleted or run.created),
            (STAR if run.id in starred else "") + what(run, title(run.kind)),
            headline_of(run),
            dataset_title(run)
            if run.n_rows is None
            else f"{dataset_title(run)} · {translated(count(run.n_rows, 'row'))}",
            translated(list_of(spoken(run.models).values())),
            owner_word(run.owner, owner_names[run.owner]),
            translated(list_of(other_settings(run))),
            translated(list_of(run.tags)),
        )
        for run in runs
    ]
    frame = pd.DataFrame(values, columns=list(COLUMNS), dtype="str")
    for column, length in lengths.items():
        frame[column] = [evened(folded(text, length, LINES)) for text in frame[column]]
    return frame


def what(run: RunRecord, kind: str) -> str:
    """What a run is: its kind; one that was given a name is called by it, too."""
    title = run_title(run)
    return kind if title == default_title(run) else f"{title} · {kind}"


def headline_of(run: RunRecord) -> str:
    """The finding of a finished run, or its numbers; "…" until they are stored, "–" where it has none.

    Of any other run its state, of a failed one why.
    """
    if run.state == "running" and run.total:
        return tr("running, {share:.0%}", share=run.done / run.total)
    if run.state == "failed" and run.message:
        return tr("failed: {why}", why=translated(run.message))
    if run.state != "done":
        return state_word(run.state)
    if found := stored_finding(run.headline):
        return translated(found)
    headlines = stored(run.headline)
    return "…" if headlines is None else in_a_line(headlines) or "–"


def state_word(state: str) -> str:
    """A state of runs for a reader; that of another version as it is."""
    return tr(STATES.get(state, state))


def other_settings(run: RunRecord) -> list[str]:
    """The settings of a run that are not those with which its kind begins, as "name value"; models left out."""
    defaults = _defaults(run.kind)
    return [
        f"{tr(name.rpartition(': ')[2])} {value_in_words(run.kind, name, value) or tr('none')}"
        for name, value in flat(run.settings)
        if name not in MODEL_SETTINGS and name in defaults and defaults[name] != value
    ]


def folded(text: str, width: int, lines: int) -> str:
    """A text in lines of so many letters at most, of which a kanji is two; what does not fit into them ends in "…".

    Lines end at a space or, because a cell of the table breaks at spaces alone, at Japanese punctuation; a longer word
    stays whole, and the table breaks it.

    >>> folded("livedoor news", 9, 2), folded("結果は有意です（p = 0.01）。", 14, 2), folded("a b c d e", 3, 2)
    ('livedoor\\nnews', '結果は有意です\\n（p = 0.01）。', 'a b\\nc…')
    """
    broken: list[str] = []
    rest = " ".join(text.split())
    while rest and len(broken) < lines:
        room = width * (lines - len(broken))
        end = _end_of_line(rest, _fitting(rest, width))
        if end > _fitting(rest, room) or (room == width and end < len(rest)):
            broken.append(rest[: _fitting(rest, room - 1)].rstrip() + "…")
            break
        broken.append(rest[:end].rstrip())
        rest = rest[end:].lstrip()
    return "\n".join(broken)


def evened(text: str) -> str:
    """A text with an invisible character at its end for each wide one, so that a character is half a kanji wide in the mean.

    The table estimates from the mean width of all its characters how many fit on a line, and takes what is shorter for a
    line: among Japanese texts it would let Latin ones run out of their cell.

    >>> evened("a文b") == "a文b" + JOINER, evened("ab")
    (True, 'ab')
    """
    return text + JOINER * sum(map(_is_wide, text))


def _end_of_line(text: str, fitting: int) -> int:
    """Where the first line of a text ends, of which so many characters fit."""
    if fitting >= len(text):
        return len(text)
    ends = [end for end in range(1, len(text)) if text[end] in BEFORE or text[end - 1] in AFTER] + [len(text)]
    at_punctuation = max((end for end in ends if end <= fitting), default=0)
    if at_punctuation > fitting / 2:
        return at_punctuation
    kanji = (end for end in range(fitting, 0, -1) if _is_wide(text[end - 1]) and _is_wide(text[end]))
    within = next((end for end in kanji if text[end] not in AFTER), 0) if fitting > NARROW else 0
    return within or at_punctuation or ends[0]


def _is_wide(character: str) -> bool:
    return unicodedata.east_asian_width(character) in "WF"


def _fitting(text: str, width: int) -> int:
    """How many of the first characters fit into a width; at least one."""
    ends = accumulate(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)
    return max(1, sum(end <= width for end in ends))


@cache
def _defaults(kind: str) -> dict[str, str]:
    """The default of each setting of a kind that has one, by its name in a table; {} for a kind of another version."""
    evaluation = EVALUATIONS.get(kind)
    if evaluation is None:
        return {}
    values: dict[str, Any] = {}
    for field in fields(evaluation.settings_type):
        if field.default is not MISSING:
            values[field.name] = to_json_value(field.default)
        elif field.default_factory is not MISSING:
            values[field.name] = to_json_value(field.default_factory())
    return dict(flat(values))
