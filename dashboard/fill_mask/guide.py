"""The guided reading of fill-mask, from the means shown. Pure: no streamlit."""

from __future__ import annotations

import pandas as pd

from dashboard.fill_mask.charts import percent, percent_digits
from dashboard.shared.theme import shortened
from dashboard.shared.wording import verbatim
from engine.evaluations.fill_mask.records import ALL
from engine.messages.languages import tr


def guide(means: pd.DataFrame) -> tuple[str, ...]:
    """What the bars show, what it means, what to do next; `means` as `means.means_input` returns them."""
    overall = means[means["domain"] == ALL].dropna(subset=["mean_probability"])
    if overall.empty:
        return ()
    ranked = overall.sort_values("mean_probability", ascending=False, kind="stable")
    digits = percent_digits(ranked["mean_probability"].tolist())
    best, worst = ranked.iloc[0], ranked.iloc[-1]
    see = tr(
        "Each bar is the mean probability that a model gives to the masked words. {best} gives them {probability}.",
        best=verbatim(shortened(best["model"])),
        probability=percent(best["mean_probability"], digits),
    )
    meaning = tr("Larger is better: the model expects the words that were written. 100 % would be certainty.")
    if len(ranked) > 1:
        meaning = tr(
            "Larger is better: the model expects the words that were written. The lowest is {worst} with "
            "{probability}.",
            worst=verbatim(shortened(worst["model"])),
            probability=percent(worst["mean_probability"], digits),
        )
    return (
        see,
        meaning,
        tr(
            "Choose a sentence below to see what the models predict instead. Choose *{source}* above "
            "for sentences of your own, and press *{run}*.",
            source=tr("My file"),
            run=tr("Run"),
        ),
    )
