"""The predictions of every model at the mask of one sentence, side by side."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dashboard.fill_mask.charts import percent, prediction_bars
from dashboard.shared.theme import shortened
from dashboard.shared.wording import verbatim
from engine.evaluations.fill_mask.records import Result


def sentence_line(item: pd.Series) -> str:
    """A sentence in Markdown with its masked word highlighted, as the models read it."""
    return (f"{verbatim(item['before'])}:primary-background[**{verbatim(item['asked'])}**]{verbatim(item['after'])}")


def predictions_of(result: Result, row: int, key: str) -> dict[str, go.Figure]:
    """A card for each model: the probability of the word, and the most probable tokens at each mask.

    Returns the figures by caption.
    """
    figures = {}
    with st.grid(min(len(result.settings.models), 3), min_column_width=290, row_height="content"):
        for model in result.settings.models:
            with st.container(border=True):
                st.markdown(f":gray[{verbatim(shortened(model))}]")
                item = result.items[(result.items["model"] == model) & (result.items["row"] == row)]
                if item.empty:
                    left_out = result.excluded[(result.excluded["model"] == model) & (result.excluded["row"] == row)]
                    st.caption(f":material/content_cut: {verbatim(' '.join(left_out['reason']))}")
                else:
                    figures[f"Predictions of {model}, row {row}"] = _card(result, model, item.iloc[0], key)
    return figures


def word_summary(item: pd.Series, pieces: pd.DataFrame) -> str:
    """The word under a model, in a line: its rank, or its pieces as factors.

    `item` is a row of `Result.items`, `pieces` are its rows in `Result.pieces`.
    """
    if item["n_pieces"] == 1:
        return f"rank {int(item['rank']):,}"
    factors = " × ".join(f"{token} {percent(value)}"
                         for token, value in zip(pieces["token"], pieces["probability"], strict=True))
    return f"{item['n_pieces']} pieces: {factors}"


def _card(result: Result, model: str, item: pd.Series, key: str) -> go.Figure:
    row, n = int(item["row"]), int(item["n_pieces"])
    pieces = result.pieces[(result.pieces["model"] == model) & (result.pieces["row"] == row)]
    st.markdown(f"**{percent(item['probability'])}** :gray[:small[{verbatim(word_summary(item, pieces))}]]")
    mask = 1
    if n > 1:
        tokens = pieces["token"].tolist()
        mask = st.segmented_control("Mask", list(range(1, n + 1)), default=1, required=True,
                                    key=f"fill-mask-mask-{key}-{model}-{row}", label_visibility="collapsed",
                                    format_func=lambda number: verbatim(f"{number}: {tokens[number - 1]}"))
    if item["crossing"]:
        st.caption("In the whole sentence a piece extends beyond the word, so the word was tokenized on its own.")
    piece = pieces[pieces["mask"] == mask].iloc[0]
    predictions = result.predictions
    predictions = predictions[(predictions["model"] == model) & (predictions["row"] == row)
                              & (predictions["mask"] == mask)]
    # The piece of a later mask is scored given the pieces before it: it has no rank among these predictions.
    rank = int(piece["rank"]) if mask == 1 else None
    figure = prediction_bars(predictions, str(piece["token"]), float(piece["probability"]), rank)
    st.plotly_chart(figure, key=f"fill-mask-predictions-{key}-{model}", config={"displayModeBar": False},
                    alt=f"The most probable tokens at the mask under {model}")
    return figure
