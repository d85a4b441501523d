"""The files of predictions that the BabyLM challenge is submitted with, in the folders in which it looks for them.

    MODEL/REVISION/zero_shot/BACKEND/TASK/FOLDER/predictions.json
    {"SUBSET": {"predictions": [{"id": "SUBSET_0", "pred": "…"}, …]}, …}
    MODEL/REVISION/zero_shot/BACKEND/reading/predictions.json
    {"reading": {"predictions": [{"id": 0, "pred": 7.25, "prev_pred": NaN}, …]}}
    MODEL/main/zero_shot/BACKEND/AoA_word/surprisal.json
    {"metadata": {…}, "results": [{"step": "chck_1M", "target_word": "dog", "surprisal": 7.25, …}, …]}

Source: `save_predictions` and `collate_preds` of babylm-org/babylm-eval (2026).
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import numpy as np

from engine.datasets.minimal_pairs import acquisition
from engine.datasets.minimal_pairs.layouts import ACQUISITION, BABYLM_READING
from engine.datasets.minimal_pairs.pairs import FIELD, MinimalPairs
from engine.errors import InputError
from engine.evaluations.minimal_pairs.acquisition.curves import NO_SERIES, trainings
from engine.evaluations.minimal_pairs.babylm.scores import (
    Scores,
    chosen,
    is_scored,
    option_scores,
    probability_of_first,
    sums_by_model,
)
from engine.evaluations.minimal_pairs.babylm.tasks import Part, parts_of
from engine.evaluations.minimal_pairs.reading.times import word_surprisals
from engine.evaluations.minimal_pairs.records import Result
from engine.evaluations.minimal_pairs.scoring_rules import SEQ2SEQ
from engine.evaluations.shared.checkpoints import checkpoint_of
from engine.language.quantities import count
from engine.measures.word_acquisition import FEWEST_POINTS
from engine.messages.message import Message, list_of
from engine.models.sources.names import split_label, without_label

FILE = "predictions.json"
MAIN = "main"  # the revision of a model that names none
READING, LEARNING = "reading", "AoA_word"  # the tasks of reading times and of the age of acquisition
_UNSCORED = Message(
    "{model} has no score of {n_unscored} of {task}, and the challenge takes predictions of all of them: see what was left "
    "out."
)
NOT_CAUSAL = Message(
    "{models}: for a model that is not causal, the challenge scores a word of the reading task from what stands "
    "before it and some masks. Hakari does not do so, and writes predictions for causal models alone."
)
_FIXED_DATE = (1980, 1, 1, 0, 0, 0)  # so that the same predictions give the same bytes
_WORDS = re.compile(r"(?:chck[ _-]?)?(\d+M)", re.IGNORECASE)  # a label that says the words read, and nothing else
# What the challenge calls the way in which a model is scored, by how it is called here.
_BACKENDS = {"causal": "causal", "pll": "mlm", "mntp": "mntp", "seq2seq": "enc_dec_prefix"}


class Place(NamedTuple):
    """Where the challenge looks for what a model predicts: its folder and that of its revision."""

    model: str
    revision: str


def place_of(model: str) -> Place:
    """The folders of a model: of a revision, a directory or a label that names a checkpoint, those of the checkpoint.

    >>> [tuple(place_of(name)) for name in ("owner/babygpt@chck_10M", "/runs/babygpt/chck_1M", "owner/babygpt")]
    [('babygpt', 'chck_10M'), ('babygpt', 'chck_1M'), ('babygpt', 'main')]
    >>> [tuple(place_of(name)) for name in ("10M=/runs/babygpt/step-900", "Ours=/runs/babygpt")]
    [('babygpt', 'chck_10M'), ('babygpt', 'main')]
    """
    label = split_label(model)[0]
    name, _, revision = without_label(model).partition("@")
    path = PurePosixPath(name)
    is_step = checkpoint_of(f"x/{path.name}") is not None
    parent = path.parent.stem or path.stem
    if words := _WORDS.fullmatch(label):
        return Place(parent if is_step else path.stem, f"chck_{words[1].upper()}")
    if revision:
        return Place(path.stem, revision)
    return Place(parent, path.name) if is_step and len(path.parts) > 1 else Place(path.stem, MAIN)


def predictions_of(part: Part, scores: Scores) -> dict[str, Any]:
    """What the challenge's script keeps of a task: by subset the option that it takes of each item.

    scores: of `option_scores`, all of them there.
    """
    found: dict[str, Any] = {uid: {"predictions": []} for uid in part.uids}
    probabilities = probability_of_first(scores) if part.is_ratio else np.empty(0)
    for place, (item, option) in enumerate(zip(part.items, chosen(scores).tolist(), strict=True)):
        of_subset = found[item.uid]["predictions"]
        entry: dict[str, Any] = {"id": f"{item.uid}_{len(of_subset)}", "pred": item.options[option]}
        if part.is_ratio:
            entry["prob"] = float(probabilities[place])
        of_subset.append(entry)
    return found


def prediction_files(result: Result, dataset: MinimalPairs) -> dict[str, bytes]:
    """The files of all models of a result, by path.

    Raises InputError for an item or a word that a model did not score, for reading times under other than causal models,
    and as `prediction_paths` does.
    """
    if result.format == ACQUISITION:
        return {path: json.dumps(content, indent=2).encode("ascii") for path, content in _of_learning(result).items()}
    if result.format == BABYLM_READING:
        return {path: json.dumps(content).encode("ascii") for path, content in _of_reading(result).items()}
    parts = parts_of(dataset)
    paths = prediction_paths(result, dataset, parts)
    sums = sums_by_model(result, dataset)
    files: dict[str, bytes] = {}
    for (model, place), path in paths.items():
        scores = option_scores(parts[place], sums[model])
        _require_scored(model, parts[place], scores)
        files[path] = json.dumps(predictions_of(parts[place], scores)).encode("ascii")
    return files


def prediction_paths(result: Result, dataset: MinimalPairs, parts: Sequence[Part]) -> dict[tuple[str, int], str]:
    """The path of the file of each model and part.

    Raises InputError for data without a task of the challenge, and where two models, or two folders of the data, would
    have one path.
    """
    if not parts:
        raise InputError(
            Message(
                "{name} holds no task of the BabyLM challenge. Give its evaluation_data/full_eval or fast_eval.",
                name=dataset.name,
            )
        )
    paths = {
        (model, place): "/".join((*place_of(model), "zero_shot", _backend(result, model), part.task, part.folder, FILE))
        for model in dict.fromkeys(result.settings.models)
        for place, part in enumerate(parts)
    }
    _require_different(paths.values())
    return paths


def _require_different(paths: Iterable[str]) -> None:
    if twice := [path for path, n in Counter(paths).items() if n > 1]:
        raise InputError(
            Message(
                "Two models, or two folders of the data, would be written to {path}. Name each model by its revision "
                "(@chck_1M) or label it (1M=MODEL); evaluate full_eval and fast_eval in runs of their own.",
                path=twice[0],
            )
        )


def reading_paths(result: Result) -> dict[str, str]:
    """By model the path of its file of the reading task. Raises InputError where two models would have one."""
    models = dict.fromkeys(result.settings.models)
    paths = {
        model: "/".join((*place_of(model), "zero_shot", _backend(result, model), READING, FILE)) for model in models
    }
    _require_different(paths.values())
    return paths


def _of_reading(result: Result) -> dict[str, Any]:
    """What the challenge's script keeps of the reading task: of each row of its file two surprisals, in nats."""
    words, paths = word_surprisals(result), reading_paths(result)
    if others := [model for model in paths if _backend(result, model) != "causal"]:
        raise InputError(NOT_CAUSAL.format(models=list_of(others)))
    n = int(words["row"].max()) if len(words) else 0
    files: dict[str, Any] = {}
    for model, path in paths.items():
        own = words[words["model"] == model].set_index("row").reindex(range(1, n + 1))
        nats = own[["surprisal", "previous_surprisal"]].to_numpy(dtype=np.float64) * np.log(2)
        if n_unscored := int(np.isnan(nats[:, 0]).sum()):
            raise InputError(_UNSCORED.format(model=model, n_unscored=count(n_unscored, "word"), task=READING))
        entries = [{"id": place, "pred": own, "prev_pred": before} for place, (own, before) in enumerate(nats.tolist())]
        files[path] = {READING: {"predictions": entries}}
    return files


