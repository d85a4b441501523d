"""The finding of fill-mask: which model gives the masked words the highest probability, and in which domain it does not."""

from __future__ import annotations

import numpy as np
import pandas as pd

from engine.evaluations.fill_mask.records import ALL, Result
from engine.evaluations.shared.finding import (
    Contest,
    Standing,
    contrasts_of,
    finding_of,
    left_out_rows,
    spoken,
)
from engine.language.quantities import decimals
from engine.measures.cards.catalog import CARDS
from engine.messages.message import Message


def finding(result: Result, shown: pd.DataFrame | None = None) -> Message:
    """The models by mean probability.

    shown: the means on show, `Result.common` or `Result.models`; the first where every model could fill the same
    sentences, or None is given. Means over different sentences are listed, not compared.
    """
    means = result.common if shown is None and len(result.common) else result.models if shown is None else shown
    overall = means[(means["domain"] == ALL).to_numpy()]
    contest = Contest(
        Message("mean probability of the masked words"),
        CARDS["mask_probability"].better,
        int(overall["n"].max()) if len(overall) else 0,
        "sentence",
        [
            Standing(row["model"], float(row["mean_probability"]), float(row["ci_low"]), float(row["ci_high"]))
            for row in overall.to_dict("records")
        ],
        contrasts_of(result.comparisons),
        digits=max(1, decimals(100 * value for value in overall["mean_probability"]) - 1),
        n_left_out=left_out_rows(result.excluded),
    )
    if not are_over_the_same(overall, result):
        names = spoken(overall["model"])
        first = contest.ranked[0]
        return Message(
            "The means are over different sentences and are not compared; the highest is that of {model}, {value}.",
            model=names[first.model],
            value=contest.number(first.value),
        )
    return finding_of(contest, _other_domains(means, contest))


def are_over_the_same(overall: pd.DataFrame, result: Result) -> bool:
    """Whether means are over the same sentences: as many of each model as all could fill, where that is known."""
    common = result.common[(result.common["domain"] == ALL).to_numpy()]["n"]
    counts = {int(n) for n in overall["n"]} | {int(n) for n in common}
    return len(overall) < 2 or len(counts) < 2


def _other_domains(means: pd.DataFrame, contest: Contest) -> list[Message]:
    """The domain in which another model leads, by the largest difference; none where the first leads in all."""
    if len(contest.ranked) < 2:
        return []
    names, best = spoken(str(model) for model in means["model"].unique()), contest.ranked[0].model
    by_domain: dict[str, dict[str, float]] = {}
    for row in means[(means["domain"] != ALL).to_numpy()].to_dict("records"):
        by_domain.setdefault(str(row["domain"]), {})[str(row["model"])] = float(row["mean_probability"])
    ahead = [
        (value - values[best], domain, model)
        for domain, values in by_domain.items()
        if not np.isnan(values.get(best, np.nan))
        for model, value in values.items()
        if value > values[best] and contest.number(value) != contest.number(values[best])
    ]
    if len(by_domain) < 2 or not ahead:
        return []
    _, domain, model = max(ahead)
    return [
        Message(
            "In {domain} {model} is ahead, {value} against {other_value}, a difference that was not tested.",
            domain=domain,
            model=names[model],
            value=contest.number(by_domain[domain][model]),
            other_value=contest.number(by_domain[domain][best]),
        )
    ]
