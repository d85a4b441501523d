"""The code that a model's directory brings along (`auto_map`): which classes of which files, and what exactly it is.

Imports neither torch nor any of the code.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from engine.errors import ModelError
from engine.messages.message import Message, list_of
from engine.models.sources.model_files import CONFIG, read_json
from engine.models.sources.own_code.trusted import VARIABLE, directory_entry

TOKENIZER, TOKENIZER_CONFIG, TOKENIZER_JSON = "AutoTokenizer", "tokenizer_config.json", "tokenizer.json"
# The Auto classes that have a part in a model's numbers.
MODEL_CLASSES = ("AutoConfig", "AutoModel", "AutoModelForMaskedLM", "AutoModelForCausalLM", "AutoModelForSeq2SeqLM")
_REFERENCE = re.compile(r"(?:(?P<repository>[\w./-]+)--)?(?P<module>\w+)\.(?P<name>\w+)")
_SNAPSHOT = re.compile(r"/models--(?P<repository>[^/]+)/snapshots/(?P<commit>[0-9a-f]{40})(?:/|$)")


@dataclass(frozen=True)
class Reference:
    """A class that stands for one of transformers' Auto classes. repository: "" for that of the model itself."""

    auto_class: str
    repository: str
    module: str
    name: str


def references(directory: Path) -> tuple[Reference, ...]:
    """The classes that config.json names, and the tokenizer's where no tokenizer.json makes it needless.

    Raises ModelError for files that are no JSON objects, and for a reference that is not MODULE.CLASS.
    """
    named = {key: value for key, value in _auto_map(directory / CONFIG).items() if key in MODEL_CLASSES}
    if needs_own_tokenizer(directory):
        named[TOKENIZER] = _auto_map(directory / TOKENIZER_CONFIG)[TOKENIZER]
    return tuple(_reference(key, value, directory) for key, value in sorted(named.items()) if value)


def needs_own_tokenizer(directory: Path) -> bool:
    """Whether the tokenizer is a class of the repository's own: where a tokenizer.json is beside it, it is not needed."""
    has_file = (directory / TOKENIZER_JSON).is_file()
    return not has_file and TOKENIZER in _auto_map(directory / TOKENIZER_CONFIG)


def python_files(directory: Path) -> dict[str, bytes]:
    """The Python files of a directory, without its folders, in the order of their names."""
    return {path.name: path.read_bytes() for path in sorted(directory.glob("*.py")) if path.is_file()}


def digest(files: Mapping[str, bytes]) -> str:
    """SHA-256 over the names and contents of files."""
    lines = [f"{name}\t{sha256(content).hexdigest()}\n" for name, content in sorted(files.items())]
    return sha256("".join(lines).encode()).hexdigest()


def are_complete(directory: Path, modules: Iterable[str]) -> bool:
    """Whether these modules, and what they import from beside them, are all in a directory."""
    waiting, seen = list(modules), set()
    while waiting:
        module = waiting.pop()
        path = directory / f"{module}.py"
        if not path.is_file():
            return False
        seen.add(module)
        waiting += [beside for beside in _beside(path) if beside not in seen]
    return True


def what_would_do(directory: Path) -> Message:
    """What the operator would set for the code of a model that was refused, for readers."""
    own = entry_of(directory)
    try:
        named = {each.repository for each in references(directory)} - {""}
    except ModelError:
        named = set()
    others = [f"{each}@COMMIT" for each in sorted(named) if each != own.rpartition("@")[0]]
    return Message(
        "To have its code run, confined, the operator sets {VARIABLE} to {entries}.",
        VARIABLE=VARIABLE,
        entries=list_of([own, *others]),
    )


def entry_of(directory: Path) -> str:
    """The entry of the setting for the code in a directory, by its path alone: for readers, never for a decision."""
    if snapshot := _SNAPSHOT.search(str(directory)):
        return f"{snapshot['repository'].replace('--', '/')}@{snapshot['commit']}"
    return directory_entry(directory, digest(python_files(directory)))


def _auto_map(path: Path) -> Mapping[str, Any]:
    if not path.is_file():
        return {}
    named = read_json(path, Message("It says which classes a model needs.")).get("auto_map")
    return named if isinstance(named, Mapping) else {}


def _reference(auto_class: str, value: Any, directory: Path) -> Reference:
    # Of a tokenizer the slow and the fast class; transformers prefers the fast one
    text = next((each for each in reversed(value) if each), "") if isinstance(value, list) else value
    parts = _REFERENCE.fullmatch(text) if isinstance(text, str) else None
    if parts is None:
        raise ModelError(
            Message(
                "auto_map in {directory} says {text!r} for {auto_class}; that is MODULE.CLASS, or OWNER/NAME--MODULE.CLASS "
                "for the code of another repository.",
                directory=directory,
                text=text,
                auto_class=auto_class,
            )
        )
    return Reference(auto_class, parts["repository"] or "", parts["module"], parts["name"])


def _beside(path: Path) -> list[str]:
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError, RecursionError):  # reported when it is imported
        return []
    found = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.level == 1]
    named = [node.module.partition(".")[0] for node in found if node.module]
    return [*named, *(alias.name for node in found if not node.module for alias in node.names)]
