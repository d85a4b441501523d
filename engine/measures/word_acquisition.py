"""When is a word learned? The place on a learning curve at which it is half learned, by children and by a model."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.errors import InputError
from engine.messages.message import Message

WORDS_OF_CHANCE = 300_000  # words that chance chooses among
HALF = 0.5
FEWEST_POINTS = 3
_COEFFICIENTS, _MOST_EVALUATIONS = 4, 1000

Floats = NDArray[np.float64]


def child_age(ages: ArrayLike, shares: ArrayLike) -> float:
    """At which age do half of the children know a word, by a sigmoid through the shares of those who do?

        share(t) = a / (1 + exp(−b (t − c))) + d,   a in [0, 2], b in [0, 1], c within the ages, d in [−0.5, 0.5]

    Parameters
    ----------
    ages : (n,), ascending, in months. shares : (n,) in [0, 1], nan where not known.

    Returns the age in the unit of `ages`; nan for fewer than 3 shares, where the curve cannot be fitted, and where it
    does not pass a half within the ages.

    Raises InputError for lengths that do not fit.

    Source: `compute_child_aoa` of babylm-org/babylm-eval (2026), after Chang and Bergen 2022 (TACL), to rounding.

    >>> round(child_age([16, 20, 24, 28], [0.02, 0.25, 0.75, 0.98]), 1)
    22.0
    """
    x, y = _pairs(ages, shares)
    if len(x) < FEWEST_POINTS or x[0] == x[-1]:
        return np.nan
    from scipy.optimize import least_squares  # half a second to import, and only here

    start = np.array([1.0, 0.1, x.mean(), 0.0])
    bounds = ([0.0, 0.0, x[0], -0.5], [2.0, 1.0, x[-1], 0.5])
    found = least_squares(lambda weights: _sigmoid(x, weights) - y, start, bounds=bounds, max_nfev=_MOST_EVALUATIONS)
    age = _passes(found.x, HALF) if found.success else np.nan
    return age if x[0] <= age <= x[-1] else np.nan


def model_age(steps: ArrayLike, surprisals: ArrayLike, chance: ArrayLike) -> tuple[Floats, bool]:
    """At which step has a model half learned a word: is its surprisal half-way from chance to its least one?

        −surprisal(s) = a / (1 + exp(−b (log10(s + 1) − c))) + d,   half-way = (chance + least surprisal) / 2

    Parameters
    ----------
    steps : (n,), 0 or more, ascending; a step may come for each context of the word. surprisals : (n,), nan where not
    known. chance : (n_chances,), the surprisal of a word by chance, in the unit of `surprisals`.

    Returns log10(step + 1) for each chance, float64 (n_chances,), nan for fewer than 4 surprisals and where the curve does
    not pass half-way between the first and the last step; and whether the fit has settled within 1000 evaluations. Where it
    has not, the curve is nearly straight there: its coefficients are not told apart, but where it passes is.

    Raises InputError for lengths that do not fit.

    Source: `compute_model_aoa` of babylm-org/babylm-eval (2026), after Chang and Bergen 2022 (TACL), to rounding, which may
    decide whether a fit settles. That script has no age where it has not, and takes surprisals in nats and chance in
    bits, log2(300,000).

    >>> steps = [1, 10, 100, 1000, 10000, 100000]
    >>> model_age(steps, [12.0, 11.9, 9.0, 5.0, 2.1, 2.0], [12.0])[0].round(2)
    array([2.5])
    """
    x, y = _pairs(steps, surprisals)
    of_chances = np.asarray(chance, dtype=np.float64)
    nothing = np.full(of_chances.shape, np.nan)
    if len(x) < _COEFFICIENTS:
        return nothing, False
    from scipy.optimize import leastsq  # half a second to import, and only here

    places, rising = np.log10(x + 1), -y
    start = np.array([np.ptp(rising), 1.0, places.mean(), rising.min()])
    with np.errstate(over="ignore", invalid="ignore"):
        weights, _, _, _, state = leastsq(
            lambda guessed: _sigmoid(places, guessed) - rising, start, full_output=True, maxfev=_MOST_EVALUATIONS
        )
    if not np.isfinite(weights).all():
        return nothing, False
    least = float(y.min())
    found = np.array([_passes(weights, -(number - HALF * (number - least))) for number in of_chances])
    with np.errstate(over="ignore", invalid="ignore"):
        at = 10**found - 1
    return np.where((at >= x[0]) & (at <= x[-1]), found, np.nan), state in (1, 2, 3, 4)


def _pairs(first: ArrayLike, second: ArrayLike) -> tuple[Floats, Floats]:
    x, y = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if x.shape != y.shape or x.ndim != 1:
        raise InputError(
            Message(
                "A curve has a value for each place; got {n_places} and {n_values}.", n_places=x.size, n_values=y.size
            )
        )
    known = ~np.isnan(y)
    return x[known], y[known]


def _sigmoid(x: Floats, weights: Floats) -> Floats:
    height, slope, middle, base = weights
    return np.asarray(height / (1 + np.exp(-slope * (x - middle))) + base)


def _passes(weights: Floats, value: float) -> float:
    """Where a rising curve has a value; nan where it has not."""
    height, slope, middle, base = map(float, weights)
    if height <= 0 or slope <= 0 or not base < value < height + base:
        return np.nan
    return middle - float(np.log(height / (value - base) - 1)) / slope
