"""How much of being right is the length difference? A logistic curve of decisions on token differences, one slope."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.errors import InputError
from engine.measures.statistics.clustered import FEWEST_CLUSTERS
from engine.messages.message import Message

CONFIDENCE = 0.95
FEWEST_PAIRS = 3
# Newton's method doubles its digits at each step; where it has not come to rest by then it never will.
MOST_STEPS = 100
NO_SPREAD = 1e-9  # of the standard error of independent pairs; below it clusters differ by rounding alone
STEP_AT_REST = 1e-10
SEPARATION = Message(
    "one difference parts right from wrong, save that both may occur at it (separation, complete or quasi-complete)"
)


@dataclass(frozen=True)
class LengthSlope:
    """The fitted curve; nan where there is none, and then `reason` says why.

    `n` pairs were fitted; `n_tied` more were left out. `intercept` is the log-odds of being right at equal lengths.
    `n_clusters`: of the fitted pairs; their number where they are independent.
    """

    slope: float
    standard_error: float
    ci_low: float
    ci_high: float
    intercept: float
    n: int
    n_tied: int
    reason: str = ""
    n_clusters: int = 0


def length_slope(
    decisions: ArrayLike, differences: ArrayLike, confidence: float = CONFIDENCE, clusters: ArrayLike | None = None
) -> LengthSlope:
    """By how much does each further token of the acceptable sentence change the odds of being right?

        P(right) = 1 / (1 + exp(-(intercept + slope · d))),    d = |A| - |U|
        interval = slope ± z · standard error,    z the normal quantile of (1 + confidence) / 2

    fitted by maximum likelihood; the standard error is from the inverse of the information matrix I (Wald). Over G
    clusters of pairs, which need not be independent within one, it is from the sandwich

        G / (G - 1) · I⁻¹ (Σ_g u_g u_gᵀ) I⁻¹,    u_g = Σ_{i in g} (right_i - P_i) (1, d_i)

    and z is the quantile of Student's t of G - 1 degrees of freedom.

    Parameters
    ----------
    decisions : (n_pairs,), 1 right, 0 tie, -1 wrong, from `acceptability.decisions`.
    differences : (n_pairs,), whole numbers, |S| of the acceptable sentence less |S| of the unacceptable one.
    confidence : in (0, 1).
    clusters : (n_pairs,), any values that sort; none: the pairs are independent.

    Range: (-inf, inf), log-odds per token; nearest to 0 is best. Below 0 the model favours the shorter sentence
    (as LP does), above 0 the longer one. It is one number for the bias that the strata show: exp(slope) is what one
    token more does to the odds.

    Edges: ties are neither right nor wrong and are left out. Nan with a reason: fewer than 3 decided pairs, one
    difference only, all right or all wrong, and separation, where one threshold parts right from wrong (quasi-complete
    where both occur at it) and the likelihood grows without end; `firth_slope` is finite there. Of one cluster, and of
    clusters that all have the same decisions, the standard error is nan, and of fewer than FEWEST_CLUSTERS the interval.

    Raises InputError for columns of different lengths, decisions other than -1, 0, 1, and confidence not within
    0 and 1.

    Source: logistic regression (Cox 1958) by Newton's method; Ueda, Mita, Komachi 2024 (figure 2) show the curve
    that it sums up, the fit is ours. Clusters: Liang and Zeger 1986 (Biometrika 73), with the correction G / (G - 1);
    t of G - 1 degrees of freedom after Cameron and Miller 2015 (Journal of Human Resources 50).

    >>> fit = length_slope([1, 1, 1, -1, 1, -1, -1, -1], [0, 0, 0, 0, 1, 1, 1, 1])
    >>> round(fit.slope, 4), round(fit.standard_error, 4)  # log((1 / 3) / (3 / 1)), sqrt(1/3 + 1/1 + 1/1 + 1/3)
    (-2.1972, 1.633)
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
    if not 0 < confidence < 1:
        raise InputError(
            Message("A confidence level must be between 0 and 1; got {confidence}.", confidence=confidence)
        )
    groups = None if clusters is None else np.asarray(clusters)
    if groups is not None and groups.shape != decided.shape:
        raise InputError(
            Message(
                "Each pair has one cluster; got {size} pairs and {other_size} clusters.",
                size=decided.size,
                other_size=groups.size,
            )
        )
    # Pairs of one difference are one term of the likelihood: 67,000 pairs are a few dozen numbers.
    fitted = decided != 0
    values, group = np.unique(difference[fitted], return_inverse=True)
    n, n_right = (
        np.bincount(chosen, minlength=values.size).astype(np.float64) for chosen in (group, group[decided[fitted] == 1])
    )
    n_tied = int((decided == 0).sum())
    codes = None if groups is None else np.unique(groups[fitted], return_inverse=True)[1]
    n_clusters = int(n.sum()) if codes is None else int(codes.max(initial=-1)) + 1
    reason = _reason(values, n, n_right)
    curve = None if reason else logistic_curve(values, n, n_right)
    if curve is None:
        return LengthSlope(
            np.nan,
            np.nan,
            np.nan,
            np.nan,
            np.nan,
            int(n.sum()),
            n_tied,
            reason or Message("the fit does not converge"),
            n_clusters,
        )
    intercept, slope, error = curve
    quantile = NormalDist().inv_cdf((1 + confidence) / 2)
    if codes is not None:
        over = _clustered_error(difference[fitted], decided[fitted] == 1, codes, intercept, slope)
        error = over if over > NO_SPREAD * error else np.nan
        quantile = np.nan
        if n_clusters >= FEWEST_CLUSTERS:
            from scipy.special import stdtrit  # a moment to import, and only here

            quantile = float(stdtrit(n_clusters - 1, (1 + confidence) / 2))
    half = quantile * error
    return LengthSlope(slope, error, slope - half, slope + half, intercept, int(n.sum()), n_tied, n_clusters=n_clusters)


