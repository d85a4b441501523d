"""Downloads of figures: for print, as HTML, and by the camera button; all carry the signature of their numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from dashboard.shared.exports.print import style as printing
from dashboard.shared.exports.print.files import Drawing, figure_file, missing_characters
from dashboard.shared.exports.print.style import PrintStyle
from dashboard.shared.exports.signing import digest
from dashboard.shared.exports.standalone import figure_html
from dashboard.shared.exports.written_later import in_readers_language
from dashboard.shared.inputs import settings
from dashboard.shared.wording import verbatim
from engine.messages.languages import mark, tr
from engine.options import option_of

CAMERA_FORMATS = {"svg": "SVG", "png": "PNG"}
PNG_SCALE = 2
KEY = "figure-format"
PRINT_KEYS = {"columns": "figure-columns", "font_size": "figure-font-size"}
FORMAT_KEY = "figure-print-format"
LACKING = "figure-lacking"  # in the session: caption of the figure downloaded last, characters that no font has
COLUMN_WORDS = {"one": mark("one column"), "two": mark("two columns")}
NOT_ALPHANUMERIC = re.compile(r"\W+")


class LazyFigures(Mapping[str, go.Figure]):
    """Figures by caption, each drawn when it is requested: an unused download costs nothing."""

    def __init__(self, makers: Mapping[str, Callable[[], go.Figure]]) -> None:
        self._makers = makers

    def __getitem__(self, caption: str) -> go.Figure:
        """The figure, drawn anew."""
        return self._makers[caption]()

    def __iter__(self) -> Iterator[str]:
        """The captions."""
        return iter(self._makers)

    def __len__(self) -> int:
        """How many there are."""
        return len(self._makers)


def camera(caption: str, signature: Mapping[str, Any]) -> dict[str, Any]:
    """The configuration of a figure: only the camera button, whose file name holds the signature's digest.

    The format is the one that `figure_downloads` last was set to.
    """
    return {
        "displaylogo": False,
        "modeBarButtons": [["toImage"]],
        "toImageButtonOptions": {
            "format": st.session_state.get(KEY) or "svg",
            "filename": file_name(caption, signature),
            "scale": PNG_SCALE,
        },
    }


def print_style() -> PrintStyle:
    """The look of printed figures that was chosen in this session."""
    chosen = {name: st.session_state.get(key) for name, key in PRINT_KEYS.items()}
    return PrintStyle(**{name: value for name, value in chosen.items() if value is not None})


def print_format() -> str:
    """The format of printed figures that was chosen in this session, one of `style.FORMATS`."""
    return st.session_state.get(FORMAT_KEY) or next(iter(printing.FORMATS))


def figure_downloads(
    figures: Mapping[str, go.Figure],
    signature: Mapping[str, Any],
    drawings: Mapping[str, Drawing] = MappingProxyType({}),
) -> None:
    """A popover with every figure for print and as HTML, and the format of the camera buttons.

    drawings: by caption, figures that are drawn for print alone, because the page shows a component in their place.
    """
    with st.popover(tr("Figures"), icon=":material/image:", key="figure-downloads"):
        _print_choices()
        _print_buttons({**dict.fromkeys(figures), **drawings}, figures, signature)
        st.caption(tr("As interactive HTML:"))
        for caption in figures:
            html_download(caption, figures, signature)
        st.segmented_control(
            tr("Format of the camera button"),
            list(CAMERA_FORMATS),
            default="svg",
            required=True,
            format_func=CAMERA_FORMATS.__getitem__,
            key=KEY,
            persist_state="session",
        )


def _print_choices() -> None:
    """Draw the look and the format of printed figures, the same on every page."""
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        settings.segments(tr("Width"), option_of(PrintStyle, "columns"), key=PRINT_KEYS["columns"], words=COLUMN_WORDS)
        settings.number(tr("Letters, pt"), option_of(PrintStyle, "font_size"), key=PRINT_KEYS["font_size"], width=110)
        st.segmented_control(
            tr("Format"),
            list(printing.FORMATS),
            default=print_format(),
            required=True,
            key=FORMAT_KEY,
            format_func=printing.FORMATS.__getitem__,
            persist_state="session",
        )


@st.fragment
def _print_buttons(
    drawings: Mapping[str, Drawing | None], figures: Mapping[str, go.Figure], signature: Mapping[str, Any]
) -> None:
    """Draw a button for each figure, and which characters of the one downloaded last no font has."""
    file_format, style = print_format(), print_style()
    for caption, drawing in drawings.items():
        st.download_button(
            f"{caption}.{file_format}",
            in_readers_language(partial(_printed, caption, drawing, figures, file_format, style, signature)),
            file_name=f"{file_name(caption, signature)}.{file_format}",
            mime=printing.MIME_BY_FORMAT[file_format],
            key=f"download-print-{caption}",
            on_click=_note_lacking,
            icon=":material/print:",
            args=(caption, drawing, figures),
        )
    caption, characters = st.session_state.get(LACKING, ("", ""))
    if characters and caption in drawings:
        st.warning(
            tr(
                "No font of this server has {characters}: in the printed figure '{caption}' boxes stand for "
                "them. The HTML file shows them in the fonts of the browser.",
                characters=verbatim(" ".join(characters)),
                caption=verbatim(caption),
            ),
            icon=":material/font_download_off:",
        )


def _printed(
    caption: str,
    drawing: Drawing | None,
    figures: Mapping[str, go.Figure],
    file_format: str,
    style: PrintStyle,
    signature: Mapping[str, Any],
) -> bytes:
    return figure_file(drawing or figures[caption], file_format, style, signature)


def _note_lacking(caption: str, drawing: Drawing | None, figures: Mapping[str, go.Figure]) -> None:
    st.session_state[LACKING] = caption, missing_characters(drawing or figures[caption], print_style())


def html_download(caption: str, figures: Mapping[str, go.Figure], signature: Mapping[str, Any]) -> None:
    """A button that downloads one of the figures as a standalone page, written when it is pressed; about 5 MB."""
    st.download_button(
        f"{caption}.html",  # untranslated
        in_readers_language(lambda: figure_html(figures[caption], caption, signature)),
        file_name=f"{file_name(caption, signature)}.html",
        mime="text/html",
        key=f"download-html-{caption}",
        on_click="ignore",
        icon=":material/download:",
    )


def file_name(caption: str, signature: Mapping[str, Any]) -> str:
    """A name for a figure's file, without its ending: the caption in lower case, and the signature's digest.

    >>> file_name("Score at every layer", {})
    'score-at-every-layer-44136fa355'
    """
    return f"{NOT_ALPHANUMERIC.sub('-', caption.lower()).strip('-')}-{digest(signature)}"
