"""The length slope where one token difference parts right from wrong: Firth's penalised estimate, which is finite."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.errors import InputError
from engine.messages.message import Message

CONFIDENCE = 0.95
MOST_STEPS = 200
STEP_AT_REST = 1e-10
LONGEST_STEP = 5.0  # log-odds; the penalised likelihood is flat far from its top, where Newton's steps are too long
MOST_DOUBLINGS = 60
# Constants tried at once for the top of the profile. numpy lets other threads run during each operation on 500 numbers
# or more, and has to wait for its turn after it: in a busy server that would be most of the time.
MOST_NUMBERS, FEWEST_TRIED, MOST_TRIED = 480, 9, 129
CONSTANTS_AT_REST = 1e-5  # the width at which the top is found: the height is then off by the square of it


@dataclass(frozen=True)
class FirthSlope:
    """The penalised estimate with its interval. `n` pairs were fitted."""

    slope: float
    ci_low: float
    ci_high: float
    intercept: float
    n: int


def firth_slope(decisions: ArrayLike, differences: ArrayLike, confidence: float = CONFIDENCE) -> FirthSlope:
    """By how much does each further token change the odds of being right, where the likelihood has no maximum?

        P(right) = 1 / (1 + exp(-(intercept + slope · d))),    d = |A| - |U|
        penalised log-likelihood l*(intercept, slope) = log-likelihood + 1/2 · log det(information)
        interval = the slopes b with  2 · (max l* - max over the intercept of l*(·, b)) <= chi-squared quantile, 1 df

    Parameters
    ----------
    decisions : (n_pairs,), 1 right, 0 tie, -1 wrong, from `acceptability.decisions`; ties are left out.
    differences : (n_pairs,), whole numbers, |S| of the acceptable sentence less |S| of the unacceptable one.
    confidence : in (0, 1).

    Range: (-inf, inf), log-odds per token; nearest to 0 is best. It is drawn towards 0 from the slope of
    `length_slope`, less so the more pairs there are; the two are different estimates and are not to be mixed.

    Edges: finite under separation, complete or quasi-complete, with all pairs right and with all wrong. For two
    differences it is the log odds ratio with 1/2 added to each of the four counts.

    Raises InputError for columns of different lengths, decisions other than -1, 0, 1, fewer than 2 decided pairs
    or one difference only.

    Source: Firth 1993 (Biometrika 80); its use under separation and the profile interval: Heinze and Schemper 2002
    (Statistics in Medicine 21).

    >>> fit = firth_slope([1] * 10 + [-1] * 10, [0] * 10 + [1] * 10)
    >>> round(fit.slope, 4)  # log(0.5 / 10.5) - log(10.5 / 0.5)
    -6.089
    """
    decided, difference = np.asarray(decisions, dtype=np.int64), np.asarray(differences, dtype=np.float64)
    if decided.ndim != 1 or decided.shape != difference.shape:
        raise InputError(
            Message(
                "Each pair needs one decision; got {size} pairs and {other_size} decisions.",
                size=difference.size,
                other_size=decided.size,
            )
        )
    if not np.isin(decided, (-1, 0, 1)).all():
        raise InputError(Message("A decision is 1 (right), 0 (tie) or -1 (wrong)."))
    values, group = np.unique(difference[decided != 0], return_inverse=True)
    if values.size < 2:
        raise InputError(
            Message("A slope needs decided pairs of at least 2 differences; there are {size}.", size=values.size)
        )
    n = np.bincount(group, minlength=values.size).astype(np.float64)
    n_right = np.bincount(group[decided[decided != 0] == 1], minlength=values.size).astype(np.float64)
    centre = float(np.average(values, weights=n))  # about it the constant and the slope are nearly independent
    from scipy.special import gammaincinv  # a moment to import, and only here

    curve = _Curve(values - centre, n, n_right)
    constant, slope = curve.maximum()
    top, drop = curve.penalised(constant, slope), gammaincinv(0.5, confidence)  # half a quantile of chi-squared
    low, high = (curve.end(constant, slope, top - drop, direction) for direction in (-1, 1))
    return FirthSlope(slope, low, high, constant - slope * centre, int(n.sum()))


@dataclass(frozen=True)
class _Curve:
    """The pairs by difference: x the centred differences, n pairs, n_right right ones, each (n_differences,)."""

    x: NDArray[np.float64]
    n: NDArray[np.float64]
    n_right: NDArray[np.float64]

    def penalised(self, constant: float, slope: float) -> float:
        """The penalised log-likelihood."""
        return float(self._heights(np.array([constant]), slope)[0])

    def maximum(self) -> tuple[float, float]:
        """Constant and slope of the maximum, by Newton's method on the modified score; steps that descend are halved."""
        beta, design = np.zeros(2), np.stack([np.ones_like(self.x), self.x], axis=1)  # (n_differences, 2)
        height = self.penalised(*beta)
        for _ in range(MOST_STEPS):
            p = 1 / (1 + np.exp(-np.clip(design @ beta, -700, 700)))
            weights = self.n * p * (1 - p)
            inverse = np.linalg.inv(design.T @ (design * weights[:, None]))  # (2, 2)
            leverage = weights * np.einsum("ij,jk,ik->i", design, inverse, design)
            step = inverse @ (design.T @ (self.n_right - self.n * p + leverage * (0.5 - p)))
            longest = np.abs(design @ step).max()
            step *= min(1.0, LONGEST_STEP / longest) if longest else 1.0
            while (reached := self.penalised(*(beta + step))) < height - 1e-9 * abs(height):
                step = step / 2
            beta, height = beta + step, reached
            if np.abs(step).max() < STEP_AT_REST:
                break
        return float(beta[0]), float(beta[1])

    def end(self, constant: float, slope: float, height: float, direction: int) -> float:
        """Where the profile of the slope has fallen to `height`, on one side of its maximum."""
        from scipy.optimize import brentq  # half a second to import, and only here

        def above(b: float) -> float:
            return self._profile(b, constant) - height

        width = 1 / (np.ptp(self.x) or 1.0)
        for _ in range(MOST_DOUBLINGS):
            if above(slope + direction * width) < 0:
                break
            width *= 2
        return float(brentq(above, slope, slope + direction * width, xtol=1e-9))

    def _profile(self, slope: float, constant: float) -> float:
        # The best constant keeps the curve's middle within the differences, or beyond them by a few log-odds.
        reach = abs(slope) * np.abs(self.x).max() + abs(constant) + 20
        low, high = -reach, reach
        tried = max(FEWEST_TRIED, min(MOST_TRIED, MOST_NUMBERS // self.x.size))
        while True:  # the curve has one top: it lies beside the highest of the constants that are tried
            constants = np.linspace(low, high, tried)
            heights = self._heights(constants, slope)
            best = int(heights.argmax())
            if high - low < CONSTANTS_AT_REST:
                return float(heights[best])
            low, high = constants[max(best - 1, 0)], constants[min(best + 1, tried - 1)]

    def _heights(self, constants: NDArray[np.float64], slope: float) -> NDArray[np.float64]:
        """The penalised log-likelihood at each of the constants (m,), with half of `log det(information)`.

        The determinant is made of the logarithms of the weights, which do not underflow.
        """
        log_odds = constants[:, None] + slope * self.x  # (m, n_differences)
        log_right, log_wrong = -np.logaddexp(0, -log_odds), -np.logaddexp(0, log_odds)
        likelihood = (self.n_right * log_odds + self.n * log_wrong).sum(axis=1)  # (m,)
        logs = np.log(self.n) + log_right + log_wrong
        largest = logs.max(axis=1, keepdims=True)
        weights = np.exp(logs - largest)
        total = weights.sum(axis=1)
        middle = (weights * self.x).sum(axis=1) / total
        spread = (weights * (self.x - middle[:, None]) ** 2).sum(axis=1)
        determinant = 2 * largest[:, 0] + np.log(total) + np.log(np.maximum(spread, np.finfo(np.float64).tiny))
        heights: NDArray[np.float64] = likelihood + 0.5 * determinant
        return heights
