"""Figures of a fill-mask result: mean probabilities over all and per domain, and the predictions at a mask. Pure."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import plotly.graph_objects as go

from dashboard.shared.theme import (
    ACCENT,
    GREY,
    ending,
    laid_out,
    measure_name,
    measure_note,
    plain,
    short_names,
    template_safe,
    wrapped,
)
from engine.evaluations.fill_mask.records import ALL
from engine.language.quantities import decimals
from engine.messages.languages import tr, tr_n

MEASURE = "mask_probability"
BAR_HEIGHT, BAR_WIDTH = 46, 0.34  # pixels for a model with its name; share of them that the bar takes
TITLE_HEIGHT = 58
GROUP_HEIGHT, DOMAIN_BAR = 22, 16  # pixels beside the bars of a domain; for each bar
PREDICTION_HEIGHT = 25
LONGEST_TOKEN = 14  # characters of a token beside its bar
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
BAR_OPACITY = 0.45  # paler than the line of the interval, whose lower half lies on the bar
ERROR_BAR = {"thickness": 1.4, "width": 4, "color": GREY}


def percent_digits(probabilities: Sequence[float]) -> int:
    """The number of decimals that show the smallest probability in per cent, with a digit less than `decimals`."""
    return max(1, decimals([100 * value for value in probabilities]) - 1)


def percent(probability: float, digits: int | None = None) -> str:
    """A probability in per cent: with `digits` decimals, or with three significant digits.

    >>> percent(0.0021, 2), percent(0.12345), percent(0.042), percent(3.09e-10), percent(float("nan"))
    ('0.21%', '12.3%', '4.20%', '3.09·10⁻⁸%', 'undefined')
    """
    if pd.isna(probability):
        return tr("undefined")
    if digits is not None:
        return tr("{number}%", number=f"{100 * probability:.{digits}f}")
    written = f"{100 * probability:#.3g}".removesuffix(".")
    mantissa, _, exponent = written.partition("e")
    if exponent:
        written = f"{mantissa}·10{str(int(exponent)).translate(SUPERSCRIPTS)}"
    return tr("{number}%", number=written)


def interval(low: float, high: float, digits: int) -> str:
    """A 95% interval in per cent; "" where there is none."""
    if pd.isna(low) or pd.isna(high):
        return ""
    return tr("{number}%", number=f"{100 * low:.{digits}f}–{100 * high:.{digits}f}")


def mean_bars(models: pd.DataFrame) -> go.Figure:
    """One bar for each model, the best first, with its number and interval: figure 3 of the paper.

    `models` is `Result.models` or `Result.common`; the rows over all domains are drawn.
    """
    overall = models[models["domain"] == ALL].sort_values("mean_probability", ascending=False, kind="stable")
    values, heights = overall["mean_probability"].tolist(), list(range(len(overall)))
    digits = percent_digits(values)
    texts = [percent(value, digits) for value in values]
    figure = go.Figure(
        go.Bar(
            x=values,
            y=heights,
            orientation="h",
            width=BAR_WIDTH,
            marker={"color": ACCENT, "cornerradius": 3, "opacity": BAR_OPACITY},
            error_x=_errors(overall) | {"color": ACCENT},
            customdata=[
                [wrapped(name), text, _interval_line(low, high, digits), tr_n("{n} sentence", "{n:,} sentences", n)]
                for name, text, low, high, n in zip(
                    overall["model"], texts, overall["ci_low"], overall["ci_high"], overall["n"].tolist(), strict=True
                )
            ],
            hovertemplate="%{customdata[0]}: %{customdata[1]}<br>%{customdata[2]}<br>%{customdata[3]}<extra></extra>",
        )
    )
    short = short_names(overall["model"])
    # Name and number are above their bar: long names leave no room for bars on a narrow screen.
    for height, name, text in zip(heights, overall["model"], texts, strict=True):
        above = {"y": height - BAR_WIDTH / 2, "showarrow": False, "yanchor": "bottom", "font": {"size": 12}}
        figure.add_annotation(x=0, text=plain(short[name]), xanchor="left", **above)
        figure.add_annotation(x=1, xref="paper", text=f"<b>{text}</b>", xanchor="right", **above)
    longest = float(overall[["mean_probability", "ci_high"]].max().max()) if len(overall) else 1.0
    figure.update_xaxes(range=[0, (longest or 1.0) * 1.04], visible=False, fixedrange=True)
    figure.update_yaxes(range=[len(overall) - 0.5, -0.8], visible=False, fixedrange=True)
    figure = laid_out(figure, height=TITLE_HEIGHT + BAR_HEIGHT * len(overall))
    figure.update_layout(
        title={
            "text": tr("Over all sentences"),
            "x": 0,
            "font": {"size": 14},
            "subtitle": {"text": f"{measure_name(MEASURE)}, {measure_note(MEASURE)}"},
        },
        margin={"t": TITLE_HEIGHT, "l": 2, "b": 0},
    )
    return figure


def domain_bars(models: pd.DataFrame) -> go.Figure:
    """A group of bars for each domain, one for each model, with 95% intervals; domains in the order of the data."""
    shown = models[models["domain"] != ALL]
    domains, names = list(dict.fromkeys(shown["domain"])), list(dict.fromkeys(shown["model"]))
    digits = percent_digits(shown["mean_probability"].tolist())
    short, figure = short_names(names), go.Figure()
    for name in names:
        of_model = shown[shown["model"] == name]
        figure.add_trace(
            go.Bar(
                x=of_model["mean_probability"],
                y=[domains.index(domain) for domain in of_model["domain"]],
                orientation="h",
                name=plain(short[name]),
                error_x=_errors(of_model),
                marker={"cornerradius": 2, "opacity": BAR_OPACITY},
                customdata=[
                    [
                        plain(domain),
                        percent(mean, digits),
                        _interval_line(low, high, digits),
                        tr_n("{n} sentence", "{n:,} sentences", n),
                    ]
                    for domain, mean, low, high, n in zip(
                        of_model["domain"],
                        of_model["mean_probability"],
                        of_model["ci_low"],
                        of_model["ci_high"],
                        of_model["n"].tolist(),
                        strict=True,
                    )
                ],
                hovertemplate="%{customdata[0]}: %{customdata[1]}<br>%{customdata[2]}<br>%{customdata[3]}"
                "<extra>" + template_safe(name) + "</extra>",
            )
        )
    # Above, so that a legend of many lines below does not overlap it.
    figure.update_xaxes(
        tickformat=".3~%", rangemode="tozero", fixedrange=True, zeroline=False, nticks=5, title=None, side="top"
    )
    figure.update_yaxes(
        tickvals=list(range(len(domains))),
        ticktext=[plain(ending(name)) for name in domains],
        range=[len(domains) - 0.5, -0.5],
        fixedrange=True,
        showgrid=False,
        automargin=True,
        ticksuffix="  ",
    )
    height = TITLE_HEIGHT + (GROUP_HEIGHT + DOMAIN_BAR * len(names)) * len(domains)
    figure = laid_out(
        figure,
        height=height + 28 * (len(names) > 1),
        legend=len(names) > 1,
        across=measure_name("mask_probability"),
        up=tr("Domain"),
    )
    figure.update_layout(
        title={"text": tr("In each domain"), "x": 0, "font": {"size": 14}},
        barmode="group",
        bargap=0.3,
        margin={"t": TITLE_HEIGHT},
        legend={"y": -4 / height, "traceorder": "normal"},
    )
    return figure


def prediction_bars(predictions: pd.DataFrame, label: str, probability: float, rank: int | None) -> go.Figure:
    """The predictions of one model at one mask, the most probable first; the label's bar has the accent colour.

    `predictions` are the rows of one model, row and mask in `Result.predictions`. A label that is not among them is
    added below with its `rank`; without a rank, as at later masks of a word of several pieces, it is left out.
    """
    rows = list(
        zip(
            predictions["place"], predictions["token"], predictions["probability"], predictions["is_label"], strict=True
        )
    )
    if rank is not None and not any(is_label for *_, is_label in rows):
        rows.append((rank, label, probability, True))
    heights = list(range(len(rows)))
    figure = go.Figure(
        go.Bar(
            x=[value for *_, value, _ in rows],
            y=heights,
            orientation="h",
            marker={"color": [ACCENT if is_label else GREY for *_, is_label in rows], "cornerradius": 3},
            opacity=0.9,
            text=[percent(value) for *_, value, _ in rows],
            textposition="outside",
            textfont={"size": 12},
            cliponaxis=False,
            constraintext="none",
            customdata=[[plain(token), f"{rank:,}"] for rank, token, *_ in rows],
            hovertemplate="%{customdata[0]}: %{text}<br>"
            + tr("rank {rank}", rank="%{customdata[1]}")
            + "<extra></extra>",
        )
    )
    names = [
        f"{_rank_prefix(rank)}<b>{_short(token)}</b>" if is_label else f"{_rank_prefix(rank)}{_short(token)}"
        for rank, token, _, is_label in rows
    ]
    figure.update_yaxes(
        tickvals=heights,
        ticktext=names,
        range=[len(rows) - 0.5, -0.5],
        fixedrange=True,
        showgrid=False,
        automargin=True,
        ticksuffix="  ",
        tickfont={"size": 13},
    )
    longest = max((value for *_, value, _ in rows), default=1.0)
    figure.update_xaxes(range=[0, longest * 1.32], visible=False, fixedrange=True)
    figure = laid_out(figure, height=PREDICTION_HEIGHT * len(rows) + 12, up=tr("Word"))
    figure.update_layout(margin={"t": 4, "b": 4, "l": 0, "r": 4})
    return figure


def _interval_line(low: float, high: float, digits: int) -> str:
    return tr("95% interval: {interval}", interval=interval(low, high, digits) or tr("undefined"))


def _errors(rows: pd.DataFrame) -> dict[str, object]:
    """Error bars from the intervals; none where there is none."""
    return {
        "type": "data",
        "symmetric": False,
        "array": (rows["ci_high"] - rows["mean_probability"]).to_numpy(),
        "arrayminus": (rows["mean_probability"] - rows["ci_low"]).to_numpy(),
        **ERROR_BAR,
    }


def _rank_prefix(rank: int) -> str:
    return f'<span style="color:{GREY}">{rank:,}</span>  '


def _short(token: str) -> str:
    return plain(token if len(token) <= LONGEST_TOKEN else token[: LONGEST_TOKEN - 1] + "…")
