"""Models under two evaluations as points: where both agree, better is above and to the right. Pure: no streamlit."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, log10

import pandas as pd
import plotly.graph_objects as go

from dashboard.shared.ranks import rank_labels
from dashboard.shared.theme import ACCENT, GREY, axis_title, laid_out, measure_name, plain, template_safe
from engine.evaluations.agreement.evaluate import MEASURES, counted
from engine.measures.cards.catalog import CARDS
from engine.messages.languages import tr
from engine.models.sources.names import shown_name

HEIGHT = 360
DOT = 11
NAMED_MODELS = 12  # beyond, names overlap; the hover still shows them
PER_CENT = ("mask_probability", "classification_accuracy")
LONGEST_NAME = 22
NEAR_ACROSS, NEAR_ABOVE = 0.5, 0.12  # shares of the axes within which a name above a point overlaps another's
EDGE = 0.25  # share of the width at either end in which a name goes inward: on a phone a centred one is cut


def scatter(table: pd.DataFrame, first: str, second: str, *, published: bool = False) -> go.Figure:
    """One point for each model that counts in both evaluations: `first` across, `second` up, better is right or up.

    `table` is a `evaluate.model_table` (or `printed_table`); published points are hollow and grey.
    """
    shared = table[counted(table, first).notna() & counted(table, second).notna()]
    named = len(shared) <= NAMED_MODELS
    figure = go.Figure(
        go.Scatter(
            x=shared[first],
            y=shared[second],
            mode="markers+text" if named else "markers",
            text=[plain(name) for name in _names(shared["model"].tolist())],
            textfont={"size": 11},
            textposition=name_positions(
                _places(shared[first], MEASURES[first]), _places(shared[second], MEASURES[second])
            ),
            cliponaxis=False,
            marker={
                "size": DOT,
                "color": GREY if published else ACCENT,
                "symbol": "circle-open" if published else "circle",
                "line": {"width": 2},
            }
            if published
            else {"size": DOT, "color": ACCENT},
            customdata=[
                [template_safe(model), *places]
                for model, *places in zip(
                    shared["model"], *(rank_labels(shared, of=f" {kind}") for kind in (first, second)), strict=True
                )
            ],
            hovertemplate="%{customdata[0]}<br>"
            + "<br>".join(
                tr("{value}, rank {rank}", value=_hover(kind, axis), rank=f"%{{customdata[{number}]}}")
                for number, (kind, axis) in enumerate(((first, "x"), (second, "y")), 1)
            )
            + "<extra></extra>",
        )
    )
    figure.update_xaxes(**_axis(shared[first], first))
    figure.update_yaxes(**_axis(shared[second], second))
    figure = laid_out(figure, height=HEIGHT)
    return figure.update_layout(margin={"t": 12, "b": 8, "l": 8, "r": 16})


def _axis(values: pd.Series, kind: str) -> dict[str, object]:
    """An axis whose better end is above or on the right, with room for the names at the ends."""
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
    room = 0.18 * (high - low) or 0.1 * abs(high) or 1.0
    ends = [low - room, high + room]
    measure = MEASURES[kind]
    # enough decimals to distinguish sixths of the axis, also for a single point
    digits = max(0, -floor(log10(100 * (ends[1] - ends[0]) / 6)))
    return {
        "title": {"text": axis_title(measure), "font": {"size": 12}},
        "fixedrange": True,
        "zeroline": False,
        "range": ends if CARDS[measure].better == "higher" else ends[::-1],
        "nticks": 6,
        "tickformat": f".{digits}%" if measure in PER_CENT else "",
    }


def name_positions(across: pd.Series, height: pd.Series) -> list[str]:
    """The position of each name: below its point if another point is close above it, else above; inward at the ends.

    across, height: where on its axis each point is drawn, from 0 to 1.
    """
    crowded = [
        bool((((across - own_x).abs() < NEAR_ACROSS) & (height > own_y) & (height - own_y < NEAR_ABOVE)).any())
        for own_x, own_y in zip(across, height, strict=True)
    ]
    sides = ["center"] * len(across)
    if len(across) > 1:
        sides = ["right" if own < EDGE else "left" if own > 1 - EDGE else "center" for own in across]
    return [f"{'bottom' if below else 'top'} {side}" for below, side in zip(crowded, sides, strict=True)]


def _places(values: pd.Series, measure: str) -> pd.Series:
    """Where on its axis each value is drawn, from 0 to 1, the better end."""
    end = values.max() if CARDS[measure].better == "lower" else values.min()
    places: pd.Series = (values - end).abs() / (float(values.max() - values.min()) or 1.0)
    return places


def _hover(kind: str, axis: str) -> str:
    measure = MEASURES[kind]
    return f"{template_safe(measure_name(measure))} %{{{axis}:{'.2%' if measure in PER_CENT else ',.4~g'}}}"


def _names(models: Sequence[str]) -> list[str]:
    """The names of points: the last part of each, unless another model has the same; long ones without their beginning."""
    whole = [shown_name(model) for model in models]
    last = [name.rpartition("/")[2] for name in whole]
    names = [part if last.count(part) == 1 else name for part, name in zip(last, whole, strict=True)]
    cut = [name if len(name) <= LONGEST_NAME else "…" + name[1 - LONGEST_NAME :] for name in names]
    return [part if cut.count(part) == 1 else name for part, name in zip(cut, names, strict=True)]
