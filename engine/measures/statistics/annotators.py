"""Human scores of several annotators: put on one scale, compared with each other, made into one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.errors import InputError
from engine.measures.statistics.correlation import Correlation, is_constant, pearson


@dataclass(frozen=True)
class AnnotatorPair:
    """How two annotators agree over the pairs that both scored."""

    annotator: str
    other: str
    correlation: Correlation


@dataclass(frozen=True)
class AnnotatorAgreement:
    """Every two annotators, and the mean of their correlations; nan and a `reason` where none is defined."""

    mean: float
    pairs: tuple[AnnotatorPair, ...]
    reason: str = ""


def z_scores(scores: ArrayLike) -> NDArray[np.float64]:
    """How many standard deviations does each score lie above the annotator's own mean?

        z_i = (x_i − x̄) / s,    s = sqrt(Σ (x_i − x̄)² / n)

    Mean and s are those of the n pairs that the annotator scored; s divides by n (ddof = 0), as scipy's `zscore`.

    Parameters
    ----------
    scores : (n_pairs,) numbers on any scale; nan = not scored.

    Returns (n_pairs,), no unit, mean 0 and standard deviation 1; nan where not scored. Neither end is better than
    on the scale given: any range (0 to 1, 0 to 5, 0 to 100, z) gives the same.

    Edges: an annotator who gave one score only has no scale: all nan.

    Raises InputError for an infinite score or another shape.

    Source: the paper on BERTScore for Japanese novel translation, section 4.1, which normalises to take out each
    evaluator's bias and leaves the formula open; z-scores are what the WMT metrics tasks use.

    >>> z_scores([10, float("nan"), 30]).tolist()
    [-1.0, nan, 1.0]
    """
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim != 1 or np.isinf(values).any():
        raise InputError(f"The scores of an annotator are one column of finite numbers; got shape {values.shape}.")
    scored = values[~np.isnan(values)]
    if is_constant(scored):
        return np.full(values.shape, np.nan)
    z: NDArray[np.float64] = (values - scored.mean()) / scored.std()
    return z


def gold_scores(z: ArrayLike) -> NDArray[np.float64]:
    """What do the annotators say of each pair together?

        gold_i = mean of z_ai over the annotators a who scored pair i

    Parameters
    ----------
    z : (n_annotators, n_pairs), from `z_scores`; nan = not scored, or an annotator without a scale.

    Returns (n_pairs,), no unit, in the direction of the scores given; nan where nobody scored the pair. With one
    annotator it is that annotator's z. A mean of several is less spread than each.

    Raises InputError for another shape. Source: as `z_scores`, section 4.1 (the mean of the three evaluators).

    >>> gold_scores([[-1.0, 1.0, float("nan")], [-1.0, 0.0, float("nan")]]).tolist()
    [-1.0, 0.5, nan]
    """
    values = np.asarray(z, dtype=np.float64)
    if values.ndim != 2:
        raise InputError(f"z-scores have the shape (n_annotators, n_pairs); got {values.shape}.")
    known = ~np.isnan(values)
    n_annotators = known.sum(axis=0)  # (n_pairs,)
    total = np.where(known, values, 0.0).sum(axis=0)  # (n_pairs,)
    return np.divide(total, n_annotators, out=np.full(values.shape[1], np.nan), where=n_annotators > 0)


def annotator_agreement(scores: Mapping[str, ArrayLike]) -> AnnotatorAgreement:
    """Do the annotators agree with each other?

        mean over every two annotators of Pearson's r over the pairs that both scored

    Parameters
    ----------
    scores : for each annotator (n_pairs,) numbers on a scale of their own; nan = not scored.

    Range: [-1, 1], no unit, larger is better; 0 is what annotators who guess reach. A metric can hardly be expected
    to follow the humans better than they follow each other. Scales do not matter: r is free of them.

    Edges: two annotators with fewer than 3 common pairs, or one of them constant there, have no r (nan, with a
    reason) and do not count in the mean. One annotator alone: nan, with a reason.

    Raises InputError for columns of different lengths and infinite scores.

    Source: the paper on BERTScore for Japanese novel translation, section 4.1 (0.657 to 0.548 there).

    >>> annotator_agreement({"a": [1, 2, 3], "b": [10, 20, 30], "c": [3, 2, 1]}).mean
    -0.3333333333333333
    """
    pairs = tuple(AnnotatorPair(first, second, pearson(scores[first], scores[second], names=(first, second)))
                  for first, second in combinations(scores, 2))
    defined = [pair.correlation.value for pair in pairs if not pair.correlation.reason]
    if defined:
        return AnnotatorAgreement(float(np.mean(defined)), pairs)
    return AnnotatorAgreement(np.nan, pairs, "no two annotators have a correlation" if pairs else
                              "agreement needs at least two annotators")
