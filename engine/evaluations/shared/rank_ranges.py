"""From which place to which is each model of a table? As its columns say, or else the comparisons beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeGuard

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from engine.evaluations.shared.common_columns import RANK_FIRST, RANK_GROUP, RANK_LAST, SEPARABLE
from engine.measures.statistics.rank_groups import rank_ranges, shared_ranks

Places = tuple[int, int] | None


def apart(models: pd.Series, comparisons: pd.DataFrame) -> NDArray[np.bool_]:
    """Which two of the models differ by a table of comparisons, bool (n_models, n_models); others of it are left out."""
    position = {model: index for index, model in enumerate(models)}
    differ = np.zeros((len(models), len(models)), dtype=bool)
    separable = comparisons[comparisons[SEPARABLE.name].fillna(False).astype(bool)]
    for model, other in zip(separable["model"], separable["other"], strict=True):
        if model in position and other in position:
            one, two = position[model], position[other]
            differ[one, two] = differ[two, one] = True
    return differ


def says_who_differs(comparisons: pd.DataFrame | None) -> TypeGuard[pd.DataFrame]:
    """Whether a table compares any two models; a run of an earlier version may have an empty one, or none."""
    return comparisons is not None and bool(comparisons[SEPARABLE.name].notna().any())


def ranges_of(ranked: pd.DataFrame, comparisons: pd.DataFrame | None = None, *, of: str = "") -> list[Places]:
    """The first and the last place of each model of a table with a column `rank`; None without a rank.

    A table of an earlier version lacks them. They follow from `comparisons` of its models two by two; of a table without,
    from its rank groups, which compare with the best of a group alone; and without these, places are the bare ranks.
    of: what follows the names of the columns, as " clusters" in "rank clusters".

    >>> ranges_of(pd.DataFrame({"rank": [1, 2, None], "rank_first": [1, 1, None], "rank_last": [2, 2, None]}))
    [(1, 2), (1, 2), None]
    """
    ranks, groups, firsts, lasts = (
        _numbers(ranked, f"{name}{of}") for name in ("rank", RANK_GROUP.name, RANK_FIRST.name, RANK_LAST.name)
    )
    otherwise = (
        rank_ranges(ranks, apart(ranked["model"], comparisons))
        if says_who_differs(comparisons)
        else shared_ranks(ranks.tolist(), groups.tolist())
    )
    return [
        inferred if inferred is None or np.isnan(first + last) else (int(first), int(last))
        for first, last, inferred in zip(firsts, lasts, otherwise, strict=True)
    ]


def range_columns(ranges: Sequence[Places], *, of: str = "") -> dict[str, pd.Series]:
    """Ranges as the two columns of a table, NA where there is none."""
    return {
        f"{column.name}{of}": pd.Series(
            pd.array([pd.NA if places is None else places[end] for places in ranges], dtype="Int64")
        )
        for end, column in enumerate((RANK_FIRST, RANK_LAST))
    }


def _numbers(frame: pd.DataFrame, name: str) -> NDArray[np.float64]:
    """A column as numbers, nan where a value or the column is missing."""
    if name not in frame:
        return np.full(len(frame), np.nan)
    return np.asarray(pd.to_numeric(frame[name]).astype("Float64").to_numpy(dtype=np.float64, na_value=np.nan))
