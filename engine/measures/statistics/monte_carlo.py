"""How far does a p-value from random resamples differ from the one of all resamples?"""

from __future__ import annotations

import math

from engine.errors import InputError
from engine.messages.message import Message


def p_value_error(p_value: float, resamples: int, *, sides: int = 1) -> float:
    """The standard deviation of a p-value from one seed to the next, where resamples were drawn at random.

        error = sides · √(q (1 - q) / R),   q = p / sides, of R resamples

    Parameters
    ----------
    p_value : a share of resamples; of a two-sided test that doubles the rarer side, sides = 2.
    resamples : R, at least 1.

    Range: (0, sides / (2 √R)]; of 1000 resamples at most 0.016, of two sides 0.032. It is the error of drawing, not
    that of the data, and no interval near 0 or 1.

    Edges: q of 0 or 1 counts as one resample away from it: R resamples do not show that none differs. nan for nan.

    Raises InputError for fewer than 1 resample and a p-value not within 0 and 1.

    Source: the standard error of a binomial share; Efron and Tibshirani 1993, section 15.3.

    >>> round(p_value_error(0.5, 1000), 4), round(p_value_error(0.05, 1000), 4)
    (0.0158, 0.0069)
    """
    if resamples < 1:
        raise InputError(Message("A p-value needs at least 1 resample; got {resamples}.", resamples=resamples))
    if math.isnan(p_value):
        return math.nan
    if not 0 <= p_value <= 1:
        raise InputError(Message("A p-value must be between 0 and 1; got {p_value}.", p_value=p_value))
    share = min(max(p_value / sides, 1 / (resamples + 1)), resamples / (resamples + 1))
    return sides * math.sqrt(share * (1 - share) / resamples)
