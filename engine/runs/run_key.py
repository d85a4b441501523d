"""The key of a run: a hash of everything that determines its result, so that an equal run is not computed twice."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from engine.inference.endpoint.settings import endpoint_state
from engine.inference.keys import device_choice
from engine.library_versions import ALL, library_versions
from engine.models.sources.gguf.header import is_gguf
from engine.models.sources.names import model_directories, recipe_state, without_label
from engine.runs.storage.json_codec import texts_of
from engine.version import VERSION

ENGINE_DIRECTORY = Path(__file__).resolve().parents[1]


def run_key(kind: str, settings: Mapping[str, Any], dataset_hash: str) -> str:
    """A hash of kind, settings, dataset, engine, libraries, device and local files; equal keys mean equal results.

    `settings` is JSON-able. A text in it that is the path of a local file or folder (a model, also with a card or a
    label, or an idf dictionary) is hashed with the size and time of change of its files. A model on the hub is hashed
    by its name and revision only: without a revision, a later commit of its branch is not noticed. A model behind a
    server is hashed by its address and name there: another model under the same name is not noticed.
    """
    texts = sorted({text for whole in texts_of(settings) for text in (whole, without_label(whole))})
    local_texts = [text for text in texts if _is_local(text)]
    local_digests = {text: _files_digest(Path(text).expanduser(), deep=False) for text in local_texts}
    # A model with a card, the folders of its modules and the base model of an adapter, and the dictionaries of its word
    # segmenter.
    for text in texts:
        directories = model_directories(text)
        if directories and text not in local_digests:
            local_digests[text] = _files_digest(directories[0], deep=False)
        beside = directories if is_gguf(text) else directories[1:]  # what lies beside the file decides its tokens
        local_digests |= {str(path): _files_digest(path, deep=False) for path in beside}
    local_digests |= {f"recipe of {text}": state for text in texts if (state := recipe_state(text))}
    local_digests |= {f"endpoint {text}": state for text in texts if (state := endpoint_state(text))}
    # The precision "auto" is another on another device.
    determinants = [kind, settings, dataset_hash, _engine_versions(), local_digests, device_choice()]
    canonical = json.dumps(determinants, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(canonical.encode()).hexdigest()


@cache
def _engine_versions() -> dict[str, str]:
    """The version and a digest of the files of the engine (code, models, dictionaries), and library versions."""
    return {"hakari": VERSION, "files": _files_digest(ENGINE_DIRECTORY, deep=True), **library_versions(ALL)}


def _files_digest(path: Path, *, deep: bool) -> str:
    # A user may name any folder, even "/", so only its top level is read.
    files = sorted(path.rglob("*") if deep else path.iterdir()) if path.is_dir() else [path]
    digest = hashlib.sha256()
    for file in files:
        if file.is_file() and file.suffix not in (".pyc", ".pyo"):
            stat = file.stat()
            digest.update(f"{file.relative_to(path)}\0{stat.st_size}\0{stat.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def _is_local(text: str) -> bool:
    try:
        return bool(text.strip()) and Path(text).expanduser().exists()
    except (OSError, ValueError, RuntimeError):  # too long, contains NUL, or "~" of an unknown user
        return False
