"""Do several evaluations put models in one order? Ranks by each one's better end, and their correlation in pairs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.errors import InputError
from engine.measures.statistics.correlations.correlation import Correlation, kendall, spearman
from engine.messages.message import Message, list_of

ENDS = ("lower", "higher")


@dataclass(frozen=True)
class RankAgreement:
    """Two evaluations by name, and how far they agree on the models that both have."""

    first: str
    second: str
    spearman: Correlation
    kendall: Correlation


def ranks(values: ArrayLike, better: str) -> NDArray[np.float64]:
    """Which place has each model?

        rank_i = 1 + number of models that are better than i

    Parameters
    ----------
    values : (n_models,) numbers; nan = not evaluated.
    better : "lower" or "higher", which end is the better one (`MeasureCard.better`).

    Returns float64 (n_models,): 1 is best; nan where the value is. Equal values share the best place they could
    have, and the places after it stay empty (1, 2, 2, 4).

    Raises InputError for another end and for values that are no column.

    Source: the usual ranking of competitions; the papers' tables have no ties.

    >>> ranks([560.13, 761.58, 631.06], "lower").tolist()
    [1.0, 3.0, 2.0]
    """
    array = _turned(values, better)
    better_ones = (array[None, :] > array[:, None]).sum(axis=1)  # (n_models,); nan is better than nothing
    return np.where(np.isnan(array), np.nan, 1.0 + better_ones)


def rank_agreement(columns: Mapping[str, ArrayLike], better: Mapping[str, str]) -> tuple[RankAgreement, ...]:
    """Do evaluations agree about which models are good?

    Every column is turned so that larger is better, then Spearman's rho and Kendall's tau-b are taken of each two
    columns over the models that have both values: 1 is the same order, -1 the opposite one, whichever ends are
    the better ones.

    Parameters
    ----------
    columns : by name of the evaluation, (n_models,) numbers, models in one order; nan = not evaluated.
    better : by the same names, "lower" or "higher".

    Range: [-1, 1], no unit, larger is more agreement; each coefficient with a 95% interval. With the handful of
    models that one compares the intervals are wide: six models leave (-0.78, 0.80) around a rho of 0.03.

    Edges: fewer than 3 models with both values, or all of one value: nan, and `reason` says why. Fewer than two
    columns: no pair.

    Raises InputError for columns of different lengths, a missing or unknown end, and infinite values.

    Source: `engine.measures.statistics.correlations.correlation`. Shibayama et al. 2020 compare the orders by eye.

    >>> columns = {"score": [1.0, 2.0, 3.0], "accuracy": [0.9, 0.8, 0.7]}
    >>> (agreement,) = rank_agreement(columns, {"score": "lower", "accuracy": "higher"})
    >>> agreement.spearman.value, agreement.kendall.value
    (1.0, 1.0)
    """
    missing = [name for name in columns if name not in better]
    if missing:
        raise InputError(Message("Which end is better is not said of: {missing}.", missing=list_of(missing)))
    turned = {name: _turned(values, better[name]) for name, values in columns.items()}
    if len({column.shape for column in turned.values()}) > 1:
        raise InputError(
            Message(
                "Evaluations are compared over one list of models; got columns of {values} values.",
                values=list_of(str(column.size) for column in turned.values()),
            )
        )
    return tuple(
        RankAgreement(
            first,
            second,
            spearman(turned[first], turned[second], names=(first, second)),
            kendall(turned[first], turned[second], names=(first, second)),
        )
        for first, second in combinations(turned, 2)
    )


def _turned(values: ArrayLike, better: str) -> NDArray[np.float64]:
    if better not in ENDS:
        raise InputError(Message("The better end is one of {ENDS}; got {better!r}.", ENDS=list_of(ENDS), better=better))
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise InputError(
            Message(
                "The values of an evaluation are one column, a number for each model; got {shape}.", shape=array.shape
            )
        )
    return -array if better == "lower" else array.copy()
