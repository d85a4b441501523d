"""`make check-gpu`: every operation of a model, in every precision, beside the CPU in fp32; memory, and its end.

A number may differ from the CPU's by TOLERANCES; on a card the models that can be read without padding must be. Each
case prints a line, and one that fails does not keep the others from running.
"""

from __future__ import annotations

import gc
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from engine.errors import RunError
from engine.models import worker
from engine.models.loading.model_cache import MEMORY_VARIABLE
from engine.models.scoring.attention.packing import PACKING_VARIABLE, supports_packing
from engine.precision import DTYPES
from tests.gpu import devices, material

# The largest difference from the CPU's fp32. similarity: of the cosine of two tokens. vectors: as a share of the
# largest number of a vector. nats: of the log-likelihood of a token.
TOLERANCES = {
    "similarity": {"fp32": 1e-4, "tf32": 1e-2, "fp16": 1e-2, "bf16": 5e-2},
    "vectors": {"fp32": 1e-4, "tf32": 1e-2, "fp16": 1e-2, "bf16": 5e-2},
    "nats": {"fp32": 1e-4, "tf32": 2e-2, "fp16": 2e-2, "bf16": 2e-1},
}
UNIT_OF_FIELD = {
    "similarity": "similarity",
    "vectors": "vectors",
    "log_likelihoods": "nats",
    "layer_log_likelihoods": "nats",
    "first_log_likelihoods": "nats",
    "second_log_likelihoods": "nats",
}
# Models with attention within segments on a card; ModernBERT's windows have a kernel in half precision alone.
PACKED = {
    "bert": tuple(DTYPES),
    "roberta": tuple(DTYPES),
    "modernbert": ("bf16", "fp16"),
    "deberta": (),
    "gpt2": tuple(DTYPES),
    "llama": tuple(DTYPES),
    "qwen": tuple(DTYPES),
}
# What a small check leaves: a model of each way (packed, padded, trees), a precision of each kind.
SMALL_KINDS, SMALL_PRECISIONS = ("bert", "deberta", "gpt2", "llama"), ("fp32", "bf16")
# What torch itself keeps on a card once it was used: workspaces of its libraries.
KEPT_BYTES = 96 * 2**20
MEMORY_OF_A_BATCH = 2**30


@dataclass(frozen=True)
class Outcome:
    """One case: what was checked, what came out, and whether that is as it should be."""

    case: str
    result: str
    is_right: bool


@dataclass(frozen=True)
class Job:
    """An operation of a worker on the items of one model, and its settings."""

    operation: str
    items: Sequence[Any]
    settings: dict[str, Any]

    def run(self, folder: str, precision: str) -> list[dict[str, Any]]:
        """Its pieces in a resolved precision, on the device and in the way that the environment says."""
        return worker.run_chunk(
            self.operation,
            {"model": folder, "items": list(self.items), "settings": {**self.settings, "precision": precision}},
        )


def outcomes(device: str, *, is_small: bool) -> Iterator[Outcome]:
    """All cases on a device; `is_small`: tiny models, a few texts."""
    with tempfile.TemporaryDirectory() as folder:
        before = devices.allocated(device)
        folders = {name: _made(name, Path(folder), is_small) for name in (SMALL_KINDS if is_small else material.KINDS)}
        for name, model_folder in folders.items():
            yield from _numbers(name, model_folder, device, is_small)
            _release()
        cases: list[tuple[str, Callable[[], str]]] = [
            ("a batch beyond the memory", lambda: _smaller_batches(folders["bert"], device, is_small)),
            ("one text beyond the memory", lambda: _one_text_too_large(folders["bert"], device)),
            ("three models in the memory of two", lambda: _taking_turns(folders, device, is_small)),
        ]
        for case, check in cases:
            yield _outcome(case, check)
            _release()
        yield _outcome("memory afterwards", lambda: _memory_is_back(before, device))


