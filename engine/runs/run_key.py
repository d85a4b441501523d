"""When two runs must give the same result: one key for all that determines it and can be known beforehand."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from engine.inference.keys import library_versions
from engine.models.sources.names import local_directory, recipe_state
from engine.runs.storage.json_codec import texts_of
from engine.version import VERSION

# Whose version can change a number.
LIBRARIES = ("numpy", "scipy", "scikit-learn", "pandas", "torch", "transformers", "tokenizers", "umap-learn",
             "pykakasi", "rapidfuzz", "fugashi", "unidic-lite", "ipadic", "jumandic", "rhoknp", "sentencepiece")
ENGINE = Path(__file__).resolve().parents[1]


def run_key(kind: str, settings: Mapping[str, Any], dataset_hash: str) -> str:
    """The same for runs that give the same result: kind, settings, dataset, engine, libraries, local files.

    `settings` is JSON-able. A text in it that is the path of a local file or folder (a model, also behind a card, an
    idf dictionary) stands for its files as they are now, by size and time of change. A model on the hub stands
    for its name and revision only: where no revision is given, it may have moved on since.
    """
    texts = sorted(set(texts_of(settings)))
    named = [text for text in texts if _is_local(text)]
    local = {text: _stamp(Path(text).expanduser(), deep=False) for text in named}
    # A model by a card, and the dictionaries that its words are cut by.
    local |= {text: _stamp(path, deep=False) for text in texts if text not in local and (path := local_directory(text))}
    local |= {f"recipe of {text}": state for text in texts if (state := recipe_state(text))}
    whole = json.dumps([kind, settings, dataset_hash, _engine(), local], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(whole.encode()).hexdigest()


@cache
def _engine() -> dict[str, str]:
    """The engine's version and files (code, built-in models and dictionaries), and the libraries'."""
    return {"hakari": VERSION, "files": _stamp(ENGINE, deep=True), **library_versions(LIBRARIES)}


def _stamp(path: Path, *, deep: bool) -> str:
    # What a user names may be any folder, "/" included; models and dictionaries keep their files at its top.
    files = sorted(path.rglob("*") if deep else path.iterdir()) if path.is_dir() else [path]
    digest = hashlib.sha256()
    for file in files:
        if file.is_file() and file.suffix not in (".pyc", ".pyo"):
            status = file.stat()
            digest.update(f"{file.relative_to(path)}\0{status.st_size}\0{status.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def _is_local(text: str) -> bool:
    try:
        return bool(text.strip()) and Path(text).expanduser().exists()
    except (OSError, ValueError, RuntimeError):  # too long, with a NUL in it, the home of nobody
        return False
