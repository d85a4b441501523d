"""Text in quotation marks where needed (RFC 4180), cut into records; nothing is converted.

The standard library's csv module is used rather than pandas because it reports every invalid line
and leaves "NA", "001" and "1e5" unchanged.
"""

from __future__ import annotations

import csv
import io
import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from engine.messages.message import Message

# Of a field: a book's chapter has 50,000. The csv module's own bound, 131,072, refused documents.
LONGEST_FIELD = 2**20
csv.field_size_limit(LONGEST_FIELD)
# The csv module's messages -> explanations for users of a spreadsheet.
_REASONS = {
    "unexpected end of data": Message("the quotation mark that opens a field here is never closed"),
    "expected after": Message('text follows a closing quotation mark; inside quoted text write each " twice'),
    "new-line character": Message("a field without quotation marks holds a carriage return"),
    "field larger than": Message(
        "a field is longer than {n:,} characters; is a quotation mark never closed?", n=LONGEST_FIELD
    ),
}
# Characters of records that were cut wrongly, which are read again line by line: a bound on the time.
_MAX_READ_AGAIN = 2**25


@dataclass(frozen=True, slots=True)
class Record:
    """One record of the text: its number (blank lines counted), first line, and fields or a fault.

    is_doubled: whether quotation marks around a field were written twice, as no program reads them.
    """

    number: int
    line: int
    fields: list[str]
    fault: str = ""
    is_doubled: bool = False


def records(lines: Iterable[str], separator: str) -> Iterator[Record]:
    """Every record that is not blank, faulty ones included.

    Quotes follow RFC 4180: a field in double quotes may hold separators, line breaks and doubled
    quotes. A record that violates this has a fault instead of fields, and is one line: what it would take along of the
    lines after it is read again, so that none is lost and each has its own number. A line whose one fault is that the
    quotes around a field are doubled (""a, b"") is a record without them.
    """
    source = _Lines(lines)
    reader = csv.reader(source, delimiter=separator, strict=True)
    number, line = 0, 1
    while True:
        number += 1
        source.taken.clear()
        try:
            fields = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            for fault in source.give_back(_reason(str(error))):
                single = _without_doubled(source.taken[0], separator) if "expected after" in str(error) else None
                yield Record(number, line, single or [], "" if single else fault, bool(single))
                number, line = number + 1, line + 1
            number -= 1
            reader = csv.reader(source, delimiter=separator, strict=True)
            continue
        if len(fields) > 1 or (fields and fields[0].strip()):
            yield Record(number, line, fields)
        line += len(source.taken)


def lines_of(text: str) -> io.StringIO:
    """The lines of a text as `records` takes them."""
    return io.StringIO(text, newline=line_end("\n" in text))


def line_end(has_line_feed: bool) -> str:
    """What ends a line: carriage returns alone do only in files of old Macs, which have no line feeds.

    csv handles "\r\n" itself.
    """
    return "\n" if has_line_feed else ""


class _Lines:
    """An iterator over lines that keeps those of the present record and can give them out again."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = iter(lines)
        self._again: deque[str] = deque()
        self._n_again = 0
        self.taken: list[str] = []

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = self._again.popleft() if self._again else next(self._lines)
        self.taken.append(line)
        return line

    def give_back(self, fault: str) -> list[str]:
        """The fault of each line of a faulty record that is not read again: of the first, or where too much was read
        again already, of all.
        """
        first, after = self.taken[:1], self.taken[1:]
        self._n_again += sum(map(len, after))
        if self._n_again > _MAX_READ_AGAIN:
            return [fault] * len(self.taken)
        self._again.extendleft(reversed(after))
        return [fault] * len(first)


def _without_doubled(line: str, separator: str) -> list[str] | None:
    """The fields of a line with one pair of quotation marks for each doubled one; None where that is no record.

    >>> _without_doubled('1,""no, never"",x', ",")
    ['1', 'no, never', 'x']
    """
    between = re.escape(separator)
    single, n = re.subn(rf'(^|{between})""([^"]+)""(?={between}|[\r\n]*$)', r'\1"\2"', line)
    try:
        return next(csv.reader([single], delimiter=separator, strict=True)) if n else None
    except csv.Error:
        return None


def _reason(error: str) -> str:
    return next((reason for pattern, reason in _REASONS.items() if pattern in error), error)
