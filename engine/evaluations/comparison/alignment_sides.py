"""Two sides of alignment: models, runs, layers or scorings on the same sentence pairs."""

from __future__ import annotations

import numpy as np
import pandas as pd

from engine.errors import InputError
from engine.evaluations.alignment.human import human_scores
from engine.evaluations.alignment.records import Result
from engine.evaluations.alignment.rescoring import rescore
from engine.evaluations.comparison.common_items import (
    WILLIAMS,
    Differences,
    Number,
    changed_most_first,
    common_items,
    mean_difference,
    means_apart,
)
from engine.evaluations.comparison.records import AlignmentView, Side
from engine.measures.statistics.correlations.correlation import pearson
from engine.measures.statistics.correlations.williams import williams_test
from engine.measures.statistics.own_spread import in_own_spread
from engine.messages.message import Message, list_of

PLAIN, PENALISED = ("precision", "recall", "f1"), "penalized_f1"
RAW = Message("points of F1")
STANDARD = Message("F1 in standard deviations, because the two sides spread their similarities differently")
OTHER_HUMANS = Message("The files of the two sides have different human scores; those on the left count.")
OTHER_SCALE = Message(
    "Two models, layers or units of matching put their similarities on different scales: a "
    "difference of their means is no difference of quality. The order of the pairs and the "
    "correlation with human scores can be compared."
)
OTHER_MODEL = Message("two models put their similarities on different scales: no difference, no test")
OTHER_LAYER = Message("two layers put their similarities on different scales: no difference, no test")
OTHER_UNIT = Message("words and subwords put their similarities on different scales: no difference, no test")


def compare_alignments(first: Side, second: Side) -> Differences:
    """Means of P, R and F1 (with the penalty where a side has one), correlation with the humans' mean z-scores."""
    sides = (first, second)
    views = [
        side.shown if isinstance(side.shown, AlignmentView) else AlignmentView(scoring=side.result.settings.scoring)
        for side in sides
    ]
    penalised = any(view.scoring.penalty != "none" for view in views)
    common = common_items(*(_scores(side, view) for side, view in zip(sides, views, strict=True)))
    table = common.table
    measures = (*PLAIN, PENALISED) if penalised else PLAIN
    reason = _why_not_comparable(first, second, views[0], views[1])
    numbers: list[Number] = []
    for name in measures:
        columns = table[f"{name}_first"].to_numpy(), table[f"{name}_second"].to_numpy()
        numbers.append(
            means_apart(name, Message("mean over pairs"), *columns, reason)
            if reason
            else mean_difference(name, Message("mean over pairs"), *columns)
        )
    shown = [
        table[f"{PENALISED if view.scoring.penalty != 'none' else 'f1'}_{side}"].to_numpy()
        for view, side in zip(views, ("first", "second"), strict=True)
    ]
    of_sides = [table[f"human_{side}"].to_numpy() for side in ("first", "second")]
    human = np.where(np.isnan(of_sides[0]), of_sides[1], of_sides[0])
    differ = ~np.isnan(of_sides[0]) & ~np.isnan(of_sides[1]) & ~np.isclose(of_sides[0], of_sides[1])
    notices = (OTHER_HUMANS,) if differ.any() else ()
    if not np.isnan(human).all():
        numbers.append(correlation_difference(human, shown[0], shown[1]))
    comparable = shown if not reason else [in_own_spread(side, centred=True) for side in shown]
    table = table.assign(first=shown[0], second=shown[1], difference=comparable[0] - comparable[1])
    return Differences(
        common,
        numbers,
        changed_most_first(table),
        STANDARD if reason else RAW,
        (*notices, OTHER_SCALE) if reason else notices,
    )


def correlation_difference(human: np.ndarray, first: np.ndarray, second: np.ndarray) -> Number:
    """Pearson's r of two scores (n,) of the same pairs with the human score, and Williams' test of the difference."""
    complete = ~(np.isnan(human) | np.isnan(first) | np.isnan(second))
    one, other = (
        pearson(human[complete], side[complete], names=(Message("the human score"), Message("the score"))).value
        for side in (first, second)
    )
    test = williams_test(human, first, second)
    return Number(
        "pearson",
        Message("pairs with a human score"),
        test.n,
        one,
        other,
        one - other,
        test=WILLIAMS,
        ci_low=test.ci_low,
        ci_high=test.ci_high,
        p_value=test.p_value,
        reason=test.reason,
    )


def _scores(side: Side, view: AlignmentView) -> pd.DataFrame:
    """The pairs of a side with their scores and the mean z-score of their annotators (NaN where there is none)."""
    result: Result = side.result
    if side.model not in result.settings.models:
        raise InputError(
            Message(
                "The run holds no model {model!r}; it holds {models}.",
                model=side.model,
                models=list_of(result.settings.models),
            )
        )
    scores = rescore(result, view.scoring, view.layer, models=(side.model,)).pairs
    human = human_scores(result.pairs)
    pairs = result.pairs.assign(human=np.nan if human is None else human.gold)
    table = scores[["row", *PLAIN, PENALISED]].merge(
        pairs[["row", "reference", "candidate", "category", "human"]], on="row", how="inner"
    )
    return table.rename(columns={"reference": "text", "candidate": "other_text"})


def _why_not_comparable(first: Side, second: Side, first_view: AlignmentView, second_view: AlignmentView) -> str:
    """Why the means of two sides are on different scales, "" where they are on one.

    idf, penalty, readings and special tokens only weigh and correct the same similarities.
    """
    if first.model != second.model:
        return OTHER_MODEL
    if _layer(first, first_view) != _layer(second, second_view):
        return OTHER_LAYER
    return OTHER_UNIT if first_view.scoring.unit != second_view.scoring.unit else ""


def _layer(side: Side, view: AlignmentView) -> int:
    """The number of the layer that is shown of a side."""
    result: Result = side.result
    return result.layers[side.model][result.layer_index(side.model, view.layer)]
