"""The guided reading of fill-mask, from the means shown. Pure: no streamlit."""

from __future__ import annotations

import pandas as pd

from dashboard.fill_mask.charts import percent, percent_digits
from dashboard.shared.theme import shortened
from dashboard.shared.wording import verbatim
from engine.evaluations.fill_mask.finding import are_over_the_same
from engine.evaluations.fill_mask.records import ALL, Result
from engine.messages.languages import sentences, tr


def guide(means: pd.DataFrame, result: Result) -> tuple[str, ...]:
    """What the bars show, what it means, what to do next; `means` as `means.means_input` returns them for a result."""
    every = means[(means["domain"] == ALL).to_numpy()]
    overall = every.dropna(subset=["mean_probability"])
    if overall.empty:
        return ()
    ranked = overall.sort_values("mean_probability", ascending=False, kind="stable")
    digits = percent_digits(ranked["mean_probability"].tolist())
    best, worst = ranked.iloc[0], ranked.iloc[-1]
    see = tr(
        "Each bar is the mean probability that a model gives to the masked words. {best} gives them {probability}.",
        best=verbatim(shortened(best["model"], ranked["model"])),
        probability=percent(best["mean_probability"], digits),
    )
    meaning = [tr("Larger is better: the model expects the words that were written. 100% would be certainty.")]
    if not are_over_the_same(every, result):
        meaning.append(tr("These means are over different sentences, so they do not rank the models."))
    elif worst["mean_probability"] < best["mean_probability"]:
        meaning = [
            tr(
                "Larger is better: the model expects the words that were written. The lowest is {worst} with "
                "{probability}.",
                worst=verbatim(shortened(worst["model"], ranked["model"])),
                probability=percent(worst["mean_probability"], digits),
            )
        ]
    elif len(ranked) > 1:
        meaning.append(tr("All models give them as much."))
    return (
        see,
        sentences(*meaning),
        tr(
            "Choose a sentence below to see what the models predict instead. For sentences of your own open *{form}*, choose "
            "*{source}* and press *{run}*.",
            form=tr("New evaluation"),
            source=tr("My file"),
            run=tr("Run"),
        ),
    )
