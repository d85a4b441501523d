"""Figures of an alignment: the heat map of a pair's similarities, its best matches outlined. Pure: no streamlit."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dashboard.shared.theme import ACCENT, laid_out, plain
from engine.evaluations.alignment.rescoring import Scores
from engine.evaluations.alignment.token_table import SIDES
from engine.messages.languages import tr

CELL, SMALLEST_CELL, TALLEST = 26, 5, 900
# Beyond this many tokens on a side their names do not fit along it; the hover still shows them.
NAMED_TOKENS = 45
# The highest similarity takes this share of the colour scale, so that an outline is visible on any cell.
SCALE_USED = 0.55


def pair_tokens(scores: Scores, model: str, row: int) -> pd.DataFrame:
    """The tokens (or words) of one pair under one model, with the surface of each one's match.

    The rows of `Scores.tokens_of`, the columns `match_surface` and `match_name`, "" where a token has no match or that
    is no name, and `by_reading`: whether the token and its match have whole readings, and are not compared as written.
    """
    pair = scores.tokens_of(model, row)
    surface = {
        (side, position): text
        for side, position, text in zip(pair["side"], pair["position"], pair["surface"], strict=True)
    }
    whole = set(zip(pair["side"][pair["read_whole"]], pair["position"][pair["read_whole"]], strict=True))
    other = {"reference": "candidate", "candidate": "reference"}
    matches = [(other[side], match) for side, match in zip(pair["side"], pair["match_position"], strict=True)]
    names = dict(zip(zip(pair["side"], pair["position"], strict=True), pair["name_text"], strict=True))
    return pair.assign(
        match_surface=[surface.get(match, "") for match in matches],
        match_name=[names.get(match, "") for match in matches],
        by_reading=[own and match in whole for own, match in zip(pair["read_whole"], matches, strict=True)],
    )


def ground_similarity(matrix: np.ndarray) -> float:
    """The median similarity of a pair's tokens, typical of any two tokens under this model: the pale end of the shades.

    A model whose vectors all have a similar direction has a median near 1; only similarities above it are informative.
    """
    return float(min(np.median(matrix), 0.99))


def heat_map(matrix: np.ndarray, tokens: pd.DataFrame) -> go.Figure:
    """Every token of the reference (across) against every one of the candidate (down).

    `matrix` is (n_reference, n_candidate) of `rescoring.matrix`; `tokens` the pair's rows of `Scores.tokens`, in the
    same unit, whose match positions say which cells are outlined: solid for the candidate's best matches (precision),
    dotted for the reference's (recall). Shades begin at the median of the matrix.
    """
    by_side = {side: tokens[tokens["side"] == side].sort_values("position") for side in SIDES}
    names = {side: [plain(surface) for surface in by_side[side]["surface"]] for side in SIDES}
    ground = ground_similarity(matrix)
    n_reference, n_candidate = matrix.shape
    gap = 1 if max(matrix.shape) <= NAMED_TOKENS else 0
    figure = go.Figure(
        go.Heatmap(
            z=matrix.T,
            zmin=ground,
            zmax=ground + (1 - ground) / SCALE_USED,
            showscale=False,
            colorbar={"title": {"text": tr("Similarity")}},
            xgap=gap,
            ygap=gap,
            texttemplate="%{z:.2f}" if max(matrix.shape) <= NAMED_TOKENS else None,
            hovertemplate=tr(
                "{reference} (reference), {candidate} (candidate)<br>similarity {similarity}",
                reference="%{x}",
                candidate="%{y}",
                similarity="%{z:.3f}",
            )
            + "<extra></extra>",
        )
    )
    for side, label, dash in (
        ("candidate", tr("best match of the candidate's token (P)"), "solid"),
        ("reference", tr("best match of the reference's token (R)"), "dot"),
    ):
        scored = by_side[side][~by_side[side]["special"] & (by_side[side]["match_position"] >= 0)]
        own, match = scored["position"].tolist(), scored["match_position"].tolist()
        cells = zip(match, own, strict=True) if side == "candidate" else zip(own, match, strict=True)
        x, y = _outlines(cells, 0.47 if side == "candidate" else 0.38)
        figure.add_trace(
            go.Scatter(
                x=x,
                y=y,
                mode="lines",
                name=label,
                hoverinfo="skip",
                line={"color": ACCENT, "width": 1.6 if gap else 1, "dash": dash},
            )
        )
    for axis, side, n in (("xaxis", "reference", n_reference), ("yaxis", "candidate", n_candidate)):
        figure.update_layout(
            {
                axis: {
                    "tickvals": list(range(n)),
                    "ticktext": names[side],
                    "showticklabels": n <= NAMED_TOKENS,
                    "showgrid": False,
                    "zeroline": False,
                    "fixedrange": True,
                    "title": None,
                    "range": [-0.5, n - 0.5] if axis == "xaxis" else [n - 0.5, -0.5],
                }
            }
        )
    figure.update_xaxes(side="top")
    cell = min(CELL, max(SMALLEST_CELL, TALLEST // n_candidate))
    figure = laid_out(figure, height=cell * n_candidate + 130, legend=True, across=tr("Reference"), up=tr("Candidate"))
    figure.update_layout(margin={"t": 56, "b": 8}, legend={"y": -20 / (cell * n_candidate)})
    return figure


def _outlines(cells: Iterable[tuple[int, int]], half: float) -> tuple[list[float | None], list[float | None]]:
    """The coordinates of one line that outlines each cell (x, y), with gaps between the squares."""
    x: list[float | None] = []
    y: list[float | None] = []
    for column, row in cells:
        x += [column - half, column + half, column + half, column - half, column - half, None]
        y += [row - half, row - half, row + half, row + half, row - half, None]
    return x, y
