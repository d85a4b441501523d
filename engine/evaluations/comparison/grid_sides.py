"""Two sides of a metric study: two settings of its grid, of one run or of two, held against the human scores."""

from __future__ import annotations

import numpy as np
import pandas as pd

from engine.errors import InputError
from engine.evaluations.alignment.scoring import in_words
from engine.evaluations.comparison.alignment_sides import STANDARD, correlation_difference
from engine.evaluations.comparison.common_items import Differences, changed_most_first, common_items
from engine.evaluations.comparison.records import GridView, Side
from engine.evaluations.metric_study.records import BERTSCORE, Result
from engine.measures.statistics.own_spread import in_own_spread
from engine.messages.message import Message


def grid_of(result: Result, model: str) -> pd.DataFrame:
    """The settings of a model's grid, columns idf, penalty and pearson, the best first."""
    table = result.correlations
    of_model = table[(table["kind"] == BERTSCORE) & (table["model"] == model)]
    return of_model[["idf", "penalty", "pearson"]].sort_values(
        "pearson", ascending=False, kind="stable", ignore_index=True
    )


def compare_grids(first: Side, second: Side) -> Differences:
    """Pearson's r of two settings with the human gold and Williams' test; the pairs that they order most differently."""
    common = common_items(*map(_scores, (first, second)))
    table = common.table
    scores = [table[f"score_{side}"].to_numpy() for side in ("first", "second")]
    number = correlation_difference(table["gold_first"].to_numpy(), scores[0], scores[1])
    table = table.assign(
        first=scores[0],
        second=scores[1],
        difference=np.subtract(*(in_own_spread(side, centred=True) for side in scores)),
    )
    return Differences(common, (number,), changed_most_first(table), STANDARD)


def _scores(side: Side) -> pd.DataFrame:
    """The pairs of a side with their score under its setting and the human gold."""
    result: Result = side.result
    view = side.shown if isinstance(side.shown, GridView) else GridView()
    grid = grid_of(result, side.model)
    idf, penalty = (
        (view.idf, view.penalty) if view.idf else tuple(grid.loc[0, ["idf", "penalty"]]) if len(grid) else ("", "")
    )
    scores = result.scores_of(side.model, idf, penalty)
    if scores is None:
        raise InputError(
            Message(
                "The study has no setting of {model} with idf {idf} and penalty {penalty}.",
                model=side.model,
                **(in_words(idf, penalty) if idf else in_words("none", "none")),
            )
        )
    return (
        result.pairs[["row", "reference", "candidate", "category", "gold"]]
        .rename(columns={"reference": "text", "candidate": "other_text"})
        .assign(score=scores)
    )
