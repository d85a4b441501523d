"""A result as lm-evaluation-harness 0.4 writes its own: samples_TASK_DATE.jsonl and results_DATE.json for each model.

A pair is a sample of a task with two choices, the acceptable sentence first. Sums are written with all their digits.
`acc` is what the harness would say: the choice with the highest log-likelihood, the first one in a tie, so that a tie
counts as right. Whether a sentence is what the model would have said itself is not known here, and is written None.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

import pandas as pd

from engine.datasets.minimal_pairs.pairs import FIELD
from engine.errors import InputError
from engine.evaluations.minimal_pairs.records import Result
from engine.evaluations.minimal_pairs.views import by_model
from engine.messages.message import Message
from engine.models.sources.names import shown_name, without_label
from engine.version import VERSION

UNDATED = "1980-01-01T00-00-00.000000"  # where no date is given: the same result gives the same bytes
_NOT_IN_NAMES = re.compile(r"[\"<>:/\|\\?\*\[\]\s]+")
_NOT_IN_TASKS = re.compile(r"[^A-Za-z0-9]+")


def lm_eval_files(result: Result, date: str = UNDATED) -> dict[str, str]:
    """The files of every model of a result, by path: MODEL/samples_TASK_DATE.jsonl and MODEL/results_DATE.json.

    date: of the run, as in names of files ("2026-01-31T12-00-00.000000"). Raises InputError for single sentences.
    """
    if result.data_kind.n_sentences < 2:
        raise InputError(
            Message("Samples of lm-evaluation-harness are written of pairs; this run is of single sentences.")
        )
    task = task_name(result.dataset_name)
    files = {}
    for model, pairs in by_model(result):
        folder = _NOT_IN_NAMES.sub("__", shown_name(model).strip("/"))
        samples = [
            _sample(row, fields) for row, fields in zip(pairs.to_dict("records"), _fields(result, pairs), strict=True)
        ]
        lines = "".join(json.dumps(sample, ensure_ascii=False) + "\n" for sample in samples)
        files[f"{folder}/samples_{task}_{date}.jsonl"] = lines
        results = json.dumps(_results(result, model, task, samples, date), indent=2, ensure_ascii=False)
        files[f"{folder}/results_{date}.json"] = results + "\n"
    return files


def task_name(dataset: str) -> str:
    """What a dataset is called as a task: letters, digits and "_".

    >>> task_name("passive 1.jsonl"), task_name("容認性.csv")
    ('passive_1', 'minimal_pairs')
    """
    stem = PurePosixPath(dataset).stem if "." in dataset else dataset
    return _NOT_IN_TASKS.sub("_", stem).strip("_").lower() or "minimal_pairs"


def _fields(result: Result, pairs: pd.DataFrame) -> list[dict[str, str]]:
    """The further columns of the pairs, which belong to the document of each."""
    columns = [name for name in map(str, result.items.columns) if name.startswith(FIELD)]
    of_pairs = result.items[columns].take(pairs["item"].to_numpy())
    return [
        {str(name).removeprefix(FIELD): str(value) for name, value in row.items()}
        for row in of_pairs.to_dict("records")
    ] or [{}] * len(pairs)


def _sample(row: Mapping[Any, Any], fields: Mapping[str, str]) -> dict[str, Any]:
    sentences = row["acceptable"], row["unacceptable"]
    sums = float(row["acceptable_log_likelihood"]), float(row["unacceptable_log_likelihood"])
    doc = {**fields, "sentence_good": sentences[0], "sentence_bad": sentences[1]}
    return {
        "doc_id": int(row["item"]),
        "doc": doc,
        "target": "0",
        "arguments": {
            f"gen_args_{place}": {"arg_0": "", "arg_1": sentence} for place, sentence in enumerate(sentences)
        },
        "resps": [[[str(value), "None"]] for value in sums],
        "filtered_resps": [[str(value), "None"] for value in sums],
        "filter": "none",
        "metrics": ["acc"],
        "doc_hash": _hash(json.dumps(doc, indent=2, ensure_ascii=False)),
        "prompt_hash": _hash(""),
        "target_hash": _hash("0"),
        "acc": float(sums[0] >= sums[1]),
    }


def _results(result: Result, model: str, task: str, samples: list[dict[str, Any]], date: str) -> dict[str, Any]:
    n = len(samples)
    accuracy = sum(sample["acc"] for sample in samples) / n if n else math.nan
    error = math.sqrt(accuracy * (1 - accuracy) / (n - 1)) if n > 1 else "N/A"
    hashes = _hash("".join(sample["doc_hash"] + sample["prompt_hash"] + sample["target_hash"] for sample in samples))
    return {
        "results": {task: {"alias": task, "acc,none": accuracy, "acc_stderr,none": error}},
        "group_subtasks": {task: []},
        "configs": {
            task: {
                "task": task,
                "dataset_path": result.dataset_name,
                "output_type": "multiple_choice",
                "doc_to_text": "",
                "doc_to_target": 0,
                "doc_to_choice": "{{[sentence_good, sentence_bad]}}",
                "target_delimiter": "",
                "num_fewshot": 0,
                "metric_list": [{"metric": "acc", "aggregation": "mean", "higher_is_better": True}],
            }
        },
        "versions": {task: VERSION},
        "n-shot": {task: 0},
        "higher_is_better": {task: {"acc": True}},
        "n-samples": {task: {"original": len(result.items), "effective": n}},
        "config": {"model": "hakari", "model_args": {"pretrained": shown_name(model)}, "hakari": result.signature},
        "date": date,
        "task_hashes": {task: hashes},
        "model_source": "hakari",
        "model_name": without_label(model) if shown_name(model) == model else shown_name(model),
        "model_name_sanitized": _NOT_IN_NAMES.sub("__", shown_name(model)),
    }


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
