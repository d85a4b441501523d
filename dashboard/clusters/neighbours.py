"""The nearest neighbours of one sentence under every model, and how far the models agree on them."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard.shared.theme import shortened
from dashboard.shared.wording import verbatim
from engine.evaluations.clusters.records import Result
from engine.language.quantities import decimals
from engine.messages.languages import tr

TEXT_LENGTH = 80
CELL_WIDTH = 330


def neighbours(result: Result, row: int) -> None:
    """Draw the neighbours of the sentence with this row: a table for each model that includes it, side by side."""
    points = result.points[result.points["row"] == row]
    sentence = points.iloc[0]
    text = " ".join(sentence["text"].split())
    shown = text if len(text) <= TEXT_LENGTH else f"{text[:TEXT_LENGTH]} …"
    title = tr("Nearest neighbours of “{sentence}”", sentence=verbatim(shown))
    source = tr("{label}, row {row}", label=verbatim(sentence["label"]), row=row)
    st.markdown(f"**{title}** :gray[{source}]")  # untranslated
    near = neighbour_table(result, row)
    models = list(dict.fromkeys(near["model"]))
    if len(models) == 2:
        first, second = (set(near.loc[near["model"] == model, "neighbour"]) for model in models)
        n_neighbours = int(near["rank"].max())
        st.caption(
            verbatim(
                tr(
                    "{first} and {second} share {n} of these {total}.",
                    first=shortened(models[0], models),
                    second=shortened(models[1], models),
                    n=len(first & second),
                    total=n_neighbours,
                )
            )
        )
    with st.grid(min(len(models), 3) or 1, min_column_width=CELL_WIDTH, gap="small"):
        for model in models:
            _table(near[near["model"] == model], shortened(model, models), len(models))


def neighbour_table(result: Result, row: int) -> pd.DataFrame:
    """The neighbours of a sentence: model, rank, neighbour (its row), label, text, distance, models (how many have it).

    Models in the order of rank; those that left the sentence out have none.
    """
    near = result.neighbours[result.neighbours["row"] == row]
    sentences = result.points.drop_duplicates("row").set_index("row")[["label", "text"]]
    order = result.models.sort_values("rank", na_position="last", kind="stable")["model"].tolist()
    table = near.join(sentences, on="neighbour").assign(
        models=near.groupby("neighbour")["model"].transform("nunique"), model_order=near["model"].map(order.index)
    )
    return table.sort_values(["model_order", "rank"], ignore_index=True)[
        ["model", "rank", "neighbour", "label", "text", "distance", "models"]
    ]


def overlap_sentence(overlap: pd.DataFrame) -> str:
    """How many of the nearest neighbours two models share on average; `overlap`: `Result.overlap`, its first row.

    >>> overlap_sentence(pd.DataFrame([{"model": "a", "other": "b", "mean_overlap": 0.253, "expected": 0.011}]))
    'Of the nearest neighbours of a sentence, a and b share 25% (by chance: 1%).'
    """
    row = overlap.iloc[0]
    return tr(
        "Of the nearest neighbours of a sentence, {first} and {second} share {share:.0f}% (by chance: "
        "{expected:.0f}%).",
        first=shortened(row["model"], (row["other"],)),
        second=shortened(row["other"], (row["model"],)),
        share=100 * row["mean_overlap"],
        expected=100 * row["expected"],
    )


def _table(near: pd.DataFrame, name: str, n_models: int) -> None:
    with st.container():
        st.markdown(f":small[**{verbatim(name)}**]")  # untranslated
        columns = {
            "label": st.column_config.TextColumn(tr("Class"), width="small"),
            "text": st.column_config.TextColumn(tr("Sentence"), width="large"),
            "distance": st.column_config.NumberColumn(
                tr("Distance"), format=f"%.{min(decimals(near['distance']), 4)}f"
            ),
        }
        if n_models > 1:
            columns["models"] = st.column_config.NumberColumn(
                tr("Models"),
                format=f"%d / {n_models}",
                help=tr("How many models have this sentence among the nearest."),
            )
        st.dataframe(
            near,
            hide_index=True,
            column_order=list(columns),
            column_config=columns,
            placeholder="–",
            alt=tr("The nearest neighbours under {model}", model=name),
        )
