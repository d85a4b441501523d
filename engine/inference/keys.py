"""Cache keys: a SHA-256 over everything that can change a number, and over the item."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from engine.library_versions import ARRAYS, MODELS, PIECES, SURFACE, library_versions
from engine.models.sources import recipes
from engine.models.sources.facts import ModelFacts
from engine.models.sources.model_location import LocatedModel

CHAT_TEMPLATE_FILE = "chat_template.jinja"
# To be incremented when the composition of keys changes.
LAYOUT = 1
# The code that computes: after an edit, numbers cached before it are not used.
_CODE = (
    "models/**/*.py",
    "language/*.py",
    "measures/checks.py",
    "measures/surface.py",
    "measures/clusters/*.py",
    "measures/minimal_pairs/token_alignment.py",
    "datasets/corpora/corpus.py",
    "inference/endpoint/*.py",
)
# Exists where NVIDIA's driver is installed; asking torch would mean importing it.
_NVIDIA = Path("/dev/nvidiactl")
_DEVICE_VARIABLES = ("HAKARI_DEVICE", "HAKARI_DEVICES", "CUDA_VISIBLE_DEVICES")


def item_keys(operation: str, facts: ModelFacts, settings: Mapping[str, Any], items: Iterable[Any]) -> list[str]:
    """One key per item (a text, or a list of texts). Equal items have equal keys.

    settings: with the resolved precision, where a model computes.
    """
    common = _sha256(
        {
            "operation": operation,
            "model": facts.fingerprint,
            "tokenizer": facts.tokenizer_fingerprint,
            "settings": dict(settings),
            "dtype": facts.dtype,
            "device": facts.device.partition(":")[0],
            **_code_and_versions(MODELS),
        }
    )
    keys = []
    for item in items:
        digest = common.copy()
        # JSON distinguishes ["ab", "c"] from ["a", "bc"] and escapes a lone surrogate.
        digest.update(json.dumps(item).encode())
        keys.append(digest.hexdigest())
    return keys


def array_key(operation: str, array: np.ndarray, settings: Mapping[str, Any]) -> str:
    """The key of a result computed from an array, by the array's content."""
    description = [array.dtype.str, list(array.shape)]
    digest = _sha256(
        {"operation": operation, "array": description, "settings": dict(settings), **_code_and_versions(ARRAYS)}
    )
    digest.update(np.ascontiguousarray(array).data)
    return str(digest.hexdigest())


def surface_key(pairs: Sequence[Sequence[str]], settings: Mapping[str, Any]) -> str:
    """The key of the surface scores of texts."""
    digest = _sha256({"operation": "surface_scores", "settings": dict(settings), **_code_and_versions(SURFACE)})
    digest.update(json.dumps([list(texts) for texts in pairs]).encode())
    return str(digest.hexdigest())


def facts_key(located: LocatedModel, devices: Sequence[str]) -> str:
    """The key of a model's facts: its commit on the hub, or the name, size and time of change of every local file.

    It includes the recipe that the model is loaded with, and the state of its segmenter and dictionary files.
    Raises ModelError when these are not installed.
    """
    digest = _sha256(
        {
            "operation": "describe",
            "where": _location(located),
            "recipe": located.recipe and recipes.state(located.recipe),
            **({"own_code": located.own_code.identity} if located.own_code else {}),
            "devices": list(devices),
            "chosen": device_choice(),
            **_code_and_versions(MODELS),
        }
    )
    return str(digest.hexdigest())


def device_choice() -> list[Any]:
    """What decides the kind of device that models run on: the driver of a GPU, and the variables that name devices."""
    return [_NVIDIA.exists(), *(os.environ.get(name) for name in _DEVICE_VARIABLES)]


def _location(located: LocatedModel) -> list[Any]:
    of_base = [_location(located.base)] if located.base else []
    if located.commit is not None:
        # A copy of an earlier version has no such file until it is fetched, and no facts of it.
        chat = [CHAT_TEMPLATE_FILE] if (located.path / CHAT_TEMPLATE_FILE).is_file() else []
        return [located.name, located.commit, *chat, *of_base]
    files = [
        (str(path), path.stat())
        for directory in located.directories
        for path in sorted(directory.iterdir())
        if path.is_file()
    ]
    return [str(located.path.resolve()), [[name, state.st_size, state.st_mtime_ns] for name, state in files], *of_base]


def code_and_libraries() -> dict[str, str]:
    """What determines a number beside model and item: the digest of the code that computes, and library versions.

    Versions are without their local part ("+cpu" of "2.13.0+cpu"): builds differ with the device.
    """
    versions = {name: version.partition("+")[0] for name, version in library_versions(PIECES).items()}
    return {"code": _code_digest(), **versions}


def _code_and_versions(libraries: tuple[str, ...]) -> dict[str, Any]:
    return {"layout": LAYOUT, "versions": library_versions(libraries), "code": _code_digest()}


@lru_cache
def _code_digest() -> str:
    engine = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for pattern in _CODE:
        for path in sorted(engine.glob(pattern)):
            digest.update(f"{path.relative_to(engine)}\n".encode() + path.read_bytes())
    return str(digest.hexdigest())


def _sha256(description: Mapping[str, Any]) -> Any:
    canonical = json.dumps(description, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode())
