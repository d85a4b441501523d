r"""A table in LaTeX with the rules of booktabs: `table`, `table*` if it is wider than a column, or `longtable`. Pure.

pandas writes the environment; what it does not know is here: characters that TeX reads as commands, symbols of
measures, a cell that begins with [ behind \\, and the width.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from dashboard.shared.exports.signing import digest, signature_line
from dashboard.shared.exports.tables.printed import Cell, PrintedColumn, PrintedTable

# Longer tables run over pages; longtable needs a page of one column.
LONG = 40
# Characters that fit into one column of a two-column page at \small, and into both at \footnotesize.
COLUMN_CHARACTERS, PAGE_CHARACTERS = 50, 118
# A text wider than this is broken into lines.
TEXT_CHARACTERS = 32
NARROWEST = 0.12
PACKAGES = ("booktabs", "graphicx", "longtable", "array")

_ESCAPED = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", "`": r"\textasciigrave{}",
}
# Two of these become one character of print: a dash, a quotation mark.
_LIGATURE = re.compile(r"([-',])(?=\1)")
# Letters of formulas and arrows, which fonts of text often lack.
_MATHS = {
    "α": r"\alpha", "τ": r"\tau", "ρ": r"\rho", "Δ": r"\Delta", "Σ": r"\Sigma", "↓": r"\downarrow", "↑": r"\uparrow",
    "−": "-", "′": "'", "∞": r"\infty", "≤": r"\leq", "≥": r"\geq", "²": "^2", "√": r"\surd", "Π": r"\Pi",
    "χ": r"\chi", "→": r"\rightarrow",
}
_SYMBOL = re.compile(r"(?<![A-Za-z])([A-Za-zτ]+)_([A-Za-z]+)")
_INDEXED = re.compile("(?<![A-Za-z0-9])([A-Zτ]_[a-z])(?![A-Za-z0-9])")
_SPECIAL = re.compile("|".join(re.escape(character) for character in (*_ESCAPED, *_MATHS)))
_INVISIBLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ufeff\ufffe\uffff]|[\ud800-\udfff]")


def escape(text: str) -> str:
    r"""A text as LaTeX prints it literally, on one line; characters without a shape are left out.

    >>> escape("50 % of a_b"), escape("斉藤 & {x}")
    ('50 \\% of a\\_b', '斉藤 \\& \\{x\\}')
    """
    plain = " ".join(_INVISIBLE.sub("", text).split("\n")).replace("\t", " ")
    return _SPECIAL.sub(lambda match: _ESCAPED.get(match[0]) or f"${_MATHS[match[0]]}$",
                        _LIGATURE.sub("\\1\u2060", plain)).replace("\u2060", "{}")


def symbol(text: str) -> str:
    r"""The symbol of a measure in formula letters.

    >>> symbol("M_m"), symbol("A_m / n"), symbol("F1")
    ('$M_{m}$', '$A_{m}$ / n', 'F1')
    """
    parts, end = [], 0
    for match in _SYMBOL.finditer(text):
        letters = _MATHS.get(match[1], match[1] if len(match[1]) == 1 else rf"\mathrm{{{match[1]}}}")
        index = match[2] if len(match[2]) == 1 else rf"\mathrm{{{match[2]}}}"
        parts += [escape(text[end:match.start()]), f"${letters}_{{{index}}}$"]
        end = match.end()
    return "".join([*parts, escape(text[end:])])


def escape_text(text: str) -> str:
    r"""A sentence of ours as LaTeX prints it: what can be nothing but a symbol, a letter with an index, is one.

    >>> escape_text("スコアM_mは 5 %")
    'スコア$M_{m}$は 5 \\%'
    """
    return "".join(symbol(part) if index % 2 else escape(part) for index, part in enumerate(_INDEXED.split(text)))


def latex(table: PrintedTable, signature: Mapping[str, Any]) -> str:
    """The table as a float with caption and label, or as a longtable where it has more than LONG rows."""
    widths = [_width(column) for column in table.columns]
    is_long, is_wide = table.n_rows > LONG, sum(widths) + 2 * len(widths) > COLUMN_CHARACTERS
    label = f"tab:{re.sub('[^a-z0-9]+', '-', table.name.lower())}-{digest(signature)}"
    columns = [_column(column, index) for index, column in enumerate(table.columns)]
    body = pd.DataFrame({str(index): cells for index, (_, cells) in enumerate(columns)}).to_latex(
        index=False, escape=False, longtable=is_long,
        header=[head.replace("{", "{{").replace("}", "}}") for head, _ in columns],  # pandas formats heads
        column_format=_format(table.columns, widths, PAGE_CHARACTERS if is_wide or is_long else COLUMN_CHARACTERS),
        caption=_caption(table), label=label, position=None if is_long else "t")
    return "\n".join([*_comments(signature, is_long=is_long), _longtable(body) if is_long else
                      _fitted(body, is_wide=is_wide)])


def _comments(signature: Mapping[str, Any], *, is_long: bool) -> list[str]:
    layout = ["% longtable breaks over pages and needs a page of one column (\\onecolumn)."] if is_long else []
    line = " ".join(signature_line(signature).split())
    return [f"% Needs {', '.join(chr(92) + f'usepackage{{{name}}}' for name in PACKAGES)}.",
            "% Japanese texts need an engine and a font that have them, such as LuaLaTeX with Noto CJK.", *layout,
            f"% Hakari, signature {digest(signature)}: {line}"]


def _caption(table: PrintedTable) -> str:
    meaning = table.meaning if table.meaning.endswith(".") else f"{table.meaning}." if table.meaning else table.name
    return " ".join([escape_text(meaning), *map(escape_text, table.notes)])


def _column(column: PrintedColumn, index: int) -> tuple[str, list[str]]:
    head = symbol(column.head) if column.symbol else escape(column.head)
    if column.arrow:
        head += f" {escape(column.arrow)}"
    return _guarded(head, index), [_guarded(_cell(cell, numeric=column.numeric), index) for cell in column.cells]


def _cell(cell: Cell, *, numeric: bool) -> str:
    text, interval = (_number(part) if numeric else escape(part) for part in (cell.text, cell.interval))
    text = rf"\textbf{{{text}}}" if cell.bold else text
    return f"{text} {interval}" if interval else text


def _number(text: str) -> str:
    return re.sub(r"-(?=[\d∞])", "\u2212", text).replace("<", "$<$").replace("\u2212", "$-$").replace("∞", r"$\infty$")


def _guarded(text: str, index: int) -> str:
    r"""The first cell of a row stands behind \\, which takes a [ or * as its own."""
    return f"{{}}{text}" if index == 0 and text.startswith(("[", "*")) else text


def display_width(text: str) -> int:
    """The width of a text in letters of half a square: a kana or kanji is two.

    >>> display_width("a斉藤")
    5
    """
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def _width(column: PrintedColumn) -> int:
    """The characters of the widest line of a column; a long text is broken."""
    texts = [f"{cell.text} {cell.interval}".strip() for cell in column.cells]
    widest = max((display_width(text) for text in texts), default=0)
    return max(display_width(f"{column.head} {column.arrow}".strip()),
               widest if column.numeric else min(widest, TEXT_CHARACTERS))


def _format(columns: Sequence[PrintedColumn], widths: Sequence[int], characters: int) -> str:
    """Numbers on the right, texts on the left, those that are broken in columns of a share of the width."""
    broken = [not column.numeric and any(display_width(cell.text) > TEXT_CHARACTERS for cell in column.cells)
              for column in columns]
    left = characters - sum(width + 2 for width, is_broken in zip(widths, broken, strict=True) if not is_broken)
    share = max(NARROWEST, left / characters / max(1, sum(broken))) * 0.9
    return "@{}" + "".join(
        rf">{{\raggedright\arraybackslash}}p{{{share:.2f}\linewidth}}" if is_broken else "r" if column.numeric else "l"
        for column, is_broken in zip(columns, broken, strict=True)) + "@{}"


def _fitted(body: str, *, is_wide: bool) -> str:
    r"""The float no wider than its column, or, over both columns, than the page."""
    size = r"\footnotesize" if is_wide else r"\small"
    narrower = r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"
    body = body.replace(r"\begin{tabular}", f"\\centering\n{size}\n\\setlength{{\\tabcolsep}}{{4pt}}\n{narrower}\n"
                        r"\begin{tabular}").replace(r"\end{tabular}", "\\end{tabular}%\n}")
    return body.replace("{table}", "{table*}") if is_wide else body


def _longtable(body: str) -> str:
    # The caption stands on the first page; the others say that the table goes on.
    body = re.sub(r"\\caption\[\]\{.*\} \\\\", r"\\caption[]{(continued)} \\\\", body)
    return f"{{\\footnotesize\n\\setlength{{\\tabcolsep}}{{4pt}}\n{body}}}\n"
