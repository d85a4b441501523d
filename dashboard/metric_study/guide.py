"""The guided reading of a metric study, from the numbers of the result. Pure: no streamlit."""

from __future__ import annotations

import pandas as pd

from dashboard.metric_study.labels import number, setting_name
from dashboard.shared.wording import verbatim
from engine.evaluations.metric_study.grid import best_place
from engine.evaluations.metric_study.records import BERTSCORE, Result
from engine.evaluations.shared.finding import FEWEST
from engine.messages.languages import sentences, tr, tr_n


def guide(result: Result) -> tuple[str, ...]:
    """What the grid shows, what it means, what to do next; nothing where no setting has a correlation."""
    table = result.correlations
    place = best_place(table)
    if place is None:
        return ()
    best = table.to_dict("records")[place]
    see = tr(
        "Each cell is the correlation of one setting with the human scores. The highest Pearson's r of BERTScore is "
        "{r}: {setting}.",
        r=number(best["pearson"]),
        setting=verbatim(setting_name(best)),
    )
    meaning = [tr("Larger is better: 1 is a perfect linear relation to the scores of the annotators.")]
    meaning += _others(table, place)
    if len(result.annotators) > 1 and result.mean_agreement == result.mean_agreement:
        meaning.append(
            tr("Two annotators agree by r = {agreement} on average.", agreement=number(result.mean_agreement))
        )
    return (
        see,
        sentences(*meaning),
        tr(
            "Choose a cell to see its pairs. For pairs of your own with human scores open *{form}*, choose *{source}* and press "
            "*{run}*.",
            form=tr("New evaluation"),
            source=tr("My file"),
            run=tr("Run"),
        ),
    )


def _others(table: pd.DataFrame, place: int) -> list[str]:
    """How many of the other settings of BERTScore were tested against the best and do not differ from it."""
    others = table[((table["kind"] == BERTSCORE) & table["williams_p"].notna()).to_numpy()].drop(
        index=table.index[place], errors="ignore"
    )
    if others.empty:
        return []
    if int(table["n"].iloc[place]) < FEWEST:
        return [tr("There are too few pairs to tell settings apart: at least {fewest} are needed.", fewest=FEWEST)]
    return [
        tr_n(
            "The other setting of BERTScore: {n_inseparable:,} of {n} does not differ significantly from it (Williams' test).",
            "Of the {n:,} other settings of BERTScore {n_inseparable:,} do not differ significantly from it (Williams' test, "
            "not corrected).",
            len(others),
            n_inseparable=int((~others["separable"]).sum()),
        )
    ]
