"""How sure is a share of correct answers when answers come in clusters, such as pairs made from one template?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.errors import InputError
from engine.messages.message import Message

CONFIDENCE = 0.95
POWER = 0.8
# With fewer clusters nothing is claimed, with fewer than FEW_CLUSTERS the interval is rough: "few" is below 20 to 50,
# more where the clusters differ much in size (Cameron and Miller 2015, Journal of Human Resources 50, section VI).
FEWEST_CLUSTERS = 5
FEW_CLUSTERS = 20


@dataclass(frozen=True)
class ClusteredShare:
    """A share over `n` answers in `n_clusters`; design_effect: how many times the variance of independent answers."""

    n: int
    n_clusters: int
    share: float
    standard_error: float
    design_effect: float
    ci_low: float
    ci_high: float


@dataclass(frozen=True)
class MeanShare:
    """The mean of the shares of `n_groups`, each of which counts alike; the ends are nan where undefined."""

    n_groups: int
    mean: float
    ci_low: float
    ci_high: float


@dataclass(frozen=True)
class ClusteredDifference:
    """The difference of two shares on the same `n` answers in `n_clusters`; nan where undefined."""

    n: int
    n_clusters: int
    difference: float
    standard_error: float
    ci_low: float
    ci_high: float
    p_value: float


def clustered_share(right: ArrayLike, clusters: ArrayLike, confidence: float = CONFIDENCE) -> ClusteredShare:
    """Between which shares does the true one lie, when the answers of a cluster resemble each other?

        s² = G / (G - 1) · Σ_g (Σ_{i in g} (x_i - p))² / n²         x_i 1 or 0, p their mean, G clusters
        n' = min(n, p (1 - p) / s²)                                 as many independent answers would say as much
        m  = n' (t_(n-1) / t_(G-1))²                                t the quantile of that many degrees of freedom
        interval = the quantiles α/2 of Beta(p m, m - p m + 1) and 1 - α/2 of Beta(p m + 1, m - p m), α = 1 - confidence

    Parameters
    ----------
    right : bool (n_answers,). clusters : (n_answers,), any values that sort.
    confidence : in (0, 1).

    Range: shares in [0, 1]; neither end of an interval is better, a narrow one says more. design_effect = n / n' is at
    least 1: a spread between the clusters below that of chance is raised to it.

    Edges: one cluster has no spread between clusters: standard error and design effect are nan. Fewer than
    FEWEST_CLUSTERS have no interval (nan): it would rest on a spread of so few numbers. Where all answers are right, or
    all wrong, n' = G, because nothing can be seen of the resemblance within a cluster; the standard error is then 0 and
    the design effect n / G. No answers: all nan.

    Raises InputError for columns of different lengths and confidence not within 0 and 1.

    Source: the clustered standard error of Miller 2024 (arXiv 2411.00640, section 2.2) with the correction G / (G - 1);
    the interval of Korn and Graubard 1998 (Survey Methodology 24), which is Clopper and Pearson's over an effective
    number of answers. It does not leave [0, 1], and where shares are near 1 and clusters few it covers the truth more
    often than Wilson's over n' with t. It assumes clusters that are independent of each other and a sample of those
    that could have been made.

    >>> share = clustered_share([1, 1, 1, 0, 0, 0], [1, 1, 2, 2, 3, 3])  # sums of deviations 1, 0, -1: s² = 3/2 · 2/36
    >>> round(share.standard_error, 4), round(share.design_effect, 4)
    (0.2887, 2.0)
    """
    x, code = _columns(right, clusters)
    quantile = _two_sided(confidence)
    n, n_clusters = x.size, int(code.max()) + 1 if x.size else 0
    if n_clusters < 2:
        return ClusteredShare(n, n_clusters, float(x.mean()) if n else np.nan, np.nan, np.nan, np.nan, np.nan)
    share = float(x.mean())
    variance = clustered_variance(x - share, code)
    independent = share * (1 - share)
    effective = float(n_clusters if not independent else n)
    if independent and variance > 0:
        effective = min(effective, independent / variance)
    low, high = _interval(share, effective, n, n_clusters, quantile)
    return ClusteredShare(n, n_clusters, share, float(np.sqrt(independent / effective)), n / effective, low, high)


def mean_share(right: ArrayLike, groups: ArrayLike, confidence: float = CONFIDENCE) -> MeanShare:
    """Between which values does the mean of the shares of such groups lie, each group counting alike?

        m = Σ_g p_g / G,   s² = max(Σ_g (p_g - m)² / (G - 1) / G,  Σ_g p_g (1 - p_g) / n_g / G²)
        n' = m (1 - m) / s²,   interval as in `clustered_share`

    Parameters
    ----------
    right : bool (n_answers,). groups : (n_answers,), any values that sort; p_g and n_g are share and size of each.
    confidence : in (0, 1).

    Range: [0, 1]; neither end of an interval is better.

    Edges: groups that happen to have one share have no spread between them; the chance within them, the second term of
    s², remains, so that the interval has a width. All answers right, or all wrong: n' = G. Fewer than FEWEST_CLUSTERS
    groups: no interval (nan). No answers: nan.

    Raises InputError as `clustered_share`.

    Source: the macro average of benchmarks; the interval is that of `clustered_share`, with groups of one weight. It
    takes the groups as a sample of those that could have been made.

    >>> means = mean_share([1, 0, 1, 1, 0, 0, 1, 0, 1, 0], [1, 1, 2, 2, 3, 3, 4, 4, 5, 5])  # 1/2, 1, 0, 1/2, 1/2
    >>> means.mean, round(means.ci_low, 4), round(means.ci_high, 4)  # s² = 1/2 / 4 / 5, n' = 10
    (0.5, 0.1317, 0.8683)
    """
    x, code = _columns(right, groups)
    quantile = _two_sided(confidence)
    if not x.size:
        return MeanShare(0, np.nan, np.nan, np.nan)
    sizes = np.bincount(code)
    shares = np.bincount(code, weights=x) / sizes  # (n_groups,)
    mean, n_groups = float(shares.mean()), shares.size
    if n_groups < 2:
        return MeanShare(n_groups, mean, np.nan, np.nan)
    variance = max(float(shares.var(ddof=1)) / n_groups, float((shares * (1 - shares) / sizes).sum()) / n_groups**2)
    effective = mean * (1 - mean) / variance if variance > 0 else float(n_groups)
    return MeanShare(n_groups, mean, *_interval(mean, effective, x.size, n_groups, quantile))


def clustered_difference(
    first: ArrayLike, second: ArrayLike, clusters: ArrayLike, confidence: float = CONFIDENCE
) -> ClusteredDifference:
    """Is one right more often than another on the same answers, when the answers of a cluster resemble each other?

        d_i = x_i - y_i,   d their mean,   s² as in `clustered_share`
        interval = d ± t s within [-1, 1],   p = 2 · P(T > |d| / s),   T of Student's, G - 1 degrees of freedom

    Parameters
    ----------
    first, second : (n_answers,) 1 right, 0 wrong. clusters : (n_answers,), any values that sort.
    confidence : in (0, 1).

    Range: difference in [-1, 1], above 0 the first is better; p in (0, 1].

    Edges: fewer than FEWEST_CLUSTERS: interval and p are nan, as for no answers; of one the standard error, too.
    Where d is the same in all clusters there is no spread: the interval is nan, and p is 1 for no difference, else
    2 / 2^G, the least that a change of signs of the G clusters can give.

    Raises InputError as `clustered_share`.

    Source: the paired, clustered standard error of Miller 2024 (arXiv 2411.00640, sections 2.2 and 4.2).

    >>> test = clustered_difference([1, 1, 0, 1, 0], [0, 1, 0, 0, 0], [1, 2, 3, 4, 5])
    >>> test.difference, round(test.standard_error, 4), round(test.p_value, 4)
    (0.4, 0.2449, 0.1778)
    """
    x, code = _columns(first, clusters)
    y, _ = _columns(second, clusters)
    quantile = _two_sided(confidence)
    n, n_clusters = x.size, int(code.max()) + 1 if x.size else 0
    difference = float((x - y).mean()) if n else np.nan
    if n_clusters < 2:
        return ClusteredDifference(n, n_clusters, difference, np.nan, np.nan, np.nan, np.nan)
    error = float(np.sqrt(clustered_variance(x - y - difference, code)))
    if n_clusters < FEWEST_CLUSTERS:
        return ClusteredDifference(n, n_clusters, difference, error, np.nan, np.nan, np.nan)
    if error < 1e-12:  # rounding
        p = 1.0 if difference == 0 else 2.0 ** (1 - n_clusters)
        return ClusteredDifference(n, n_clusters, difference, 0.0, np.nan, np.nan, p)
    from scipy.special import stdtr, stdtrit  # a moment to import, and only here

    half = float(stdtrit(n_clusters - 1, quantile)) * error
    p = float(2 * stdtr(n_clusters - 1, -abs(difference) / error))
    return ClusteredDifference(
        n, n_clusters, difference, error, max(difference - half, -1.0), min(difference + half, 1.0), p
    )


def detectable_difference(
    standard_error: float,
    n_clusters: int,
    power: float = POWER,
    confidence: float = CONFIDENCE,
    largest: float = np.inf,
) -> float:
    """How large must a true difference be for these answers to show it?

        (t_(1 + confidence)/2 + t_power) · s,   quantiles of G - 1 degrees of freedom

    Parameters
    ----------
    standard_error : s, of the difference. n_clusters : G; the answers, where each is a cluster of its own.
    power : in [1/2, 1), the probability that a difference of that size is found. confidence : in (0, 1).
    largest : the largest difference that there can be, 1 of shares.

    Range: 0 or more, in the unit of s; smaller is better: the data show finer differences.

    Edges: nan for a standard error that is nan, and for fewer than FEWEST_CLUSTERS. A standard error of 0 says nothing
    of the spread, so nan too. Nan where it would be above `largest`: no difference would be found with that power.

    Raises InputError for power or confidence out of range.

    Source: the minimum detectable effect (Bloom 1995, Evaluation Review 19; Miller 2024, section 5, with normal
    quantiles, which are t's for many clusters). It takes the spread seen as that of other answers of this kind.

    >>> round(detectable_difference(0.01, 67), 4)
    0.0284
    """
    if not 0.5 <= power < 1:
        raise InputError(Message("The power must be between 0.5 and 1; got {power}.", power=power))
    quantile = _two_sided(confidence)
    if n_clusters < FEWEST_CLUSTERS or not standard_error > 0:
        return np.nan
    from scipy.special import stdtrit  # a moment to import, and only here

    size = float((stdtrit(n_clusters - 1, quantile) + stdtrit(n_clusters - 1, power)) * standard_error)
    return size if size <= largest else np.nan


def clustered_variance(deviations: NDArray[np.float64], codes: NDArray[np.integer]) -> float:
    """The variance of a mean whose answers hang together in clusters: G / (G - 1) · Σ_g (Σ deviations)² / n².

    deviations: (n,) from the mean. codes: (n,) the cluster of each, from 0 without gaps.
    """
    sums = np.bincount(codes, weights=deviations)  # (n_clusters,)
    return float(sums.size / max(sums.size - 1, 1) * np.square(sums).sum() / deviations.size**2)


def _interval(share: float, effective: float, n: int, n_clusters: int, quantile: float) -> tuple[float, float]:
    """Korn and Graubard's interval of a share over an effective number of answers; nan for too few clusters."""
    if n_clusters < FEWEST_CLUSTERS:
        return np.nan, np.nan
    from scipy.special import betaincinv, stdtrit  # a moment to import, and only here

    size = effective * float(stdtrit(n - 1, quantile) / stdtrit(n_clusters - 1, quantile)) ** 2
    low = float(betaincinv(share * size, (1 - share) * size + 1, 1 - quantile)) if share > 0 else 0.0
    high = float(betaincinv(share * size + 1, (1 - share) * size, quantile)) if share < 1 else 1.0
    return low, high


def _columns(right: ArrayLike, clusters: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    x, groups = np.asarray(right, dtype=np.float64), np.asarray(clusters)
    if x.ndim != 1 or x.shape != groups.shape:
        raise InputError(
            Message(
                "Each answer needs one cluster; got {size} answers and {other_size} clusters.",
                size=x.size,
                other_size=groups.size,
            )
        )
    return x, np.unique(groups, return_inverse=True)[1]


def _two_sided(confidence: float) -> float:
    if not 0 < confidence < 1:
        raise InputError(
            Message("A confidence level must be between 0 and 1; got {confidence}.", confidence=confidence)
        )
    return (1 + confidence) / 2
