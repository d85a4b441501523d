"""HAKARI_TRUST_REMOTE_CODE: whose code the operator lets be run, each in one exact state.

org/name@0123…                       a repository of the hub, at a commit (40 hexadecimal digits)
/abs/directory@sha256:0123…          a directory, with the hash of its Python files (64 hexadecimal digits)
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from engine.errors import InputError
from engine.messages.message import Message

VARIABLE = "HAKARI_TRUST_REMOTE_CODE"
_REPOSITORY = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?@[0-9a-f]{40}")
_DIRECTORY = re.compile(r"/.*@sha256:[0-9a-f]{64}")


def trusted_code(environment: Mapping[str, str] | None = None) -> frozenset[str]:
    """The entries, directories with their links resolved; none where the variable is not set.

    environment: that of this process where it is not given. Raises InputError for an entry that is not one exact state.
    """
    environment = os.environ if environment is None else environment
    entries = [entry.strip() for entry in environment.get(VARIABLE, "").split(",")]
    return frozenset(_checked(entry) for entry in entries if entry)


def directory_entry(directory: Path, digest: str) -> str:
    """The entry of a directory whose Python files have this SHA-256."""
    return f"{directory.resolve()}@sha256:{digest}"


def _checked(entry: str) -> str:
    name, at, state = entry.rpartition("@")
    state = state.lower()
    if _REPOSITORY.fullmatch(f"{name}@{state}"):
        return f"{name}@{state}"
    if _DIRECTORY.fullmatch(f"{name}@{state}"):
        return directory_entry(Path(name), state.removeprefix("sha256:"))
    if (name if at else entry).startswith(("/", "~", ".")):
        raise InputError(
            Message(
                "{VARIABLE} names {entry!r}, which is not the code of one directory in one state. Write its absolute path "
                "and the hash of its Python files, /DIRECTORY@sha256:HASH with 64 hexadecimal digits; the refusal of the "
                "model says it.",
                VARIABLE=VARIABLE,
                entry=entry,
            )
        )
    raise InputError(
        Message(
            "{VARIABLE} names {entry!r}, which is not the code of one commit: a branch or a tag may be other code "
            "tomorrow. Write OWNER/NAME@COMMIT with the 40 hexadecimal digits of the commit, as the history of the "
            "repository's files shows it.",
            VARIABLE=VARIABLE,
            entry=entry,
        )
    )
