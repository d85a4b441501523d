"""MORCELA: how much of length and of word frequency has to be taken off, fitted to human judgements."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.errors import InputError
from engine.messages.message import Message, list_of

FOLDS = 5
FEWEST_SENTENCES = 20  # four coefficients are fitted
# Of a score that says nothing of the judgements.
_NOT_RISING = Message("the judgements do not rise with the log-likelihood")


@dataclass(frozen=True)
class FittedAdjustment:
    """The coefficients of MORCELA; nan where there are none, and then `reason` says why. `n` sentences were fitted."""

    beta: float
    gamma: float
    n: int
    reason: str = ""


@dataclass(frozen=True)
class CrossFit:
    """Coefficients that each sentence is scored with, fitted without it: float64 (n_sentences,), nan without a fit.

    correlation: mean over the folds of Pearson's r of judgements and scores of the sentences left out.
    """

    beta: NDArray[np.float64]
    gamma: NDArray[np.float64]
    correlation: float
    reason: str = ""


def fitted_adjustment(
    log_likelihoods: ArrayLike, unigrams: ArrayLike, n_tokens: ArrayLike, judgements: ArrayLike
) -> FittedAdjustment:
    """How much of word frequency, and of length, does a model need taken off to follow human judgements?

        MORCELA = (log P(S) - β · log P_u(S) + γ) / |S|
        judgement = a · MORCELA + d, by least squares in a, a·β, a·γ and d

    SLOR is the case β = 1, γ = 0; β below 1 says that SLOR takes off too much of frequency, γ above 0 raises short
    sentences.

    Parameters
    ----------
    log_likelihoods, unigrams : (n_sentences,), sums in nats.
    n_tokens : (n_sentences,), |S|, above 0.
    judgements : (n_sentences,), on any interval scale, higher is more acceptable; nan: not judged, and left out.

    Range of β: (-inf, inf), no unit; of γ: (-inf, inf) nats; neither end is better. Another unit or zero of the
    judgements changes neither.

    Edges: nan with a reason where fewer than 20 sentences are judged, where the columns do not determine the
    coefficients (one length only, or all judgements alike), and where a is 0 or below.

    Raises InputError for columns of different lengths, a length that is not above 0, and sums that are not finite.

    Source: Tjuatja, Neubig, Linzen, Hao 2025 (What Goes Into a LM Acceptability Judgment?, NAACL, 2025.naacl-long.109),
    section 3; as their code does, by linear regression on log P / |S|, log P_u / |S| and 1 / |S|.

    >>> sums, unigrams, lengths = -np.arange(20.0) ** 1.5 - 9, -3.0 * np.arange(20) - 8, np.arange(20) % 7 + 3
    >>> fit = fitted_adjustment(sums, unigrams, lengths, 0.5 * (sums - 0.6 * unigrams + 2) / lengths - 1)
    >>> round(fit.beta, 6), round(fit.gamma, 6)
    (0.6, 2.0)
    """
    return _fit(*_columns(log_likelihoods, unigrams, n_tokens, judgements))


def cross_fitted(
    log_likelihoods: ArrayLike,
    unigrams: ArrayLike,
    n_tokens: ArrayLike,
    judgements: ArrayLike,
    pair_of_sentence: ArrayLike,
    *,
    seed: int = 0,
    folds: int = FOLDS,
) -> CrossFit:
    """`fitted_adjustment` for each part of the pairs from all other parts, so that no score has seen its judgement.

    pair_of_sentence: int (n_sentences,), the pair of each: both sentences of one are in the same part. The pairs are
    put into `folds` parts at random by `seed`. A sentence without a judgement has the coefficients of its part. With
    fewer than 2 pairs in some part there is no fit, with a reason.

    Raises InputError as `fitted_adjustment`. Source: the same; there the sentences are divided, not the pairs.
    """
    sums, expected, lengths, judged = _columns(log_likelihoods, unigrams, n_tokens, judgements)
    pairs = np.asarray(pair_of_sentence)
    if pairs.shape != sums.shape:
        raise InputError(
            Message(
                "Each sentence belongs to one pair; got {size} and {other_size}.", size=sums.size, other_size=pairs.size
            )
        )
    names, pair = np.unique(pairs, return_inverse=True)
    beta, gamma = np.full(sums.size, np.nan), np.full(sums.size, np.nan)
    if names.size < 2 * folds:
        return CrossFit(
            beta,
            gamma,
            np.nan,
            Message(
                "{folds} parts need at least {fewest} pairs; there are {size}",
                folds=folds,
                fewest=2 * folds,
                size=names.size,
            ),
        )
    part = (np.random.default_rng(seed).permutation(names.size) % folds)[pair]
    correlations = []
    for number in range(folds):
        left_out = part == number
        fit = _fit(sums[~left_out], expected[~left_out], lengths[~left_out], judged[~left_out])
        if fit.reason:
            nothing = np.full(sums.size, np.nan)
            return CrossFit(nothing, nothing, np.nan, fit.reason)
        beta[left_out], gamma[left_out] = fit.beta, fit.gamma
        scored = (sums[left_out] - fit.beta * expected[left_out] + fit.gamma) / lengths[left_out]
        correlations.append(_correlation(scored, judged[left_out]))
    return CrossFit(beta, gamma, float(np.mean(correlations)))


def _columns(*columns: ArrayLike) -> tuple[NDArray[np.float64], ...]:
    arrays = tuple(np.asarray(column, dtype=np.float64) for column in columns)
    if len({array.shape for array in arrays}) > 1 or arrays[0].ndim != 1:
        raise InputError(
            Message(
                "Each sentence needs a log-likelihood, a unigram sum, a length and a judgement; got {arrays}.",
                arrays=list_of(str(array.size) for array in arrays),
            )
        )
    if not (arrays[2] > 0).all():
        raise InputError(Message("A sentence has at least one token."))
    if not (np.isfinite(arrays[0]).all() and np.isfinite(arrays[1]).all()):
        raise InputError(Message("MORCELA needs finite log-likelihoods and unigram sums."))
    return arrays


def _fit(
    sums: NDArray[np.float64],
    unigrams: NDArray[np.float64],
    lengths: NDArray[np.float64],
    judgements: NDArray[np.float64],
) -> FittedAdjustment:
    judged = np.isfinite(judgements)
    n = int(judged.sum())
    if n < FEWEST_SENTENCES:
        return FittedAdjustment(
            np.nan,
            np.nan,
            n,
            Message(
                "MORCELA needs {FEWEST_SENTENCES} judged sentences; there are {n}",
                FEWEST_SENTENCES=FEWEST_SENTENCES,
                n=n,
            ),
        )
    length = lengths[judged]
    design = np.stack([sums[judged] / length, unigrams[judged] / length, 1 / length, np.ones(n)], axis=1)  # (n, 4)
    # Columns of one size keep the rank apart from their units.
    size = np.abs(design).max(axis=0)
    coefficients, _, rank, _ = np.linalg.lstsq(design / np.where(size > 0, size, 1.0), judgements[judged], rcond=None)
    if rank < design.shape[1]:
        return FittedAdjustment(
            np.nan, np.nan, n, Message("the lengths and frequencies of the sentences are too alike")
        )
    slope, of_unigrams, of_length, _ = coefficients / size
    if not slope > 1e-12:
        return FittedAdjustment(np.nan, np.nan, n, _NOT_RISING)
    return FittedAdjustment(float(-of_unigrams / slope), float(of_length / slope), n)


def _correlation(scores: NDArray[np.float64], judgements: NDArray[np.float64]) -> float:
    judged = np.isfinite(judgements)
    x, y = scores[judged], judgements[judged]
    if x.size < 2 or not (x.std() > 0 and y.std() > 0):
        return float("nan")
    return float(np.corrcoef(x, y)[0, 1])