def _of_learning(result: Result) -> dict[str, Any]:
    """What the challenge's script keeps of the age of acquisition: a surprisal, in nats, of each context at each step."""
    words, contexts = (result.items[f"{FIELD}{name}"].tolist() for name in (acquisition.WORD, acquisition.CONTEXT))
    seen: Counter[str] = Counter()
    ids = []
    for word in words:
        ids.append(seen[word])
        seen[word] += 1
    files: dict[str, Any] = {}
    for training in trainings(result):
        places = [place_of(checkpoint.model) for checkpoint in training.checkpoints]
        n_steps = len({checkpoint.step for checkpoint in training.checkpoints})
        entries = []
        for place, checkpoint, bits in zip(places, training.checkpoints, training.bits, strict=True):
            if n_unscored := int(np.isnan(bits).sum()):
                raise InputError(
                    _UNSCORED.format(model=checkpoint.model, n_unscored=count(n_unscored, "word"), task=LEARNING)
                )
            entries += [
                {
                    "step": place.revision,
                    "word_count": int(checkpoint.step),
                    "target_word": word,
                    "context_id": number,
                    "context": context,
                    "surprisal": float(nats),
                }
                for word, number, context, nats in zip(words, ids, contexts, bits * np.log(2), strict=True)
            ]
        metadata = {
            "model_name": places[0].model,
            "use_bos_only": False,
            "total_steps": n_steps,
            "completed_steps": n_steps,
        }
        backend = _backend(result, training.checkpoints[0].model)
        path = "/".join((places[0].model, MAIN, "zero_shot", backend, LEARNING, "surprisal.json"))
        _require_different([*files, path])
        files[path] = {"metadata": metadata, "results": entries}
    if not files:
        raise InputError(NO_SERIES.format(fewest=FEWEST_POINTS))
    return files


def written(files: dict[str, bytes], folder: Path) -> list[Path]:
    """Write the files below a folder; returns their paths."""
    paths = [folder / name for name in files]
    for path, content in zip(paths, files.values(), strict=True):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return paths


def zipped(files: dict[str, bytes]) -> bytes:
    """The files as a zip; the same files give the same bytes."""
    with zipfile.ZipFile(packed := io.BytesIO(), "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name, _FIXED_DATE), content, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def _require_scored(model: str, part: Part, scores: Scores) -> None:
    n_unscored = int((~is_scored(scores)).sum())
    if n_unscored:
        raise InputError(_UNSCORED.format(model=model, n_unscored=count(n_unscored, "item"), task=part.task))


def _backend(result: Result, model: str) -> str:
    scoring = str(result.signature.get("scoring", {}).get(model, "causal"))
    if scoring == SEQ2SEQ and result.settings.encoder_reads == "masked":
        return "enc_dec_mask"
    return _BACKENDS[scoring.partition("-")[0]]
