"""The map of models as a figure. Pure: no streamlit."""

from __future__ import annotations

import plotly.graph_objects as go

from dashboard.agreement.charts import name_positions
from dashboard.shared.theme import ACCENT, laid_out, plain, short_names, template_safe
from engine.evaluations.model_map.evaluate import MapOfModels
from engine.messages.languages import tr

HEIGHT = 420
DOT = 11
NAMED_MODELS = 40  # beyond, names overlap; the hover still shows them
ROOM = 0.18  # of the width, for the names at the ends


def map_figure(found: MapOfModels, series: str) -> go.Figure:
    """A point for each model; both axes have one scale, so a distance is the same in every direction.

    series: what the points are, in words.
    """
    models = found.models
    width = max(float(models[axis].max() - models[axis].min()) for axis in ("x", "y"))
    figure = go.Figure(
        go.Scatter(
            x=models["x"],
            y=models["y"],
            name=series,
            mode="markers+text" if len(models) <= NAMED_MODELS else "markers",
            text=[plain(name) for name in short_names(models["model"]).values()],
            textposition=name_positions(*((models[axis] - models[axis].min()) / (width or 1.0) for axis in ("x", "y"))),
            textfont={"size": 11},
            cliponaxis=False,
            marker={"size": DOT, "color": ACCENT},
            customdata=[[template_safe(model)] for model in models["model"]],
            hovertemplate="%{customdata[0]}<br>%{x:.3~g}, %{y:.3~g}<extra></extra>",
        )
    )
    for number, (update, axis) in enumerate(((figure.update_xaxes, "x"), (figure.update_yaxes, "y"))):
        low, high = float(models[axis].min()), float(models[axis].max())
        room = ROOM * width or 1.0
        update(
            title={
                "text": tr(
                    "axis {number}: {share} of the squared distances",
                    number=number + 1,
                    share=f"{found.explained[number]:.0%}",
                ),
                "font": {"size": 12},
            },
            range=[low - room, high + room],
            zeroline=False,
            fixedrange=True,
        )
    figure.update_yaxes(scaleanchor="x", scaleratio=1)
    return laid_out(figure, height=HEIGHT).update_layout(margin={"t": 12, "b": 8, "l": 8, "r": 16})
