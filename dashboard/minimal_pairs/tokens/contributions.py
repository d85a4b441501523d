"""Token contributions of one minimal pair: both sentences token by token, and what each token adds to the margin."""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dashboard.minimal_pairs.tokens.charts import contribution_figure, token_figure
from dashboard.minimal_pairs.words import PAIRS, PairWords
from dashboard.shared.exports.figure_downloads import camera
from dashboard.shared.figures.drawing import draw_figure
from dashboard.shared.wording import model_name, verbatim
from engine.evaluations.minimal_pairs.comparison import margin_unit
from engine.evaluations.minimal_pairs.records import WHOLE, Result
from engine.evaluations.minimal_pairs.token_contributions import NO_PARTS, contributions_by_change, token_contributions
from engine.evaluations.minimal_pairs.views import without_token_scores
from engine.measures.minimal_pairs.normalizations import NORMALIZATIONS
from engine.messages.languages import mark, tr, translated
from engine.messages.message import Message, list_of

TIE = mark("Row {row}: {model} scores both sentences equally")


def token_contributions_view(
    name: str,
    result: Result,
    model: str,
    pair: pd.Series,
    normalization: str,
    alpha: float,
    signature: Mapping[str, Any],
    *,
    words: PairWords = PAIRS,
    region: str = WHOLE,
) -> dict[str, go.Figure]:
    """Draw a row of `pair_table` under one score; `name` is part of its widgets' keys. Returns the figures."""
    outcome = words.chosen.get(str(pair["outcome"]), TIE)
    unit = translated(margin_unit(normalization))
    sentences(pair, normalization, right_to_left=result.right_to_left)
    if model in without_token_scores(result):
        st.caption(tr("The log-likelihoods of single tokens are not known of {model}.", model=model_name(model)))
        return {}
    if NORMALIZATIONS[normalization].is_prompted:
        st.caption(verbatim(translated(NO_PARTS.format(name=normalization))))
        return {}
    contributions = token_contributions(result, model, int(pair["row"]), normalization, alpha, region)
    parts = contributions_by_change(contributions)
    sums = translated(
        list_of(f"{translated(part['label'])} {part['contribution']:+.2f}" for part in parts.to_dict("records"))
    )
    st.markdown(
        tr(
            outcome,
            row=pair["row"],
            model=model_name(model),
            by=abs(pair["margin"]),
            unit=verbatim(unit),
            margin=pair["margin"],
            sums=verbatim(sums),
        )
    )
    bars = token_figure(contributions, right_to_left=result.right_to_left)
    shares = contribution_figure(contributions, unit, right_to_left=result.right_to_left)
    draw_figure(
        bars,
        key=f"minimal-tokens-{name}",
        config=camera("tokens", signature),
        alt=tr("Log-likelihood of each token of both sentences, equal tokens aligned"),
    )
    st.markdown(tr("**Token contributions to the margin** :gray[the bars add up to it]"))
    draw_figure(
        shares,
        key=f"minimal-contributions-{name}",
        config=camera("contributions", signature),
        alt=tr("What each token of the pair adds to the margin"),
    )
    return {
        Message("Tokens of the pair, row {row}", row=pair["row"]): bars,
        Message("Token contributions to the margin, row {row}", row=pair["row"]): shares,
    }


def sentences(pair: Mapping[str, Any] | pd.Series, normalization: str, *, right_to_left: bool) -> None:
    """Draw both sentences with score and number of tokens, in their direction of writing."""
    parts = []
    for side, letter in (("acceptable", "A"), ("unacceptable", "U")):
        tokens = pair[f"{side}_tokens"]
        facts = f"{normalization} {pair[f'{side}_score']:.3f}" + ("" if pd.isna(tokens) else f", |{letter}| = {tokens}")
        text = html.escape(str(pair[side]))
        parts.append(
            f'<div><span style="opacity:.6">{letter}&nbsp;&nbsp;</span>'
            f'<bdi dir="{"rtl" if right_to_left else "ltr"}" style="font-size:1.06rem">{text}</bdi>'
            f'<span style="opacity:.6;font-size:.85rem">&nbsp;&nbsp;{html.escape(facts)}</span></div>'
        )
    st.html("".join(parts))
