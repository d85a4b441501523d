"""`--readings`: a list of readings of one's own, given in the command itself or as a file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from engine.datasets.formats.encodings import decode
from engine.errors import InputError, reason_of
from engine.language.readings.own import in_one_line, of_file
from engine.language.readings.own_entries import READS
from engine.messages.message import Message

Settings = TypeVar("Settings")


def with_own_readings(settings: Settings) -> Settings:
    """Settings with the list of their scoring in one line, whichever way it was given.

    What is no file and has an = is the list itself. Raises InputError for invalid entries, and for a file that
    is not there or has none.
    """
    record: Any = settings
    given = record.scoring.readings
    if not given:
        return settings
    return replace(record, scoring=replace(record.scoring, readings=_in_one_line(given)))  # type: ignore[no-any-return]


def _in_one_line(given: str) -> str:
    path = Path(given)
    try:
        if path.is_file():
            return of_file(decode(path.read_bytes(), path.name), path.name)
    except OSError as error:
        if READS not in given:  # a long list is no possible name of a file
            raise InputError(
                Message("The list of readings {given!r} cannot be read: {error}.", given=given, error=reason_of(error))
            ) from error
    if READS not in given:
        raise InputError(
            Message(
                "There is no list of readings {given!r}: neither a file nor a list such as 斉藤=さいとう.", given=given
            )
        )
    return in_one_line(given)
