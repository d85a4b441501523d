"""The paper's published tables, always marked as published and never mixed with values measured here."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dashboard.metric_study.grid_charts import grid_figure
from dashboard.shared.figures.drawing import draw_figure
from dashboard.shared.paper_tables import columns_of, side_by_side
from dashboard.shared.wording import verbatim
from engine.evaluations.metric_study.records import Result
from engine.evaluations.paper_tables.beside import beside
from engine.evaluations.paper_tables.novels import (
    ANNOTATOR_AGREEMENT,
    CASES,
    N_ANNOTATORS,
    N_PAIRS,
    SOURCE,
    printed_correlations,
    printed_methods,
)
from engine.messages.languages import mark, tr, translated

PUBLISHED = mark("The paper's 16 correlations, as published")


def printed_grid() -> dict[str, go.Figure]:
    """Draw the paper's 16 correlations, in grey; returns the figure by its caption."""
    _badge()
    figure = grid_figure(printed_correlations(), published=True)
    draw_figure(figure, key="metric-published-grid", config={"displayModeBar": False}, alt=tr(PUBLISHED))
    st.caption(_source())
    st.caption(tr("Section 4.3; no intervals were printed."))
    return {tr(PUBLISHED): figure}


def paper_tables(result: Result) -> None:
    """Draw all of the paper's tables on the correlation with human scores, as printed.

    The run's own correlations stand beside the 16 settings where the data are comparable; else the reason is shown.
    """
    _badge()
    st.caption(_source())
    (entry,) = beside("metric-study", result)
    grid = side_by_side(entry)
    st.markdown(tr("Pearson's correlation of the 16 settings :gray[section 4.3]"))
    st.dataframe(
        grid,
        hide_index=True,
        placeholder="–",
        alt=tr("The paper's 16 settings"),
        column_config=columns_of(entry.printed, grid),
    )
    st.caption(verbatim(translated(entry.reason)))
    st.markdown(tr("Comparison with other methods :gray[section 5]"))
    methods = printed_methods().rename(columns={"method": tr("Method"), "pearson": tr("Pearson's correlation")})
    st.dataframe(
        methods, hide_index=True, width="content", placeholder="–", alt=tr("The paper's comparison with other methods")
    )
    low, high = ANNOTATOR_AGREEMENT
    st.markdown(tr("Correlation between annotators: {low:.3f} to {high:.3f} :gray[section 4.1]", low=low, high=high))
    st.markdown(
        tr("Effect of the penalty on single pairs :gray[section 5; in brackets the difference to the human score]")
    )
    st.dataframe(
        pd.DataFrame(
            [
                {
                    tr("Nearer to the human score"): translated(case.nearer),
                    tr("Reference"): case.reference,
                    tr("Candidate"): case.candidate,
                    tr("Human score"): f"{case.human:.3f}",
                    tr("Without penalty"): f"{case.base:.3f} ({case.base_difference:.3f})",
                    tr("With penalty"): f"{case.penalized:.3f} ({case.penalized_difference:.3f})",
                }
                for case in CASES
            ]
        ),
        hide_index=True,
        placeholder="–",
        alt=tr("The paper's case table"),
    )


def _source() -> str:
    return verbatim(
        tr(
            "{source}: {n_pairs} pairs, scores of {n_annotators} annotators, models of its own. None of it "
            "was measured here.",
            source=translated(SOURCE),
            n_pairs=N_PAIRS,
            n_annotators=N_ANNOTATORS,
        )
    )


def _badge() -> None:
    st.badge(tr("Published, not measured here"), icon=":material/menu_book:", color="gray")
