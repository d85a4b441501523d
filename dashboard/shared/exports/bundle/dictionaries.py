"""The idf dictionaries of a bundle's commands: those that lie on the server become files of the bundle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from engine.errors import InputError
from engine.evaluations.shared.dictionaries import SAVED, read_cached, saved_path
from engine.evaluations.shared.idf_files import idf_bytes

FOLDER = "data"
# The fields of settings that name a dictionary, or several.
_FIELDS = ("idf", "idfs", "unigrams")


class Carried(NamedTuple):
    """Records of settings that name the bundle's own files, the files by path, and dictionaries that are gone."""

    records: list[Any]
    files: dict[str, bytes]
    missing: tuple[str, ...]


def with_dictionaries(records: Sequence[Any]) -> Carried:
    """The records with each saved dictionary and each file of one as a file in FOLDER; built-in ones stay.

    Only what is a dictionary is taken along: settings cannot make another file of the server part of a bundle.
    """
    path_by_choice: dict[str, str] = {}
    files: dict[str, bytes] = {}
    missing: dict[str, None] = {}

    def carried(choice: str) -> str:
        path = saved_path(choice) if choice.startswith(SAVED) else Path(choice)
        if choice not in path_by_choice and path is not None and path.is_file():
            try:
                content = idf_bytes(read_cached(path))
            except InputError:
                return choice
            name = path.name.split(".")[0]
            names = (f"{FOLDER}/{name}{f'-{number}' if number > 1 else ''}.json.gz" for number in range(1, 1000))
            path_by_choice[choice] = next(free for free in names if files.get(free, content) == content)
            files[path_by_choice[choice]] = content
        elif choice.startswith(SAVED) and path is None:
            missing[choice] = None
        return path_by_choice.get(choice, choice)

    def rewritten(record: Any) -> Any:
        changes: dict[str, Any] = {}
        for part in fields(record):
            value = getattr(record, part.name)
            if part.name in _FIELDS and isinstance(value, str):
                changes[part.name] = carried(value)
            elif part.name in _FIELDS and isinstance(value, tuple):
                changes[part.name] = tuple(map(carried, value))
            elif is_dataclass(value):
                changes[part.name] = rewritten(value)
        return replace(record, **changes)

    return Carried([rewritten(record) for record in records], files, tuple(missing))
