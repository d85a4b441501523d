"""The guided reading of a classification, from the numbers of the result. Pure: no streamlit."""

from __future__ import annotations

from dashboard.shared.theme import shortened
from dashboard.shared.wording import verbatim
from engine.evaluations.classification.records import Result
from engine.messages.languages import tr


def guide(result: Result) -> tuple[str, ...]:
    """What the dots show, what it means, what to do next."""
    best = result.models.sort_values("rank", kind="stable").iloc[0]
    name = verbatim(shortened(best["model"]))
    see = tr(
        "Each dot is the accuracy of one training run, the bar their mean. {best} has the highest mean, "
        "{accuracy:.1%}.",
        best=name,
        accuracy=best["accuracy_mean"],
    )
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
    confused = result.confusion[
        (result.confusion["model"] == best["model"]) & (result.confusion["class"] != result.confusion["predicted"])
    ]
    largest = confused.iloc[int(confused["n"].argmax())] if len(confused) and confused["n"].max() > 0 else None
    steps = (
        []
        if largest is None
        else [
            tr(
                "The confusion matrices show which classes are mistaken for others: most often {true} for {predicted}.",
                true=verbatim(str(largest["class"])),
                predicted=verbatim(str(largest["predicted"])),
            )
        ]
    )
    own = tr(
        "Choose *{source}* above for sentences with labels of your own, and press *{run}*.",
        source=tr("My file"),
        run=tr("Run"),
    )
    return see, meaning, " ".join([*steps, own])
