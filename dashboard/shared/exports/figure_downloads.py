"""Downloads of figures: by the camera button (SVG or PNG) and as HTML; all carry the signature of their numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from dashboard.shared.exports.signing import digest
from dashboard.shared.exports.standalone import figure_html

FORMATS = {"svg": "SVG", "png": "PNG"}
PNG_SCALE = 2
KEY = "figure-format"
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
    return {"displaylogo": False, "modeBarButtons": [["toImage"]], "toImageButtonOptions": {
        "format": st.session_state.get(KEY) or "svg", "filename": file_name(caption, signature), "scale": PNG_SCALE}}


def figure_downloads(figures: Mapping[str, go.Figure], signature: Mapping[str, Any]) -> None:
    """A popover with the format of the camera buttons and an HTML download for each figure."""
    with st.popover("Figures", icon=":material/image:", key="figure-downloads"):
        st.segmented_control("Format of the camera button", list(FORMATS), format_func=FORMATS.__getitem__,
                             default="svg", required=True, key=KEY, persist_state="session")
        st.caption("As interactive HTML:")
        for caption in figures:
            html_download(caption, figures, signature)


def html_download(caption: str, figures: Mapping[str, go.Figure], signature: Mapping[str, Any]) -> None:
    """A button that downloads one of the figures as a standalone page, written when it is pressed; about 5 MB."""
    st.download_button(
        f"{caption}.html", lambda: figure_html(figures[caption], caption, signature),
        file_name=f"{file_name(caption, signature)}.html", mime="text/html", key=f"download-html-{caption}",
        on_click="ignore", icon=":material/download:",
    )


def file_name(caption: str, signature: Mapping[str, Any]) -> str:
    """A name for a figure's file, without its ending: the caption in lower case, and the signature's digest.

    >>> file_name("Score at every layer", {})
    'score-at-every-layer-44136fa355'
    """
    return f"{NOT_ALPHANUMERIC.sub('-', caption.lower()).strip('-')}-{digest(signature)}"
