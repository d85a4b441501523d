"""Lines of fields between tabs, as the files of this field are written: without quoting, a record a line.

Programs that write quotation marks write them alike throughout, so the file itself shows whether it is quoted. Any
other quotation mark is a character of the text, and no field goes on in the next line.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal

from engine.datasets.formats.records import Record, records
from engine.messages.message import Message

TAB = "\t"
# none: a quotation mark is text. throughout: all fields but numbers are in quotation marks, as R and pandas
# (QUOTE_NONNUMERIC) write them. where-needed: those that hold a quotation mark, a tab, a comma or a line break do, as
# pandas (QUOTE_MINIMAL) and Excel write them.
Quoting = Literal["none", "throughout", "where-needed"]

TAKEN_OFF = Message(
    'The quotation marks around fields of {name} were taken off, and "" in them read as ", as '
    "programs write tables: they stand only where a field holds a quotation mark, a tab or a line "
    "break."
)

_QUOTED = r'"[^"]*(?:""[^"]*)*"'
# What stands without quotation marks in a file that is quoted throughout.
_BARE = r"(?:[-+]?[0-9]+(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?|NA|NaN|nan|None|null|TRUE|FALSE|True|False|)"
_THROUGHOUT = re.compile(rf"(?:{_QUOTED}|{_BARE})(?:\t(?:{_QUOTED}|{_BARE}))*[\r\n]*")
_HEADER = re.compile(rf"{_QUOTED}(?:\t{_QUOTED})*[\r\n]*")
# A field in quotation marks, or one without any at its start.
_FIELD = re.compile(rf'({_QUOTED})(?![^\t\r\n])|[^"\t\r\n][^\t\r\n]*|')


def quoting_of(lines: Callable[[], Iterable[str]]) -> Quoting:
    """How the fields of a tab-separated text are quoted; `lines` gives its lines anew at each call."""
    if not any('"' in line for line in lines()):
        return "none"
    first = next((line for line in lines() if line.strip()), "")
    if _HEADER.fullmatch(first) and _is_each(lines(), lambda record: _THROUGHOUT.fullmatch(record) is not None):
        return "throughout"
    needs = _Needs()
    return "where-needed" if _is_each(lines(), needs.are_those_of) and needs.is_shown else "none"


def plain_records(lines: Iterable[str], separator: str = TAB) -> Iterator[Record]:
    """Every line that is not blank as a record, cut at its tabs, or another separator."""
    for number, line in enumerate(lines, start=1):
        text = line.rstrip("\n").removesuffix("\r")
        if "\r" in text:
            yield Record(number, number, [], Message("a field without quotation marks holds a carriage return"))
        elif text.strip(" \r") or separator in text:
            fields = text.split(separator)
            if len(fields) > 1 or fields[0].strip():
                yield Record(number, number, fields)


def tab_records(lines: Callable[[], Iterable[str]]) -> tuple[Iterator[Record], Quoting]:
    """The records of a tab-separated text, faulty ones included, and how its fields are quoted."""
    quoting = quoting_of(lines)
    return (plain_records(lines()) if quoting == "none" else records(lines(), TAB)), quoting


def tabbed_text(rows: Iterable[Sequence[str]]) -> str:
    """Rows as tab-separated text that `tab_records` reads again: without quoting, or quoted throughout where it must.

    >>> tabbed_text([["text", "label"], ['"Stop!"', "a"]])
    'text\\tlabel\\n"Stop!"\\ta\\n'
    >>> tabbed_text([["text", "label"], ["one\\ntwo", "a"]])
    '"text"\\t"label"\\n"one\\ntwo"\\t"a"\\n'
    """
    rows = list(rows)
    text = "".join(f"{TAB.join(row)}\n" for row in rows)
    is_cut = any(character in cell for row in rows for cell in row for character in "\t\r\n")
    if not is_cut and quoting_of(lambda: io.StringIO(text, newline="\n")) == "none":
        return text
    csv.writer(sink := io.StringIO(newline=""), delimiter=TAB, lineterminator="\n", quoting=csv.QUOTE_ALL).writerows(
        rows
    )
    return sink.getvalue()


class _Needs:
    """Whether the fields in quotation marks are those that need them: `is_shown` by one that cannot do without.

    A comma is a reason to Excel only. A field with tabs and line breaks is not: rows of stray quotation marks look so.
    """

    def __init__(self) -> None:
        self.is_shown = False

    def are_those_of(self, record: str) -> bool:
        position = 0
        text = record.rstrip("\r\n")
        while True:
            field = _FIELD.match(text, position)
            assert field is not None  # it may be empty
            if quoted := field[1]:
                content = quoted[1:-1]
                has_tab, has_break = TAB in content, "\n" in content or "\r" in content
                if (has_tab and has_break) or not (has_tab or has_break or '"' in content or "," in content):
                    return False
                self.is_shown = self.is_shown or has_tab or has_break or '"' in content
            position = field.end()
            if position == len(text):
                return True
            if text[position] != TAB:
                return False
            position += 1


def _is_each(lines: Iterable[str], fits: Callable[[str], bool]) -> bool:
    """Whether each record with a quotation mark, as the csv module cuts the text, fits, and is a row."""
    raw: list[str] = []

    def kept() -> Iterator[str]:
        for line in lines:
            raw.append(line)
            yield line

    n_fields = 0
    try:
        for fields in csv.reader(kept(), delimiter=TAB, strict=True):
            record = "".join(raw)
            raw.clear()
            n_fields = n_fields or len(fields)
            if '"' in record and (len(fields) != n_fields or not fits(record)):
                return False
    except csv.Error:
        return False
    return True
