"""Data sets of the Hugging Face Hub by name: hub:ORG/NAME[:CONFIG][/SPLIT][@REVISION]."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from engine.errors import AccessError, InputError
from engine.messages.message import Message, list_of

PREFIX = "hub:"
FORM = "hub:ORG/NAME[:CONFIG][/SPLIT][@REVISION]"
ALL = "*"  # in the place of a configuration: all of them
ALLOWED_VARIABLE = "HAKARI_ALLOWED_DATASETS"
_COMMIT = re.compile(r"@[0-9a-f]{40}$")
_NAME = re.compile(
    r"hub:(?P<repository>[\w.-]+/[\w.-]+)(?::(?P<config>[^/@]+))?(?:/(?P<split>[^/@:]+))?(?:@(?P<revision>[\w./-]+))?"
)


@dataclass(frozen=True)
class HubName:
    """A data set of the hub: repository ("owner/name"), configuration, split and revision; "" where none is named."""

    repository: str
    config: str = ""
    split: str = ""
    revision: str = ""

    def __str__(self) -> str:
        config, split = f":{self.config}" if self.config else "", f"/{self.split}" if self.split else ""
        return f"{PREFIX}{self.repository}{config}{split}" + (f"@{self.revision}" if self.revision else "")


def is_hub_name(text: str | Path) -> bool:
    """Whether a text, or a path made of it, names data of the hub.

    >>> is_hub_name("hub:nyu-mll/blimp"), is_hub_name(Path("hub:nyu-mll/blimp")), is_hub_name("blimp/hub.csv")
    (True, True, False)
    """
    return str(text).startswith(PREFIX)


def read_by_commit(dataset_name: str) -> list[str]:
    """Of the name of a dataset, also of several files, the data of the hub with the commit that was read.

    >>> read_by_commit(f"own.csv + hub:a/b:x/test@{'0' * 40}"), read_by_commit("hub:a/b")
    (['hub:a/b:x/test@0000000000000000000000000000000000000000'], [])
    """
    return [part for part in dataset_name.split(" + ") if is_hub_name(part) and _COMMIT.search(part)]


def parsed(text: str) -> HubName:
    """The parts of a name. Raises InputError for any other text.

    >>> parsed("hub:nyu-mll/blimp:adjunct_island/train")
    HubName(repository='nyu-mll/blimp', config='adjunct_island', split='train', revision='')
    >>> str(parsed("hub:a/b/test@main"))
    'hub:a/b/test@main'
    """
    match = _NAME.fullmatch(text.strip())
    if match is None or ".." in text:
        raise InputError(
            Message(
                "{text!r} names no data set of the Hugging Face Hub. Write {FORM}, such as "
                "hub:nyu-mll/blimp:adjunct_island/train.",
                text=text,
                FORM=FORM,
            )
        )
    return HubName(**{part: value or "" for part, value in match.groupdict().items()})


def require_allowed(repository: str, environment: Mapping[str, str] | None = None) -> None:
    """Raise AccessError for a repository that HAKARI_ALLOWED_DATASETS does not name; where it is not set, all may be."""
    environment = os.environ if environment is None else environment
    patterns = [entry.strip() for entry in environment.get(ALLOWED_VARIABLE, "").split(",") if entry.strip()]
    if patterns and not any(fnmatchcase(repository, pattern) for pattern in patterns):
        raise AccessError(
            Message(
                "The data set {repository!r} is not among those of this instance ({ALLOWED_VARIABLE}: {patterns}). "
                "Ask the administrator to allow it, or upload its file.",
                repository=repository,
                ALLOWED_VARIABLE=ALLOWED_VARIABLE,
                patterns=list_of(patterns),
            )
        )
