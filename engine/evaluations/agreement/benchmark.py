"""The mean scores of an embedding benchmark for the models of runs, as a further evaluation to hold them against."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from engine.errors import InputError
from engine.evaluations.agreement.benchmark_files import BenchmarkScores
from engine.language.quantities import count
from engine.messages.message import Message
from engine.models.sources.names import without_label

LISTED = 5  # names in a message


@dataclass(frozen=True)
class Benchmark:
    """A result as `evaluate.model_table` takes it: `models` with columns model, score and n_tasks."""

    models: pd.DataFrame
    signature: Mapping[str, Any]
    notices: tuple[str, ...] = ()
    comparisons: None = None


def held_against(read: BenchmarkScores, models: Sequence[str]) -> Benchmark:
    """The mean score of those of `models` (named as in runs) that a benchmark has, over the tasks that all of them have.

    A model is known by its name without a label, else by the last part of it where that is one model's alone. Raises
    InputError where no model is in the benchmark, and where those that are have no task in common.
    """
    theirs = _by_model(read)
    matched = {name: found for model in models if (found := _named(name := without_label(model), list(theirs)))}
    if not matched:
        raise InputError(
            Message(
                "None of the benchmark's models ({theirs}) is in the other evaluations ({models}). A model is matched by "
                "its name, or the last part of it.",
                theirs=_some(read.models),
                models=_some(list(map(without_label, models))),
            )
        )
    tasks = [task for task in theirs[next(iter(matched.values()))] if all(task in theirs[m] for m in matched.values())]
    if not tasks:
        raise InputError(
            Message(
                "The models {models} have no task of the benchmark in common, so their means are not comparable.",
                models=_some(list(matched)),
            )
        )
    _require_one_scale({name: [theirs[found][task] for task in tasks] for name, found in matched.items()})
    every = {task for found in matched.values() for task in theirs[found]}
    rows = [
        (name, float(np.mean([theirs[found][task] for task in tasks])), len(tasks)) for name, found in matched.items()
    ]
    notices = []
    if every - set(tasks):
        notices.append(
            Message(
                "benchmark: the mean of {tasks} that every model has; left out: {others}.",
                tasks=count(len(tasks), "task"),
                others=_some(sorted(every - set(tasks))),
            )
        )
    if read.passed_over:
        notices.append(Message("benchmark: columns that are no tasks: {columns}.", columns=_some(read.passed_over)))
    return Benchmark(
        pd.DataFrame(rows, columns=["model", "score", "n_tasks"]),
        {"models": [], "tasks": tasks, "files": read.digest},
        tuple(notices),
    )


def _require_one_scale(scores: Mapping[str, Sequence[float]]) -> None:
    """Raise InputError where some models have shares, and others per cent."""
    shares = [model for model, values in scores.items() if max(map(abs, values)) <= 1]
    if 0 < len(shares) < len(scores):
        raise InputError(
            Message(
                "The scores of {shares} lie between 0 and 1, and those of {others} do not, so their means are not comparable. "
                "Give all models shares, or all of them per cent.",
                shares=_some(shares),
                others=_some([model for model in scores if model not in shares]),
            )
        )


def _by_model(read: BenchmarkScores) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for score in read.scores:
        found.setdefault(score.model, {})[score.task] = score.value
    return found


def _named(model: str, theirs: Sequence[str]) -> str:
    """Which of their names is that of a model; "" for none.

    >>> _named("/srv/models/ruri-base", ["cl-nagoya/ruri-base", "cl-nagoya/ruri-large"]), _named("a/b", ["c/b", "d/b"])
    ('cl-nagoya/ruri-base', '')
    """
    if model in theirs:
        return model
    last = _last(model)
    alike = [name for name in theirs if _last(name) == last]
    return alike[0] if len(alike) == 1 else ""


def _last(name: str) -> str:
    return name.partition("@")[0].rstrip("/").rpartition("/")[2].lower()


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(names[:LISTED])
    return f"{shown}, …" if len(names) > LISTED else shown
