"""A sample of labelled sentences in which each class has the share that it has of all."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.errors import InputError
from engine.messages.message import Message


def stratified_sample(class_of: ArrayLike, n: int, *, seed: int = 0) -> NDArray[np.intp]:
    """Draw n sentences without replacement, of each class in proportion to its size.

    Parameters
    ----------
    class_of : (n_sentences,), numbers of classes. n : 1 to n_sentences. seed : of the draw.

    Returns the places of those drawn, ascending, (n,). Of a class with m of all N sentences ⌊n m / N⌋ are drawn or one
    more: those with the largest remainders, of equal ones the first, so that the sum is n. A small class may have none.

    Raises InputError for an n out of range.

    Source: proportional allocation, Cochran 1977, section 5.5; largest remainders are Hamilton's.

    >>> stratified_sample([0, 0, 0, 0, 1, 1], 3).tolist()  # two of the four, one of the two
    [2, 3, 4]
    """
    numbers = np.unique(np.asarray(class_of), return_inverse=True)[1]
    if not 1 <= n <= len(numbers):
        raise InputError(
            Message("A sample of {n} sentences cannot be drawn from {n_sentences}.", n=n, n_sentences=len(numbers))
        )
    sizes = np.bincount(numbers)
    taken, remainders = np.divmod(n * sizes, len(numbers))
    taken[np.argsort(-remainders, kind="stable")[: n - taken.sum()]] += 1
    random = np.random.default_rng(seed)
    members = np.split(np.argsort(numbers, kind="stable"), np.cumsum(sizes)[:-1])
    drawn = [random.choice(places, count, replace=False) for places, count in zip(members, taken, strict=True)]
    return np.sort(np.concatenate(drawn))
