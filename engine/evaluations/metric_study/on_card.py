"""A metric study on the card of a model."""

from __future__ import annotations

import numpy as np

from engine.evaluations.alignment.scoring import in_words
from engine.evaluations.metric_study.grid import best_place
from engine.evaluations.metric_study.records import Result
from engine.evaluations.shared.on_card import Headline, OnCard, rows_of
from engine.measures.cards.catalog import CARDS
from engine.messages.message import Message

NO_HUMANS = Message("no correlation with human scores is defined")


def headlines(result: Result, model: str) -> list[Headline]:
    """The greatest correlation with the human scores that BERTScore reaches by the model, and its setting."""
    table = result.correlations[result.correlations["model"] == model].reset_index(drop=True)
    place = best_place(table) if len(table) else None
    if place is None:
        return [
            Headline(
                "pearson",
                np.nan,
                0,
                Message("pairs with a human score"),
                better=CARDS["pearson"].better,
                reason=NO_HUMANS,
                is_compared=False,
            )
        ]
    row = rows_of(table)[place]
    return [
        Headline(
            "pearson",
            row["pearson"],
            row["n"],
            Message("pairs with a human score"),
            row["ci_low"],
            row["ci_high"],
            Message("idf {idf}, penalty {penalty}, the best of the grid", **in_words(row["idf"], row["penalty"])),
            CARDS["pearson"].better,
        )
    ]


ON_CARD = OnCard(headlines, lambda _, __: "sentence-similarity", "BERTScore against human scores")
