"""The human scores of sentence pairs beside a score of BERTScore: correlation, and the pairs where the two disagree."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from engine.datasets.human_scores import named_scale, scale, scales_that_hold
from engine.datasets.sentence_pairs import HUMAN
from engine.measures.statistics.annotators import gold_scores, z_scores
from engine.measures.statistics.correlations.correlation import Correlation, kendall, pearson, spearman
from engine.messages.message import Message


@dataclass(frozen=True, eq=False)
class HumanScores:
    """What the annotators say of n pairs; NaN where none scored.

    gold: (n,) mean of their z-scores, as in a metric study. mean: (n,) mean of the scores as they are in the file, or
    gold again where the annotators have different scales. unit: of mean, in words.
    """

    names: tuple[str, ...]
    gold: np.ndarray
    mean: np.ndarray
    unit: str


@dataclass(frozen=True, eq=False)
class Agreement:
    """The three correlations of a score with the human scores."""

    pearson: Correlation
    spearman: Correlation
    kendall: Correlation


def human_scores(pairs: pd.DataFrame, scale_name: str = "") -> HumanScores | None:
    """The human scores of `records.PAIRS`, or of a table with its columns; None where there is no score at all.

    scale_name: the scale of all annotators, one of `offered_scales`; "" where it is told from the scores.
    """
    columns = _columns(pairs)
    if not columns:
        return None
    scores = pairs[columns].to_numpy(dtype=np.float64).T  # (n_annotators, n)
    present = ~np.isnan(scores)
    counted = present.sum(axis=0)
    mean = np.where(counted > 0, np.where(present, scores, 0.0).sum(axis=0) / np.maximum(counted, 1), np.nan)
    gold = gold_scores(np.stack([z_scores(values) for values in scores]))
    names = tuple(name.removeprefix(HUMAN) for name in columns)
    # An annotator who gave no 0 has the scale of one who did: where the scales end is what counts.
    ends = {found.high for values in scores if (found := scale(values.tolist())) is not None}
    whole = named_scale(scale_name) if scale_name else scale(scores.ravel().tolist())
    if (len(ends) > 1 and not scale_name) or whole is None:
        return HumanScores(names, gold, gold, Message("z-scores, because the annotators have different scales"))
    return HumanScores(names, gold, mean, Message("on the scale {name}", name=whole.name))


def offered_scales(pairs: pd.DataFrame) -> tuple[str, ...]:
    """The scales that the human scores of all annotators may be on, by the names of `human_scores.SCALES`."""
    columns = _columns(pairs)
    return scales_that_hold(pairs[columns].to_numpy(dtype=np.float64).ravel().tolist()) if columns else ()


def _columns(pairs: pd.DataFrame) -> list[str]:
    return [str(name) for name in pairs.columns if str(name).startswith(HUMAN) and pairs[name].notna().any()]


def agreement(human: HumanScores, score: np.ndarray) -> Agreement:
    """How a score (n,) of the same pairs follows the human gold; NaN = undefined, which counts nowhere."""
    both = np.isfinite(human.gold) & np.isfinite(score)
    names = (Message("the human score"), Message("the score"))
    coefficients = [measure(human.gold[both], score[both], names=names) for measure in (pearson, spearman, kendall)]
    return Agreement(coefficients[0], coefficients[1], coefficients[2])


def disagreement(human: HumanScores, score: np.ndarray) -> np.ndarray:
    """How far a score (n,) of the same pairs is from the human gold: (n,) standard deviations, NaN without one of both.

    The z-score of the score less that of the gold, over the pairs that have both: above 0 the metric is kinder than
    the humans.
    """
    both = np.isfinite(human.gold) & np.isfinite(score)
    differences = np.full(len(score), np.nan)
    if both.any():
        differences[both] = z_scores(score[both]) - z_scores(human.gold[both])
    return differences
