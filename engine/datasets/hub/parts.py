"""Which files of a repository are which configuration and split: as its card says, else by their paths."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from engine.datasets.formats.grid import quoted
from engine.datasets.hub.names import ALL, HubName
from engine.errors import InputError
from engine.messages.message import Message, list_of

SUFFIXES = (".parquet", ".jsonl", ".json", ".csv", ".tsv")
_COMPRESSED = tuple(suffix + ".gz" for suffix in SUFFIXES[1:])
DEFAULT = "default"
SPLITS: Mapping[str, str] = {
    "train": "train",
    "training": "train",
    "test": "test",
    "testing": "test",
    "validation": "validation",
    "valid": "validation",
    "val": "validation",
    "dev": "validation",
}
# Of the branch in which the hub itself keeps data as Parquet: configuration, split, number.
_CONVERTED = re.compile(r"(?P<config>[^/]+)/(?:partial-)?(?P<split>[^/]+)/\d{4}\.parquet")
_NO_DATA = ("dataset_infos.json", "dataset_info.json", "config.json", "package.json")


@dataclass(frozen=True)
class Part:
    """A file of data, and what it is part of."""

    config: str
    split: str
    file: str


def parts_of(files: Iterable[str], card: Mapping[str, Any]) -> list[Part]:
    """The files of data of a repository, in their order; card: what the front matter of its README says.

    >>> parts_of(["README.md", "b/test.jsonl", "a/train-00000-of-00001.parquet"], {})
    [Part(config='a', split='train', file='a/train-00000-of-00001.parquet'), Part(config='b', split='test', file='b/test.jsonl')]
    """
    data = sorted(
        file for file in files if file.endswith((*SUFFIXES, *_COMPRESSED)) and file.rpartition("/")[2] not in _NO_DATA
    )
    configs = card.get("configs")
    if not isinstance(configs, list) or not configs:
        return [_by_path(file) for file in data]
    parts: dict[Part, None] = {}
    for config in configs:
        if isinstance(config, Mapping):
            name = str(config.get("config_name") or DEFAULT)
            folder = str(config.get("data_dir") or "").strip("/")
            for split, pattern in _patterns(config.get("data_files")):
                whole = f"{folder}/{pattern}" if folder else pattern
                parts |= dict.fromkeys(
                    Part(name, split or _split_of(file), file) for file in data if fnmatchcase(file, whole)
                )
    return list(parts)


def chosen(name: HubName, parts: Sequence[Part]) -> list[Part]:
    """The parts that a name stands for. Raises InputError where there is none, or several configurations or splits.

    Without a configuration it is the only one, or that called default; without a split it is the only one.
    """
    if not parts:
        raise InputError(
            Message(
                "{name} holds no data that can be read: no files ending in {SUFFIXES}. Download its data, and give them "
                "as a file.",
                name=name,
                SUFFIXES=list_of(SUFFIXES),
            )
        )
    configs = list(dict.fromkeys(part.config for part in parts))
    config = name.config or (configs[0] if len(configs) == 1 else DEFAULT)
    of_config = [part for part in parts if config in (ALL, part.config)]
    if not of_config:
        raise InputError(
            Message(
                "{name} names no configuration that there is. Name one of: {configs}; or {ALL} for all, as in "
                "hub:{repository}:{ALL}.",
                name=name,
                configs=quoted(configs, 80),
                ALL=ALL,
                repository=name.repository,
            )
        )
    splits = list(dict.fromkeys(part.split for part in of_config))
    split = name.split or (splits[0] if len(splits) == 1 else "")
    wanted = [part for part in of_config if part.split in (split, SPLITS.get(split, split))]
    if not wanted:
        raise InputError(
            Message(
                "{name} has the splits {splits}. Name one of them, as in hub:{repository}{config}/{first}.",
                name=name,
                splits=quoted(splits),
                repository=name.repository,
                config=f":{name.config}" if name.config else "",
                first=splits[0],
            )
        )
    return wanted


def _patterns(data_files: Any) -> Iterable[tuple[str, str]]:
    """The split ("" where none is said) and pattern of files that a card gives."""
    listed = data_files if isinstance(data_files, list) else [data_files]
    for entry in listed:
        if isinstance(entry, str):
            yield "", entry
        elif isinstance(entry, Mapping):
            paths = entry.get("path")
            for path in paths if isinstance(paths, list) else [paths]:
                if isinstance(path, str):
                    yield str(entry.get("split") or ""), path
        elif entry is None:
            yield "", "*"


def _by_path(file: str) -> Part:
    if match := _CONVERTED.fullmatch(file):
        return Part(match["config"], match["split"], file)
    first = file.split("/")[0] if "/" in file else ""
    is_config = first and first != "data" and first.lower() not in SPLITS
    return Part(first if is_config else DEFAULT, _split_of(file), file)


def _split_of(file: str) -> str:
    """The split that a path names, as the hub reads it; train where it names none."""
    words = re.split(r"[^a-z]+", file.rpartition("/")[2].lower()) + re.split(r"[^a-z]+", file.lower())
    return next((SPLITS[word] for word in words if word in SPLITS), "train")
