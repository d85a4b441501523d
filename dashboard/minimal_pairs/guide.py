"""The guided reading of minimal pairs, from the accuracies shown. Pure: no streamlit."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from dashboard.shared.wording import model_name
from engine.evaluations.minimal_pairs.length_effects import decides
from engine.messages.languages import sentences, tr, tr_n, translated
from engine.messages.message import list_of

BY_LENGTH = ("MeanLP", "PenLP")  # the scores that divide by a length


def guide(summary: pd.DataFrame, score: str, scores: Sequence[str]) -> tuple[str, ...]:
    """What the cards show, what it means, what to do next.

    summary: `views.summary` under the score shown, `score`. scores: those that the pairs have.
    """
    overall = summary[summary["stratum"] == "all"].dropna(subset=["accuracy"])
    if overall.empty:
        return ()
    best = overall.iloc[int(overall["accuracy"].argmax())]
    see = tr_n(
        "{model} prefers the acceptable sentence in {accuracy:.1%} of {n} pair; guessing would be correct in 50%.",
        "{model} prefers the acceptable sentence in {accuracy:.1%} of {n:,} pairs; guessing would be correct in 50%.",
        int(best["n"]),
        model=model_name(best["model"]),
        accuracy=best["accuracy"],
    )
    own = tr(
        "For pairs of your own open *{form}*, choose *{source}* and press *{run}*.",
        form=tr("New evaluation"),
        source=tr("My file"),
        run=tr("Run"),
    )
    steps = []
    if others := [name for name in BY_LENGTH if name != score and name in scores]:
        steps = [
            tr(
                "Choose another score, such as {scores}, to see what is left of the effect of length.",
                scores=translated(list_of(others)),
            )
        ]
    return see, _meaning(summary[summary["model"] == best["model"]]), sentences(*steps, own)


def _meaning(strata: pd.DataFrame) -> str:
    """Whether length misleads the model of these strata, as far as it is seen."""
    by_stratum = strata.set_index("stratum")
    if "A<U" not in by_stratum.index:
        return tr(
            "It cannot be seen whether it only prefers fewer tokens: the file of its scores has no numbers of tokens."
        )
    if not by_stratum.loc["A<U", "n"] or not by_stratum.loc["A>U", "n"]:
        return tr(
            "It cannot be seen whether it only prefers fewer tokens: in no pair, or only in one direction, the two "
            "sentences differ in their numbers of tokens."
        )
    numbers = {"shorter": by_stratum.loc["A<U", "accuracy"], "longer": by_stratum.loc["A>U", "accuracy"]}
    if decides(strata):
        return tr(
            "Length misleads it: it is correct in {shorter:.1%} where the acceptable sentence has fewer "
            "tokens, and in {longer:.1%} where it has more.",
            **numbers,
        )
    if by_stratum.loc[["A<U", "A>U"], ["ci_low", "ci_high"]].isna().any(axis=None):
        return tr(
            "It is correct in {shorter:.1%} where the acceptable sentence has fewer tokens, and in "
            "{longer:.1%} where it has more; without intervals it is not known whether length misleads it.",
            **numbers,
        )
    return tr(
        "It is correct in {shorter:.1%} where the acceptable sentence has fewer tokens, and in "
        "{longer:.1%} where it has more: length does not clearly mislead it.",
        **numbers,
    )
