"""The alignment view: two sentences as rows of tokens, best matches drawn as links, each token explained on hover.

A Streamlit component without a frame: view.js draws what `view_data` returns, links.js its links, segments.js cuts long
pairs, explanations.js fills the texts of `view_texts`, view.css takes its colours from Streamlit's theme. Texts reach
the page as text only (`textContent`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from dashboard.alignment.charts import ground_similarity
from dashboard.alignment.view_texts import view_texts
from engine.evaluations.alignment.records import Scoring
from engine.evaluations.alignment.token_table import SIDES

FOLDER = Path(__file__).parent
SCRIPTS = ("view.js", "chips.js", "links.js", "segments.js", "explanations.js")  # one module in the browser
NAME = "hakari_alignment"
HTML = """<div class="alignment">
  <div class="lines"></div>
  <svg class="links" aria-hidden="true"></svg>
  <div class="legend"></div>
  <details class="matches"><summary></summary><table></table></details>
  <div class="tip" role="status" popover="manual"></div>
</div>"""
# Kana are their own reading; only words with a kanji get ruby.
KANJI = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff々〆ヶ]")


def view_data(tokens: pd.DataFrame, matrix: np.ndarray, threshold: float, scoring: Scoring) -> dict[str, Any]:
    """The data of the view of one pair, as JSON: its tokens in order, with their matches and numbers.

    `tokens` are the pair's rows of `Scores.tokens`, `matrix` its similarities (n_reference, n_candidate) in the same
    unit, `threshold` the idf above which a token is low-frequency (NaN without a dictionary). NaN becomes None.
    """
    return {
        "ground": ground_similarity(matrix),
        "threshold": _number(threshold),
        "penalised": scoring.penalty != "none",
        "unit": scoring.unit,
        "by_name": scoring.penalty == "names",
        "joined": scoring.pairing == "joined" and scoring.penalty != "names",
        "names": scoring.criterion != "idf" or scoring.penalty == "names",
        "whole": _reads_whole_words(scoring),
        **{side: _side(tokens[tokens["side"] == side].sort_values("position"), scoring) for side in SIDES},
    }


def alignment_view(
    data: dict[str, Any], key: str, on_chosen: tuple[Callable[..., None], tuple[Any, ...]] | None = None
) -> None:
    """Draw the view of `view_data`; with the same key it is updated in place.

    on_chosen: a callback with its arguments, for each token that is chosen by mouse, touch or key; the session has
    under the key, as `chosen`, its side and index.
    """
    asks = {"on_chosen_change": partial(on_chosen[0], *on_chosen[1])} if on_chosen else {}
    _component()(data=data | {"texts": view_texts(), "asks": bool(asks)}, key=key, **asks)


@st.cache_resource(show_spinner=False)
def _component() -> Callable[..., Any]:
    """The component, registered once per server process."""
    return st.components.v2.component(NAME, html=HTML, css=style(), js=script())


def style() -> str:
    """The style sheet of the view."""
    return (FOLDER / "view.css").read_text(encoding="utf-8")


def script() -> str:
    """The module that draws the view."""
    return "\n".join((FOLDER / name).read_text(encoding="utf-8") for name in SCRIPTS)


def _side(rows: pd.DataFrame, scoring: Scoring) -> list[dict[str, Any]]:
    tokens = rows.to_dict("records")
    by_name = scoring.penalty == "names" or scoring.criterion == "names"
    has_kanji = {token["word"] for token in tokens if not token["special"] and KANJI.search(token["surface"])}
    # The reading of a word in its sentence stands above its first piece; of a name that is one word the one that is
    # compared, which may be another of its readings.
    own = _readings_of_names(tokens) if by_name else {}
    begins = [
        not token["special"] and (index == 0 or token["word"] != tokens[index - 1]["word"])
        for index, token in enumerate(tokens)
    ]
    return [
        {
            "text": token["surface"],
            "piece": token["token"],
            "special": bool(token["special"]),
            "inside": not (token["special"] or begins_word),
            "reading": token["reading"],
            "whole": bool(token["read_whole"]),
            "ruby": (own.get(token["word"]) or token["word_reading"])
            if begins_word and token["word"] in has_kanji
            else "",
            "similarity": _number(token["similarity"]),
            "match": int(token["match_position"]),
            "match_special": bool(token["match_special"]),
            "idf": _number(token["idf"]),
            "low": bool(token["low_frequency"]),
            "name": bool(token["name"] if by_name else token["proper_noun"]),
            "source": token["reading_source"],
            "unknown": bool(token["unknown"]),
            "counted": bool(token["penalised"]),
            "share": _number(token["weight"]),
            "distance": _number(token["reading_distance"]),
            "agreement": _number(token["agreement"]),
            "longest": _longest(token["reading_distance"], token["agreement"]),
        }
        for token, begins_word in zip(tokens, begins, strict=True)
    ]


def _readings_of_names(tokens: Sequence[Mapping[Any, Any]]) -> dict[Any, str]:
    """The reading that is compared of each name that is just one word, by the word."""
    surfaces: dict[Any, str] = {}
    for token in tokens:
        surfaces[token["word"]] = surfaces.get(token["word"], "") + token["surface"]
    return {
        token["word"]: token["reading"]
        for token in tokens
        if not token["special"] and token["name"] and surfaces[token["word"]] == token["name_text"]
    }


def _reads_whole_words(scoring: Scoring) -> bool:
    """Whether the reading of a token is that of the whole word that it belongs to."""
    return scoring.reading_scope == "word" and scoring.unit == "subword"


def _longest(distance: float, agreement: float) -> int | None:
    """The number of kana of the longer reading, from M = 1 - distance / longest; None where M is 1.

    >>> _longest(3, 0.25)
    4
    """
    return round(distance / (1 - agreement)) if np.isfinite(distance) and agreement < 1 else None


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
