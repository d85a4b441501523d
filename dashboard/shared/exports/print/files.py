"""A figure of a page as a file for print: SVG with outlined letters, PDF with embedded fonts, PNG of 300 dpi.

The web process imports matplotlib when the first file is written, not before.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import plotly.graph_objects as go

from dashboard.shared.exports.print.style import PrintStyle


class Drawing(Protocol):
    """A figure that is not Plotly's: it draws itself in the width and the size of letters of the style."""

    def drawn(self, style: PrintStyle) -> Any:
        """The matplotlib figure."""

    def texts(self) -> tuple[str, ...]:
        """Every text in it, to find characters that no font has."""


def figure_file(figure: go.Figure | Drawing, format: str, style: PrintStyle, signature: Mapping[str, Any]) -> bytes:
    """`figure` as a file in one of `style.FORMATS`; its metadata hold the digest of `signature`.

    The same figure, style and signature give the same bytes: no date is written. Raises InputError for a format or a
    figure that cannot be printed.
    """
    raise NotImplementedError


def missing_characters(figure: go.Figure | Drawing) -> str:
    """The characters of a figure's texts that no font on this machine has, each once; they print as boxes."""
    raise NotImplementedError
