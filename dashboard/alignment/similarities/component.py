"""The similarities of a pair as a matrix that scrolls and zooms below the names of its tokens: a component on a canvas.

For print and HTML it is drawn by `charts.heat_map`, with the same shades and outlines.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from dashboard.alignment.charts import ground_similarity
from engine.evaluations.alignment.token_table import SIDES
from engine.messages.languages import tr

FOLDER = Path(__file__).parent
NAME = "hakari_similarities"
HTML = """<div class="matrix">
  <div class="bar"><span class="status" role="status"></span></div>
  <div class="frame" role="application" tabindex="0"><div class="room"><canvas></canvas></div></div>
</div>"""


def matrix_data(matrix: np.ndarray, tokens: pd.DataFrame) -> dict[str, Any]:
    """The data of the matrix, as JSON.

    `matrix` is (n_reference, n_candidate), and stays so, as base64 of little-endian float32; `tokens` the pair's rows
    of `Scores.tokens` in the same unit. `best`: for each side the pairs of a token and its best match that is no
    special token's. `unknown`: the positions of unknown tokens on each side.
    """
    by_side = {side: tokens[tokens["side"] == side].sort_values("position") for side in SIDES}
    scored = {side: rows[~rows["special"] & (rows["match_position"] >= 0)] for side, rows in by_side.items()}
    return {
        "values": base64.b64encode(np.ascontiguousarray(matrix, dtype="<f4").tobytes()).decode("ascii"),
        "ground": ground_similarity(matrix),
        **{side: rows["surface"].tolist() for side, rows in by_side.items()},
        "best": {
            side: [[int(own), int(match)] for own, match in zip(rows["position"], rows["match_position"], strict=True)]
            for side, rows in scored.items()
        },
        "unknown": [
            by_side[side].loc[by_side[side]["unknown"].astype(bool), "position"].tolist()
            for side in ("reference", "candidate")
        ],
    }


def similarity_matrix(matrix: np.ndarray, tokens: pd.DataFrame, key: str) -> None:
    """Draw the similarities of a pair; with the same key the matrix is updated in place."""
    _component()(data=matrix_data(matrix, tokens) | {"alt": finding(matrix, tokens), "texts": texts()}, key=key)


def texts() -> dict[str, str]:
    """The texts of `matrix.js`, by name; places in braces are filled there."""
    return {
        "zoom-in": tr("Zoom in"),
        "zoom-out": tr("Zoom out"),
        "whole": tr("Show the whole matrix"),
        "keys": tr(
            "Arrow keys move from cell to cell, Enter goes to the best match of the candidate's token, + and − "
            "zoom, Escape releases."
        ),
        "cell": tr(
            "{reference} (reference), {candidate} (candidate): similarity {similarity}",
            reference="{reference}",
            candidate="{candidate}",
            similarity="{similarity}",
        ),
        "hint": tr(
            "Reference across, candidate down. Solid: best match of the candidate's token (P); dotted: best "
            "match of the reference's token (R)."
        ),
    }


def finding(matrix: np.ndarray, tokens: pd.DataFrame) -> str:
    """What the matrix shows, in words: its size, its median, and the most similar two tokens that are not special."""
    by_side = {side: tokens[tokens["side"] == side].sort_values("position") for side in SIDES}
    plain = {side: rows.loc[~rows["special"].astype(bool)] for side, rows in by_side.items()}
    reference, candidate = plain["reference"], plain["candidate"]
    size = tr(
        "Similarity of {n_reference:,} tokens of the reference to {n_candidate:,} tokens of the candidate.",
        n_reference=len(reference),
        n_candidate=len(candidate),
    )
    if reference.empty or candidate.empty:
        return size
    words = matrix[np.ix_(reference["position"].to_numpy(int), candidate["position"].to_numpy(int))]
    i, j = np.unravel_index(int(words.argmax()), words.shape)
    return (
        size
        + " "
        + tr(
            "The median is {median:.2f}; highest is {highest:.2f}, of {reference} and {candidate}.",
            median=float(np.median(words)),
            highest=float(words[i, j]),
            reference=reference["surface"].iloc[int(i)],
            candidate=candidate["surface"].iloc[int(j)],
        )
    )


@st.cache_resource(show_spinner=False)
def _component() -> Callable[..., Any]:
    """The component, registered once per server process."""
    css, js = ((FOLDER / f"matrix.{kind}").read_text(encoding="utf-8") for kind in ("css", "js"))
    return st.components.v2.component(NAME, html=HTML, css=css, js=js)
