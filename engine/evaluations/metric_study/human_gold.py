"""What the annotators of a dataset say together: the gold that metrics are held against."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from engine.datasets.human_scores import scale
from engine.datasets.sentence_pairs import HUMAN, SentencePairs
from engine.errors import InputError
from engine.evaluations.metric_study.records import AGREEMENT, ANNOTATORS, HUMAN_CEILING
from engine.evaluations.metric_study.scores import number_column
from engine.evaluations.shared.declared_tables import returns
from engine.measures.statistics.annotators import (
    AnnotatorAgreement,
    annotator_agreement,
    gold_scores,
    human_ceiling,
    z_scores,
)
from engine.measures.statistics.correlations.correlation import Correlation, is_constant
from engine.messages.message import Message, list_of


@dataclass(frozen=True)
class HumanGold:
    """The annotators' scores on one scale, and how well they agree.

    gold: (n_pairs,) mean of the z-scores, nan without a score. z: annotator -> (n_pairs,). annotators, agreement:
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
        raise InputError(
            Message(
                "A metric is compared with human scores, and this dataset has none. Add a column of "
                "numbers for each annotator (such as annotator1, annotator2), or say which columns "
                "they are; on the command line: --column human=NAME, once for each."
            )
        )
    z = {name: z_scores(values) for name, values in scores.items()}
    gold = gold_scores(np.stack(list(z.values())))
    agreement = annotator_agreement(scores)
    reason = (
        "" if np.isfinite(gold).any() else Message("no annotator's scores vary, so there is no human score to follow")
    )
    annotators = ANNOTATORS.frame_of_records([_facts(name, values, agreement) for name, values in scores.items()])
    return HumanGold(gold, z, annotators, _pairs(agreement), agreement.mean, reason, _notices(annotators))


def no_gold(n_pairs: int) -> HumanGold:
    """What replaces human scores where there are none: every correlation is undefined."""
    return HumanGold(
        np.full(n_pairs, np.nan),
        {},
        ANNOTATORS.frame(),
        AGREEMENT.frame(),
        float("nan"),
        Message("there are no human scores"),
    )


def annotator_scores(dataset: SentencePairs, columns: Sequence[str]) -> dict[str, np.ndarray]:
    """The scores (n_pairs,) of the annotators of the human ceiling, nan where there is none, by annotator.

    columns: human scores or columns without a role; none: all human scores, where there are two or more. Raises
    InputError for one column alone, a column that is not there, and one with anything but numbers (all bad rows
    listed).
    """
    if not columns:
        return (
            {name: np.asarray(values, dtype=np.float64) for name, values in dataset.human.items()}
            if len(dataset.human) > 1
            else {}
        )
    names = list(dict.fromkeys(column.removeprefix(HUMAN) for column in columns))
    if len(names) < 2:
        raise InputError(
            Message(
                "A human ceiling needs at least two annotators; got {names}. Name the columns of all annotators.",
                names=list_of(names),
            )
        )
    return {
        name: np.asarray(dataset.human[name], dtype=np.float64)
        if name in dataset.human
        else number_column(dataset, name, Message("scores of an annotator"))
        for name in names
    }


@returns(HUMAN_CEILING)
def ceiling_table(scores: Mapping[str, np.ndarray]) -> pd.DataFrame:
    """The human ceiling of annotators; empty without any."""
    if not scores:
        return HUMAN_CEILING.frame()
    ceiling = human_ceiling(scores)
    lines = [
        {
            "annotator": of_one.annotator,
            "n": of_one.n,
            "missing": of_one.missing,
            **_with_ends("pearson", of_one.pearson),
            **_with_ends("spearman", of_one.spearman),
            **_with_ends("kendall", of_one.kendall),
            "reason": of_one.pearson.reason,
        }
        for of_one in ceiling.annotators
    ]
    mean = {
        name: Correlation(value, np.nan, np.nan, ceiling.n)
        for name, value in (("pearson", ceiling.pearson), ("spearman", ceiling.spearman), ("kendall", ceiling.kendall))
    }
    lines.append(
        {
            "annotator": "",
            "n": ceiling.n,
            "missing": ceiling.missing,
            "reason": ceiling.reason,
            **{key: value for name, of_mean in mean.items() for key, value in _with_ends(name, of_mean).items()},
        }
    )
    return HUMAN_CEILING.frame_of_records(lines)


def _with_ends(name: str, correlation: Correlation) -> dict[str, float]:
    """A correlation and the ends of its interval, as the tables name them."""
    low, high = ("ci_low", "ci_high") if name == "pearson" else (f"{name}_low", f"{name}_high")
    return {name: correlation.value, low: correlation.ci_low, high: correlation.ci_high}


def _facts(name: str, scores: np.ndarray, agreement: AnnotatorAgreement) -> dict[str, Any]:
    own_scores = scores[~np.isnan(scores)]
    with_others = [
        pair.correlation.value
        for pair in agreement.pairs
        if name in (pair.annotator, pair.other) and not pair.correlation.reason
    ]
    likely_scale = scale(own_scores.tolist())
    reason = (
        ""
        if not is_constant(own_scores)
        else Message("gave no score")
        if not own_scores.size
        else Message("gave {own_scores:g} to every pair, so has no scale", own_scores=own_scores[0])
    )
    return {
        "annotator": name,
        "n": own_scores.size,
        "missing": scores.size - own_scores.size,
        "minimum": own_scores.min() if own_scores.size else np.nan,
        "maximum": own_scores.max() if own_scores.size else np.nan,
        "scale": likely_scale.name if likely_scale else "",
        "mean": own_scores.mean() if own_scores.size else np.nan,
        "deviation": own_scores.std() if own_scores.size else np.nan,
        "agreement": np.mean(with_others) if with_others else np.nan,
        "reason": reason,
    }


def _notices(annotators: pd.DataFrame) -> tuple[str, ...]:
    notices = []
    scored = annotators[annotators["n"] > 0]
    for name, of_scale in scored.groupby("scale", sort=False):
        notices.append(
            Message(
                "Human scores of {of_scale}: taken to be on the scale {name}, by the least ({min:g}) "
                "and the greatest ({max:g}).",
                of_scale=list_of(of_scale["annotator"]),
                name=name,
                min=of_scale["minimum"].min(),
                max=of_scale["maximum"].max(),
            )
        )
    partly = annotators[annotators["missing"] > 0]
    if len(partly):
        lacking = ", ".join(f"{name} {n:,}" for name, n in zip(partly["annotator"], partly["missing"], strict=True))
        notices.append(
            Message(
                "Pairs without a score: {lacking}. A pair's human score is the mean of those who scored it.",
                lacking=lacking,
            )
        )
    notices += [
        Message("{annotator} {reason}, and is left aside.", annotator=line["annotator"], reason=line["reason"])
        for line in annotators.to_dict("records")
        if line["reason"]
    ]
    return tuple(notices)


def _pairs(agreement: AnnotatorAgreement) -> pd.DataFrame:
    return AGREEMENT.frame(
        [
            (
                pair.annotator,
                pair.other,
                pair.correlation.n,
                pair.correlation.value,
                pair.correlation.ci_low,
                pair.correlation.ci_high,
                pair.correlation.reason,
            )
            for pair in agreement.pairs
        ]
    )
