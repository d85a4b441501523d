"""One minimal pair under the glass: both sentences token by token, and where their difference comes from."""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dashboard.minimal_pairs.token_charts import contribution_figure, token_figure
from dashboard.shared.exports.figure_downloads import camera
from dashboard.shared.wording import verbatim
from engine.evaluations.minimal_pairs.comparison import margin_unit
from engine.evaluations.minimal_pairs.records import Result
from engine.evaluations.minimal_pairs.token_contributions import contributions_by_change, token_contributions

TOKENS, CONTRIBUTIONS = "Tokens of the pair", "Where the difference comes from"
OUTCOME_WORDS = {"right": "prefers the acceptable sentence", "wrong": "prefers the unacceptable sentence",
                 "tie": "finds both the same"}
STEREOTYPE_WORDS = {"right": "prefers the sentence that stereotypes more", "tie": "finds both the same",
                    "wrong": "prefers the sentence that stereotypes less"}


def pair_glass(name: str, result: Result, model: str, pair: pd.Series, normalization: str, alpha: float,
               signature: Mapping[str, Any], *, stereotypes: bool = False) -> dict[str, go.Figure]:
    """Draw a line of `pair_table` under one score; `name` tells its widgets apart. Returns the figures."""
    outcome = (STEREOTYPE_WORDS if stereotypes else OUTCOME_WORDS)[str(pair["outcome"])]
    unit = margin_unit(normalization)
    sentences(pair, normalization, right_to_left=result.right_to_left)
    contributions = token_contributions(result, model, int(pair["row"]), normalization, alpha)
    parts = contributions_by_change(contributions)
    told = ", ".join(f"{line['label']} {line['contribution']:+.2f}" for line in parts.to_dict("records"))
    by = "" if pair["outcome"] == "tie" else (f", by **{abs(pair['margin']):.3f}** {verbatim(unit)} "
                                              f":gray[({pair['margin']:+.3f} = {verbatim(told)})]")
    st.markdown(f"Row {pair['row']}: {verbatim(model)} {outcome}{by}")
    bars = token_figure(contributions, right_to_left=result.right_to_left)
    shares = contribution_figure(contributions, unit, right_to_left=result.right_to_left)
    st.plotly_chart(bars, key=f"minimal-tokens-{name}", config=camera("tokens", signature),
                    alt="Log-likelihood of each token of both sentences, equal tokens in one place")
    st.markdown(f"**{CONTRIBUTIONS}** :gray[what each token adds to the margin; the bars add up to it]")
    st.plotly_chart(shares, key=f"minimal-contributions-{name}", config=camera("contributions", signature),
                    alt="What each token of the pair adds to the margin")
    return {f"{TOKENS}, row {pair['row']}": bars, f"{CONTRIBUTIONS}, row {pair['row']}": shares}


def sentences(pair: Mapping[str, Any] | pd.Series, normalization: str, *, right_to_left: bool) -> None:
    """Both sentences with score and number of tokens, in their direction of writing."""
    lines = []
    for side, letter in (("acceptable", "A"), ("unacceptable", "U")):
        facts = f"{normalization} {pair[f'{side}_score']:.3f}, |{letter}| = {pair[f'{side}_tokens']}"
        text = html.escape(str(pair[side]))
        lines.append(f'<div><span style="opacity:.6">{letter}&nbsp;&nbsp;</span>'
                     f'<bdi dir="{"rtl" if right_to_left else "ltr"}" style="font-size:1.06rem">{text}</bdi>'
                     f'<span style="opacity:.6;font-size:.85rem">&nbsp;&nbsp;{html.escape(facts)}</span></div>')
    st.html("".join(lines))
