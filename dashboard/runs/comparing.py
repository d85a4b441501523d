"""Runs side by side: what differs in their settings, and their headline numbers. Pure: no streamlit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from dashboard.shared.headlines import Headline
from engine.messages.languages import mark, tr
from engine.runs.storage.run_record import RunRecord

KIND, DATASET, NOTE = mark("Kind"), mark("Dataset"), mark("Note")


def comparison_table(runs: Sequence[RunRecord], headlines: Mapping[str, Sequence[Headline]]) -> pd.DataFrame:
    """One column for each run under its name, one row for each thing in which they differ, then the numbers.

    `headlines`: run id -> its numbers, for the runs that have a result. Settings in which all runs agree are left
    out; a setting that a kind of run does not have is "". The first column, "what", says what a row is.
    """
    names = distinct([run.name for run in runs])
    settings = differing_settings(runs, names)
    labels = dict.fromkeys(headline.label for run in runs for headline in headlines.get(run.id, ()))
    rows = [[label, *(_number(headlines.get(run.id, ()), label) for run in runs)] for label in labels]
    return pd.concat([settings, pd.DataFrame(rows, columns=["what", *names], dtype=str)], ignore_index=True)


def differing_settings(
    runs: Sequence[RunRecord], names: Sequence[str], further: Sequence[Mapping[str, str]] = ()
) -> pd.DataFrame:
    """One column for each run under its name, one row for each thing in which they differ; "what" says what it is.

    further: what each run has beside its settings, such as the choices with which it is shown.
    """
    settings_by_run = [
        {KIND: run.kind, DATASET: run.dataset_name, NOTE: run.note} | dict(flat(run.settings)) | dict(beside)
        for run, beside in zip(runs, further or [{}] * len(runs), strict=True)
    ]
    setting_names = dict.fromkeys(name for settings in settings_by_run for name in settings)
    rows = [[name, *(settings.get(name, "") for settings in settings_by_run)] for name in setting_names]
    return pd.DataFrame([row for row in rows if len(set(row[1:])) > 1], columns=["what", *names], dtype=str)


def in_words(table: pd.DataFrame) -> pd.DataFrame:
    """One of these tables for a reader: what a row is, in the reader's language."""
    return table.assign(what=[tr(what) for what in table["what"]])


def flat(settings: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """The settings of a run by name, those of a record within them with its name in front; a missing value is ""."""
    for key, value in settings.items():
        name = f"{prefix}{key.replace('_', ' ')}"
        if isinstance(value, Mapping):
            yield from flat(value, f"{name}: ")
        else:
            text = ", ".join(map(str, value)) if isinstance(value, list | tuple) else value
            yield name, "" if text is None else str(text)


def _number(headlines: Sequence[Headline], label: str) -> str:
    return next((f"{headline.value} ({headline.note})" for headline in headlines if headline.label == label), "")


def distinct(names: Sequence[str]) -> list[str]:
    """Each name once: the second "a" is "a (2)". Streamlit's choices need it: they know an option by its label."""
    seen: dict[str, int] = {}
    unique = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        unique.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return unique
