"""The guided reading of minimal pairs, from the accuracies shown. Pure: no streamlit."""

from __future__ import annotations

import pandas as pd

from dashboard.shared.wording import model_name
from engine.evaluations.minimal_pairs.length_effects import misleads
from engine.messages.languages import tr, tr_n


def guide(summary: pd.DataFrame) -> tuple[str, ...]:
    """What the cards show, what it means, what to do next; `summary`: `views.summary` of the score shown."""
    overall = summary[summary["stratum"] == "all"].dropna(subset=["accuracy"])
    if overall.empty:
        return ()
    best = overall.iloc[int(overall["accuracy"].argmax())]
    name = model_name(best["model"])
    strata = summary[summary["model"] == best["model"]]
    by_stratum = strata.set_index("stratum")
    see = tr_n(
        "{model} prefers the acceptable sentence in {accuracy:.1%} of {n} pair; guessing would be correct in 50 %.",
        "{model} prefers the acceptable sentence in {accuracy:.1%} of {n:,} pairs; guessing would be correct in 50 %.",
        int(best["n"]),
        model=name,
        accuracy=best["accuracy"],
    )
    is_counted = "A<U" in by_stratum.index
    numbers = (
        {"shorter": by_stratum.loc["A<U", "accuracy"], "longer": by_stratum.loc["A>U", "accuracy"]}
        if is_counted
        else {}
    )
    if not is_counted:
        meaning = tr(
            "Whether it only prefers fewer tokens is not seen: the file of its scores says no numbers of tokens."
        )
    elif not by_stratum.loc["A<U", "n"] or not by_stratum.loc["A>U", "n"]:
        meaning = tr(
            "Whether it only prefers fewer tokens is not seen: in no pair, or only in one direction, the two "
            "sentences differ in their numbers of tokens."
        )
    elif misleads(strata):
        meaning = tr(
            "Length misleads it: it is correct in {shorter:.1%} where the acceptable sentence has fewer "
            "tokens, and in {longer:.1%} where it has more.",
            **numbers,
        )
    elif by_stratum.loc[["A<U", "A>U"], ["ci_low", "ci_high"]].isna().any(axis=None):
        meaning = tr(
            "It is correct in {shorter:.1%} where the acceptable sentence has fewer tokens, and in "
            "{longer:.1%} where it has more; without intervals it is not known whether length misleads it.",
            **numbers,
        )
    else:
        meaning = tr(
            "It is correct in {shorter:.1%} where the acceptable sentence has fewer tokens, and in "
            "{longer:.1%} where it has more: length does not clearly mislead it.",
            **numbers,
        )
    return (
        see,
        meaning,
        tr(
            "Choose another score, such as MeanLP or PenLP, to see what is left of the effect of "
            "length. Choose *{source}* above for pairs of your own, and press *{run}*.",
            source=tr("My file"),
            run=tr("Run"),
        ),
    )
