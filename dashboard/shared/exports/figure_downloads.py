"""Downloads of figures: for print, as HTML, and by the camera button; all carry the signature of their numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from dashboard.shared.exports.file_names import file_names, plain_name
from dashboard.shared.exports.print import style as printing
from dashboard.shared.exports.print.files import Drawing, figure_file, missing_characters
from dashboard.shared.exports.print.style import PrintStyle
from dashboard.shared.exports.signing import digest
from dashboard.shared.exports.standalone import figure_html
from dashboard.shared.exports.written_later import in_readers_language
from dashboard.shared.inputs import settings
from dashboard.shared.wording import verbatim
from engine.messages.languages import mark, tr, translated
from engine.options import option_of

CAMERA_FORMATS = {"svg": "SVG", "png": "PNG"}
PNG_SCALE = 2
KEY = "figure-format"
CHOSEN_KEY = "figure-chosen"
PRINT_KEYS = {"columns": "figure-columns", "font_size": "figure-font-size", "caption": "figure-caption"}
FORMAT_KEY = "figure-print-format"
HTML = "html"
LACKING = "figure-lacking"  # in the session: caption of the figure downloaded last, characters that no font has
COLUMN_WORDS = {"one": mark("one column"), "two": mark("two columns")}


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


def figure_downloads(
    figures: Mapping[str, go.Figure],
    signature: Mapping[str, Any],
    drawings: Mapping[str, Drawing] = MappingProxyType({}),
) -> None:
    """A popover where a figure is chosen, then its format; below, the look of all that are printed.

    figures, drawings: by caption, messages in no language yet. drawings: those that are drawn for print alone, because
    the page shows a component in their place.
    """
    with st.popover(tr("Figures"), icon=":material/image:", key="figure-downloads"):
        _one_figure(figures, drawings, signature)
        _print_choices()
        st.segmented_control(
            tr("Format of the camera button"),
            list(CAMERA_FORMATS),
            default="svg",
            required=True,
            format_func=CAMERA_FORMATS.__getitem__,
            key=KEY,
            persist_state="session",
        )


@st.fragment
def _one_figure(
    figures: Mapping[str, go.Figure], drawings: Mapping[str, Drawing], signature: Mapping[str, Any]
) -> None:
    """Draw the choice of a figure, of its format and look, and its download; and what no font of the server has."""
    names = file_names((*figures, *drawings))
    shown = {caption: translated(caption) for caption in names}  # not asked again once the language has changed
    caption = st.selectbox(tr("Figure"), list(names), key=CHOSEN_KEY, format_func=shown.__getitem__)
    formats = {**printing.FORMATS, **({HTML: tr("Interactive HTML")} if caption in figures else {})}
    file_format = st.segmented_control(
        tr("Format"),
        list(formats),
        default=next(iter(formats)),
        required=True,
        key=FORMAT_KEY,
        format_func=formats.__getitem__,
        persist_state="session",
    )
    if file_format == HTML:
        html_download(caption, figures, signature, names[caption])
        return
    drawing = drawings.get(caption)
    st.download_button(
        tr("Download"),
        in_readers_language(partial(_printed, caption, drawing, figures, file_format, print_style(), signature)),
        file_name=f"{names[caption]}-{digest(signature)}.{file_format}",
        mime=printing.MIME_BY_FORMAT[file_format],
        key="download-print",
        on_click=_note_lacking,
        icon=":material/download:",
        args=(caption, drawing, figures),
    )
    lacking_of, characters = st.session_state.get(LACKING, ("", ""))
    if characters and lacking_of == caption:
        st.warning(
            tr(
                "No font of this server has {characters}: in the printed figure '{caption}' boxes stand for "
                "them. The HTML file shows them in the fonts of the browser.",
                characters=verbatim(" ".join(characters)),
                caption=verbatim(translated(caption)),
            ),
            icon=":material/font_download_off:",
        )


def _print_choices() -> None:
    """Draw the look of printed figures, the same on every page."""
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        settings.segments(tr("Width"), option_of(PrintStyle, "columns"), key=PRINT_KEYS["columns"], words=COLUMN_WORDS)
        settings.number(tr("Letters, pt"), option_of(PrintStyle, "font_size"), key=PRINT_KEYS["font_size"], width=110)
        settings.toggle(tr("Caption"), option_of(PrintStyle, "caption"), key=PRINT_KEYS["caption"])


def _printed(
    caption: str,
    drawing: Drawing | None,
    figures: Mapping[str, go.Figure],
    file_format: str,
    style: PrintStyle,
    signature: Mapping[str, Any],
) -> bytes:
    return figure_file(drawing or figures[caption], file_format, style, signature, translated(caption))


def _note_lacking(caption: str, drawing: Drawing | None, figures: Mapping[str, go.Figure]) -> None:
    st.session_state[LACKING] = caption, missing_characters(drawing or figures[caption], print_style())


def html_download(
    caption: str,
    figures: Mapping[str, go.Figure],
    signature: Mapping[str, Any],
    name: str,
    label: str = mark("Download"),
) -> None:
    """A button that downloads one of the figures as a standalone page, written when it is pressed; about 5 MB.

    name: that of the file, without the digest of its signature and its ending.
    """
    st.download_button(
        tr(label),
        in_readers_language(lambda: figure_html(figures[caption], translated(caption), signature)),
        file_name=f"{name}-{digest(signature)}.{HTML}",
        mime="text/html",
        key=f"download-html-{name}",
        on_click="ignore",
        icon=":material/download:",
    )


def file_name(caption: str, signature: Mapping[str, Any]) -> str:
    """A name for a figure's file, without its ending: `plain_name` of the caption, and the signature's digest.

    >>> file_name("Score at every layer", {})
    'score-at-every-layer-44136fa355'
    """
    return f"{plain_name(caption)}-{digest(signature)}"
