"""English sentences of which the text alone is there, read in another language: those of runs that were stored before
messages kept what they are made of, and argparse's.

A text may be one sentence of a catalogue, with sentences as its values; several, one after the other, in lines or in a
list; or one after a name and a colon. Of all that fit, that reading counts in which most characters are a sentence's
own words.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import chain
from string import Formatter
from typing import NamedTuple, Self

from engine.messages.catalogues import PACKAGES, ROOT, messages, places
from engine.messages.message import LISTS, Message, of_text

DEPTH = 4  # a value of a sentence may be a sentence itself, of such values
MOST_BEGINNINGS = 12  # of a text, ends of sentences that are tried as the end of a known sentence
MOST_SENTENCES = 40  # of a line; one of more is left as it is
LONGEST = 10_000  # characters of a line, as well
MOST_ITEMS = 20  # of a list
KEY = 4  # characters by which sentences are looked up
_SENTENCE_END = re.compile(r"(?<=[.?!)]) (?=[^a-z])")
_WORDS = re.compile(r"[A-Za-z]{2}")
_NUMBER = re.compile(r"[-+−]?[\d.,]+(e[-+]?\d+)?\s?%?|nan|inf|∞")


class Earlier(Message):
    """A finished English text of a stored run, of which only the text was kept."""

    def __new__(cls, text: str) -> Self:  # noqa: D102
        return super().__new__(cls, text)

    def in_language(self, wanted: str) -> str:
        """What can be recognised of the text, in a language."""
        return reading(wanted, str.__str__(self)).translation


def read_message(stored: str) -> Message:
    """The message that `as_text` wrote, or an earlier version as the text alone."""
    message = of_text(stored)
    return message if isinstance(message, Message) else Earlier(message)


class Reading(NamedTuple):
    """A text in another language, and how many of its characters are a known sentence's own words."""

    translation: str
    n_known: int


def reading(wanted: str, text: str) -> Reading:
    """The reading in a language of a finished English text; the text itself where nothing of it is known."""
    return _reading(wanted, text, DEPTH)


@lru_cache(8192)
def _reading(wanted: str, text: str, depth: int) -> Reading:
    """The reading of a text in which most of it is known: as a whole or in parts, as a whole where that is as much."""
    if not depth or not _WORDS.search(text) or (len(text) > LONGEST and "\n" not in text):
        return Reading(text, 0)
    best, stripped = _as_whole(wanted, text, depth), text.strip()
    if not best.n_known and stripped != text:
        start = text.index(stripped)
        inner = _reading(wanted, stripped, depth)
        return Reading(text[:start] + inner.translation + text[start + len(stripped) :], inner.n_known)
    if best.n_known < len(text):
        in_parts = _in_lines if "\n" in text else _in_sentences
        best = max(best, in_parts(wanted, text, depth), key=_known)
    return best


def _as_whole(wanted: str, text: str, depth: int) -> Reading:
    """The reading of a text as one known sentence with its values."""
    if (exact := _of_engine(wanted).get(text)) is not None:
        return Reading(exact, len(text))
    best = Reading(text, 0)
    for sentence in _sentences(wanted).candidates(text):
        if (values := sentence.values(text)) is not None:
            inner = {
                name: Reading(value, 0) if name in sentence.verbatim else _reading(wanted, value, depth - 1)
                for name, value in values.items()
            }
            n_known = sentence.length + sum(map(_known, inner.values()))
            if n_known > best.n_known:
                best = Reading(
                    sentence.translation.format(**{name: reading.translation for name, reading in inner.items()}),
                    n_known,
                )
    return best


def _in_lines(wanted: str, text: str, depth: int) -> Reading:
    return _together("\n", [_reading(wanted, line, depth) for line in text.split("\n")])


def _in_sentences(wanted: str, text: str, depth: int) -> Reading:
    """The reading of a text as several known sentences, as a list of them, or as one after a name and a colon."""
    best = Reading(text, 0)
    ends = [match.end() for match in _SENTENCE_END.finditer(text)]
    if len(ends) >= MOST_SENTENCES:
        return best
    for end in reversed(ends[:MOST_BEGINNINGS]):  # the longest beginning that is known, then what follows
        beginning = _as_whole(wanted, text[: end - 1], depth)
        if beginning.n_known:
            best = max(best, _together(" ", [beginning, _reading(wanted, text[end:], depth)]), key=_known)
    if ends and not best.n_known:
        best = _together(" ", [Reading(text[: ends[0] - 1], 0), _reading(wanted, text[ends[0] :], depth)])
    name, colon, rest = text.partition(": ")
    if colon:
        named = _together(": ", [_reading(wanted, name, depth - 1), _reading(wanted, rest, depth - 1)])
        best = max(best, named, key=_known)
    return max(best, *(_as_list(wanted, text.split(between), depth) for between in LISTS), key=_known)


