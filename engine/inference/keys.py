"""Cache keys: a SHA-256 over everything that can change a number, and over the item itself."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from engine.models.sources import recipes
from engine.models.sources.facts import ModelFacts
from engine.models.sources.model_location import LocatedModel
from engine.version import library_version

# Raised when keys are made otherwise.
LAYOUT = 1
_TEXT_LIBRARIES = ("torch", "transformers", "tokenizers", "sentencepiece", "fugashi", "unidic-lite", "ipadic")
_MAP_LIBRARIES = ("umap-learn", "numba", "scikit-learn", "scipy", "numpy")
_SURFACE_LIBRARIES = ("sacrebleu", "mecab-python3", "ipadic")
# The code that computes: edit it, and no number from before is taken for one of its own.
_CODE = ("models/**/*.py", "language/*.py", "measures/checks.py", "measures/surface.py", "measures/clusters/*.py",
         "measures/minimal_pairs/token_alignment.py", "datasets/corpora/corpus.py")
# Where NVIDIA's driver shows itself; asking torch would mean to import it.
_NVIDIA = Path("/dev/nvidiactl")
_CHOOSE_DEVICE = ("HAKARI_DEVICE", "CUDA_VISIBLE_DEVICES")


def item_keys(operation: str, facts: ModelFacts, settings: Mapping[str, Any], items: Iterable[Any]) -> list[str]:
    """One key per item (a text, or a list of texts). Equal items have equal keys."""
    common = _hashed({
        "operation": operation, "model": facts.fingerprint, "tokenizer": facts.tokenizer_fingerprint,
        "settings": dict(settings), "dtype": facts.dtype, "device": facts.device.partition(":")[0],
        **_surroundings(_TEXT_LIBRARIES),
    })
    keys = []
    for item in items:
        one = common.copy()
        # JSON keeps ["ab", "c"] and ["a", "bc"] apart, and has an escape for a lone surrogate.
        one.update(json.dumps(item).encode())
        keys.append(one.hexdigest())
    return keys


def array_key(operation: str, array: np.ndarray, settings: Mapping[str, Any]) -> str:
    """The key of what is computed from an array: by its content, not by where it came from."""
    described = [array.dtype.str, list(array.shape)]
    digest = _hashed({"operation": operation, "array": described, "settings": dict(settings),
                      **_surroundings(_MAP_LIBRARIES)})
    digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def surface_key(pairs: Sequence[Sequence[str]], settings: Mapping[str, Any]) -> str:
    """The key of what sacrebleu says of texts."""
    digest = _hashed({"operation": "surface_scores", "settings": dict(settings), **_surroundings(_SURFACE_LIBRARIES)})
    digest.update(json.dumps([list(texts) for texts in pairs]).encode())
    return str(digest.hexdigest())


def facts_key(located: LocatedModel, devices: Sequence[str]) -> str:
    """The key of a model's facts: of the hub its commit, elsewhere every file's name, size and time of change.

    With them the recipe that the model is read by, and what can be told at a glance of its segmenter and dictionary.
    Raises ModelError when these are not installed.
    """
    if located.commit is not None:
        where: list[Any] = [located.name, located.commit]
    else:
        files = [(path.name, path.stat()) for path in sorted(located.path.iterdir()) if path.is_file()]
        where = [str(located.path.resolve()), [[name, state.st_size, state.st_mtime_ns] for name, state in files]]
    return _hashed({
        "operation": "describe", "where": where, "recipe": located.recipe and recipes.state(located.recipe),
        "devices": list(devices), "nvidia": _NVIDIA.exists(),
        "chosen": [os.environ.get(name) for name in _CHOOSE_DEVICE], **_surroundings(_TEXT_LIBRARIES),
    }).hexdigest()


def library_versions(names: tuple[str, ...]) -> dict[str, str]:
    """Installed versions by name, without importing anything; "absent" where there is none."""
    return {name: library_version(name) for name in names}


def code_and_libraries() -> dict[str, str]:
    """What decides a number beside the model and the item: the digest of the code that computes, and the versions.

    Of a version without what follows a plus ("2.13.0+cpu"): how a library was built goes with the device.
    """
    names = sorted({*_TEXT_LIBRARIES, *_MAP_LIBRARIES, *_SURFACE_LIBRARIES})
    versions = {name: version.partition("+")[0] for name, version in library_versions(tuple(names)).items()}
    return {"code": _code_digest(), **versions}


def _surroundings(libraries: tuple[str, ...]) -> dict[str, Any]:
    return {"layout": LAYOUT, "versions": library_versions(libraries), "code": _code_digest()}


@lru_cache
def _code_digest() -> str:
    engine = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for pattern in _CODE:
        for path in sorted(engine.glob(pattern)):
            digest.update(f"{path.relative_to(engine)}\n".encode() + path.read_bytes())
    return digest.hexdigest()


def _hashed(described: Mapping[str, Any]) -> Any:
    canonical = json.dumps(described, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode())
