"""`--rescale`: a list of baselines as a file; the settings of a run hold the list itself, never the name of a file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from engine.datasets.formats.encodings import decode
from engine.errors import InputError, reason_of
from engine.evaluations.alignment.baseline import LAYER, in_one_line
from engine.evaluations.alignment.records import OWN_SENTENCES, Settings
from engine.messages.message import Message


def with_baselines(settings: Settings) -> Settings:
    """Settings with the list of baselines in one line, whichever way it was given.

    Raises InputError for invalid lines, and for a file that is not there or cannot be read.
    """
    if settings.rescale in ("", OWN_SENTENCES):
        return settings
    return replace(settings, rescale=in_one_line(_text(settings.rescale)))


def _text(given: str) -> str:
    if given.startswith(LAYER):
        return given
    path = Path(given)
    try:
        return decode(path.read_bytes(), path.name)
    except OSError as error:
        raise InputError(
            Message("The baselines of {given} cannot be read: {error}.", given=given, error=reason_of(error))
        ) from error
