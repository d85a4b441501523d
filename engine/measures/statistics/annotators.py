"""Human scores of several annotators: put on one scale, compared with each other, made into one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.errors import InputError
from engine.measures.statistics.correlations.correlation import Correlation, is_constant, kendall, pearson, spearman
from engine.messages.message import Message


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


@dataclass(frozen=True)
class AgainstOthers:
    """How one annotator follows the mean of the others, over the `n` pairs that have both; `missing` pairs do not."""

    annotator: str
    pearson: Correlation
    spearman: Correlation
    kendall: Correlation
    n: int
    missing: int


@dataclass(frozen=True)
class HumanCeiling:
    """Every annotator against the others, and the means; nan and a `reason` where no annotator has a correlation.

    n: pairs that count for one annotator or more; missing: the other pairs.
    """

    annotators: tuple[AgainstOthers, ...]
    pearson: float
    spearman: float
    kendall: float
    n: int
    missing: int
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
        raise InputError(
            Message(
                "The scores of an annotator are one column of finite numbers; got shape {shape}.", shape=values.shape
            )
        )
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

    Returns (n_pairs,), no unit, in the direction of the scores given; nan where the pair has no score. With one
    annotator it is that annotator's z. A mean of several is less spread than each.

    Raises InputError for another shape. Source: as `z_scores`, section 4.1 (the mean of the three evaluators).

    >>> gold_scores([[-1.0, 1.0, float("nan")], [-1.0, 0.0, float("nan")]]).tolist()
    [-1.0, 0.5, nan]
    """
    values = np.asarray(z, dtype=np.float64)
    if values.ndim != 2:
        raise InputError(Message("z-scores have the shape (n_annotators, n_pairs); got {shape}.", shape=values.shape))
    known = ~np.isnan(values)
    n_annotators = known.sum(axis=0)  # (n_pairs,)
    total = np.where(known, values, 0.0).sum(axis=0)  # (n_pairs,)
    return np.asarray(np.divide(total, n_annotators, out=np.full(values.shape[1], np.nan), where=n_annotators > 0))


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
    pairs = tuple(
        AnnotatorPair(first, second, pearson(scores[first], scores[second], names=(first, second)))
        for first, second in combinations(scores, 2)
    )
    defined = [pair.correlation.value for pair in pairs if not pair.correlation.reason]
    if defined:
        return AnnotatorAgreement(float(np.mean(defined)), pairs)
    return AnnotatorAgreement(
        np.nan,
        pairs,
        Message("no two annotators have a correlation")
        if pairs
        else Message("agreement needs at least two annotators"),
    )


def human_ceiling(scores: Mapping[str, ArrayLike]) -> HumanCeiling:
    """How well does an annotator predict the others, whom a metric is to predict?

        ceiling = mean over the annotators a of r(z_a, mean of the z of the other annotators)

    with Pearson's r, Spearman's ρ and Kendall's τ_b for r; z as in `z_scores`.

    Parameters
    ----------
    scores : for each annotator (n_pairs,) numbers on a scale of their own; nan = not scored.

    Range: [-1, 1], no unit, larger is better; 0 is what annotators who guess reach. It is no strict bound: a metric is
    held against the mean of all annotators, which has less noise than one annotator has and than the mean of the
    others, so a very good metric can lie above it. The interval of each annotator's correlation is that of the metrics;
    the mean has none, because its terms share pairs and annotators.

    Edges: a pair counts for an annotator where that one and another one scored it. An annotator who gave one score only
    has no scale and is left out. Annotators with fewer than 3 such pairs have no correlation and do not count in
    the mean. One annotator alone: nan, with a reason.

    Raises InputError for columns of different lengths and infinite scores.

    Source: the leave-one-out agreement of annotators, as in Agirre et al. 2012 (SemEval, task 6, on similarity of
    sentences); ours are the z-scores, so that it is held against what the metrics are held against.

    >>> ceiling = human_ceiling({"a": [1, 2, 3], "b": [10, 20, 30], "c": [3, 2, 1]})
    >>> ceiling.n, [round(of_one.pearson.value, 3) if not of_one.pearson.reason else None
    ...             for of_one in ceiling.annotators]
    (3, [None, None, -1.0])
    """
    lengths = {np.shape(values) for values in scores.values()}
    if len(lengths) > 1:
        raise InputError(
            Message("Annotators score the same pairs; got columns of the shapes {lengths}.", lengths=sorted(lengths))
        )
    z = {name: z_scores(values) for name, values in scores.items()}
    counted = np.zeros(next(iter(lengths), 0), dtype=bool)
    annotators = []
    for name, own in z.items():
        rest = [values for other, values in z.items() if other != name]
        others = gold_scores(np.stack(rest)) if rest else np.full(own.shape, np.nan)
        common = ~(np.isnan(own) | np.isnan(others))
        counted |= common
        names = (name, Message("the mean of the other annotators"))
        annotators.append(
            AgainstOthers(
                name,
                pearson(own, others, names=names),
                spearman(own, others, names=names),
                kendall(own, others, names=names),
                int(common.sum()),
                int((~common).sum()),
            )
        )
    means = {}
    for measure in ("pearson", "spearman", "kendall"):
        defined = [getattr(of_one, measure).value for of_one in annotators if not getattr(of_one, measure).reason]
        means[measure] = float(np.mean(defined)) if defined else np.nan
    reason = (
        ""
        if not np.isnan(list(means.values())).all()
        else Message("a human ceiling needs at least two annotators")
        if len(z) < 2
        else Message("no annotator has a correlation with the mean of the others")
    )
    return HumanCeiling(
        tuple(annotators),
        means["pearson"],
        means["spearman"],
        means["kendall"],
        int(counted.sum()),
        int((~counted).sum()),
        reason,
    )
