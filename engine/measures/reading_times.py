"""What does a predictor such as surprisal explain of reading times beyond others? Nested linear regressions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.errors import InputError
from engine.measures.statistics.clustered import CONFIDENCE, FEWEST_CLUSTERS
from engine.measures.statistics.clustered_means import clustered_means
from engine.messages.message import Message

FOLDS = 5
TOO_FEW = Message("There are too few words for so many predictors.")
NO_SPREAD = Message("All reading times are equal, or the baseline explains them wholly.")
NOT_HELD_OUT = Message("There are too few texts, or words in them, to predict some from the others.")
NOT_FURTHER = Message("Surprisal is the same for all words, or follows from the other predictors.")
_LEAST = 1e-10  # of the squares of a column: what is less of them is rounding

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Gain:
    """What the predictor adds; every number nan, with a reason, where the regressions cannot be fitted, and delta alone
    where they cannot be without a part.

    n, n_items: words and items. baseline_r2: R² of the baseline. share: of the variance that the baseline leaves, the
    share that the predictor explains, with its interval over items. coefficient: the change of the reading time by one
    unit of the predictor, with its interval over items. t, p: of the coefficient by ordinary least squares, which takes
    words as independent. aic_change: AIC with the predictor less AIC of the baseline. delta: mean change of the held-out
    log-likelihood of a word, in nats, with its interval over items; changes: that of each word, float64 (n,), in the
    order of the words that are kept, empty where there is no delta. Intervals are (low, high), at 95%.
    """

    n: int
    n_items: int
    baseline_r2: float = np.nan
    share: float = np.nan
    share_interval: tuple[float, float] = (np.nan, np.nan)
    coefficient: float = np.nan
    coefficient_interval: tuple[float, float] = (np.nan, np.nan)
    t: float = np.nan
    p: float = np.nan
    aic_change: float = np.nan
    delta: float = np.nan
    delta_interval: tuple[float, float] = (np.nan, np.nan)
    reason: Message | str = ""
    changes: Floats = field(default_factory=lambda: np.empty(0), compare=False, repr=False)


def gain(
    times: ArrayLike,
    predictor: ArrayLike,
    controls: Sequence[ArrayLike],
    items: ArrayLike,
    *,
    folds: int = FOLDS,
    seed: int = 0,
) -> Gain:
    """What does the predictor explain of the times beyond the controls and their pairwise products?

        baseline: y = a + Σ b_j c_j + Σ_{j<k} b_jk c_j c_k        full: y = baseline + β x
        share = (R²_full − R²_baseline) / (1 − R²_baseline)       ΔAIC = n log(RSS_full / RSS_baseline) + 2
        delta = mean of log N(y_i; ŷ_i, σ²)_full − log N(y_i; ŷ_i, σ²)_baseline over held-out words

    Parameters
    ----------
    times, predictor : (n,), nan where not known. controls : each (n,), likewise; may be none.
    items : (n,), any values that sort: the text or sentence of each word.
    folds : parts of items for the held-out likelihood, as many as items at most; seed : of their draw.

    Words that lack any of the numbers are left out of both regressions. σ² is the mean square of the residuals of the
    words that a regression is fitted to. The intervals of share and coefficient are by the jackknife over items with
    Student's t of items − 1 degrees of freedom, that of the share on Fisher's z of its root, the partial correlation;
    one that may have either sign has a share from 0 on. The interval of delta is Student's t over items.

    Edges: nan with a reason for fewer words than coefficients and one, for times that the baseline leaves nothing of,
    and for a predictor that follows from the controls. A control that follows from others changes nothing. No
    interval over fewer than 5 items, and no delta of one item, or where a part leaves too few words.

    Raises InputError for lengths that do not fit and fewer than 2 folds.

    Source: the share in per cent is the score of the reading task of the BabyLM challenge (babylm-org/babylm-eval, 2026;
    data and regressions of de Varda, Marelli, Amenta 2023), to rounding; the gain in held-out log-likelihood is that
    of Goodkind and Bicknell 2018 (CMCL) and Wilcox et al. 2020 (CogSci). Intervals over items are ours.

    >>> y, x = [1.0, 2.0, 2.0, 4.0, 5.0, 5.0], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    >>> found = gain(y, x, [], [0, 0, 1, 1, 2, 2], folds=3)
    >>> round(found.share, 6) == round(float(np.corrcoef(x, y)[0, 1]) ** 2, 6), found.baseline_r2
    (True, 0.0)
    """
    y, x, *others = (np.asarray(numbers, dtype=np.float64) for numbers in (times, predictor, *controls))
    named = np.asarray(items)
    if any(numbers.shape != y.shape for numbers in (x, *others)) or named.shape != y.shape:
        raise InputError(Message("Reading times, predictors and items are one for each word; they differ in number."))
    if folds < 2:
        raise InputError(Message("Held-out likelihoods need 2 parts at least; got {folds}.", folds=folds))
    kept = np.isfinite(np.array([y, x, *others])).all(axis=0)
    y, x, others = y[kept], x[kept], [numbers[kept] for numbers in others]
    names, groups = np.unique(named[kept], return_inverse=True)
    n, n_items = len(y), len(names)
    design = _design(others, n)
    whole = _fit(y, x, design)
    if isinstance(whole, Message):
        return Gain(n, n_items, reason=whole)
    from scipy.special import stdtr  # a moment to import, and only here

    n_left = n - whole.rank - 1
    beta, left = whole.beta, whole.left_baseline - whole.explained
    t = beta / np.sqrt(left / n_left / whole.spread) if left > 0 else np.inf * np.sign(beta)
    total = float(((y - y.mean()) ** 2).sum())
    root_ends, beta_ends = _jackknifed(y, x, design, groups, n_items, whole)
    changes = _held_out(y, x, design, groups, n_items, min(folds, n_items), seed)
    delta, delta_ends = np.nan, (np.nan, np.nan)
    if len(changes):
        means = clustered_means(changes[None, :], groups, by_t=True)
        delta, delta_ends = float(means.mean[0]), (float(means.low[0]), float(means.high[0]))
    return Gain(
        n,
        n_items,
        max(0.0, 1.0 - whole.left_baseline / total),
        whole.explained / whole.left_baseline,
        _squared(root_ends),
        beta,
        beta_ends,
        float(t),
        float(2 * stdtr(n_left, -abs(t))),
        float(n * np.log(left / whole.left_baseline) + 2) if left > 0 else -np.inf,
        delta,
        delta_ends,
        NOT_HELD_OUT if np.isnan(delta) else "",
        changes,
    )


@dataclass(frozen=True)
class _Fit:
    """rank: of the baseline. left_baseline: its residual sum of squares. explained: what the predictor takes off it.
    spread: squares of what the baseline leaves of the predictor. root: the partial correlation.
    """

    rank: int
    left_baseline: float
    explained: float
    spread: float
    beta: float
    root: float


def _design(controls: Sequence[Floats], n: int) -> Floats:
    """The columns of the baseline, (n, k): a constant, the controls, centred and scaled, and their pairwise products.

    Scaling changes no fit, since the controls and a constant stand beside their products; it spares digits.
    """
    scaled = [(numbers - numbers.mean()) / (numbers.std() or 1.0) if n else numbers for numbers in controls]
    return np.column_stack([np.ones(n), *scaled, *(first * second for first, second in combinations(scaled, 2))])


def _fit(y: Floats, x: Floats, design: Floats) -> _Fit | Message:
    """Both regressions by the residuals of the baseline (Frisch, Waugh and Lovell)."""
    if len(y) < 2:
        return TOO_FEW
    both = np.column_stack([y, x])
    weights, _, rank, _ = np.linalg.lstsq(design, both, rcond=None)
    if len(y) < rank + 2:
        return TOO_FEW
    y_left, x_left = (both - design @ weights).T
    left, spread = float(y_left @ y_left), float(x_left @ x_left)
    if left <= _LEAST * max(float(((y - y.mean()) ** 2).sum()), _LEAST * float(y @ y)):
        return NO_SPREAD
    if spread <= _LEAST * max(float(((x - x.mean()) ** 2).sum()), _LEAST * float(x @ x)):
        return NOT_FURTHER
    shared = float(x_left @ y_left)
    return _Fit(int(rank), left, shared**2 / spread, spread, shared / spread, shared / np.sqrt(left * spread))


def _jackknifed(
    y: Floats, x: Floats, design: Floats, groups: NDArray[np.intp], n_items: int, whole: _Fit
) -> tuple[tuple[float, float], tuple[float, float]]:
    """The intervals of the partial correlation and of the coefficient, leaving one item out at a time."""
    nowhere = (np.nan, np.nan)
    if n_items < FEWEST_CLUSTERS:
        return nowhere, nowhere
    columns = np.column_stack([design, x, y])
    products = np.zeros((n_items, columns.shape[1], columns.shape[1]))
    order = np.argsort(groups, kind="stable")
    for item, rows in enumerate(np.split(order, np.flatnonzero(np.diff(groups[order])) + 1)):
        products[item] = columns[rows].T @ columns[rows]
    without = products.sum(axis=0) - products  # (n_items, k + 2, k + 2)
    k = design.shape[1]
    inverse = np.linalg.pinv(without[:, :k, :k], hermitian=True)
    cross = without[:, :k, k:]
    rest = without[:, k:, k:] - np.swapaxes(cross, 1, 2) @ inverse @ cross  # what the baseline leaves of x and y
    spread, shared, left = rest[:, 0, 0], rest[:, 0, 1], rest[:, 1, 1]
    if not ((spread > 0) & (left > 0)).all():
        return nowhere, nowhere
    beta, root = shared / spread, np.clip(shared / np.sqrt(spread * left), -1 + 1e-15, 1 - 1e-15)
    from scipy.special import stdtrit  # a moment to import, and only here

    quantile = float(stdtrit(n_items - 1, 0.5 + CONFIDENCE / 2))

    def half(of_each: Floats) -> float:
        return quantile * float(np.sqrt((n_items - 1) / n_items * ((of_each - of_each.mean()) ** 2).sum()))

    z, z_half, beta_half = (
        float(np.arctanh(np.clip(whole.root, -1 + 1e-15, 1 - 1e-15))),
        half(np.arctanh(root)),
        half(beta),
    )
    return (
        (float(np.tanh(z - z_half)), float(np.tanh(z + z_half))),
        (whole.beta - beta_half, whole.beta + beta_half),
    )


def _squared(ends: tuple[float, float]) -> tuple[float, float]:
    """The interval of a square, from that of its root."""
    low, high = sorted(end**2 for end in ends)
    return (0.0 if ends[0] < 0 < ends[1] else low), high


def _held_out(
    y: Floats, x: Floats, design: Floats, groups: NDArray[np.intp], n_items: int, folds: int, seed: int
) -> Floats:
    """The change of the log-likelihood of each word when it is held out, (n,); empty where a part cannot be fitted."""
    nothing = np.empty(0)
    if folds < 2:
        return nothing
    part = np.empty(n_items, dtype=np.int64)
    part[np.random.default_rng(seed).permutation(n_items)] = np.arange(n_items) % folds
    of_words = part[groups]
    full = np.column_stack([design, x])
    changes = np.empty(len(y))
    for fold in range(folds):
        out = of_words == fold
        densities = []
        for columns in (design, full):
            weights, _, rank, _ = np.linalg.lstsq(columns[~out], y[~out], rcond=None)
            variance = float(np.mean((y[~out] - columns[~out] @ weights) ** 2))
            if (~out).sum() <= rank or variance <= 0:
                return nothing
            squares = (y[out] - columns[out] @ weights) ** 2
            densities.append(-0.5 * (np.log(2 * np.pi * variance) + squares / variance))
        changes[out] = densities[1] - densities[0]
    return changes
