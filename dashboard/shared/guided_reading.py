"""A short guided reading of a sample's result: three numbered marks beside its figure.

What you see, what it means, what to do next: sentences that a page fills with the numbers shown. One press closes
them, for good in that browser; a small control brings them back, and shows them beside one's own data. The same
sentences are in "How to read this".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from dashboard.script_cookie import set_cookie
from dashboard.shared.address.page_address import SAMPLE
from engine.evaluations.catalog import EVALUATIONS
from engine.messages.languages import mark, tr

HEADINGS = (mark("What you see"), mark("What it means"), mark("What to do next"))
NUMBERS = "①②③"
COOKIE = "hakari_guides_closed"
COOKIE_SECONDS = 400 * 86_400  # the longest that browsers keep one
CLOSED, OPENED = "guides-closed", "guides-opened"  # in the session: kinds
BETWEEN = "."  # of kinds in the cookie


def marks(kind: str, run_id: str, sentences: Sequence[str]) -> None:
    """Draw the marks, of `sentences` in the order of HEADINGS, while they are open: on other data where asked for."""
    is_open = _is_open(kind) if st.session_state.get(SAMPLE) == run_id else _is_asked_for(kind)
    if not sentences or not is_open:
        return
    with st.container(border=True, gap="xsmall", key=f"guide-{kind}"):
        with st.grid(len(sentences), min_column_width=220, gap="small"):
            for line in lines(sentences):
                st.markdown(line)
        st.button(
            tr("Close the guided reading"),
            key=f"guide-{kind}-close",
            type="tertiary",
            icon=":material/close:",
            on_click=_close,
            args=(kind,),
        )


def control(kind: str, *, of_sample: bool = True) -> None:
    """Draw the control that brings the marks back where they are closed, and have the browser remember that."""
    if not (_is_open(kind) if of_sample else _is_asked_for(kind)):
        st.button(
            tr("How to read this"),
            key=f"guide-{kind}-open",
            type="tertiary",
            icon=":material/help:",
            on_click=_open,
            args=(kind,),
        )
    if CLOSED in st.session_state:
        set_cookie(COOKIE, BETWEEN.join(sorted(_closed())), COOKIE_SECONDS)


def lines(sentences: Sequence[str]) -> list[str]:
    """The marks as Markdown, each with its number and heading."""
    return [
        f"**{number} {tr(heading)}**  \n{sentence}"
        for number, heading, sentence in zip(NUMBERS, HEADINGS, sentences, strict=False)
    ]


def _is_open(kind: str) -> bool:
    return _is_asked_for(kind) or kind not in _closed()


def _is_asked_for(kind: str) -> bool:
    return kind in st.session_state.get(OPENED, ())


def _closed() -> set[str]:
    if CLOSED in st.session_state:
        return set(st.session_state[CLOSED])
    remembered = str(_cookies().get(COOKIE) or "").split(BETWEEN)
    return {kind for kind in remembered if kind in EVALUATIONS}  # a browser may send anything


def _cookies() -> Mapping[str, str]:
    """The cookies that the browser sent when the page was opened."""
    return st.context.cookies


def _close(kind: str) -> None:
    st.session_state[CLOSED] = _closed() | {kind}
    st.session_state[OPENED] = set(st.session_state.get(OPENED, ())) - {kind}


def _open(kind: str) -> None:
    st.session_state[OPENED] = set(st.session_state.get(OPENED, ())) | {kind}
