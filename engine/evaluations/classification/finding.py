"""The finding of a classification: which model's vectors are classified best, and whether any better than the baseline."""

from __future__ import annotations

from typing import Any

from engine.evaluations.classification.records import Result
from engine.evaluations.shared.finding import (
    Contest,
    Standing,
    contrasts_of,
    finding_of,
    left_out_rows,
    listed,
    spoken,
)
from engine.measures.cards.catalog import CARDS
from engine.messages.message import Message


def finding(result: Result, shown: Any = None) -> Message:
    """The models by mean accuracy; those that are no better than the baseline are named."""
    models = result.models
    names = spoken(models["model"])
    contest = Contest(
        Message("mean accuracy"),
        CARDS["classification_accuracy"].better,
        int(models["n_test"].max()),
        "test sentence",
        [
            Standing(row["model"], float(row["accuracy_mean"]), float(row["ci_low"]), float(row["ci_high"]))
            for row in models.to_dict("records")
        ],
        contrasts_of(result.comparisons),
        n_left_out=left_out_rows(result.excluded),
    )
    no_better = models[(models["ci_low"] <= models["baseline"]).to_numpy()]
    if no_better.empty:
        return finding_of(contest)
    return finding_of(
        contest,
        [
            Message(
                "Not significantly better than always predicting the largest class ({baseline:.1%}): {models}.",
                baseline=float(no_better["baseline"].iloc[0]),
                models=listed([names[model] for model in no_better["model"]]),
            )
        ],
    )