def jobs(name: str, is_small: bool) -> list[Job]:
    """The operations that a kind of model has."""
    n_entries, n = _entries(is_small), 6 if is_small else 48
    last = material.SMALL["num_hidden_layers"] if is_small else _size(name, is_small)["num_hidden_layers"]
    if material.KINDS[name].is_causal:
        sentences = [side for pair in material.minimal_pairs(n, n_entries) for side in pair]
        return [
            Job("token_log_likelihoods", sentences, {"scoring": "causal"}),
            Job("token_log_likelihoods", sentences, {"scoring": "causal", "all_layers": True}),
            Job("sentence_vectors", sentences, {"layers": [1, last], "pooling": "mean"}),
            Job("token_similarities", list(zip(sentences[::2], sentences[1::2], strict=True)), {"layers": [last]}),
        ]
    lengths = material.drawn(material.JSTS_LENGTHS, n)
    texts = material.masked_texts([*lengths, 3, 24 if is_small else 200], n_entries)
    pairs = list(zip(texts, reversed(texts), strict=True))
    alike = [(text, " ".join([*text.split(" ")[:-1], "baba"])) for text in texts[: n // 2]]
    blanks = [(first + " ", word, " " + rest) for text in texts[: n // 2] for first, word, rest in [text.split(" ", 2)]]
    return [
        Job("sentence_vectors", texts, {"layers": [last], "pooling": "cls"}),
        Job("sentence_vectors", texts, {"layers": [0, last], "pooling": "mean"}),
        Job("token_similarities", pairs, {"layers": [1, last]}),
        Job("token_log_likelihoods", texts[: n // 2], {"scoring": "pll-original"}),
        Job("token_log_likelihoods", texts[: n // 2], {"scoring": "pll-word-l2r", "words": "tokenizer"}),
        Job("shared_token_log_likelihoods", alike, {}),
        Job("fill_masks", blanks, {}),
    ]


def deviation(expected: Sequence[dict[str, Any]], pieces: Sequence[dict[str, Any]]) -> dict[str, float]:
    """The largest difference of two lists of pieces in each unit of TOLERANCES; nan where one is not a number.

    Raises ValueError where they do not hold the same fields and shapes, or no number at all.
    """
    largest: dict[str, float] = {}
    for ours, theirs in zip(pieces, expected, strict=True):
        for field in UNIT_OF_FIELD.keys() & (ours.keys() | theirs.keys()):
            a, b = np.asarray(ours[field], dtype=np.float64), np.asarray(theirs[field], dtype=np.float64)
            if a.shape != b.shape:
                raise ValueError(f"{field} has the shape {a.shape} here and {b.shape} on the CPU.")
            scale = np.abs(b).max() if field == "vectors" else 1.0
            difference = float(np.abs(a - b).max() / scale) if a.size else 0.0
            unit = UNIT_OF_FIELD[field]
            largest[unit] = float(np.maximum(largest.get(unit, 0.0), difference))  # nan stays nan
    if not largest:
        raise ValueError("No piece holds a number.")
    return largest


def _numbers(name: str, folder: str, device: str, is_small: bool) -> Iterator[Outcome]:
    expected = []
    with devices.variables(**devices.on("cpu"), **{PACKING_VARIABLE: "off"}):
        for job in jobs(name, is_small):
            expected.append(job.run(folder, "fp32"))
    _release()
    for precision in SMALL_PRECISIONS if is_small else DTYPES:
        for packing in ("on", "off"):
            with devices.variables(**devices.on(device), **{PACKING_VARIABLE: packing}):
                for job, pieces in zip(jobs(name, is_small), expected, strict=True):
                    way = job.settings.get("scoring") or job.settings.get("pooling") or ""
                    case = " ".join(
                        part for part in (name, job.operation, way, precision, f"packing {packing}") if part
                    )
                    yield _outcome(
                        case,
                        lambda job=job, pieces=pieces, precision=precision: (  # type: ignore[misc]
                            _within_tolerance(job, folder, precision, pieces)
                        ),
                    )
                if packing == "on":
                    yield _outcome(
                        f"{name} {precision}: read without padding",
                        lambda precision=precision: _is_packed(name, folder, precision, device),
                    )  # type: ignore[misc]
        _release()


def _within_tolerance(job: Job, folder: str, precision: str, expected: Sequence[dict[str, Any]]) -> str:
    differences = deviation(expected, job.run(folder, precision))
    words = ", ".join(
        f"{unit} {difference:.1e} (at most {TOLERANCES[unit][precision]:.0e})"
        for unit, difference in differences.items()
    )
    if not all(difference <= TOLERANCES[unit][precision] for unit, difference in differences.items()):
        raise ValueError(words)
    return words


def _is_packed(name: str, folder: str, precision: str, device: str) -> str:
    task = "causal" if material.KINDS[name].is_causal else "masked"
    loaded = worker._model({"model": folder, "settings": {"precision": precision}}, task)  # type: ignore[arg-type]
    packed = supports_packing(loaded.model, 64, as_trees=task == "causal")
    # The reference kernel, which serves every other device, knows windows in every precision.
    expected = precision in PACKED[name] if device.startswith("cuda") else bool(PACKED[name])
    if packed != expected:
        raise ValueError("yes, where no kernel is known to do it" if packed else "no: the trial pass differed")
    return "yes" if packed else "no, as expected"


def _smaller_batches(folder: str, device: str, is_small: bool) -> str:
    """A batch that does not fit is read in halves, with the same numbers: for want of memory, or of a pretended one."""
    longest = 24 if is_small else 400
    texts = material.masked_texts([longest] * (8 if is_small else 256), _entries(is_small), seed=3)
    job = Job("token_similarities", list(zip(texts, texts, strict=True)), {"layers": [2]})
    with devices.variables(**devices.on(device)):
        expected = job.run(folder, "fp32")
        batches: list[int] = []
        with _little_memory(folder, device, 2 * longest, batches):
            pieces = job.run(folder, "fp32")
    differences = deviation(expected, pieces)
    if len(batches) < 2 or max(differences.values()) > TOLERANCES["similarity"]["fp32"]:
        raise ValueError(f"batches of {batches} tokens; {differences}")
    return f"{len(batches)} tries, the largest of {max(batches):,} tokens"


def _one_text_too_large(folder: str, device: str) -> str:
    job = Job("sentence_vectors", material.masked_texts([20], 600), {"layers": [2], "pooling": "mean"})
    with devices.variables(**devices.on(device)):
        job.run(folder, "fp32")
        try:
            with _little_memory(folder, device, 0, []):
                job.run(folder, "fp32")
        except RunError as error:
            return str(error)
    raise ValueError("no error, although nothing fits")


class _LittleMemory:
    """A model that runs out of memory for batches of more than so many tokens, as it does on a card that is full."""

    def __init__(self, model: torch.nn.Module, most_tokens: int, batches: list[int]) -> None:
        self._most, self._batches = most_tokens, batches
        self._hook = model.register_forward_pre_hook(self._check, with_kwargs=True)

    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> None:
        self._hook.remove()

    def _check(self, _module: torch.nn.Module, _arguments: Any, settings: dict[str, Any]) -> None:
        ids = settings["input_ids"]
        self._batches.append(ids.numel())
        if ids.numel() <= self._most:
            return
        if self._most and ids.device.type == "cuda":
            # Really too much: what is left on the card and as much again.
            free, _ = torch.cuda.mem_get_info(ids.device)
            torch.empty(2 * free + MEMORY_OF_A_BATCH, dtype=torch.uint8, device=ids.device)
        raise torch.OutOfMemoryError("out of memory")


def _little_memory(folder: str, device: str, most_tokens: int, batches: list[int]) -> _LittleMemory:
    loaded = worker._model({"model": folder, "settings": {"precision": "fp32"}}, "encode")
    assert loaded.device.type == torch.device(device).type
    return _LittleMemory(loaded.model, most_tokens, batches)


def _taking_turns(folders: dict[str, str], device: str, is_small: bool) -> str:
    names = ("bert", "gpt2", "llama")
    chosen = {
        name: next(job for job in jobs(name, is_small) if job.operation == "token_similarities") for name in names
    }
    with devices.variables(**devices.on(device)):
        expected = {name: job.run(folders[name], "fp32") for name, job in chosen.items()}
        sizes = [int(model["bytes"]) for model in worker.models_in_memory()]
        _release()
        held = []
        with devices.variables(**{MEMORY_VARIABLE: str((sum(sizes) - min(sizes) / 2) / 2**30)}):
            for name in names * 3:
                again = deviation(expected[name], chosen[name].run(folders[name], "fp32"))
                if max(again.values()) > TOLERANCES["similarity"]["fp32"]:
                    raise ValueError(f"{name} has other numbers in its turn: {again}")
                held.append(len(worker.models_in_memory()))
    if max(held) != 2:
        raise ValueError(f"{max(held)} models were in memory together")
    return f"{len(held)} turns, the same numbers, never more than 2 in memory"


def _memory_is_back(before: int, device: str) -> str:
    if not device.startswith("cuda"):
        return "not measured on this device"
    kept = devices.allocated(device) - before
    if kept > KEPT_BYTES:
        raise ValueError(f"{kept / 2**20:.0f} MiB more than at the start")
    return f"{kept / 2**20:.0f} MiB more than at the start (at most {KEPT_BYTES / 2**20:.0f})"


def _outcome(case: str, check: Callable[[], str]) -> Outcome:
    try:
        return Outcome(case, check(), True)
    except Exception as error:  # whatever it is, the other cases are still to be run
        return Outcome(case, f"{type(error).__name__}: {error}", False)


def _made(name: str, folder: Path, is_small: bool) -> str:
    return material.make(name, folder / name, _size(name, is_small), _entries(is_small))


def _size(name: str, is_small: bool) -> dict[str, int]:
    return material.SMALL if is_small else material.BASE if name in ("bert", "gpt2") else material.MIDDLE


def _entries(is_small: bool) -> int:
    return 600 if is_small else 20_000


def _release() -> None:
    worker._model_cache.cache_clear()
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
