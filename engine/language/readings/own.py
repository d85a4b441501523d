"""A list of readings of one's own: names and how they are read, as text, as a file, and looked up in sentences."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from engine.errors import InputError
from engine.language.readings.hiragana import hiragana_only
from engine.language.readings.variants import plain_form

MOST_ENTRIES = 2_000
# Between the entries of a list in one line, between a name and its readings, and between several readings.
ENTRIES, READS, READINGS = ";", "=", "/"
_SEPARATORS = re.compile(r"[=＝,，\t：:]")
_LINES = re.compile(r"[;；\r\n]+")
_KANA = re.compile("[ぁ-ゖァ-ヺー\\s]+")


class Own(dict[str, tuple[str, ...]]):
    """Readings by the plain form of their text. `names`: the texts as they were given."""

    names: tuple[str, ...] = ()

    def found_in(self, sentences: Sequence[str]) -> Iterator[tuple[int, int, int, str]]:
        """Where sentences have one of the texts: the sentence's number, begin, end and the text; the longest first."""
        if not self.names:
            return
        pattern = re.compile("|".join(map(re.escape, sorted(self.names, key=len, reverse=True))))
        for index, sentence in enumerate(sentences):
            for match in pattern.finditer(sentence):
                yield index, match.start(), match.end(), match.group()


@lru_cache(maxsize=64)
def own_readings(text: str) -> Own:
    """A list as text: an entry in each line, or between semicolons: a name, = or a comma, its readings in kana.

    Several readings are separated by /. Raises InputError with every entry that is none, and for more than
    MOST_ENTRIES.

    >>> own_readings("斉藤=さいとう; 東,ひがし/あずま")
    {'斉藤': ('さいとう',), '東': ('ひがし', 'あずま')}
    """
    own, names, wrong = Own(), [], []
    for line in filter(None, map(str.strip, _LINES.split(text.removeprefix("\ufeff")))):
        parts = [part.strip().strip('"') for part in _SEPARATORS.split(line, maxsplit=1)]
        readings = re.split(r"[/／]", parts[1]) if len(parts) == 2 else []
        if not parts[0] or not readings or not all(_KANA.fullmatch(reading) for reading in readings):
            wrong.append(line)
            continue
        names.append(parts[0])
        own[plain_form(parts[0])] = tuple(dict.fromkeys(map(hiragana_only, readings)))
    if wrong and wrong[0].lower() in ("text,reading", "name,reading", "text=reading"):  # the header of a file
        del wrong[0]
    if wrong:
        shown = ", ".join(map(repr, wrong[:5])) + (", …" if len(wrong) > 5 else "")
        raise InputError(f"{len(wrong)} of the list's entries have no name and reading in kana: {shown}. Write each as "
                         "斉藤=さいとう, several readings as 東=ひがし/あずま.")
    if len(own) > MOST_ENTRIES:
        raise InputError(f"A list of readings has at most {MOST_ENTRIES:,} entries; got {len(own):,}.")
    own.names = tuple(dict.fromkeys(names))
    return own


def in_one_line(text: str) -> str:
    """A list as the one text that all of its spellings have: 斉藤=さいとう;東=ひがし/あずま. Raises as `own_readings`.

    >>> in_one_line("斉藤,サイトウ\\n東,ひがし/あずま\\n")
    '斉藤=さいとう;東=ひがし/あずま'
    """
    own = own_readings(text)
    return with_entries((name, own[plain_form(name)]) for name in own.names)


def with_entries(entries: Iterable[tuple[str, Sequence[str]]]) -> str:
    """A list in one line, of names and their readings."""
    return ENTRIES.join(f"{name}{READS}{READINGS.join(readings)}" for name, readings in entries)
