"""Figures to keep: the camera on each (SVG or PNG), and each as HTML; all carry the signature of their numbers."""

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
NO_LETTER = re.compile(r"\W+")


class LazyFigures(Mapping[str, go.Figure]):
    """Figures by caption, each made when it is asked for: a download that nobody wants costs nothing."""

    def __init__(self, makers: Mapping[str, Callable[[], go.Figure]]) -> None:
        self._makers = makers

    def __getitem__(self, caption: str) -> go.Figure:
        """The figure, made anew."""
        return self._makers[caption]()

    def __iter__(self) -> Iterator[str]:
        """The captions."""
        return iter(self._makers)

    def __len__(self) -> int:
        """How many there are."""
        return len(self._makers)


def camera(caption: str, signature: Mapping[str, Any]) -> dict[str, Any]:
    """The configuration of a figure: of all buttons only the camera, whose file tells the signature's digest.

    The format is the one that `figure_downloads` last was set to.
    """
    return {"displaylogo": False, "modeBarButtons": [["toImage"]], "toImageButtonOptions": {
        "format": st.session_state.get(KEY) or "svg", "filename": file_name(caption, signature), "scale": PNG_SCALE}}


def figure_downloads(figures: Mapping[str, go.Figure], signature: Mapping[str, Any]) -> None:
    """A popover with the format of the cameras and a button for each figure as HTML, made when it is asked for."""
    with st.popover("Figures", icon=":material/image:", key="figure-downloads"):
        st.segmented_control("The camera on a figure saves", list(FORMATS), format_func=FORMATS.__getitem__,
                             default="svg", required=True, key=KEY, persist_state="session")
        st.caption("As HTML, to zoom, turn and read the points of anywhere:")
        for caption in figures:
            html_download(caption, figures, signature)


def html_download(caption: str, figures: Mapping[str, go.Figure], signature: Mapping[str, Any]) -> None:
    """A button that hands out one of the figures as a page of its own, made when it is asked for; about 5 MB."""
    st.download_button(
        f"{caption}.html", lambda: figure_html(figures[caption], caption, signature),
        file_name=f"{file_name(caption, signature)}.html", mime="text/html", key=f"download-html-{caption}",
        on_click="ignore", icon=":material/download:",
    )


def file_name(caption: str, signature: Mapping[str, Any]) -> str:
    """A name for a figure's file, without its ending: the caption in small letters, and the signature's digest.

    >>> file_name("Score at every layer", {})
    'score-at-every-layer-44136fa355'
    """
    return f"{NO_LETTER.sub('-', caption.lower()).strip('-')}-{digest(signature)}"
