"""A list of readings of one's own: names and how they are read, looked up in sentences. `own_entries` cuts its text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import TypeAlias

from engine.errors import InputError
from engine.language.readings.own_entries import (
    ENTRIES,
    MOST_CHARACTERS,
    READINGS,
    READS,
    WrongEntry,
    entries_of,
    quoted,
)
from engine.language.readings.variants import SELECTORS, plain_form
from engine.messages.message import Message, together

MOST_ENTRIES, MOST_OF_LIST = 2_000, 1_000_000  # MOST_OF_LIST: characters
# Wrong entries that a message shows as they are written, and those that it names by their line alone.
SHOWN_ENTRIES, SHOWN_LINES = 10, 100

_Trie: TypeAlias = "dict[str, _Trie]"
_END = ""  # in a trie: a name ends here
_SELECTORS, _LEAST_SELECTOR = re.compile(f"{SELECTORS}*"), "\ufe00"


class Own(dict[str, tuple[str, ...]]):
    """Readings by the plain form of their text. `names`: the texts as they were given."""

    names: tuple[str, ...] = ()

    def found_in(self, sentences: Sequence[str]) -> Iterator[tuple[int, int, int, str]]:
        """Where sentences have one of the texts: the sentence's number, begin, end and the text; the longest first.

        A sentence may have variation selectors after any character of the text.
        """
        if not self.names:
            return
        trie = _trie(self.names)
        first = re.compile(f"[{''.join(map(re.escape, trie))}]")
        for index, sentence in enumerate(sentences):
            begin = first.search(sentence)
            while begin is not None:
                end = _longest_from(sentence, begin.start(), trie)
                if end:
                    yield index, begin.start(), end, sentence[begin.start() : end]
                begin = first.search(sentence, end or begin.end())


def _trie(names: Iterable[str]) -> _Trie:
    """The names by their characters, so that a sentence of any length is searched for thousands of them at once."""
    trie: _Trie = {}
    for name in names:
        node = trie
        for character in name:
            node = node.setdefault(character, {})
        node[_END] = {}
    return trie


def _longest_from(sentence: str, begin: int, trie: _Trie) -> int:
    """Where the longest name ends that begins there, with the selectors behind it; 0 where none does."""
    node, place, end = trie, begin, 0
    while place < len(sentence) and (following := node.get(sentence[place])) is not None:
        node, place = following, place + 1
        if sentence[place : place + 1] >= _LEAST_SELECTOR:
            place = _SELECTORS.match(sentence, place).end()  # type: ignore[union-attr]
        if _END in node:
            end = place
    return end


@lru_cache(maxsize=64)
def own_readings(text: str) -> Own:
    """A list as text: an entry in each line, or between semicolons: a name, = or a comma, its readings in kana.

    Several readings are separated by / or 、, or are in several entries: all of them are kept, in their order, also
    of names that differ in variant kanji alone (斉藤, 齋藤). `own_entries.entries_of` says what else a list may have.
    Raises InputError with the line of every entry that is none, for more than MOST_ENTRIES, and for more than MOST_OF_LIST.

    >>> own_readings("斉藤=さいとう; 東,ひがし\\n東,あずま")
    {'斉藤': ('さいとう',), '東': ('ひがし', 'あずま')}
    """
    if len(text) > MOST_OF_LIST:
        raise InputError(
            Message("A list of readings has at most {most:,} characters; got {n:,}.", most=MOST_OF_LIST, n=len(text))
        )
    own, names, wrong, n_entries = Own(), [], [], 0
    for entry in entries_of(text):
        if isinstance(entry, WrongEntry):
            wrong.append(entry)
            continue
        form = plain_form(entry.name)
        names.append(entry.name)
        own[form] = tuple(dict.fromkeys((*own.get(form, ()), *entry.readings)))
        n_entries += 1
    if wrong:
        shown = _shown(wrong)
        raise InputError(
            Message(
                "{wrong:,} of the list's entries cannot be read: {shown}. Write each as a name and "
                "its reading in kana, 斉藤=さいとう, several readings as 東=ひがし/あずま, with at "
                "most {MOST_CHARACTERS} characters each.",
                wrong=len(wrong),
                shown=shown,
                MOST_CHARACTERS=MOST_CHARACTERS,
            )
        )
    if n_entries > MOST_ENTRIES:
        raise InputError(
            Message(
                "A list of readings has at most {MOST_ENTRIES:,} entries; got {n_entries:,}.",
                MOST_ENTRIES=MOST_ENTRIES,
                n_entries=n_entries,
            )
        )
    own.names = tuple(dict.fromkeys(names))
    return own


def in_one_line(text: str) -> str:
    """A list as the one text that all of its spellings have: 斉藤=さいとう;東=ひがし/あずま. Raises as `own_readings`.

    >>> in_one_line("斉藤,サイトウ\\n東,ひがし/あずま\\n")
    '斉藤=さいとう;東=ひがし/あずま'
    """
    own = own_readings(text)
    return with_entries((name, own[plain_form(name)]) for name in own.names)


def of_file(text: str, name: str) -> str:
    """The list of a file in one line. Raises InputError as `own_readings`, and for a file without an entry."""
    line = in_one_line(text)
    if not line:
        raise InputError(
            Message("{name} holds no entry. Write each as a name and its reading in kana, 斉藤=さいとう.", name=name)
        )
    return line


def with_entries(entries: Iterable[tuple[str, Sequence[str]]]) -> str:
    """A list in one line, of names and their readings."""
    return ENTRIES.join(f"{quoted(name)}{READS}{READINGS.join(readings)}" for name, readings in entries)


def _shown(wrong: Sequence[WrongEntry]) -> str:
    """Where wrong entries stand and how they are written, the first ones; of the others the lines."""
    shown = [Message("line {line:,}: {text!r}", line=entry.line, text=entry.text) for entry in wrong[:SHOWN_ENTRIES]]
    others = list(dict.fromkeys(entry.line for entry in wrong[SHOWN_ENTRIES:]))
    if others:
        lines = ", ".join(map(str, others[:SHOWN_LINES])) + (", …" if len(others) > SHOWN_LINES else "")
        shown.append(Message("further lines: {lines}", lines=lines))
    return together("; ", shown)
