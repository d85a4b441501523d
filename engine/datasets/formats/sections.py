"""Sentences under headings that say whether they are grammatical, as NoCoLA is published: a line each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from engine.datasets.formats.records import Record
from engine.messages.message import Message

HEADINGS = {"Grammatical:": "1", "Ungrammatical:": "0"}
COLUMNS = ("sentence", "label", "error_type")
READ_AS = Message(
    "{name} is read as NoCoLA is published: under 'Grammatical:' the label of a sentence is 1, under 'Ungrammatical:' 0, "
    "and what follows a tab is its error_type."
)


def has_headings(lines: Callable[[], Iterable[str]]) -> bool:
    """Whether the first line of a text that is not blank is such a heading; `lines` gives the lines anew."""
    return next((line.strip() for line in lines() if line.strip()), "") in HEADINGS


def sentences(lines: Iterable[str]) -> Iterator[Record]:
    """The sentences with the fields COLUMNS; each is numbered by its line."""
    label = ""
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        if text in HEADINGS:
            label = HEADINGS[text]
        elif text:
            sentence, _, error_type = text.partition("\t")
            yield Record(number, number, [sentence.strip(), label, error_type.strip()])
