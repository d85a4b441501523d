"""The predictions of every model at the mask of one sentence, side by side."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dashboard.fill_mask.charts import percent, prediction_bars
from dashboard.shared.address.page_address import PageAddress
from dashboard.shared.address.texts import name_of
from dashboard.shared.figures.drawing import draw_figure
from dashboard.shared.theme import shortened
from dashboard.shared.wording import verbatim
from engine.evaluations.fill_mask.records import Result
from engine.messages.languages import mark, sentences, tr, tr_n
from engine.messages.message import Message
from engine.models.sources.names import shown_name
from engine.options import option, option_of


def sentence_line(item: pd.Series) -> str:
    """A sentence in Markdown with its masked word highlighted, as the models read it."""
    return f"{verbatim(item['before'])}:primary-background[**{verbatim(item['asked'])}**]{verbatim(item['after'])}"


@dataclass(frozen=True)
class Masks:
    """The mask whose predictions are shown, of each model of the run, as written in the page's URL.

    edited_mask: the same of the edited sentence.
    """

    mask: tuple[int, ...] = option(
        (),
        "Mask of a word of several subwords, of each model; the first where none is named.",  # untranslated
        least=1,
    )
    edited_mask: tuple[int, ...] = option((), "The same of the edited sentence.", least=1)  # untranslated


def predictions_of(
    result: Result, row: int, view: PageAddress, *, is_linked: bool = True, edited: str = ""
) -> dict[str, go.Figure]:
    """A card for each model: the probability of the word, and the most probable tokens at each mask.

    is_linked: whether the masks that the address names are of this sentence. edited: the run of an edited sentence.
    Returns the figures by caption.
    """
    declared = option_of(Masks, "edited_mask" if edited else "mask")
    models, key = result.settings.models, f"{edited}-{view.place}" if edited else view.place
    n_pieces = result.items[result.items["row"] == row].set_index("model")["n_pieces"].to_dict()
    first = (view.first(declared, ()) if is_linked else ()) or (1,) * len(models)
    if len(first) != len(models) or any(
        mask > n_pieces.get(model, 1) for model, mask in zip(models, first, strict=False)
    ):
        view.ignore(name_of(declared), mark("is no mask of the sentence under each model"))
        first = (1,) * len(models)
    masks = dict(zip(models, first, strict=True))
    figures: dict[str, go.Figure] = {}
    with st.grid(min(len(result.settings.models), 3), min_column_width=290, row_height="content"):
        for model in result.settings.models:
            with st.container(border=True):
                st.markdown(f":gray[{verbatim(shortened(model, result.settings.models))}]")  # untranslated
                item = result.items[(result.items["model"] == model) & (result.items["row"] == row)]
                if item.empty:
                    left_out = result.excluded[(result.excluded["model"] == model) & (result.excluded["row"] == row)]
                    reasons = sentences(*left_out["reason"])
                    st.caption(f":material/content_cut: {verbatim(reasons)}")  # untranslated
                else:
                    masks[model], figure = _card(result, model, item.iloc[0], key, view, masks[model])
                    figures[Message("Predictions of {model}, row {row}", model=shown_name(model), row=row)] = figure
    view.keep(declared, tuple(masks.values()), (1,) * len(models))
    return figures


def word_summary(item: pd.Series, pieces: pd.DataFrame) -> str:
    """The word under a model, in a line: its rank, or its pieces as factors.

    `item` is a row of `Result.items`, `pieces` are its rows in `Result.pieces`.
    """
    if item["n_pieces"] == 1:
        return tr("rank {rank}", rank=f"{int(item['rank']):,}")
    factors = " × ".join(
        f"{token} {percent(value)}" for token, value in zip(pieces["token"], pieces["probability"], strict=True)
    )
    return tr_n("{n} subword: {factors}", "{n:,} subwords: {factors}", int(item["n_pieces"]), factors=factors)


def _card(
    result: Result, model: str, item: pd.Series, key: str, view: PageAddress, first: int
) -> tuple[int, go.Figure]:
    """Draw the word under a model and the predictions at one mask, at first `first`; returns the mask and the figure."""
    row, n = int(item["row"]), int(item["n_pieces"])
    pieces = result.pieces[(result.pieces["model"] == model) & (result.pieces["row"] == row)]
    summary = verbatim(word_summary(item, pieces))
    st.markdown(f"**{percent(item['probability'])}** :gray[:small[{summary}]]")  # untranslated
    mask = first
    if n > 1:
        tokens = pieces["token"].tolist()
        mask = st.segmented_control(
            tr("Mask"),
            list(range(1, n + 1)),
            default=first,
            required=True,
            key=f"fill-mask-mask-{key}-{model}-{row}",
            label_visibility="collapsed",
            format_func=lambda number: verbatim(f"{number}: {tokens[number - 1]}"),
        )
    if item["crossing"]:
        st.caption(tr("In the whole sentence a subword extends beyond the word, so the word was tokenized on its own."))
    piece = pieces[pieces["mask"] == mask].iloc[0]
    predictions = result.predictions
    predictions = predictions[
        (predictions["model"] == model) & (predictions["row"] == row) & (predictions["mask"] == mask)
    ]
    # The piece of a later mask is scored given the pieces before it: it has no rank among these predictions.
    rank = int(piece["rank"]) if mask == 1 else None
    figure = prediction_bars(predictions, str(piece["token"]), float(piece["probability"]), rank)
    draw_figure(
        figure,
        key=f"fill-mask-predictions-{key}-{model}",
        config={"displayModeBar": False},
        alt=tr("The most probable tokens at the mask under {model}", model=shown_name(model)),
    )
    return mask, figure
