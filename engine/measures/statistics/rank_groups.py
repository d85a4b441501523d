"""Which models cannot be told apart? Whether two differ, and groups and ranges of ranks from paired comparisons."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.errors import InputError
from engine.messages.message import Message


def is_separable(difference: float, low: float, high: float) -> bool:
    """Does the interval of a difference leave out 0, on the side on which the difference itself lies?

    An interval by resampling need not contain what was observed. Two models count as different only where both say
    which is the greater, so that no ranking can contradict a difference.

    difference, low, high: the difference and the ends of its interval; nan where they are undefined, and then nothing
    differs.

    >>> is_separable(-2.0, -3.0, -1.0), is_separable(-2.0, -3.0, 1.0), is_separable(-2.0, 1.0, 3.0)
    (True, False, False)
    >>> is_separable(0.0, 1.0, 3.0), is_separable(0.0, -3.0, -1.0)
    (False, False)
    """
    return bool((low > 0 and difference > 0) or (high < 0 and difference < 0))


def rank_groups(scores: Sequence[float] | NDArray[np.float64], separable: ArrayLike) -> NDArray[np.int64]:
    """Who shares a group with the best model that cannot be told apart from it?

    Models are taken from the smallest score up. The best begins group 1; a model joins the group if it
    cannot be told apart from the group's best, and begins the next one if it can.

    Parameters
    ----------
    scores : (n_models,), smaller is better; nan where there is none.
    separable : (n_models, n_models), true where two models differ beyond what resampling explains; symmetric.

    Returns (n_models,) group numbers from 1, the best group first; 0 for a model without score.

    Edges: a group is a statement about its best model only: "cannot be told apart" is not transitive, so two
    members may differ from each other, and the last of one group need not differ from the first of the next. Equal
    scores are taken in the order given. Groups do not correct for the number of comparisons.

    Raises InputError when the shapes do not fit, or `separable` is not symmetric.

    Source: ours; the usual reading of leaderboards with intervals.

    >>> far = np.array([[0, 0, 1], [0, 0, 0], [1, 0, 0]], dtype=bool)
    >>> rank_groups([10.0, 11.0, 12.0], far).tolist()
    [1, 1, 2]
    """
    values, apart = np.asarray(scores, dtype=np.float64), np.asarray(separable, dtype=bool)
    if values.ndim != 1 or apart.shape != (len(values), len(values)) or (apart != apart.T).any():
        raise InputError(
            Message(
                "Rank groups need one score for each model and a symmetric table of who is separable "
                "from whom; got shapes {shape} and {other_shape}.",
                shape=values.shape,
                other_shape=apart.shape,
            )
        )
    groups = np.zeros(len(values), dtype=np.int64)
    best, group = -1, 0
    for model in np.argsort(values, kind="stable"):  # nan last
        if np.isnan(values[model]):
            break
        if best < 0 or apart[best, model]:
            best, group = model, group + 1
        groups[model] = group
    return groups


def rank_ranges(ranks: ArrayLike, apart: ArrayLike) -> list[tuple[int, int] | None]:
    """Which places may each model have, by the comparisons that tell it apart from others?

        first_i = 1 + number of models with a smaller rank that are apart from i
        last_i  = n - number of models with a greater rank that are apart from i

    over the n models that have a rank.

    Parameters
    ----------
    ranks : (n_models,), 1 is the best, equal scores share a rank; nan where there is none.
    apart : (n_models, n_models), true where two models differ beyond what resampling explains; symmetric.

    Returns the first and the last place of each model; None for a model without a rank.

    Range: 1 <= first <= rank <= last <= n.

    Edges: models of one rank are never counted as better or worse, whatever `apart` says. Two models that are not apart
    may have different ranges, as other models part them, and of two that are apart the ranges may overlap. Ranges do not
    correct for the number of comparisons.

    Raises InputError when the shapes do not fit, or `apart` is not symmetric.

    Source: ours.

    >>> far = np.array([[0, 0, 1], [0, 0, 0], [1, 0, 0]], dtype=bool)
    >>> rank_ranges([1, 2, 3], far)
    [(1, 2), (1, 3), (2, 3)]
    """
    places, differ = np.asarray(ranks, dtype=np.float64), np.asarray(apart, dtype=bool)
    if places.ndim != 1 or differ.shape != (len(places), len(places)) or (differ != differ.T).any():
        raise InputError(
            Message(
                "Ranges of ranks need one rank for each model and a symmetric table of who is separable "
                "from whom; got shapes {shape} and {other_shape}.",
                shape=places.shape,
                other_shape=differ.shape,
            )
        )
    ranked = ~np.isnan(places)
    firsts = 1 + (differ & (places[None, :] < places[:, None])).sum(axis=1)  # nan is neither smaller nor greater
    lasts = int(ranked.sum()) - (differ & (places[None, :] > places[:, None])).sum(axis=1)
    return [
        (int(first), int(last)) if is_ranked else None
        for first, last, is_ranked in zip(firsts, lasts, ranked, strict=True)
    ]


def shared_ranks(ranks: Sequence[float], groups: Sequence[float]) -> list[tuple[int, int] | None]:
    """From which place to which does each model share its rank with those that cannot be told apart?

    Parameters
    ----------
    ranks : (n_models,), 1 is the best, equal scores share a rank and leave the next ones out; nan where there is none.
    groups : (n_models,), as `rank_groups` gives them.

    Returns the first and the last place of the group of each model; None for a model without a rank.

    Edges: a group of one has one place.

    Source: ours; what a table without comparisons says of its ranks. `rank_ranges` says it where there are some.

    >>> shared_ranks([1, 2, 3, float("nan")], [1, 1, 2, 0])
    [(1, 2), (1, 2), (3, 3), None]
    """
    places = np.asarray(ranks, dtype=np.float64)
    members = np.asarray(groups, dtype=np.float64)
    shared: list[tuple[int, int] | None] = []
    for rank, group in zip(places, members, strict=True):
        if np.isnan(rank):
            shared.append(None)
            continue
        own = places[(members == group) & ~np.isnan(places)] if not np.isnan(group) else np.array([rank])
        shared.append((int(own.min()), int(own.min()) + len(own) - 1))
    return shared
