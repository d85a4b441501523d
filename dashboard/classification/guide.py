"""The guided reading of a classification, from the numbers of the result. Pure: no streamlit."""

from __future__ import annotations

from dashboard.shared.theme import shortened
from dashboard.shared.wording import verbatim
from engine.evaluations.classification.records import Result
from engine.messages.languages import sentences, tr


def guide(result: Result) -> tuple[str, ...]:
    """What the dots show, what it means, what to do next."""
    ranked = result.models.sort_values("rank", kind="stable")
    best = ranked.iloc[0]
    name = verbatim(shortened(best["model"], ranked["model"]))
    see = tr("Each dot is the accuracy of one training run, the bar their mean.")
    if len(ranked) == 1:
        see += " " + tr("The mean of {best} is {accuracy:.1%}.", best=name, accuracy=best["accuracy_mean"])
    elif (n_tied := int((ranked["accuracy_mean"] == best["accuracy_mean"]).sum())) > 1:
        see += " " + tr(
            "{n:,} models share the highest mean, {accuracy:.1%}; {best} is one of them.",
            n=n_tied,
            best=name,
            accuracy=best["accuracy_mean"],
        )
    else:
        see += " " + tr("{best} has the highest mean, {accuracy:.1%}.", best=name, accuracy=best["accuracy_mean"])
    if best["ci_low"] > best["baseline"]:
        meaning = tr(
            "Always predicting the largest class would be correct in {baseline:.1%}: the vectors of {best} "
            "tell the classes apart.",
            best=name,
            baseline=best["baseline"],
        )
    else:
        meaning = tr(
            "Always predicting the largest class would be correct in {baseline:.1%}: there is no evidence "
            "that the vectors of {best} tell the classes apart.",
            best=name,
            baseline=best["baseline"],
        )
    own = tr(
        "For sentences with labels of your own open *{form}*, choose *{source}* and press *{run}*.",
        form=tr("New evaluation"),
        source=tr("My file"),
        run=tr("Run"),
    )
    return see, meaning, sentences(*_most_confused(result, best["model"], name), own)


def _most_confused(result: Result, model: str, name: str) -> list[str]:
    """Which class a model takes for which most often; nothing where it takes none for another, or two as often."""
    table = result.confusion
    confused = table[((table["model"] == model) & (table["class"] != table["predicted"]) & (table["n"] > 0)).to_numpy()]
    if confused.empty:
        return []
    most = confused[(confused["n"] == confused["n"].max()).to_numpy()]
    if len(most) > 1:
        return [tr("The confusion matrices show which classes are mistaken for others.")]
    return [
        tr(
            "The confusion matrices show which classes are mistaken for others: under {best} most often {true} for "
            "{predicted}.",
            best=name,
            true=verbatim(str(most["class"].iloc[0])),
            predicted=verbatim(str(most["predicted"].iloc[0])),
        )
    ]