def _as_list(wanted: str, items: Sequence[str], depth: int) -> Reading:
    """The reading of a list of which every item is known; that of a list with an unknown item is unknown."""
    readings = [_reading(wanted, item, depth) for item in items] if 1 < len(items) <= MOST_ITEMS else []
    known = readings and all(reading.n_known or item == "…" for item, reading in zip(items, readings, strict=True))
    return _together("、", readings) if known else Reading("", 0)


def _together(between: str, readings: Sequence[Reading]) -> Reading:
    """Readings side by side; Japanese has no space between sentences."""
    joined = readings[0].translation
    for reading in readings[1:]:
        joined += ("" if between == " " and joined.endswith(("。", "）")) else between) + reading.translation
    return Reading(joined, sum(map(_known, readings)))


def _known(reading: Reading) -> int:
    return reading.n_known


class _Sentence:
    """An English text with named places, and its translation. numbers: the places that numbers alone stand in.

    verbatim: the places in quotation marks, whose values are a reader's own words.
    """

    def __init__(self, english: str, translation: str, numbers: Collection[str] = ()) -> None:
        self.translation = _without_formats(translation)
        parts = list(Formatter().parse(english))
        self.names = [name for _, name, _, _ in parts if name]
        # One text before each place, and one after the last.
        self._texts = [""]
        for part, name, _, _ in parts:
            self._texts[-1] += part
            if name:
                self._texts.append("")
        self.length = sum(map(len, self._texts))
        self.longest = max(self._texts, key=len)
        self.verbatim = {
            name
            for name, before, after in zip(self.names, self._texts, self._texts[1:], strict=False)
            if before.endswith("'") and after.startswith("'")
        }
        self._numbers = {*numbers, *(name for _, name, form, _ in parts if name and form)}

    @property
    def begin(self) -> str:
        """What stands before the first place."""
        return self._texts[0]

    @property
    def end(self) -> str:
        """What follows the last place."""
        return self._texts[-1]

    def values(self, text: str) -> dict[str, str] | None:
        """What stands in the places of a text made from this one; None for another text.

        The value of a place is the shortest possible; the last takes the rest.
        """
        if not (
            text.startswith(self.begin) and text.endswith(self.end) and len(text) >= len(self.begin) + len(self.end)
        ):
            return None
        values: dict[str, str] = {}
        last = len(text) - len(self.end)
        position = len(self.begin)
        for index, name in enumerate(self.names, start=1):
            stop = last if index == len(self.names) else text.find(self._texts[index], position, last)
            if stop < 0:
                return None
            value = text[position:stop]
            if values.setdefault(name, value) != value or (name in self._numbers and not _NUMBER.fullmatch(value)):
                return None
            if index == 1 and not self.begin and _SENTENCE_END.search(value):  # another sentence stands before this one
                return None
            position = stop + len(self._texts[index])
        return values


class _Sentences:
    """The texts with places, to be looked up by how a text begins or ends."""

    def __init__(self, sentences: Iterable[_Sentence]) -> None:
        self._by_begin: dict[str, list[_Sentence]] = {}
        self._by_end: dict[str, list[_Sentence]] = {}
        self._others: list[_Sentence] = []
        for sentence in sorted(sentences, key=lambda each: -each.length):
            if len(sentence.begin) >= KEY:
                self._by_begin.setdefault(sentence.begin[:KEY], []).append(sentence)
            elif len(sentence.end) >= KEY:
                self._by_end.setdefault(sentence.end[-KEY:], []).append(sentence)
            else:
                self._others.append(sentence)

    def candidates(self, text: str) -> Iterator[_Sentence]:
        """The sentences that a text may be made from."""
        likely = chain(self._by_begin.get(text[:KEY], ()), self._by_end.get(text[-KEY:], ()), self._others)
        return (sentence for sentence in likely if sentence.longest in text)


def _without_formats(text: str) -> str:
    """A text whose places take values that are text already."""

    def brace(part: str) -> str:
        return part.replace("{", "{{").replace("}", "}}")

    return "".join(brace(part) + ("{" + name + "}" if name else "") for part, name, _, _ in Formatter().parse(text))


@cache
def _of_engine(wanted: str) -> dict[str, str]:
    """The texts of the engine without places; a value is never a text of a page."""
    return {
        _filled(message.id): _filled(message.string)
        for path, message in messages(wanted)
        if ROOT / PACKAGES[0] in path.parents and isinstance(message.id, str) and not places(message.id)
    }


@cache
def _sentences(wanted: str) -> _Sentences:
    """The texts of all catalogues that have places."""

    def of_messages() -> Iterator[_Sentence]:
        for _, message in messages(wanted):
            if isinstance(message.id, str):
                yield _Sentence(message.id, str(message.string))
            else:  # of a number: one, many
                yield from (_Sentence(each, str(message.string[0]), numbers=("n",)) for each in message.id)

    return _Sentences(sentence for sentence in of_messages() if sentence.names and sentence.length > 3)


def _filled(text: str) -> str:
    return text.replace("{{", "{").replace("}}", "}")
