"""Runs as rows of a table. Pure: no streamlit."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import MISSING, fields
from functools import cache
from itertools import accumulate
from typing import Any

import pandas as pd

from dashboard.runs.comparing import flat
from dashboard.shared.headlines import dataset_title, in_a_line, run_title, short, stored, stored_finding
from engine.evaluations.catalog import EVALUATIONS
from engine.messages.languages import mark, tr, translated
from engine.runs.access.browsers import default_name
from engine.runs.storage.json_codec import to_json_value
from engine.runs.storage.run_record import RunRecord
from engine.runs.storage.searching import BROWSER_PREFIX

STAR = "★ "
OPEN = mark("Open")
STATES = {
    "queued": mark("queued"),
    "running": mark("running"),
    "done": mark("done"),
    "failed": mark("failed"),
    "cancelled": mark("cancelled"),
}
MODEL_SETTINGS = ("models", "model")  # in a column of their own
COLUMNS = ("open", "name", "headline", "kind", "models", "dataset", "rows", "settings", "tags", "owner", "age")


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
    one in the bin the time since it was moved there. lengths: of the longest text of a column (`cut`).
    """
    values = [
        (
            tr(OPEN),
            (STAR if run.id in starred else "") + run_title(run),
            headline_of(run),
            title(run.kind),
            ", ".join(map(short, run.models)),
            dataset_title(run),
            run.n_rows,
            ", ".join(other_settings(run)),
            ", ".join(run.tags),
            owner_word(run.owner, owner_names[run.owner]),
            ago(run.deleted or run.created),
        )
        for run in runs
    ]
    frame = pd.DataFrame(values, columns=list(COLUMNS))
    for column, length in lengths.items():
        frame[column] = [cut(text, length) for text in frame[column]]
    return frame.astype({"rows": "Int64"} | {name: "str" for name in COLUMNS if name != "rows"})


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


def owner_word(owner: str, name: str) -> str:
    """What an owner of runs is called, for a reader; a name that was chosen stays as it is."""
    if name != default_name(owner):
        return name
    if owner.startswith(BROWSER_PREFIX):
        return tr("Browser {digits}", digits=name.removeprefix("Browser "))
    return tr("Everybody") if name == "Everybody" else name


def other_settings(run: RunRecord) -> list[str]:
    """The settings of a run that are not those with which its kind begins, as "name value"; models left out."""
    defaults = _defaults(run.kind)
    return [
        f"{name.rpartition(': ')[2]} {value or 'none'}"
        for name, value in flat(run.settings)
        if name not in MODEL_SETTINGS and name in defaults and defaults[name] != value
    ]


def cut(text: str, length: int) -> str:
    """A text, or the beginning of one that is longer than so many letters; a kanji counts as two.

    >>> cut("livedoor news", 8), cut("日本語の小説", 8), cut("short", 8)
    ('livedoo…', '日本語…', 'short')
    """
    widths = [2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text]
    ends = list(accumulate(widths))
    if not ends or ends[-1] <= length:
        return text
    return text[: sum(end < length for end in ends)] + "…"


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
