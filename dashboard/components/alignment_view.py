"""The alignment view: two sentences as rows of tokens, best matches drawn as links, each token explained on demand.

A Streamlit component without a frame: alignment_view.js draws what `view_data` says, alignment_view.css takes
its colours from Streamlit's theme. Texts reach the page as text only (`textContent`), whatever they hold.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from dashboard.charts.alignment import SIDES, ground_similarity

FOLDER = Path(__file__).parent
NAME = "hakari_alignment"
HTML = """<div class="alignment">
  <div class="label">Reference</div>
  <div class="row reference" role="group" aria-label="Tokens of the reference"></div>
  <div class="row candidate" role="group" aria-label="Tokens of the candidate"></div>
  <div class="label">Candidate</div>
  <svg class="links" aria-hidden="true"></svg>
  <div class="legend"></div>
  <div class="tip" role="status" popover="manual"></div>
</div>"""
# Kana are their own reading; only what holds a kanji gets ruby.
KANJI = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff々〆ヶ]")


def view_data(
    tokens: pd.DataFrame, matrix: np.ndarray, threshold: float, *, penalised: bool, joined: bool,
) -> dict[str, Any]:
    """What the view shows of one pair, as JSON: its tokens in their order, with their matches and numbers.

    `tokens` are the pair's rows of `Scores.tokens`, `matrix` its similarities (n_reference, n_candidate),
    `threshold` the idf above which a token is low-frequency (NaN without a dictionary). What is not a number
    becomes None.
    """
    by_side = {side: tokens[tokens["side"] == side].sort_values("position") for side in SIDES}
    data: dict[str, Any] = {
        "ground": ground_similarity(matrix), "threshold": _number(threshold), "penalised": penalised, "joined": joined,
    }
    for side, rows in by_side.items():
        rare = rows[rows["low_frequency"]]
        together = max(len("".join(rare["reading"])), len("".join(rare["match_reading"])))
        data[side] = [
            {
                "text": token["surface"], "piece": token["token"], "special": bool(token["special"]),
                "reading": token["reading"], "ruby": token["reading"] if KANJI.search(token["surface"]) else "",
                "similarity": _number(token["similarity"]), "match": int(token["match_position"]),
                "match_special": bool(token["match_special"]), "match_reading": token["match_reading"],
                "idf": _number(token["idf"]), "low": bool(token["low_frequency"]), "share": _number(token["weight"]),
                "distance": _number(token["reading_distance"]), "agreement": _number(token["agreement"]),
                "longest": together if joined else max(len(token["reading"]), len(token["match_reading"])),
            }
            for token in rows.to_dict("records")
        ]
    return data


def alignment_view(data: dict[str, Any], key: str) -> None:
    """Draw the view of `view_data`; with the same key it changes in place."""
    _component()(data=data, key=key)


@st.cache_resource(show_spinner=False)
def _component() -> Callable[..., Any]:
    """The component, registered once in the life of the server."""
    css, js = ((FOLDER / f"alignment_view.{suffix}").read_text(encoding="utf-8") for suffix in ("css", "js"))
    return st.components.v2.component(NAME, html=HTML, css=css, js=js)


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
