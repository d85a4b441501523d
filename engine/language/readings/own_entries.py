"""The entries of a list of readings of one's own, as they are typed, pasted, or written by a spreadsheet."""

from __future__ import annotations

import csv
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from engine.language.readings.hiragana import hiragana_only, repeated_kana
from engine.language.readings.variants import without_selectors

# Between the entries of a list in one line, between a name and its readings, and between several readings.
ENTRIES, READS, READINGS = ";", "=", "/"
# Of a name, and of a reading; a longer text is a sentence, or a file that is no list.
MOST_CHARACTERS = 200
MOST_CHARACTERS_OF_ENTRY = 10_000
SHOWN_CHARACTERS = 40

_LINES = re.compile(r"\r\n|\r|\n")
_ENTRIES = re.compile("[;；]")
_WHOLE_COMMENT, _COMMENT = re.compile(r"\s*+[#＃]"), re.compile(r"\s[#＃]")
# A name, in quotes or not, and what separates it from its readings.
_NAME = re.compile(
    r'\s*+(?P<name>"[^"]*+(?:""[^"]*+)*"|[^=＝,，\t：:]*+)\s*(?P<separator>[=＝,，\t：:])(?P<rest>.*)', re.DOTALL
)
_NEEDS_QUOTES = re.compile(r'[=＝,，\t：:"#＃]')
_SEVERAL = re.compile("[/,、|]")  # after NFKC
_DROPPED = re.compile(r"[\s・=]+")
_KANA = re.compile("[ぁ-ゖァ-ヺヽヾゝゞー]+")
_MARKS_APART = str.maketrans("゛゜", "\u3099\u309a")
_HEADER_NAMES = frozenset(
    (
        "text",
        "name",
        "surface",
        "word",
        "term",
        "名前",
        "氏名",
        "姓名",
        "人名",
        "表記",
        "見出し",
        "見出し語",
        "単語",
        "語",
        "語句",
        "固有名",
        "固有名詞",
        "名称",
        "漢字",
    )
)
_HEADER_READINGS = frozenset(
    (
        "reading",
        "readings",
        "kana",
        "yomi",
        "ruby",
        "pronunciation",
        "読み",
        "読",
        "読み方",
        "読みかた",
        "よみ",
        "よみかた",
        "読み仮名",
        "読みがな",
        "読みカナ",
        "よみがな",
        "ヨミ",
        "ヨミガナ",
        "ふりがな",
        "フリガナ",
        "振り仮名",
        "ルビ",
        "仮名",
        "かな",
        "カナ",
    )
)


@dataclass(frozen=True)
class Entry:
    """A name without variation selectors, and its readings in hiragana."""

    name: str
    readings: tuple[str, ...]


@dataclass(frozen=True)
class WrongEntry:
    """What is no entry: the number of its line, from 1, and how it is written."""

    line: int
    text: str


def entries_of(text: str) -> Iterator[Entry | WrongEntry]:
    """The entries of a list in their order: one in each line, or several with semicolons between them.

    A name and its readings are separated by = or a colon, or are two cells of a row with commas or tabs, in quotes or
    not, of which further cells are remarks. Readings are separated by / or 、, after = also by commas; they are kana in
    any width, with voiced marks apart from their kana or not, with ゝ and ゞ; ・ and spaces in them say nothing. What
    follows # is a comment, also after a space inside a line. A first line 名前,読み or name,reading is a header,
    which may have further columns, in any order.

    >>> list(entries_of("名前,読み,備考\\n東,ひがし、ｱｽﾞﾏ,姓 # か名\\n西"))
    [Entry(name='東', readings=('ひがし', 'あずま')), WrongEntry(line=3, text='西')]
    """
    columns = (0, 1)
    is_first = True
    for line, written in enumerate(_LINES.split(text.removeprefix("\ufeff")), start=1):
        for entry in filter(None, map(str.strip, _ENTRIES.split(_without_comment(written)))):
            header = _header(entry) if is_first else None
            is_first = False
            if header:
                columns = header
                continue
            yield _parsed(entry, columns) or WrongEntry(line, _shortened(entry))


def _without_comment(line: str) -> str:
    """A line up to the # that begins a comment: the first of the line, or one behind a space that no quotation mark follows.

    >>> _without_comment('東=ひがし # か名'), _without_comment('"A # B",えー')
    ('東=ひがし', '"A # B",えー')
    """
    if _WHOLE_COMMENT.match(line):
        return ""
    found = _COMMENT.search(line, line.rfind('"') + 1)
    return line[: found.start()] if found else line


def quoted(name: str) -> str:
    """A name as it stands in a list, in quotes where it has a character that would end it.

    >>> quoted("斉藤"), quoted("A,B")
    ('斉藤', '"A,B"')
    """
    return '"' + name.replace('"', '""') + '"' if _NEEDS_QUOTES.search(name) else name


def _parsed(entry: str, columns: tuple[int, int]) -> Entry | None:
    cells = _cells(entry)
    if len(cells) <= max(columns):
        return None
    name = without_selectors(cells[columns[0]])
    readings = [_kana(reading) for reading in _SEVERAL.split(_in_full_width(cells[columns[1]]))]
    if not name or len(name) > MOST_CHARACTERS or not all(readings):
        return None
    return Entry(name, tuple(dict.fromkeys(readings)))


def _cells(entry: str) -> Sequence[str]:
    """The name and the readings of an entry, or the cells of a row; fewer than two where it is neither."""
    match = _NAME.fullmatch(entry) if len(entry) <= MOST_CHARACTERS_OF_ENTRY else None
    if match is None:
        return ()
    separator = match["separator"].replace("，", ",")
    if separator in ",\t":
        row = entry.replace("，", ",") if separator == "," else entry
        return [cell.strip() for cell in next(csv.reader([row], delimiter=separator, skipinitialspace=True))]
    return [_without_quotes(match["name"].strip()), _without_quotes(match["rest"].strip())]


def _without_quotes(cell: str) -> str:
    is_quoted = len(cell) > 1 and cell.startswith('"') and cell.endswith('"')
    return cell[1:-1].replace('""', '"').strip() if is_quoted else cell


def _kana(reading: str) -> str:
    """A reading in hiragana, "" for one that is not kana alone, says nothing or is too long."""
    plain = repeated_kana(_DROPPED.sub("", reading))
    kana = hiragana_only(plain) if _KANA.fullmatch(plain) and len(plain) <= MOST_CHARACTERS else ""
    return kana if len(kana) == len(plain) and kana.strip("ー") else ""


def _in_full_width(text: str) -> str:
    """Kana of any width and with marks apart as one character each (NFKC)."""
    return unicodedata.normalize("NFKC", text.translate(_MARKS_APART))


def _header(entry: str) -> tuple[int, int] | None:
    """The columns of the name and of the reading, where an entry names them; None for any other entry."""
    cells = [unicodedata.normalize("NFKC", cell).strip().lower() for cell in _cells(entry)]
    names, readings = (
        [index for index, cell in enumerate(cells) if cell in known] for known in (_HEADER_NAMES, _HEADER_READINGS)
    )
    return (names[0], readings[0]) if names and readings else None


def _shortened(entry: str) -> str:
    return entry if len(entry) <= SHOWN_CHARACTERS else f"{entry[: SHOWN_CHARACTERS - 1]}…"
