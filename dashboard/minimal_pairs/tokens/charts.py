"""One pair token by token: log-likelihoods of both sentences side by side, and what each token adds. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from dashboard.shared.theme import ACCENT, GREY, WARM, laid_out, plain, template_safe
from engine.messages.languages import mark, tr

SIDE_COLORS = {"acceptable": ACCENT, "unacceptable": GREY}
SIDE_NAMES = {"acceptable": mark("acceptable"), "unacceptable": mark("unacceptable")}
LEVEL_TICKS = 24  # with more, labels would overlap: they are vertical
NO_TOKEN = "–"


def token_figure(contributions: pd.DataFrame, *, right_to_left: bool = False) -> go.Figure:
    """Token log-likelihoods of both sentences as bars side by side, equal tokens aligned.

    `contributions` is the engine's `token_contributions`. Where the sentences differ the tick label has both tokens,
    the acceptable sentence's above.
    """
    figure = go.Figure()
    for side, color in SIDE_COLORS.items():
        present = contributions[contributions[f"{side}_position"].notna()]
        name = tr(SIDE_NAMES[side])
        figure.add_trace(
            go.Bar(
                x=present["slot"],
                y=present[f"{side}_log_likelihood"],
                name=name,
                offsetgroup=side,
                marker={"color": color, "cornerradius": 3},
                customdata=[plain(token) for token in present[f"{side}_token"]],
                hovertemplate=tr("{token}: {value} nats", token="%{customdata}", value="%{y:.2f}")
                + f"<extra>{name}</extra>",
            )
        )
    figure.update_yaxes(title=tr("nats"), fixedrange=True, rangemode="tozero")
    figure = _slots(figure, contributions, height=300, right_to_left=right_to_left)
    figure.update_layout(barmode="group", showlegend=True)
    return figure


def contribution_figure(contributions: pd.DataFrame, unit: str, *, right_to_left: bool = False) -> go.Figure:
    """What each token adds to the margin: upwards for the acceptable sentence, downwards (warm) for the other.

    `unit` is the margin's; the bars add up to it.
    """
    values = contributions["contribution"]
    figure = go.Figure(
        go.Bar(
            x=contributions["slot"],
            y=values,
            marker={"cornerradius": 3, "color": [ACCENT if value >= 0 else WARM for value in values]},
            hovertemplate="%{y:+.3f} " + template_safe(unit) + "<extra></extra>",
        )
    )
    figure.update_yaxes(title=plain(unit), fixedrange=True)
    return _slots(figure, contributions, height=260, right_to_left=right_to_left)


def _slots(figure: go.Figure, contributions: pd.DataFrame, *, height: int, right_to_left: bool) -> go.Figure:
    labels = list(_labels(contributions.to_dict("records")))
    ends = [-0.6, len(labels) - 0.4]
    figure.update_xaxes(
        tickvals=list(range(len(labels))),
        ticktext=labels,
        side="top",
        fixedrange=True,
        showgrid=False,
        range=ends[::-1] if right_to_left else ends,
        tickangle=0 if len(labels) <= LEVEL_TICKS else -90,
    )
    figure = laid_out(figure, height=height, across=tr("Token"))
    figure.update_layout(bargap=0.25, margin={"t": 56, "b": 8}, legend={"y": -0.04})
    return figure


def _labels(slots: list[dict[Any, Any]]) -> Iterator[str]:
    for slot in slots:
        above, below = (_token(slot, side) for side in SIDE_COLORS)
        yield above if slot["change"] == "equal" else f"<b>{above}<br>{below}</b>"


def _token(slot: Mapping[Any, Any], side: str) -> str:
    return NO_TOKEN if pd.isna(slot[f"{side}_position"]) else plain(slot[f"{side}_token"])
