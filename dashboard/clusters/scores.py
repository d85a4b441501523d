"""The models' scores in words and numbers: a table with ranks and intervals, and what chance leaves of them."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from dashboard.clusters.charts import interval_text
from dashboard.shared.ranks import UNBROKEN, rank_words
from dashboard.shared.theme import decimals, shortened
from dashboard.shared.wording import column_label, verbatim
from engine.evaluations.clusters.records import Result

# measure -> its column in Result.models
MEASURES = {"dispersion_score": "score", "in_class_dispersion": "in_class_dispersion",
            "out_of_class_dispersion": "out_of_class_dispersion"}
VARIANCES = ("in_class_variance", "out_of_class_variance")
SURE = 0.05
NAMED = 3


def score_table(result: Result) -> None:
    """A line for each model, the best first: rank, the three measures with their intervals, the two variances."""
    ranked = result.models.sort_values("rank", na_position="last", kind="stable")
    told = result.intervals
    ends = dict(zip(zip(told["model"], told["measure"], strict=True),
                    zip(told["ci_low"], told["ci_high"], strict=True), strict=True))
    digits = {measure: decimals(ranked[column]) for measure, column in MEASURES.items()}
    heads = ["Rank", "Model", *(verbatim(column_label(measure)) for measure in (*MEASURES, *VARIANCES))]
    lines = []
    for line, rank in zip(ranked.to_dict("records"), rank_words(ranked), strict=True):
        cells = [rank, verbatim(shortened(line["model"]))]
        for measure, column in MEASURES.items():
            number = _number(float(line[column]), digits[measure])
            low, high = ends.get((line["model"], measure), (float("nan"), float("nan")))
            cells.append(f"**{number}** {_interval(low, high)}".strip())
        cells += [_number(float(line[column]), decimals(ranked[column])) for column in VARIANCES]
        lines.append(cells)
    rows = [heads, [":--:", ":--", *["--:"] * (len(heads) - 2)], *lines]
    st.markdown("\n".join(f"| {' | '.join(cells)} |" for cells in rows))


def size_sentence(result: Result) -> str:
    """How many sentences of how many classes were weighed; the most, where models left some out."""
    n_sentences, n_classes = result.models["n_sentences"].max(), result.models["n_classes"].max()
    return f"{n_sentences:,} sentences of {n_classes:,} classes."


def certainty_lines(result: Result) -> tuple[list[str], list[str]]:
    """What the bootstrap and the shuffled labels say of the ranking: (what to mind, what holds)."""
    mind, trust = [], []
    ranked = result.models.dropna(subset=["rank"]).sort_values("rank", kind="stable")
    for _, group in ranked.groupby("rank_group", sort=True):
        if len(group) > 1:
            best, *others = map(shortened, group["model"])
            mind.append(f"These sentences do not tell {_listed(others)} apart from {best}: the 95 % interval of the "
                        f"difference of M_m holds 0 (paired bootstrap, {result.settings.resamples:,} resamples).")
    if len(ranked) > 1 and not mind:
        trust.append("Each rank group is one model: every step of the ranking holds under the paired bootstrap "
                     f"({result.settings.resamples:,} resamples).")
    null = result.null.dropna(subset=["p_value"])
    idle = null[null["p_value"] > SURE]
    if len(idle):
        worst = ", ".join(f"{shortened(line['model'])} (p = {line['p_value']:.3f})" for line in idle.to_dict("records"))
        mind.append(f"With shuffled labels the score is as good: {worst}. The classes leave no trace in these vectors.")
    elif len(null) == 1:
        low, high = null[["null_low", "null_high"]].iloc[0]
        digits = decimals([low, high])
        trust.append(f"With shuffled labels M_m would be {low:,.{digits}f} to {high:,.{digits}f} "
                     f"(95 %; p = {null['p_value'].iloc[0]:.3f}).")
    elif len(null):
        trust.append(f"With shuffled labels no model comes near its score (p ≤ {null['p_value'].max():.3f}).")
    return mind, trust


def _interval(low: float, high: float) -> str:
    """An interval, small and grey; "" where there is none."""
    if pd.isna(low) or pd.isna(high):
        return ""
    return f":small[:gray[{interval_text(low, high).replace('–', UNBROKEN)}]]"


def _listed(names: Sequence[str]) -> str:
    if len(names) > NAMED:
        return f"{len(names)} models"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _number(value: float, digits: int) -> str:
    return "undefined" if pd.isna(value) else f"{value:,.{digits}f}"
