"""All pairs of an alignment: means, distribution of F1, largest penalties."""

from __future__ import annotations

from functools import partial
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dashboard.alignment.pair_choice import request_clicked
from dashboard.alignment.spread.charts import change_figure, most_changed, score_histogram
from dashboard.shared.exports.figure_downloads import camera
from dashboard.shared.figures.drawing import draw_figure
from engine.messages.languages import mark, tr, tr_n

SPREAD, CHANGES = mark("Distribution of F1"), mark("Largest penalties")


def spread(place: str, table: pd.DataFrame, signature: dict[str, Any], *, penalised: bool) -> dict[str, go.Figure]:
    """Draw the figures of all pairs, `pair_choice.pair_table`, in an expander; returns them by their captions."""
    figures: dict[str, go.Figure] = {SPREAD: score_histogram(table, penalised=penalised)}
    changed = most_changed(table)
    if penalised and len(changed):
        figures[CHANGES] = change_figure(changed)
    with st.expander(means_sentence(table, penalised=penalised), icon=":material/bar_chart:"):
        with st.grid(len(figures), min_column_width=300, gap="small"):
            with st.container():
                st.markdown(f"**{tr(SPREAD)}**")
                draw_figure(
                    figures[SPREAD],
                    key=f"alignment-histogram-{place}",
                    config=camera("histogram", signature),
                    alt=tr("Histogram of F1 over all pairs"),
                )
            if CHANGES in figures:
                with st.container():
                    st.markdown(tr("**Largest penalties** :gray[click a bar to see its pair]"))
                    key = f"alignment-changes-{place}"
                    draw_figure(
                        figures[CHANGES],
                        key=key,
                        config=camera("changes", signature),
                        on_select=partial(request_clicked, key, place),
                        selection_mode="points",
                        alt=tr("The pairs whose F1 the penalty lowers most"),
                    )
        if penalised and changed.empty:
            st.caption(tr("The penalty lowers the F1 of no pair."))
    return figures


def means_sentence(table: pd.DataFrame, *, penalised: bool) -> str:
    """The means over all pairs that have a score.

    >>> means_sentence(pd.DataFrame({"f1": [0.5, 0.7], "penalized_f1": [0.5, 0.6]}), penalised=True)
    'Mean F1 0.600 over 2 pairs; 0.550 with penalty, which lowers 1 pair'
    """
    scored = table[table["f1"].notna()]
    if scored.empty:
        return tr("No pair has a score")
    values = {"f1": scored["f1"].mean(), "pairs": _pairs(len(scored))}
    if not penalised:
        return tr("Mean F1 {f1:.3f} over {pairs}", **values)
    values |= {
        "penalized": scored["penalized_f1"].mean(),
        "lowered": _pairs(int((scored["f1"] > scored["penalized_f1"]).sum())),
    }
    n_raised = int((scored["f1"] < scored["penalized_f1"]).sum())
    if not n_raised:
        return tr("Mean F1 {f1:.3f} over {pairs}; {penalized:.3f} with penalty, which lowers {lowered}", **values)
    return tr(
        "Mean F1 {f1:.3f} over {pairs}; {penalized:.3f} with penalty, which lowers {lowered} and raises {raised}",
        **values,
        raised=_pairs(n_raised),
    )


def _pairs(n: int) -> str:
    return tr_n("{n} pair", "{n:,} pairs", n)
