"""Scores of embedding benchmarks in files: results of mteb and JMTEB, leaderboards as tables.

mteb writes a file for each task, in a folder for each model and revision, with `model_meta.json` beside them; JMTEB a
`summary.json` for each model; a leaderboard is a table with a row for each model and a column for each task.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import pandas as pd

from engine.datasets import human_scores
from engine.datasets.formats.archives import SUFFIXES as ARCHIVES
from engine.datasets.formats.archives import is_archive, read_members
from engine.datasets.formats.files import read_table
from engine.errors import InputError, reason_of
from engine.messages.message import Message

META, SUMMARY = "model_meta.json", "summary.json"
TABLES = (".csv", ".tsv", ".xlsx")
READ = (".json", *TABLES, *ARCHIVES)
# Numbers of leaderboards that are no score of a task.
NO_TASK = re.compile(r"rank|mean|average|avg|.*param|.*dimension|.*max.*tokens|.*memory|.*release", re.IGNORECASE)
WANTED = Message(
    "Needed: the results folder of mteb, or a zip of it; summary.json of JMTEB in folders named by the models, or named "
    "by its model; or a table with a column model and one of numbers for each task"
)

Source = Path | tuple[str, Path | bytes]


@dataclass(frozen=True)
class Score:
    """The main score of a model in a task, and the file that has it."""

    model: str
    task: str
    value: float
    file: str


@dataclass(frozen=True)
class BenchmarkScores:
    """What benchmark files hold: every score, and the digest of all files. passed_over: columns of tables."""

    scores: Sequence[Score]
    digest: str
    passed_over: Sequence[str] = ()

    @property
    def models(self) -> list[str]:
        """The models, as they are first named."""
        return list(dict.fromkeys(score.model for score in self.scores))


def read_benchmark(sources: Sequence[Source]) -> BenchmarkScores:
    """The scores in files, folders and archives; a source that is no path is an upload: its name, and its bytes or where
    they lie.

    Of mteb the main score of a task is the mean over its splits and languages, as `TaskResult.get_score()`. Raises
    InputError for a file that is none of the layouts, a model that has no name, and a task that a model has twice with
    different scores.
    """
    files = [file for source in sources for file in _files(source)]
    named = {PurePosixPath(path).parent: name for path, content in files if (name := _meta_name(path, content))}
    scores: dict[tuple[str, str], Score] = {}
    passed_over: list[str] = []
    for path, content in files:
        if PurePosixPath(path).name == META:
            continue
        found, others = (
            _of_table(path, content) if path.lower().endswith(TABLES) else (_of_json(path, content, named), [])
        )
        passed_over += others
        for score in found:
            earlier = scores.setdefault((score.model, score.task), score)
            if not math.isclose(earlier.value, score.value, rel_tol=1e-9):
                raise InputError(
                    Message(
                        "{model} has two scores in {task}: {value:.4f} in {file}, {other_value:.4f} in {other_file}. "
                        "Leave one of them out.",
                        model=score.model,
                        task=score.task,
                        value=earlier.value,
                        file=earlier.file,
                        other_value=score.value,
                        other_file=score.file,
                    )
                )
    if not scores:
        raise InputError(Message("No score of a benchmark was found. {wanted}.", wanted=WANTED))
    digest = hashlib.sha256()
    for path, content in sorted(files):
        digest.update(f"{path}\0{len(content)}\0".encode())
        digest.update(content)
    return BenchmarkScores(list(scores.values()), digest.hexdigest()[:12], tuple(dict.fromkeys(passed_over)))


def _files(source: Source) -> Iterator[tuple[str, bytes]]:
    """The files of a source by their path within it."""
    path, content = source if isinstance(source, tuple) else (str(source), source)
    is_folder, name = isinstance(content, Path) and content.is_dir(), PurePosixPath(path).name
    if is_folder or is_archive(name):
        for member, raw in read_members(content, name, suffixes=(".json", *TABLES)):
            yield f"{name}/{member}" if is_folder else member, raw
        return
    try:
        yield path, content if isinstance(content, bytes) else content.read_bytes()
    except OSError as error:
        raise InputError(
            Message("{path} cannot be read: {error}. {wanted}.", path=path, error=reason_of(error), wanted=WANTED)
        ) from error


def _of_json(path: str, content: bytes, named: Mapping[PurePosixPath, str]) -> list[Score]:
    found = _json(path, content)
    try:
        return list(_scores(path, found, named))
    except (AttributeError, KeyError, TypeError) as error:  # of another shape
        raise _unknown(path) from error


def _scores(path: str, found: dict[str, Any], named: Mapping[PurePosixPath, str]) -> Iterator[Score]:
    if "task_name" in found and "scores" in found:
        model = str(found.get("model_name") or "") or _model_of(path, named, is_task=True)
        yield Score(model, str(found["task_name"]), _main_score(path, found["scores"]), path)
        return
    if "task_results" in found or "model_results" in found:
        for result in found.get("model_results", [found]):
            for task in result["task_results"]:
                value = _main_score(path, task["scores"])
                yield Score(str(result["model_name"]), str(task["task_name"]), value, path)
        return
    tasks = [(name, metrics) for tasks in found.values() if isinstance(tasks, dict) for name, metrics in tasks.items()]
    if not tasks or not all(isinstance(metrics, dict) and len(metrics) == 1 for _, metrics in tasks):
        raise _unknown(path)
    model = _model_of(path, named, is_task=False)
    for name, metrics in tasks:
        yield Score(model, name, _number(path, next(iter(metrics.values()))), path)


def _main_score(path: str, scores: Any) -> float:
    """The mean of the main scores of all splits and languages of a task, as mteb takes it."""
    values = [_number(path, each["main_score"]) for split in scores.values() for each in split]
    if not values:
        raise _unknown(path)
    return float(np.mean(values))


def _number(path: str, value: Any) -> float:
    try:
        number = float(value) if isinstance(value, Real) and not isinstance(value, bool) else math.nan
    except OverflowError:  # an integer with hundreds of digits
        number = math.inf
    if not math.isfinite(number):
        raise InputError(Message("{path}: a score is no finite number: {value!r}.", path=path, value=value))
    return number


def _of_table(path: str, content: bytes) -> tuple[list[Score], list[str]]:
    """The scores of a table, and its columns that are of no task; an empty cell, or one that says so, is no score."""
    frame = read_table(content, path).frame
    column = next((name for name in frame.columns if str(name).strip().lower() == "model"), None)
    if column is None:
        raise _unknown(path)
    scores: list[Score] = []
    passed_over: list[str] = []
    for name in (name for name in frame.columns if name != column):
        is_missing = frame[name].map(human_scores.is_missing).astype(bool)
        values = pd.to_numeric(frame[name].where(~is_missing, np.nan), errors="coerce")
        if NO_TASK.match(str(name).strip()) or (values.notna() == is_missing).any():
            passed_over.append(str(name))
            continue
        scores += [
            Score(str(model).strip(), str(name), _number(path, value), path)
            for model, value in zip(frame[column], values.tolist(), strict=True)
            if not math.isnan(value)
        ]
    return scores, passed_over


def _json(path: str, content: bytes) -> dict[str, Any]:
    try:
        found = json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise InputError(
            Message("{path} is no JSON: {error}. {wanted}.", path=path, error=error, wanted=WANTED)
        ) from error
    if not isinstance(found, dict):
        raise _unknown(path)
    return found


def _meta_name(path: str, content: bytes) -> str:
    """The model that a folder's model_meta.json names; "" for another file."""
    return str(_json(path, content).get("name") or "") if PurePosixPath(path).name == META else ""


def _model_of(path: str, named: Mapping[PurePosixPath, str], *, is_task: bool) -> str:
    """The model whose results a file holds: by model_meta.json beside it, its folders, or what the file is called.

    is_task: whether the file is of one task, by whose name it is called (mteb), or of all tasks (JMTEB).
    """
    place = PurePosixPath(path)
    if place.parent in named:
        return named[place.parent]
    folders = [part for part in place.parent.parts if part not in ("/", ".")]
    owned = next((folder for folder in reversed(folders) if "__" in folder), "")
    if is_task and owned:  # mteb: owner__name/revision/task.json
        return owned.replace("__", "/")
    if not is_task and place.name != SUMMARY:
        return place.stem.replace("__", "/")
    if not is_task and folders:  # JMTEB: owner/name/summary.json
        return "/".join(folders[-2:])
    raise InputError(Message("{path} does not say which model its scores are of. {wanted}.", path=path, wanted=WANTED))


def _unknown(path: str) -> InputError:
    return InputError(
        Message("{path} holds no scores of a benchmark that can be read. {wanted}.", path=path, wanted=WANTED)
    )
