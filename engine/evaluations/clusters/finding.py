"""The finding of clusters: which model keeps the classes farthest apart, and whether any does."""

from __future__ import annotations

from typing import Any

from engine.evaluations.clusters.records import Result, are_of_the_same_sentences
from engine.evaluations.shared.finding import (
    Contest,
    Standing,
    contrasts_of,
    finding_of,
    left_out_rows,
    listed,
    p_value,
    spoken,
)
from engine.language.quantities import decimals
from engine.measures.cards.catalog import CARDS
from engine.messages.message import Message

SIGNIFICANT = 0.05


def finding(result: Result, shown: Any = None) -> Message:
    """The models by their dispersion scores; those without a rank are named apart."""
    models = result.models
    names = spoken(models["model"])
    if len(models) > 1 and models["rank"].isna().all() and not are_of_the_same_sentences(result.points):
        return Message("The models were scored over different sentences, so they are not ranked.")
    intervals = result.intervals[(result.intervals["measure"] == "dispersion_score").to_numpy()].set_index("model")
    is_ranked = (models["rank"].notna() | models["score"].isna()).to_numpy()
    ranked = models[is_ranked] if is_ranked.any() else models
    standings = [
        Standing(row["model"], float(row["score"]), *_ends(intervals, row["model"]))
        for row in ranked.to_dict("records")
    ]
    return finding_of(
        Contest(
            Message("dispersion score M_m"),
            CARDS["dispersion_score"].better,
            int(models["n_sentences"].max()),
            "sentence",
            standings,
            contrasts_of(result.comparisons),
            is_share=False,
            digits=decimals(standing.value for standing in standings),
            reason=CARDS["dispersion_score"].undefined,
            n_left_out=left_out_rows(result.excluded),
        ),
        [*_without_rank(result, names), *_no_better_than_shuffled(result, names)],
    )


def _ends(intervals: Any, model: str) -> tuple[float, float]:
    if model not in intervals.index:
        return float("nan"), float("nan")
    low, high = intervals.loc[model, ["ci_low", "ci_high"]]
    return float(low), float(high)


def _without_rank(result: Result, names: dict[str, str]) -> list[Message]:
    models = result.models
    unranked = models.loc[(models["rank"].isna() & models["score"].notna()).to_numpy(), "model"]
    if not len(unranked):
        return []
    return [
        Message(
            "Not ranked, because half of their tokens or more are unknown: {models}.",
            models=listed([names[model] for model in unranked]),
        )
    ]


def _no_better_than_shuffled(result: Result, names: dict[str, str]) -> list[Message]:
    """Which models separate the classes no better than labels dealt out at random."""
    null = result.null[(result.null["p_value"] > SIGNIFICANT).to_numpy()]
    if not len(null):
        return []
    models, least = listed([names[model] for model in null["model"]]), float(null["p_value"].min())
    return [
        Message(
            "No evidence that the classes are apart, compared with shuffled labels: {models} ({p}).",
            models=models,
            p=p_value(least) if len(null) == 1 else Message("p ≥ {p:.3f}", p=least),
        )
    ]