def _clustered_error(
    x: NDArray[np.float64], right: NDArray[np.bool_], codes: NDArray[np.intp], intercept: float, slope: float
) -> float:
    """The slope's standard error over clusters; nan for one. codes: (n_pairs,) from 0 without gaps."""
    n_clusters = int(codes.max()) + 1
    if n_clusters < 2:
        return np.nan
    centred = x - x.mean()  # the slope and its error stay, and the matrix is well
    p = 1 / (1 + np.exp(-np.clip(intercept + slope * x, -700, 700)))
    design = np.stack([np.ones_like(centred), centred], axis=1)  # (n_pairs, 2)
    inverse = np.linalg.inv(design.T @ (design * (p * (1 - p))[:, None]))
    sums = np.stack([np.bincount(codes, weights=(right - p) * column) for column in design.T], axis=1)  # (G, 2)
    variance = inverse @ (sums.T @ sums) @ inverse * n_clusters / (n_clusters - 1)
    return float(np.sqrt(variance[1, 1]))


def _reason(values: NDArray[np.float64], n: NDArray[np.float64], n_right: NDArray[np.float64]) -> str:
    """Why there is no fit; "" where there is one."""
    if n.sum() < FEWEST_PAIRS:
        return Message(
            "a curve needs at least {FEWEST_PAIRS} decided pairs; there are {n}",
            FEWEST_PAIRS=FEWEST_PAIRS,
            n=int(n.sum()),
        )
    if values.size < 2:
        return Message("the difference is {values:g} in every pair", values=values[0])
    right, wrong = values[n_right > 0], values[n_right < n]
    if not right.size or not wrong.size:
        return (
            Message("every pair that is no tie is right")
            if right.size
            else Message("every pair that is no tie is wrong")
        )
    if right.max() <= wrong.min() or wrong.max() <= right.min():
        return SEPARATION
    return ""


def logistic_curve(
    x: NDArray[np.float64], n: NDArray[np.float64], n_right: NDArray[np.float64]
) -> tuple[float, float, float] | None:
    """Intercept, slope and the slope's standard error of the log-odds, or None where there is no maximum.

    x: (n_values,), each of `n` observations, `n_right` of them right; a fraction is a target between wrong and right.
    """
    # About its mean the difference and the constant are nearly independent, which keeps the matrix well.
    centre = float(np.average(x, weights=n))
    design = np.stack([np.ones_like(x), x - centre], axis=1)  # (n_differences, 2)
    share = n_right.sum() / n.sum()
    beta = np.array([np.log(share / (1 - share)), 0.0])
    likelihood = _log_likelihood(design, n, n_right, beta)
    for _ in range(MOST_STEPS):
        p = 1 / (1 + np.exp(-np.clip(design @ beta, -700, 700)))
        information = design.T @ (design * (n * p * (1 - p))[:, None])  # (2, 2)
        if not np.linalg.cond(information) < 1 / np.finfo(np.float64).eps:
            return None
        step = np.linalg.solve(information, design.T @ (n_right - n * p))
        # The likelihood is concave: a step that overshoots is halved until it climbs.
        while (reached := _log_likelihood(design, n, n_right, beta + step)) < likelihood - 1e-9 * abs(likelihood):
            step = step / 2
        beta, likelihood = beta + step, reached
        if np.abs(step).max() < STEP_AT_REST:
            error = float(np.sqrt(np.linalg.inv(information)[1, 1]))
            return float(beta[0] - beta[1] * centre), float(beta[1]), error
    return None


def _log_likelihood(
    design: NDArray[np.float64], n: NDArray[np.float64], n_right: NDArray[np.float64], beta: NDArray[np.float64]
) -> float:
    log_odds = design @ beta  # (n_differences,)
    return float((n_right * log_odds - n * np.logaddexp(0, log_odds)).sum())
