"""Which of two sentences does a model prefer?"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.errors import InputError
from engine.messages.message import Message


def n_bytes(text: str) -> int:
    """Length of a text in UTF-8; a lone surrogate, which has no UTF-8 form, counts as three bytes.

    >>> n_bytes("a猫")
    4
    """
    return len(text.encode("utf-8", "surrogatepass"))


def decisions(acceptable: ArrayLike, unacceptable: ArrayLike, identical: ArrayLike) -> NDArray[np.int8]:
    """Which sentence of each pair does the model prefer?

        1 the acceptable one (its score is higher),  0 neither: a tie,  -1 the unacceptable one

    Parameters
    ----------
    acceptable, unacceptable : (n_pairs,), scores of one normalization.
    identical : bool (n_pairs,), True where both sentences are the same tokens to the model (after its
        normalisation, or as [UNK]): a tie, whatever rounding made of the two scores.

    Range: {-1, 0, 1}, no unit, higher is better.

    Edges: equal scores are a tie, never a correct decision; two sentences of -inf tie too.

    Raises InputError when a score is nan (a sentence that was excluded has no place here) or the
    lengths differ.

    Source: Ueda, Mita, Komachi 2024, section 1: a pair is right when the acceptable sentence scores
    higher. The paper does not mention ties.

    >>> decisions([-1.0, -2.0, -3.0], [-2.0, -2.0, -1.0], [False, False, False]).tolist()
    [1, 0, -1]
    """
    a, u = np.asarray(acceptable, dtype=np.float64), np.asarray(unacceptable, dtype=np.float64)
    same = np.asarray(identical, dtype=bool)
    if not a.shape == u.shape == same.shape:
        raise InputError(
            Message(
                "Each pair needs two scores and a flag; got {size}, {other_size} and {third_size}.",
                size=a.size,
                other_size=u.size,
                third_size=same.size,
            )
        )
    n_undefined = int((np.isnan(a) | np.isnan(u)).sum())
    if n_undefined:
        raise InputError(
            Message(
                "{n_undefined} of {size} pairs have a sentence without a score; leave them out and say so.",
                n_undefined=n_undefined,
                size=a.size,
            )
        )
    right, wrong = (a > u) & ~same, (a < u) & ~same
    return np.asarray(right.astype(np.int8) - wrong.astype(np.int8))
