"""Titles of axes on a page: broken into lines where a phone, or the height of the figure, has no room for them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import plotly.graph_objects as go

from dashboard.shared.exports.tables.latex import display_width

WIDEST = 34  # columns (a kanji is two) beside the names of models on a phone of 390 pixels
COLUMN, AROUND = 7.5, 90  # pixels of a column; of what stands above and below the axes
FEWEST = 16
MARK = re.compile(r"[<&]")  # a title with marks of its own is left as it is


@contextmanager
def fitted_titles(figure: go.Figure) -> Iterator[None]:
    """Within it the titles of the axes fit; afterwards they are as before, as files of the figure have them."""
    height = (figure.layout.height or 450) - AROUND
    upright = max(FEWEST, int(height / COLUMN))
    former = []
    for axes, widest in ((figure.select_xaxes, WIDEST), (figure.select_yaxes, upright)):
        for axis in axes():
            if axis.title.text:
                former.append((axis, axis.title.text))
                axis.title.text = in_lines(axis.title.text, widest)
    try:
        yield
    finally:
        for axis, text in former:
            axis.title.text = text


def in_lines(title: str, widest: int) -> str:
    """A title in lines of at most `widest` columns, broken at spaces and before brackets; a longer word stays whole.

    >>> in_lines("Bits per byte BPB (bits per byte, smaller is better)", 34)
    'Bits per byte BPB<br>(bits per byte, smaller is better)'
    >>> in_lines("バイトあたりビット数 BPB（ビット/バイト、小さいほどよい）", 34)
    'バイトあたりビット数 BPB<br>（ビット/バイト、小さいほどよい）'
    """
    if display_width(title) <= widest or MARK.search(title):
        return title
    lines = [""]
    for part in re.split(r"(?<=\S)(?=[（(])|(?<=\s)", title):
        before = lines[-1]
        opens = part.startswith(("(", "（")) and before.strip()
        if before and (opens or display_width((before + part).rstrip()) > widest):
            lines.append(part)
        else:
            lines[-1] += part
    return "<br>".join(line.strip() for line in lines)
