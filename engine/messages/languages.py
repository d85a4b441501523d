"""The texts of pages and commands in the reader's language; English in the code is the key.

    tr("{n:,} rows have no label.", n=3)
    tr_n("{n} run", "{n:,} runs", 3)
    TITLE = mark("Clusters")  # a constant, shown by tr(TITLE)

The engine's own errors and notices are messages (`engine.messages.message`): English to logs and other programs, and
`translated` gives them in the reader's language.

The Japanese texts are in `ja.po` beside the code they belong to; `python -m docs.catalogues` adds what is new.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from engine.messages.catalogues import ENGLISH, JAPANESE, compiled
from engine.messages.message import Message, together

LANGUAGES = {ENGLISH: "English", JAPANESE: "日本語"}


def _of_environment() -> str:
    """The language of a terminal, as defined by POSIX."""
    names = (os.environ.get(name) for name in ("LC_ALL", "LC_MESSAGES", "LANG"))
    return known(next((name for name in names if name), ENGLISH))


_chosen: Callable[[], str] = _of_environment
_fixed: ContextVar[str | None] = ContextVar("language", default=None)


def known(name: str | None) -> str:
    """The supported language that a name such as "ja-JP" or "ja_JP.UTF-8" stands for, English where there is none.

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
    """Give the texts of a block in one of LANGUAGES, whatever the reader's: for a file that is written after its page.

    >>> with in_language("ja"):
    ...     language()
    'ja'
    """
    token = _fixed.set(wanted)
    try:
        yield
    finally:
        _fixed.reset(token)


def mark(text: str) -> Message:
    """A text that the catalogue takes up, or the template of one; `tr` shows it."""
    return Message(text)


def tr(text: str, /, **values: object) -> str:
    """A text in the reader's language with its values, as `str.format` puts them in.

    >>> tr("{n:,} rows in {file}", n=1200, file="a.csv")
    '1,200 rows in a.csv'
    """
    shown = text
    if text and language() != ENGLISH:
        shown = compiled(language()).gettext(text)
    return shown.format(**values) if values else shown


def tr_n(one: str, many: str, n: int, /, **values: object) -> str:
    """A text with a number, `n` in it, for one and for any other number.

    >>> tr_n("{n} run", "{n:,} runs", 1), tr_n("{n} run", "{n:,} runs", 1200)
    ('1 run', '1,200 runs')
    """
    shown = one if n == 1 else many
    if language() != ENGLISH:
        shown = compiled(language()).ngettext(one, many, n)
    return shown.format(n=n, **values)


def in_all_languages(text: str) -> tuple[str, ...]:
    """A text as `tr` shows it in each of LANGUAGES.

    >>> in_all_languages("No text of ours")
    ('No text of ours', 'No text of ours')
    """
    return tuple(text if name == ENGLISH else compiled(name).gettext(text) for name in LANGUAGES)


def translated(text: str) -> str:
    """A message, or a text that is declared, in the reader's language; any other text as it is.

    >>> translated("Nothing of ours.")
    'Nothing of ours.'
    """
    wanted = language()
    if wanted == ENGLISH or not text:
        return text
    if isinstance(text, Message):
        return text.in_language(wanted)
    return compiled(wanted).gettext(text)


def sentences(*parts: str) -> str:
    """Sentences that follow each other; in Japanese without a space after 。 and ）. Empty ones are left out.

    >>> sentences("A.", "", "B.")
    'A. B.'
    """
    return translated(together(" ", filter(None, parts)))
