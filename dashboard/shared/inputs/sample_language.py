"""The language of the samples and of the models that are offered first.

Of the samples it is the reader's, and the other a press away; of the models that of the data, whatever the page's.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import streamlit as st

from dashboard.shared.address import form_address
from engine.datasets.sample_data import LANGUAGES
from engine.messages.languages import LANGUAGES as NAMES
from engine.messages.languages import language, tr
from engine.models.tokenization.scripts import CJK, text_scripts

VARIABLE = "HAKARI_SAMPLES"  # of the operator: a language of the samples, whatever the reader's
# The share of the letters from which data are in a language of the samples, by script. Japanese has Latin words and
# markup in it, of more letters than its own words; models of English are nearest to any Latin.
SHARES = {CJK: ("ja", 0.1), "Latin": ("en", 0.5)}
TEXTS_READ = 200  # of data, from the first to the last


def usual() -> str:
    """The language of the samples where none is chosen: the operator's, else the reader's."""
    wanted = os.environ.get(VARIABLE, "").strip().lower()
    return wanted if wanted in LANGUAGES else language()


def of_page(kind: str) -> str:
    """The language of the sample of a page: the one that was chosen there, else the usual one."""
    return str(st.session_state.get(_key(kind)) or usual())


def of_texts(texts: Sequence[str]) -> str | None:
    """The language of the samples that texts are in, by the scripts of their letters; None for another one.

    >>> of_texts(["猫がいる。", "<b>BERT</b>を使う。"]), of_texts(["The cat sat."]), of_texts(["Кошка спит."]), of_texts([])
    ('ja', 'en', None, None)
    """
    every = max(1, len(texts) // TEXTS_READ)
    shares = text_scripts(texts[i] for i in range(0, len(texts), every))
    return next((language for script, (language, least) in SHARES.items() if shares.get(script, 0.0) >= least), None)


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
