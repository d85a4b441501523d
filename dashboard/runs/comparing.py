"""Runs side by side: what differs in their settings, and their headline numbers. Pure: no streamlit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import pandas as pd

from dashboard.shared.headlines import Headline, run_title, shown_dataset
from engine.evaluations.catalog import EVALUATIONS
from engine.evaluations.shared.signature import FINGERPRINT_DIGITS
from engine.messages.languages import mark, tr, translated
from engine.options import options_of, records_in
from engine.runs.storage.run_record import RunRecord

KIND, DATASET, NOTE = mark("Kind"), mark("Dataset"), mark("Note")
TRUTH = {"True": mark("yes"), "False": mark("no")}


def comparison_table(runs: Sequence[RunRecord], headlines: Mapping[str, Sequence[Headline]]) -> pd.DataFrame:
    """One column for each run under its name, one row for each thing in which they differ, then the numbers.

    `headlines`: run id -> its numbers, for the runs that have a result. Settings in which all runs agree are left
    out; a setting that a kind of run does not have is "". The first column, "what", says what a row is.
    """
    names = distinct([run_title(run) for run in runs])
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
        {KIND: run.kind, DATASET: data, NOTE: run.note} | dict(flat(run.settings)) | dict(beside)
        for run, data, beside in zip(runs, _datasets(runs), further or [{}] * len(runs), strict=True)
    ]
    setting_names = dict.fromkeys(name for settings in settings_by_run for name in settings)
    rows = [[name, *(settings.get(name, "") for settings in settings_by_run)] for name in setting_names]
    return pd.DataFrame([row for row in rows if len(set(row[1:])) > 1], columns=["what", *names], dtype=str)


def _datasets(runs: Sequence[RunRecord]) -> list[str]:
    """The dataset of each run; with its digest, as in signatures, where another of the name has other content."""
    hashes_by_name: dict[str, set[str]] = {}
    for run in runs:
        hashes_by_name.setdefault(run.dataset_name, set()).add(run.dataset_hash)
    return [
        f"{run.dataset_name} ({run.dataset_hash[:FINGERPRINT_DIGITS]})"
        if len(hashes_by_name[run.dataset_name]) > 1
        else run.dataset_name
        for run in runs
    ]


def in_words(table: pd.DataFrame, kind: str = "") -> pd.DataFrame:
    """One of these tables for a reader: what a row is, and values as pages call them, in the reader's language.

    kind: that of all the runs, "" where they are of several.
    """
    names = table["what"].tolist()
    values = {
        column: [value_in_words(kind, name, value) for name, value in zip(names, table[column], strict=True)]
        for column in table.columns
        if column != "what"
    }
    return table.assign(what=[tr(what) for what in names], **values)


def value_in_words(kind: str, name: str, value: str) -> str:
    """The value of a setting as pages call it; name: as `flat` gives it, or what a run has beside its settings."""
    if name == KIND and value in EVALUATIONS:
        return translated(EVALUATIONS[value].title)
    if name == DATASET:
        return shown_dataset(value)
    if name == NOTE:
        return value
    if value in TRUTH:
        return tr(TRUTH[value])
    labels = _labels(kind).get(name.rpartition(": ")[2].replace(" ", "_"), {})
    return translated(labels.get(value, "")) or value


@cache
def _labels(kind: str) -> dict[str, dict[str, str]]:
    """What the values of each setting of a kind are called; {} for a kind of another version."""
    if kind not in EVALUATIONS:
        return {}
    settings_type = EVALUATIONS[kind].settings_type
    return {
        name: {str(value): label for value, label in declared.labels.items()}
        for record in (settings_type, *records_in(settings_type).values())
        for name, declared in options_of(record).items()
    }


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
