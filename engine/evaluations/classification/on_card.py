"""Classification on the card of a model."""

from __future__ import annotations

from engine.evaluations.classification.records import Result
from engine.evaluations.shared.on_card import Headline, OnCard, rows_of
from engine.measures.cards.catalog import CARDS
from engine.messages.message import Message


def headlines(result: Result, model: str) -> list[Headline]:
    """The mean accuracy of the runs, with Wilson's interval at the test sentences."""
    return [
        Headline(
            "classification_accuracy",
            row["accuracy_mean"],
            row["n_test"],
            Message("test sentences"),
            row["ci_low"],
            row["ci_high"],
            better=CARDS["classification_accuracy"].better,
        )
        for row in rows_of(result.models[result.models["model"] == model])
    ]


ON_CARD = OnCard(headlines, lambda _, __: "text-classification", "Classification of sentence vectors")
