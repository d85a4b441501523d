"""Fill-mask on the card of a model."""

from __future__ import annotations

from engine.evaluations.fill_mask.records import ALL, Result
from engine.evaluations.shared.on_card import Headline, OnCard, rows_of
from engine.measures.cards.catalog import CARDS


def headlines(result: Result, model: str) -> list[Headline]:
    """The mean probability of the masked word over all sentences that the model could fill."""
    table = result.models[(result.models["model"] == model) & (result.models["domain"] == ALL)]
    return [
        Headline(
            "mask_probability",
            row["mean_probability"],
            row["n"],
            "sentences",
            row["ci_low"],
            row["ci_high"],
            better=CARDS["mask_probability"].better,
        )
        for row in rows_of(table)
    ]


ON_CARD = OnCard(headlines, lambda _, __: "fill-mask", "Probability of masked words")
