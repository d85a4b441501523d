"""Between which values lies a mean over answers that come in clusters, such as the sentences of one word?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.errors import InputError
from engine.measures.statistics.clustered import FEWEST_CLUSTERS

CONFIDENCE = 0.95
RESAMPLES = 1000
# Numbers that one block of resamples may hold: 32 MB.
_BLOCK_NUMBERS = 4_000_000
_ENDLESS = 1e12  # standard errors: beyond any bounds that a caller sets

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class ClusteredMeans:
    """The means of columns over `n_clusters` clusters, the ends of their intervals, (n_columns,); nan = undefined."""

    mean: Floats
    low: Floats
    high: Floats
    n_clusters: int


def clustered_means(columns: ArrayLike, clusters: ArrayLike, strata: ArrayLike | None = None, *, by_t: bool = False,
                    resamples: int = RESAMPLES, seed: int = 0, confidence: float = CONFIDENCE) -> ClusteredMeans:
    """Between which values does the mean of each column lie, when the answers of a cluster resemble each other?

        m = Σ x_i / n,   s² = Σ_h G_h / (G_h − 1) Σ_{g in h} (z_g − z̄_h)² / n²,   z_g = Σ_{i in g} (x_i − m)
        t_b = (m_b − m) / s_b in each resample,   interval = (m − q_(1 − α/2) s, m − q_(α/2) s),   q quantiles of t_b

    Each resample draws as many of the G_h clusters of each stratum h as it has, with replacement, each with all its
    answers. For columns of paired differences take Student's t of Σ_h (G_h − 1) degrees of freedom for q (`by_t`): they
    are symmetric where nothing differs, and t does not find more than it should there, however long their tails.

    Parameters
    ----------
    columns : (n_columns, n) finite numbers. clusters : (n,), any values that sort, each within one stratum.
    strata : (n,), any values that sort; None for one. A stratum of one cluster has no spread of its own: it is drawn
        together with the other such ones, and with the smallest other where there is none.
    by_t : Student's quantiles instead of drawn ones. resamples : at least 1. seed : of the draw.
    confidence : in (0, 1).

    Range: that of the columns; an end may lie beyond what a mean can be, and is then to be cut.

    Edges: fewer than FEWEST_CLUSTERS clusters have no interval (nan), and so has a column without spread, since what
    has not varied says nothing of how it may. A resample without spread counts as endlessly far.

    Raises InputError for lengths that do not fit and confidence not within 0 and 1.

    Source: the bootstrap-t (Efron and Tibshirani 1993, section 12.5) with the variance of a clustered mean. For skewed
    numbers it covers what a percentile interval falls short of. Measured in 1,000 draws of words with five sentences
    each, of Beta(1, 8), (0.3, 3), (0.1, 1) and (2, 2): 93 to 97 % from 20 words (a percentile interval of 20 words 87
    to 93 %), 82 to 97 % of 5 words (59 to 85 %). Two equal ones are told apart by t in 5 % of 20 words, 1 to 4 % of 5
    (by percentile intervals in 8 to 10 and 17 to 21 %); where one column is much more skewed than the other it covers
    91 % of 20 words.

    >>> found = clustered_means([[1, 1, 2, 2, 4, 4, 5, 5, 8, 8]], [1, 1, 2, 2, 3, 3, 4, 4, 5, 5], seed=1)
    >>> float(found.mean[0]), found.n_clusters, bool(found.low[0] < 4 < found.high[0])
    (4.0, 5, True)
    """
    values, of_answer = np.asarray(columns, dtype=np.float64), np.asarray(clusters)
    if values.ndim != 2 or of_answer.shape != values.shape[1:] or not of_answer.size:
        raise InputError(f"Columns of shape {values.shape} do not fit {of_answer.size} answers, one cluster of each.")
    if not 0 < confidence < 1:
        raise InputError(f"A confidence level lies between 0 and 1; got {confidence}.")
    code = np.unique(of_answer, return_inverse=True)[1]
    sizes: Floats = np.bincount(code).astype(np.float64)  # (n_clusters,)
    sums = np.zeros((len(sizes), len(values)))  # (n_clusters, n_columns)
    mean, nothing = values.mean(axis=1), np.full(len(values), np.nan)
    np.add.at(sums, code, values.T - mean)  # around 0, so that nothing is lost where they are nearly equal
    if len(sizes) < FEWEST_CLUSTERS:
        return ClusteredMeans(mean, nothing, nothing, len(sizes))
    strata_of = np.zeros(len(sizes), dtype=np.intp)
    if strata is not None:
        strata_of[code] = np.unique(np.asarray(strata), return_inverse=True)[1]
    members = _members(strata_of)
    parts = [_parts(sums[its], sizes[its]) for its in members]
    error = _means_and_errors([part.sum(axis=0)[None] for part in parts], [len(its) for its in members])[1][0]
    tail = (1 - confidence) / 2
    if by_t:
        from scipy.special import stdtrit  # a moment to import, and only here

        high_t = np.full(len(values), stdtrit(len(sizes) - len(members), 1 - tail))
        low_t = -high_t
    else:
        low_t, high_t = np.quantile(_distances(parts, resamples, seed), [tail, 1 - tail], axis=0)
    known = error > 1e-12 * np.maximum(np.abs(values).max(axis=1), 1e-300)  # above rounding
    return ClusteredMeans(mean, np.where(known, mean - high_t * error, np.nan),
                          np.where(known, mean - low_t * error, np.nan), len(sizes))


def _members(strata: Ints) -> list[Ints]:
    """The clusters of each stratum, two at least where there are two: strata of one are drawn together."""
    by_size = sorted((np.flatnonzero(strata == stratum) for stratum in np.unique(strata)), key=len)
    alone = [its for its in by_size if len(its) == 1]
    joined = len(alone) if len(alone) != 1 else 2
    return [np.sort(np.concatenate(by_size[:joined])), *by_size[joined:]] if alone else by_size


def _parts(sums: Floats, sizes: Floats) -> Floats:
    """What a sum over drawn clusters needs of each of them, (n_clusters, 2 + 3 n_columns): n, n², x, x², x n."""
    n = sizes[:, None]
    return np.concatenate([n, n**2, sums, sums**2, sums * n], axis=1)


def _means_and_errors(totals: list[Floats], n_clusters: list[int]) -> tuple[Floats, Floats]:
    """Means and their standard errors from the totals of `_parts` in each stratum, (n_draws, 2 + 3 n_columns): twice
    (n_draws, n_columns)."""
    n_columns = (totals[0].shape[1] - 2) // 3
    overall = np.sum(totals, axis=0)
    size = overall[:, :1]
    mean = overall[:, 2:2 + n_columns] / size
    variance = np.zeros_like(mean)
    for of_stratum, count in zip(totals, n_clusters, strict=True):
        if count < 2:
            continue
        n, squares, (x, x_squares, products) = of_stratum[:, :1], of_stratum[:, 1:2], np.split(
            of_stratum[:, 2:], 3, axis=1)
        spread = x_squares - 2 * mean * products + mean**2 * squares - (x - mean * n) ** 2 / count
        variance += count / (count - 1) * np.maximum(spread, 0)
    return mean, np.sqrt(variance) / size


def _distances(parts: list[Floats], resamples: int, seed: int) -> Floats:
    """t_b of each resample of columns around 0: (resamples, n_columns)."""
    random = np.random.default_rng(seed)
    n_clusters = [len(part) for part in parts]
    block = max(1, _BLOCK_NUMBERS // max(*n_clusters, parts[0].shape[1]))
    drawn = []
    for start in range(0, resamples, block):
        n_draws = min(block, resamples - start)
        totals = [random.multinomial(len(part), np.full(len(part), 1 / len(part)), size=n_draws) @ part
                  for part in parts]
        moved, error = _means_and_errors(totals, n_clusters)
        drawn.append(np.divide(moved, error, out=np.sign(moved) * _ENDLESS, where=error > 1e-7 * np.abs(moved)))
    return np.concatenate(drawn)
