"""The texts of pages and commands in the reader's language; English in the code is the key.

    tr("{n:,} rows have no label.", n=3)
    tr_n("{n} run", "{n:,} runs", 3)
    TITLE = mark("Clusters")  # a constant, shown by tr(TITLE)

The engine's own errors and notices are written in English, as logs, stored runs and other programs read them.
`translated` finds the sentence that such a text was made from, and puts its values into the translation.

The Japanese texts stand in `ja.po` beside the code they belong to; `python -m docs.catalogues` adds what is new.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, lru_cache
from gettext import GNUTranslations
from pathlib import Path
from string import Formatter

from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("engine", "dashboard")
ENGLISH, JAPANESE = "en", "ja"
LANGUAGES = {ENGLISH: "English", JAPANESE: "日本語"}
DEPTH = 3  # a value of a sentence may be a sentence itself, of such values


def _of_environment() -> str:
    """The language of a terminal, as POSIX has it."""
    names = (os.environ.get(name) for name in ("LC_ALL", "LC_MESSAGES", "LANG"))
    return known(next((name for name in names if name), ENGLISH))


_chosen: Callable[[], str] = _of_environment
_fixed: ContextVar[str | None] = ContextVar("language", default=None)


def known(name: str | None) -> str:
    """The language of ours that a name such as "ja-JP" or "ja_JP.UTF-8" stands for, English where there is none.

    >>> known("ja_JP.UTF-8"), known("ja"), known("fr-CA"), known(None)
    ('ja', 'ja', 'en', 'en')
    """
    language = re.split(r"[-_.@]", name or "")[0].lower()
    return language if language in LANGUAGES else ENGLISH


def chosen_by(reader: Callable[[], str]) -> None:
    """Let `reader` say at every text which language it is wanted in; by default the environment does."""
    global _chosen
    _chosen = reader


def language() -> str:
    """The language that texts are wanted in at the moment: one of LANGUAGES."""
    return _fixed.get() or _chosen()


@contextmanager
def in_language(wanted: str) -> Iterator[None]:
    """Give the texts of a block in one of LANGUAGES, whoever reads: for a file that is written after its page.

    >>> with in_language("ja"):
    ...     language()
    'ja'
    """
    token = _fixed.set(wanted)
    try:
        yield
    finally:
        _fixed.reset(token)


def mark(text: str) -> str:
    """`text` itself; the catalogue takes it up, and `tr` shows it."""
    return text


def tr(text: str, /, **values: object) -> str:
    """A text in the reader's language with its values, as `str.format` puts them in.

    >>> tr("{n:,} rows in {file}", n=1200, file="a.csv")
    '1,200 rows in a.csv'
    """
    shown = text
    if text and language() != ENGLISH:
        shown = _catalogue(language()).gettext(text)
    return shown.format(**values) if values else shown


def tr_n(one: str, many: str, n: int, /, **values: object) -> str:
    """A text with a number, `n` in it, for one and for any other number.

    >>> tr_n("{n} run", "{n:,} runs", 1), tr_n("{n} run", "{n:,} runs", 1200)
    ('1 run', '1,200 runs')
    """
    shown = one if n == 1 else many
    if language() != ENGLISH:
        shown = _catalogue(language()).ngettext(one, many, n)
    return shown.format(n=n, **values)


def in_all_languages(text: str) -> tuple[str, ...]:
    """A text as `tr` shows it in each of LANGUAGES.

    >>> in_all_languages("No text of ours")
    ('No text of ours', 'No text of ours')
    """
    return tuple(text if name == ENGLISH else _catalogue(name).gettext(text) for name in LANGUAGES)


def translated(text: str) -> str:
    """A finished English text of the engine in the reader's language; as it is where no sentence of ours fits.

    >>> translated("Nothing of ours.")
    'Nothing of ours.'
    """
    return text if language() == ENGLISH else _translated(language(), text, DEPTH)


@lru_cache(4096)
def _translated(wanted: str, text: str, depth: int) -> str:
    if not text.strip() or not depth:
        return text
    exact = _catalogue(wanted).gettext(text)
    if exact != text:
        return exact
    for sentence in _sentences(wanted):
        if (values := sentence.values(text)) is not None:
            inner = {name: _translated(wanted, value, depth - 1) for name, value in values.items()}
            return sentence.translation.format(**inner)
    if "\n" in text:
        return "\n".join(_translated(wanted, line, depth - 1) for line in text.split("\n"))
    return text


class _Sentence:
    """An English text with named places, and its translation."""

    def __init__(self, english: str, translation: str) -> None:
        self.translation = _without_formats(translation)
        self._parts = [part for part, *_ in Formatter().parse(english) if part]
        self.length = sum(map(len, self._parts))
        self._english = english
        self._pattern: re.Pattern[str] | None = None

    def values(self, text: str) -> dict[str, str] | None:
        """What stands in the places of a text made from this one; None for another text."""
        if not all(part in text for part in self._parts):
            return None
        if self._pattern is None:
            self._pattern = re.compile(_pattern(self._english), re.DOTALL)
        match = self._pattern.fullmatch(text)
        return match.groupdict() if match else None


def places(text: str) -> list[str]:
    """The names of the values in a text, in their order.

    >>> places("{n:,} of {total} in {{braces}}")
    ['n', 'total']
    """
    return [name for _, name, _, _ in Formatter().parse(text) if name]


def _pattern(english: str) -> str:
    pattern, seen = "", set()
    for part, name, _, _ in Formatter().parse(english):
        pattern += re.escape(part)
        if name:
            pattern += f"(?P={name})" if name in seen else f"(?P<{name}>.*?)"
            seen.add(name)
    return pattern


def _without_formats(text: str) -> str:
    """A text whose places take values that are text already."""
    def brace(part: str) -> str:
        return part.replace("{", "{{").replace("}", "}}")

    return "".join(brace(part) + ("{" + name + "}" if name else "") for part, name, _, _ in Formatter().parse(text))


def catalogue_files(wanted: str = JAPANESE) -> list[Path]:
    """The files that hold the texts of a language, in a fixed order."""
    return sorted(path for package in PACKAGES for path in (ROOT / package).rglob(f"{wanted}.po"))


def read_catalogue(path: Path, wanted: str = JAPANESE) -> Catalog:
    """One of `catalogue_files`."""
    with path.open("rb") as file:
        return read_po(file, locale=wanted)


@cache
def _catalogue(wanted: str) -> GNUTranslations:
    whole = Catalog(locale=wanted)
    for path in catalogue_files(wanted):
        for message in read_catalogue(path, wanted):
            if message.id and message.string and not message.fuzzy:
                whole.add(message.id, message.string)
    compiled = io.BytesIO()
    write_mo(compiled, whole)
    compiled.seek(0)
    return GNUTranslations(compiled)


@cache
def _sentences(wanted: str) -> list[_Sentence]:
    """The texts with places, those with the most words of their own first."""
    def of_files() -> Iterator[_Sentence]:
        for path in catalogue_files(wanted):
            for message in read_catalogue(path, wanted):
                if isinstance(message.id, str) and message.string and len(places(message.id)):
                    yield _Sentence(message.id, str(message.string))

    return sorted((sentence for sentence in of_files() if sentence.length > 3), key=lambda each: -each.length)
