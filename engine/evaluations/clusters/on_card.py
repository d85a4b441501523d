"""Clusters on the card of a model."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from engine.evaluations.clusters.records import Result
from engine.evaluations.shared.on_card import Headline, OnCard, rows_of
from engine.measures.cards.catalog import CARDS


def headlines(result: Result, model: str) -> list[Headline]:
    """The dispersion score, with its interval by resampling."""
    ranges = result.intervals[
        (result.intervals["model"] == model) & (result.intervals["measure"] == "dispersion_score")
    ]
    low, high = ranges[["ci_low", "ci_high"]].iloc[0] if len(ranges) else (np.nan, np.nan)
    rows = frozenset(result.points.loc[(result.points["model"] == model).to_numpy(), "row"].tolist())
    return [
        Headline(
            "dispersion_score",
            row["score"],
            row["n_sentences"],
            "sentences",
            float(low),
            float(high),
            better=CARDS["dispersion_score"].better,
            reason=CARDS["dispersion_score"].undefined if np.isnan(row["score"]) else "",
            rows=rows,
            is_ranked=not pd.isna(row["rank"]),
        )
        for row in rows_of(result.models[result.models["model"] == model])
    ]


def details(result: Result, model: str) -> dict[str, list[dict[str, Any]]]:
    """The map of the sentences."""
    points = result.points
    return {"maps": rows_of(points[(points["model"] == model).to_numpy()].drop(columns="model"))}


ON_CARD = OnCard(headlines, lambda _, __: "feature-extraction", "Clusters", details)
