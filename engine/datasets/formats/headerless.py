"""Files that were published without a header, or with numbers in its place: known by their first rows."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from engine.messages.message import Message

# How the first row is read: by what the file shows, as the names of the columns, or as data.
DETECT, NAMES, DATA = "detect", "names", "data"
HEADERS: Mapping[str, str] = {
    DETECT: Message("of published files without a header as data, of any other as the names of its columns"),
    NAMES: Message("as the names of the columns"),
    DATA: Message("as data; the columns are called column 1, column 2 and so on"),
}
CHOSEN = Message("First row as chosen: ")
READ_AS = Message(
    "{name} names no columns; they are named as {layout} describes them: {columns}. Where the first row does name them, "
    "say so (--header names, or on the page)."
)
PEEKED = 20  # records by which a file is known
MOST_ABOVE = 5  # rows that may stand above the names of the columns


def chosen(header: str) -> Message:
    """The notice on a table whose first row was chosen to be names or data."""
    return Message("{CHOSEN}--header {header}", CHOSEN=CHOSEN, header=header)


@dataclass(frozen=True)
class Headerless:
    """One published layout without a header.

    columns: what its authors call the columns. patterns: what each must hold in the first rows; columns after the last
    pattern hold anything. further: columns after them that only some rows have. numbers: what stands in the place of
    the header, where that is no row of data. file: the name of the file, where nothing else shows the layout. source:
    where it is published.
    """

    name: str
    columns: tuple[str, ...]
    patterns: tuple[str, ...]
    source: str
    further: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    file: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """All columns."""
        return self.columns + self.further

    def is_layout_of(self, file: str, rows: Sequence[Sequence[str]]) -> bool:
        """Whether the first rows of a file of that name, that of the header included, are of this layout."""
        if self.file and file.rpartition("/")[2] != self.file:
            return False
        if self.numbers:
            if tuple(rows[0]) != self.numbers:
                return False
            rows = rows[1:]
        return bool(rows) and all(
            len(row) in (len(self.columns), len(self.names))
            and all(re.fullmatch(pattern, text, re.DOTALL) for pattern, text in zip(self.patterns, row, strict=False))
            for row in rows
        )


_ANY, _JUDGES = ".+", r"null|[\[{].*[\]}]"
_JRTE = "https://github.com/megagonlabs/jrte-corpus"
CLIMP_TURNS = "acceptable, unacceptable in turn"
# A column that no other file has: of CLiMP, whose rows are an acceptable and an unacceptable sentence in turn.
CLIMP_LABEL = "CLiMP's label"
LAYOUTS = (
    Headerless(
        "JRTE",
        ("id", "label", "hypothesis", "premise", "judges", "reasoning", "usage"),
        (r"rte\w+q\d+", "[01]", _ANY, _ANY, _JUDGES, _JUDGES, "train|dev|test"),
        _JRTE,
    ),
    Headerless(
        "JRTE",
        ("id", "label", "text", "judges", "usage"),
        (r"(pn|rhr)\w+q\d+", "-1|0|1", _ANY, _JUDGES, "train|dev|test"),
        _JRTE,
    ),
    Headerless(
        "STS-B",
        ("genre", "file", "year", "index", "score", "sentence1", "sentence2"),
        (r"main-\w+", r"[\w.-]+", r"20\d\d\w*", r"\d+", r"[0-5](\.\d+)?", _ANY, _ANY),
        "http://ixa2.si.ehu.eus/stswiki/index.php/STSbenchmark",
        further=("source1", "source2"),
    ),
    Headerless(
        "MLQE-PE",
        ("id", "original", "translation", "scores", "majority"),
        (r"\d+", _ANY, _ANY, r"\[[0-3](, [0-3])*\]", "NOT|ERR"),
        "https://github.com/sheffieldnlp/mlqe-pe",
    ),
    Headerless(
        "CLiMP",
        ("index", "phenomenon", "paradigm", "sentence", CLIMP_LABEL),
        (r"\d+", r"\w+", r"\w+", _ANY, "[01]"),
        "https://github.com/beileixiang/CLiMP",
        numbers=("", "0", "1", "2", "3"),
    ),
    Headerless(
        "CLiMP",
        (CLIMP_TURNS,),
        (_ANY,),
        "https://github.com/beileixiang/CLiMP",
        file="ba_construction_1000.csv",
    ),
)


def layout_of(file: str, rows: Sequence[Sequence[str]]) -> Headerless | None:
    """The published layout without a header that a file is of, by its name and first rows; None for any other.

    >>> layout_of("pn.tsv", [["pn17q00001", "0", "雨でした。", '{"0": 3}', "test"]]).name
    'JRTE'
    >>> layout_of("own.tsv", [["text", "label"], ["雨でした。", "0"]])
    """
    return next((layout for layout in LAYOUTS if rows and layout.is_layout_of(file, rows)), None)


def numbered_columns(n: int) -> list[str]:
    """The names of columns that a file does not name.

    >>> numbered_columns(2)
    ['column 1', 'column 2']
    """
    return [Message("column {index}", index=index) for index in range(1, n + 1)]
