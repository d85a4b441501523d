"""The catalogues of translated texts: the files beside the code, read when a language other than English is wanted."""

from __future__ import annotations

import io
from functools import cache
from gettext import GNUTranslations
from pathlib import Path
from string import Formatter
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("engine", "dashboard")
ENGLISH, JAPANESE = "en", "ja"


def catalogue_files(wanted: str = JAPANESE) -> list[Path]:
    """The files that hold the texts of a language, in a fixed order."""
    return sorted(path for package in PACKAGES for path in (ROOT / package).rglob(f"{wanted}.po"))


def read_catalogue(path: Path, wanted: str = JAPANESE) -> Any:
    """One of `catalogue_files`, as Babel's `Catalog`."""
    from babel.messages.pofile import read_po  # a command in English has no use for it, and it takes its time

    with path.open("rb") as file:
        return read_po(file, locale=wanted)


@cache
def messages(wanted: str) -> list[tuple[Path, Any]]:
    """The translated entries of all catalogues, each with its file."""
    return [
        (path, message)
        for path in catalogue_files(wanted)
        for message in read_catalogue(path, wanted)
        if message.id and any(message.string) and not message.fuzzy
    ]


@cache
def compiled(wanted: str) -> GNUTranslations:
    """The entries of all catalogues, as gettext has them."""
    from babel.messages.catalog import Catalog
    from babel.messages.mofile import write_mo

    whole = Catalog(locale=wanted)
    for _, message in messages(wanted):
        whole.add(message.id, message.string)
    file = io.BytesIO()
    write_mo(file, whole)
    file.seek(0)
    return GNUTranslations(file)


def places(text: str) -> list[str]:
    """The names of the values in a text, in their order.

    >>> places("{n:,} of {total} in {{braces}}")
    ['n', 'total']
    """
    return [name for _, name, _, _ in Formatter().parse(text) if name]
