"""Two runs, two models of a run, or two settings of one, compared on the items that both have.

Pure arithmetic on results: no model is run. What is compared is what the pages show, from the same choices.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from engine.errors import InputError
from engine.evaluations.comparison.alignment_sides import compare_alignments
from engine.evaluations.comparison.common_items import Differences, Number
from engine.evaluations.comparison.grid_sides import compare_grids
from engine.evaluations.comparison.pair_sides import compare_pairs
from engine.evaluations.comparison.records import NUMBERS, Comparison, Side, scored_models
from engine.evaluations.comparison.sentence_sides import compare_classifications, compare_clusters, compare_masks
from engine.evaluations.shared.declared_tables import returns
from engine.language.quantities import count
from engine.measures.statistics.paired_tests import holm
from engine.measures.statistics.rank_groups import is_separable
from engine.messages.message import Message, list_of

SIGNIFICANT = 0.05
COMPARE: Mapping[str, Callable[[Side, Side], Differences]] = {
    "clusters": compare_clusters,
    "classification": compare_classifications,
    "fill-mask": compare_masks,
    "alignment": compare_alignments,
    "metric-study": compare_grids,
    "minimal-pairs": compare_pairs,
}


def compare(kind: str, first: Side, second: Side) -> Comparison:
    """Compare two sides of one kind (a key of COMPARE).

    Raises InputError for a kind that has no comparison, a model or setting that a side does not hold, and sides
    without a sentence in common.
    """
    if kind not in COMPARE:
        raise InputError(
            Message("Runs of {kind} have no items to compare; {COMPARE} have.", kind=kind, COMPARE=list_of(COMPARE))
        )
    for side in (first, second):
        if side.model not in (models := scored_models(side.result)):
            raise InputError(
                Message(
                    "The run holds no model {model!r}; it holds {models}.", model=side.model, models=list_of(models)
                )
            )
    found = COMPARE[kind](first, second)
    return Comparison(
        _numbers(found.numbers),
        found.items,
        found.scale,
        found.common.n_only_first,
        found.common.n_only_second,
        (*_left_aside(found, first, second), *found.notices),
    )


@returns(NUMBERS)
def _numbers(numbers: Sequence[Number]) -> pd.DataFrame:
    p_values = np.array([number.p_value for number in numbers], dtype=np.float64)
    corrected = np.full(len(numbers), np.nan)
    defined = ~np.isnan(p_values)
    corrected[defined] = holm(p_values[defined])
    rows: list[dict[str, Any]] = []
    for number, p_holm in zip(numbers, corrected, strict=True):
        separable = (
            p_holm < SIGNIFICANT
            if not np.isnan(p_holm)
            else is_separable(number.difference, number.ci_low, number.ci_high)
        )
        rows.append({**vars(number), "p_holm": p_holm, "separable": bool(separable)})
    return NUMBERS.frame_of_records(rows)


def _left_aside(found: Differences, first: Side, second: Side) -> tuple[str, ...]:
    sides = ((found.common.n_only_first, first), (found.common.n_only_second, second))
    return tuple(
        Message("Only {name} has {n} that the other side lacks; not counted here.", name=side.name, n=count(n, "item"))
        for n, side in sides
        if n
    )
