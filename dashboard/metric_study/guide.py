"""The guided reading of a metric study, from the numbers of the result. Pure: no streamlit."""

from __future__ import annotations

from dashboard.metric_study.labels import number, setting_name
from dashboard.shared.wording import verbatim
from engine.evaluations.metric_study.grid import best_place
from engine.evaluations.metric_study.records import BERTSCORE, Result
from engine.messages.languages import tr, tr_n


def guide(result: Result) -> tuple[str, ...]:
    """What the grid shows, what it means, what to do next; nothing where no setting has a correlation."""
    table = result.correlations
    place = best_place(table)
    if place is None:
        return ()
    best = table.to_dict("records")[place]
    see = tr(
        "Each cell is the correlation of one setting with the human scores. The highest is r = {r}: {setting}.",
        r=number(best["pearson"]),
        setting=verbatim(setting_name(best)),
    )
    others = table[(table["kind"] == BERTSCORE) & table["pearson"].notna()].drop(index=table.index[place])
    n_inseparable = int((~others["separable"]).sum())
    meaning = [tr("Larger is better: 1 would rank the pairs exactly in line with the annotators.")]
    if len(others):
        meaning.append(
            tr_n(
                "Of the {n} other setting {n_inseparable:,} does not differ significantly from it.",
                "Of the {n:,} other settings {n_inseparable:,} do not differ significantly from it.",
                len(others),
                n_inseparable=n_inseparable,
            )
        )
    if len(result.annotators) > 1:
        meaning.append(
            tr("Two annotators agree by r = {agreement} on average.", agreement=number(result.mean_agreement))
        )
    return (
        see,
        " ".join(meaning),
        tr(
            "Choose a cell to see its pairs. Choose *{source}* above for pairs of your own "
            "with human scores, and press *{run}*.",
            source=tr("My file"),
            run=tr("Run"),
        ),
    )
