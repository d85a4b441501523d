"""A figure of a page as a file for print: SVG with outlined letters, PDF with embedded fonts, PNG of 300 dpi.

The web process imports matplotlib when the first file is written, not before.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Any, Protocol

import plotly.graph_objects as go

from dashboard.shared.exports.print.style import DOTS_PER_INCH, FORMATS, PrintStyle
from dashboard.shared.exports.signing import digest
from engine.errors import InputError
from engine.messages.message import Message, list_of
from engine.version import VERSION

# matplotlib's settings belong to the process: one file is written after the other.
WRITING = Lock()
SETTINGS: dict[Any, Any] = {
    "svg.fonttype": "path",
    "svg.hashsalt": "hakari",
    "pdf.fonttype": 42,
    "path.simplify": False,
    "font.family": ["IPAexGothic", "DejaVu Sans"],  # untranslated
    "text.parse_math": False,  # untranslated
}


class Drawing(Protocol):
    """A figure that is not Plotly's: it draws itself in the width and the size of letters of the style."""

    def drawn(self, style: PrintStyle, caption: str = "") -> Any:
        """The matplotlib figure, with a caption below it where there is one."""

    def texts(self, style: PrintStyle) -> tuple[str, ...]:
        """Every text in it, to find characters that no font has."""


def figure_file(
    figure: go.Figure | Drawing, format: str, style: PrintStyle, signature: Mapping[str, Any], caption: str = ""
) -> bytes:
    """`figure` as a file in one of `style.FORMATS`, with its caption; its metadata hold the digest of `signature`.

    The same figure, style and signature give the same bytes: no date is written. Raises InputError for a format or a
    figure that cannot be printed.
    """
    return figure_files(figure, (format,), style, signature, caption)[format]


def figure_files(
    figure: go.Figure | Drawing,
    formats: Sequence[str],
    style: PrintStyle,
    signature: Mapping[str, Any],
    caption: str = "",
) -> dict[str, bytes]:
    """As `figure_file` in each of several formats, of a figure that is drawn once."""
    if unknown := [name for name in formats if name not in FORMATS]:
        raise InputError(
            Message("Figures are printed as {FORMATS}; got '{unknown}'.", FORMATS=list_of(FORMATS), unknown=unknown[0])
        )
    import matplotlib

    with WRITING, matplotlib.rc_context(SETTINGS):
        from dashboard.shared.exports.print.charts.plotly_figure import draw

        below = caption if style.caption else ""
        drawn = draw(figure, style, below) if isinstance(figure, go.Figure) else figure.drawn(style, below)
        return {name: _written(drawn, name, signature) for name in formats}


def missing_characters(figure: go.Figure | Drawing, style: PrintStyle | None = None) -> str:
    """The characters of a figure's texts that no font on this machine has, each once; they print as boxes."""
    from dashboard.shared.exports.print import fonts
    from dashboard.shared.exports.print.charts.plotly_figure import texts_of

    style = style or PrintStyle()
    with WRITING:
        return fonts.missing(texts_of(figure, style) if isinstance(figure, go.Figure) else figure.texts(style))


def _written(drawn: Any, format: str, signature: Mapping[str, Any]) -> bytes:
    written = io.BytesIO()
    drawn.savefig(written, format=format, dpi=DOTS_PER_INCH, metadata=_metadata(format, signature))
    return written.getvalue()


def _metadata(format: str, signature: Mapping[str, Any]) -> dict[str, str | None]:
    note, creator = f"signature {digest(signature)}", f"Hakari {VERSION}"  # untranslated
    if format == "pdf":
        return {"Keywords": note, "Creator": creator, "CreationDate": None, "Producer": None}
    if format == "svg":
        return {"Description": note, "Creator": creator, "Date": None}
    return {"Description": note, "Software": creator}
