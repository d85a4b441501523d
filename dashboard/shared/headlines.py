"""The few numbers of a result that the home page shows. Pure: no streamlit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pandas as pd

from dashboard.shared.theme import decimals
from engine.evaluations.alignment import records as alignment
from engine.evaluations.alignment.rescoring import rescore
from engine.evaluations.clusters import records as clusters
from engine.evaluations.minimal_pairs import records as minimal_pairs
from engine.evaluations.minimal_pairs import views as pair_views

BUILT_IN_PREFIX = "builtin/"


@dataclass(frozen=True)
class Headline:
    """One number: its label, its value, a note beside it, and the measure whose card explains it."""

    label: str
    value: str
    note: str
    measure: str


def of_clusters(result: clusters.Result) -> list[Headline]:
    """The dispersion score of each model, the best first."""
    ranked = result.models.sort_values("rank", kind="stable")
    digits = decimals(ranked["score"].tolist())
    return [
        Headline(short(row["model"]), _number(row["score"], digits), f"n = {row['n_sentences']}", "dispersion_score")
        for row in ranked.to_dict("records")
    ]


def of_alignment(result: alignment.Result) -> list[Headline]:
    """Mean F1 of each category of pairs, without and with the penalty, under the scoring of the run."""
    scored = rescore(result, result.settings.scoring).pairs.merge(result.pairs[["row", "category"]], on="row")
    means = scored.groupby("category", sort=False)[["f1", "penalized_f1"]].mean()
    return [Headline(str(category or "all pairs"), _number(row["f1"], 2),
                     f"{_number(row['penalized_f1'], 2)} with penalty", "f1") for category, row in means.iterrows()]


def of_minimal_pairs(result: minimal_pairs.Result) -> list[Headline]:
    """Accuracy of each model over all pairs by plain log-likelihood, with its 95 % interval."""
    table = pair_views.summary(result, ("LP",))
    overall = table[table["stratum"] == "all"].sort_values("accuracy", ascending=False, kind="stable")
    return [
        Headline(short(row["model"]), _percent(row["accuracy"]),
                 f"{_points(row['ci_low'])}-{_points(row['ci_high'])}, n = {row['n']}", "accuracy")
        for row in overall.to_dict("records")
    ]


HEADLINES: dict[str, Callable[[Any], list[Headline]]] = {
    "clusters": of_clusters, "alignment": of_alignment, "minimal-pairs": of_minimal_pairs,
}


def short(model: str) -> str:
    """A built-in model's name without its prefix; any other as it is.

    >>> short("builtin/bert-mini-ja"), short("owner/name")
    ('bert-mini-ja', 'owner/name')
    """
    return model.removeprefix(BUILT_IN_PREFIX)


def _number(value: float, digits: int) -> str:
    return "undefined" if pd.isna(value) else f"{value:,.{digits}f}"


def _percent(value: float) -> str:
    return "undefined" if pd.isna(value) else f"{value:.1%}"


def _points(value: float) -> str:
    return f"{100 * value:.1f}"
