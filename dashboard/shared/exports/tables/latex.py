r"""A table in LaTeX with the rules of booktabs: `table`, `table*` if it is wider than a column, or `longtable`. Pure.

pandas writes the environment; what it does not know is here: characters that TeX reads as commands, symbols of
measures, a cell that begins with [ after \\, and the width.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from dashboard.shared.exports.signing import digest, signature_line
from dashboard.shared.exports.tables.printed import Cell, PrintedColumn, PrintedTable
from engine.messages.languages import sentences, tr, translated
from engine.messages.message import list_of

# Tables of more lines run over pages; longtable needs a page of one column.
LONG = 40
# Characters that fit into one column of a two-column page at \small, and into both at \footnotesize.
COLUMN_CHARACTERS, PAGE_CHARACTERS = 44, 96
# Those that fit into both where letters are smaller; a wider table loses its last columns.
SIZES = ((PAGE_CHARACTERS, r"\footnotesize"), (110, r"\scriptsize"), (136, r"\tiny"))
MOST_CHARACTERS = SIZES[-1][0]
# A text wider than this is broken into lines, of at least so many characters.
TEXT_CHARACTERS, LINE_CHARACTERS = 32, 16
GAP = 2  # between two columns
PACKAGES = ("booktabs", "graphicx", "longtable", "array")

_ESCAPED = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "`": r"\textasciigrave{}",
}
# Two of these become one character of print: a dash, a quotation mark.
_LIGATURE = re.compile(r"([-',])(?=\1)")
# Letters of formulas and arrows, which fonts of text often lack.
_MATHS = {
    "α": r"\alpha",
    "τ": r"\tau",
    "ρ": r"\rho",
    "Δ": r"\Delta",
    "Σ": r"\Sigma",
    "↓": r"\downarrow",
    "↑": r"\uparrow",
    "−": "-",
    "′": "'",
    "∞": r"\infty",
    "≤": r"\leq",
    "≥": r"\geq",
    "²": "^2",
    "√": r"\surd",
    "Π": r"\Pi",
    "χ": r"\chi",
    "→": r"\rightarrow",
}
_SYMBOL = re.compile(r"(?<![A-Za-z])([A-Za-zτ]+)_([A-Za-z]+)")
_INDEXED = re.compile("(?<![A-Za-z0-9])([A-Zτ]_[a-z])(?![A-Za-z0-9])")
_SPECIAL = re.compile("|".join(re.escape(character) for character in (*_ESCAPED, *_MATHS)))
_INVISIBLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ufeff\ufffe\uffff]|[\ud800-\udfff]")


def escape(text: str) -> str:
    r"""A text as LaTeX prints it literally, on one line; characters without a shape are left out.

    >>> escape("50% of a_b"), escape("斉藤 & {x}")
    ('50\\% of a\\_b', '斉藤 \\& \\{x\\}')
    """
    plain = " ".join(_INVISIBLE.sub("", text).split("\n")).replace("\t", " ")
    return _SPECIAL.sub(
        lambda match: _ESCAPED.get(match[0]) or f"${_MATHS[match[0]]}$", _LIGATURE.sub("\\1\u2060", plain)
    ).replace("\u2060", "{}")


def symbol(text: str) -> str:
    r"""The symbol of a measure in formula letters.

    >>> symbol("M_m"), symbol("A_m / n"), symbol("F1")
    ('$M_{m}$', '$A_{m}$ / n', 'F1')
    """
    parts, end = [], 0
    for match in _SYMBOL.finditer(text):
        letters = _MATHS.get(match[1], match[1] if len(match[1]) == 1 else rf"\mathrm{{{match[1]}}}")
        index = match[2] if len(match[2]) == 1 else rf"\mathrm{{{match[2]}}}"
        parts += [escape(text[end : match.start()]), f"${letters}_{{{index}}}$"]
        end = match.end()
    return "".join([*parts, escape(text[end:])])


def escape_text(text: str) -> str:
    r"""A sentence as LaTeX prints it: what can be nothing but a symbol, a letter with an index, is one.

    >>> escape_text("スコアM_mは 5%")
    'スコア$M_{m}$は 5\\%'
    """
    return "".join(symbol(part) if index % 2 else escape(part) for index, part in enumerate(_INDEXED.split(text)))


def latex(table: PrintedTable, signature: Mapping[str, Any]) -> str:
    """The table as a float with caption and label, or as a longtable where it has more than LONG lines.

    Columns for which the page has no room are left out, the last ones first; the caption names them.
    """
    layout = _layout(table)
    kept = table.columns[: layout.n_columns]
    label = f"tab:{re.sub('[^a-z0-9]+', '-', table.name.lower())}-{digest(signature)}"
    columns = [_column(column, index) for index, column in enumerate(kept)]
    body = pd.DataFrame(
        {str(index): cells for index, (_, cells) in enumerate(columns)}
    ).to_latex(
        index=False,
        escape=False,
        longtable=layout.is_long,
        header=[head.replace("{", "{{").replace("}", "}}") for head, _ in columns],  # pandas formats heads
        column_format=layout.columns,
        caption=_caption(table, [column.head for column in table.columns[len(kept) :]]),
        label=label,
        position=None if layout.is_long else "t",
    )
    return "\n".join(
        [
            *_comments(signature, is_long=layout.is_long),
            _longtable(body, layout.size) if layout.is_long else _fitted(body, layout),
        ]
    )


@dataclass(frozen=True)
class _Layout:
    """How a table is set: how many of its columns, in these formats, at this size, wide or not, long or not."""

    n_columns: int
    columns: str
    size: str
    is_wide: bool
    is_long: bool


def _layout(table: PrintedTable) -> _Layout:
    natural = [_width(column) for column in table.columns]
    broken = [
        not column.numeric and width > TEXT_CHARACTERS for column, width in zip(table.columns, natural, strict=True)
    ]
    least = [LINE_CHARACTERS if is_broken else width for width, is_broken in zip(natural, broken, strict=True)]
    n_columns = len(least)
    while n_columns > 1 and sum(least[:n_columns]) + GAP * n_columns > MOST_CHARACTERS:
        n_columns -= 1
    widths = least[:n_columns]
    total = sum(widths) + GAP * n_columns
    is_wide = any(broken[:n_columns]) or total > COLUMN_CHARACTERS
    room = next(characters for characters, _ in SIZES if total <= characters or characters == MOST_CHARACTERS)
    n_broken = sum(broken[:n_columns])
    line = LINE_CHARACTERS + max(0, room - total) // max(1, n_broken)
    kept = list(zip(table.columns[:n_columns], broken[:n_columns], strict=True))
    long_texts = [column.cells for column, is_broken in kept if is_broken]
    lines = [
        max([1, *(math.ceil(display_width(cells[row].text) / line) for cells in long_texts)])
        for row in range(table.n_rows)
    ]
    is_long = sum(lines) > LONG
    share = 0.87 * line / room
    formats = [
        rf">{{\raggedright\arraybackslash}}p{{{share:.3f}\linewidth}}" if is_broken else "r" if column.numeric else "l"
        for column, is_broken in kept
    ]
    # A float is made narrower by \resizebox, by no more than it needs.
    size = dict(SIZES)[room] if is_long else SIZES[0][1] if is_wide else r"\small"
    return _Layout(n_columns, f"@{{}}{''.join(formats)}@{{}}", size, is_wide, is_long)


def _comments(signature: Mapping[str, Any], *, is_long: bool) -> list[str]:
    layout = (
        [
            "% longtable breaks over pages and needs a page of one column (\\onecolumn)."  # untranslated
        ]
        if is_long
        else []
    )
    return [
        f"% Needs {', '.join(chr(92) + f'usepackage{{{name}}}' for name in PACKAGES)}.",  # untranslated
        "% Japanese texts need an engine and a font for them: LuaLaTeX with Noto CJK.",  # untranslated
        *layout,
        f"% Hakari, signature {digest(signature)}: {signature_line(signature)}",  # untranslated
    ]


def _caption(table: PrintedTable, left_out: Sequence[str]) -> str:
    meaning = table.meaning if table.meaning.endswith((".", "。")) else _sentence(table.meaning) or table.name
    room = tr("Not printed for lack of room: {heads}.", heads=translated(list_of(left_out)))
    notes = [*table.notes, *([room] if left_out else [])]
    return sentences(escape_text(meaning), *map(escape_text, notes))


def _column(column: PrintedColumn, index: int) -> tuple[str, list[str]]:
    head = symbol(column.head) if column.symbol else escape(column.head)
    if column.arrow:
        head += f" {escape(column.arrow)}"
    return _guarded(head, index), [_guarded(_cell(cell, numeric=column.numeric), index) for cell in column.cells]


def _cell(cell: Cell, *, numeric: bool) -> str:
    text, interval = (_number(part) if numeric else escape(part) for part in (cell.text, cell.interval))
    if not numeric and display_width(cell.text) > TEXT_CHARACTERS:  # of a path, which has no spaces
        text = re.sub(r"(?<=\w)(/|\\_)(?=\w)", r"\1\\allowbreak{}", text)
    text = rf"\textbf{{{text}}}" if cell.bold else text
    return f"{text} {interval}" if interval else text


def _number(text: str) -> str:
    return re.sub(r"-(?=[\d∞])", "\u2212", text).replace("<", "$<$").replace("\u2212", "$-$").replace("∞", r"$\infty$")


def _sentence(text: str) -> str:
    """A text with a full stop, "" for none."""
    return tr("{text}.", text=text) if text else ""


def _guarded(text: str, index: int) -> str:
    r"""The first cell of a row follows \\, which takes a [ or * as its own."""
    return f"{{}}{text}" if index == 0 and text.startswith(("[", "*")) else text


def display_width(text: str) -> int:
    """The width of a text in letters of half a square: a kana or kanji is two.

    >>> display_width("a斉藤")
    5
    """
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def _width(column: PrintedColumn) -> int:
    """The characters of the widest cell of a column, its head included."""
    cells = [f"{cell.text} {cell.interval}".strip() for cell in column.cells]
    return max(map(display_width, [f"{column.head} {column.arrow}".strip(), *cells]))


def _fitted(body: str, layout: _Layout) -> str:
    r"""The float no wider than its column, or, over both columns, than the page."""
    narrower = r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"
    before = f"\\centering\n{layout.size}\n\\setlength{{\\tabcolsep}}{{4pt}}\n{narrower}\n"
    body = body.replace(r"\begin{tabular}", before + r"\begin{tabular}")
    body = body.replace(r"\end{tabular}", "\\end{tabular}%\n}")
    return body.replace("{table}", "{table*}") if layout.is_wide else body


def _longtable(body: str, size: str) -> str:
    # The caption stands on the first page; the others say that the table is continued, in the language of the table.
    of_pandas = "Continued on next page"  # untranslated
    body = body.replace(of_pandas, tr("Continued on next page"))
    body = re.sub(r"\\caption\[\]\{.*\} \\\\", lambda _: rf"\caption[]{{{tr('(continued)')}}} \\", body)
    return f"{{{size}\n\\setlength{{\\tabcolsep}}{{4pt}}\n{body}}}\n"
