"""The language of the samples and of the models that are offered first: the reader's, and the other a press away."""

from __future__ import annotations

import os
from typing import Any

import streamlit as st

from dashboard.shared.address import form_address
from engine.datasets.sample_data import LANGUAGES
from engine.messages.languages import LANGUAGES as NAMES
from engine.messages.languages import language, tr

VARIABLE = "HAKARI_SAMPLES"  # of the operator: a language of the samples, whatever the reader's


def usual() -> str:
    """The language of the samples where none is chosen: the operator's, else the reader's."""
    wanted = os.environ.get(VARIABLE, "").strip().lower()
    return wanted if wanted in LANGUAGES else language()


def of_page(kind: str) -> str:
    """The language of the sample of a page: the one that was chosen there, else the usual one."""
    return str(st.session_state.get(_key(kind)) or usual())


def is_chosen(kind: str) -> bool:
    """Whether the reader chose the language of a page's sample."""
    return bool(st.session_state.get(_key(kind)))


def on_show(kind: str) -> dict[str, Any]:
    """The language of a page's sample, and whether it was chosen, as `form_address` takes them."""
    return {"language": of_page(kind), "is_chosen": is_chosen(kind)}


def open_asked(kind: str) -> None:
    """Choose the language of the sample that a link to the page names, if any."""
    if wanted := form_address.asked_language(kind):
        choose(kind, wanted)


def choose(kind: str, wanted: str) -> None:
    """Set the language of a page's sample; models that the page offered, and nobody chose, follow."""
    st.session_state[_key(kind)] = wanted


def choice(kind: str) -> str:
    """Draw the choice of the sample's language; returns it."""
    chosen = of_page(kind)
    st.segmented_control(
        tr("Language of the sample"),
        list(LANGUAGES),
        format_func=NAMES.__getitem__,
        default=chosen,
        required=True,
        key=f"{_key(kind)}-buttons",
        label_visibility="collapsed",
        on_change=_choose,
        args=(kind,),
    )
    return chosen


def _choose(kind: str) -> None:
    choose(kind, str(st.session_state[f"{_key(kind)}-buttons"]))


def _key(kind: str) -> str:
    return f"{kind.removesuffix('-sentences')}-sample-language"
