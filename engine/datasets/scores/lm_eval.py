"""Samples of lm-evaluation-harness 0.4 (`--log_samples`): samples_TASK_DATE.jsonl, and results_DATE.json beside them.

A sample has the requests that were sent in `arguments`, {"gen_args_0": {"arg_0": context, "arg_1": continuation}, …}
or, before 0.4.3, lists of the same, and in `filtered_resps`, in the same order, the sum of log-likelihoods of the
continuation and whether it is what the model would have said: ["-12.5", "False"].
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from engine.datasets.formats.files import Table
from engine.datasets.scores.lines import Collector
from engine.messages.message import Message

SAMPLES, RESULTS = "samples_", "results_"  # how the names of its files begin
_TASK = re.compile(r"samples_(.+?)_\d{4}-\d{2}-\d{2}T[\d.-]+$")
_DATE = re.compile(r"_(\d{4}-\d{2}-\d{2}T[\d.-]*\d)\.jsonl?$")
# Of `model_args`, in the order in which lm-evaluation-harness looks for the name of the model.
_NAMES = ("peft", "delta", "pretrained", "model", "path", "engine")
NOT_SUMS = Message(
    "it has no log-likelihoods: filtered_resps holds {value!r}. Only tasks that compare log-likelihoods have them "
    "(output_type multiple_choice or loglikelihood)"
)


def fits(table: Table) -> bool:
    """Whether a table is a file of samples."""
    columns = set(map(str, table.frame.columns))
    return "arguments" in columns and bool(columns & {"filtered_resps", "resps"})


def is_results(table: Table) -> bool:
    """Whether a file of one object is that of the results."""
    columns = set(map(str, table.frame.columns))
    return len(table.frame) == 1 and "results" in columns and bool(columns & {"configs", "versions", "model_name"})


def task_of(name: str) -> str:
    """The task in the name of a file of samples.

    >>> task_of("out/samples_blimp_passive_1_2024-07-01T10-00-00.123456.jsonl"), task_of("mine.jsonl")
    ('blimp_passive_1', 'mine')
    """
    stem = name.rpartition("/")[2].removesuffix(".jsonl").removesuffix(".json")
    match = _TASK.fullmatch(stem)
    return match.group(1) if match else stem


def date_of(name: str) -> str:
    """The date of the run in the name of one of its files, "" without one.

    >>> date_of("samples_x_2024-07-01T10-00-00.1.jsonl"), date_of("results_2024-07-01T10-00-00.1.json"), date_of("x.jsonl")
    ('2024-07-01T10-00-00.1', '2024-07-01T10-00-00.1', '')
    """
    match = _DATE.search(name)
    return match.group(1) if match else ""


def model_of_results(table: Table) -> str:
    """The name of the model in a file of results, "" where it has none."""
    row = {str(name): str(value) for name, value in table.frame.iloc[0].items()}
    if row.get("model_name"):
        return row["model_name"]
    arguments = _json(row.get("config", "")) or {}
    given = arguments.get("model_args") if isinstance(arguments, Mapping) else None
    if isinstance(given, str):
        given = dict(part.partition("=")[::2] for part in given.split(","))
    found = next((given[name] for name in _NAMES if given.get(name)), "") if isinstance(given, Mapping) else ""
    return str(found)


def accuracies_of_results(table: Table) -> dict[str, float]:
    """The accuracy of each task in a file of results."""
    results = _json(str(table.frame["results"].iloc[0]))
    found = {}
    for task, numbers in results.items() if isinstance(results, Mapping) else ():
        value = numbers.get("acc,none", numbers.get("acc")) if isinstance(numbers, Mapping) else None
        if isinstance(value, int | float) and not isinstance(value, bool):
            found[str(task)] = float(value)
    return found


def read(table: Table, into: Collector, model: str = "") -> list[str]:
    """Add the sentences of all samples. A sentence is context and continuation, without white space around them."""
    frame = table.frame
    responses = "filtered_resps" if "filtered_resps" in frame.columns else "resps"
    own = frame["acc"].tolist() if "acc" in frame.columns else [""] * len(frame)
    n_conditional = 0
    lines = into.lines(model)
    for row, given, answered, right in zip(
        map(int, frame.index), frame["arguments"].tolist(), frame[responses].tolist(), own, strict=True
    ):
        requests, answers = _requests(_json(given)), _answers(_json(answered))
        if requests is None or answers is None or len(requests) != len(answers):
            into.refuse(row, NOT_SUMS.format(value=answered[:40]))
            continue
        for (context, continuation), value in zip(requests, answers, strict=True):
            n_conditional += bool(context.strip())
            into.add(model, row, (context + continuation).strip(), value, column=responses)
        if (is_right := _truth(right)) is not None:
            lines.right.append(is_right)
    if n_conditional:
        into.notices.append(
            Message(
                "{name}: {n:,} log-likelihoods are of a continuation alone, given the context before it.",
                name=table.name,
                n=n_conditional,
            )
        )
    return list(map(str, frame.columns))


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _requests(value: Any) -> list[tuple[str, str]] | None:
    """Context and continuation of each request."""
    entries = list(value.values()) if isinstance(value, Mapping) else value
    if not isinstance(entries, list):
        return None
    found = []
    for entry in entries:
        parts = list(entry.values()) if isinstance(entry, Mapping) else entry
        if not isinstance(parts, list) or not parts or not all(isinstance(part, str) for part in parts[:2]):
            return None
        found.append((parts[0], parts[1]) if len(parts) > 1 else ("", parts[0]))
    return found


def _answers(value: Any) -> list[Any] | None:
    """The sum of each request: the first of a pair whose second says whether it was the most probable."""
    if not isinstance(value, list):
        return None
    found = []
    for entry in value:
        while isinstance(entry, Sequence) and not isinstance(entry, str) and len(entry) == 1:
            entry = entry[0]  # resps has a list of one answer for each request
        if not isinstance(entry, list) or len(entry) != 2:
            return None
        found.append(entry[0])
    return found


def _truth(text: str) -> bool | None:
    return None if text == "" else text.strip().lower() in ("1", "1.0", "true")
