"""What the annotators of a dataset say together: the gold that metrics are held against."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from engine.datasets.human_scores import scale
from engine.errors import InputError
from engine.evaluations.metric_study.records import AGREEMENT, ANNOTATORS
from engine.measures.statistics.annotators import AnnotatorAgreement, annotator_agreement, gold_scores, z_scores
from engine.measures.statistics.correlation import is_constant


@dataclass(frozen=True)
class HumanGold:
    """The annotators' scores on one scale, and how well they agree.

    gold: (n_pairs,) mean of the z-scores, nan where nobody scored. z: annotator -> (n_pairs,). annotators, agreement:
    the tables `records.ANNOTATORS` and `records.AGREEMENT`. reason: why there is no gold at all, "" where there is one.
    notices: on which scales the scores stand, and what is missing.
    """

    gold: np.ndarray
    z: dict[str, np.ndarray]
    annotators: pd.DataFrame
    agreement: pd.DataFrame
    mean_agreement: float
    reason: str = ""
    notices: tuple[str, ...] = ()


def human_gold(human: Mapping[str, Sequence[float]]) -> HumanGold:
    """z-normalise each annotator's scores (annotator -> one score for each pair, nan = none) and take their mean.

    An annotator who gave one score only has no scale and is left aside. Raises InputError when there is no
    column of human scores, or no score in any.
    """
    scores = {name: np.asarray(values, dtype=np.float64) for name, values in human.items()}
    if not scores or all(np.isnan(values).all() for values in scores.values()):
        raise InputError("A metric is held against human scores, and this dataset has none. Add a column of numbers "
                         "for each annotator (such as annotator1, annotator2), or say which columns they are; on the "
                         "command line: --column human=NAME, once for each.")
    z = {name: z_scores(values) for name, values in scores.items()}
    gold = gold_scores(np.stack(list(z.values())))
    agreement = annotator_agreement(scores)
    reason = "" if np.isfinite(gold).any() else "no annotator's scores vary, so there is no human score to follow"
    annotators = ANNOTATORS.frame_of_records([_facts(name, values, agreement) for name, values in scores.items()])
    return HumanGold(gold, z, annotators, _pairs(agreement), agreement.mean, reason, _notices(annotators))


def _facts(name: str, scores: np.ndarray, agreement: AnnotatorAgreement) -> dict[str, Any]:
    own_scores = scores[~np.isnan(scores)]
    with_others = [pair.correlation.value for pair in agreement.pairs
                   if name in (pair.annotator, pair.other) and not pair.correlation.reason]
    likely_scale = scale(own_scores.tolist())
    reason = ("" if not is_constant(own_scores) else "gave no score" if not own_scores.size else
              f"gave {own_scores[0]:g} to every pair, so has no scale")
    return {"annotator": name, "n": own_scores.size, "missing": scores.size - own_scores.size,
            "minimum": own_scores.min() if own_scores.size else np.nan,
            "maximum": own_scores.max() if own_scores.size else np.nan,
            "scale": likely_scale.name if likely_scale else "",
            "mean": own_scores.mean() if own_scores.size else np.nan,
            "deviation": own_scores.std() if own_scores.size else np.nan,
            "agreement": np.mean(with_others) if with_others else np.nan, "reason": reason}


def _notices(annotators: pd.DataFrame) -> tuple[str, ...]:
    notices = []
    scored = annotators[annotators["n"] > 0]
    for name, of_scale in scored.groupby("scale", sort=False):
        notices.append(f"Human scores of {', '.join(of_scale['annotator'])}: taken to be on the scale {name}, by the "
                       f"least ({of_scale['minimum'].min():g}) and the greatest ({of_scale['maximum'].max():g}).")
    partly = annotators[annotators["missing"] > 0]
    if len(partly):
        lacking = ", ".join(f"{name} {n:,}" for name, n in zip(partly["annotator"], partly["missing"], strict=True))
        notices.append(f"Pairs without a score: {lacking}. A pair's human score is the mean of those who scored it.")
    notices += [f"{line['annotator']} {line['reason']}, and is left aside."
                for line in annotators.to_dict("records") if line["reason"]]
    return tuple(notices)


def _pairs(agreement: AnnotatorAgreement) -> pd.DataFrame:
    return AGREEMENT.frame([
        (pair.annotator, pair.other, pair.correlation.n, pair.correlation.value, pair.correlation.ci_low,
         pair.correlation.ci_high, pair.correlation.reason) for pair in agreement.pairs])
