"""The records of fill-mask: what is asked (Settings) and what is found (Result)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from engine.measures.mask_probability import RESAMPLES

ALL = "all"  # the domain of the rows over all sentences
NO_DOMAIN = "(none)"
TAILS = (0.025, 0.975)


@dataclass(frozen=True)
class Settings:
    """What to weigh and how.

    `normalize`: steps of `engine.language.normalize`, for sentence and word alike. `top`: predictions kept at each
    mask. `resamples`, `seed`: of the intervals.
    """

    models: tuple[str, ...]
    normalize: tuple[str, ...] = ()
    top: int = 10
    resamples: int = RESAMPLES
    seed: int = 0


@dataclass(frozen=True)
class Result:
    """Everything the fill-mask page draws.

    models: model, domain ("all" = over all), n, mean_probability, ci_low, ci_high (95 %), n_several_pieces,
    n_crossing; over the sentences each model could fill. common: the same over those that every model could.
    items: model, row, domain, label, probability, rank (missing for words of several pieces), n_pieces, crossing.
    pieces: model, row, mask (from 1), token, probability (given the pieces before it), rank. predictions: model, row,
    mask, place (from 1), token, probability, is_label (it is the word's piece there). comparisons: model, other,
    difference (of the means over common sentences, model's minus other's), ci_low, ci_high, separable.
    sentences: row, text, label, start, domain, before, asked, after (the three as the models got them, normalised).
    excluded: model, row, label, reason.
    """

    settings: Settings
    dataset_name: str
    models: pd.DataFrame
    common: pd.DataFrame
    items: pd.DataFrame
    pieces: pd.DataFrame
    predictions: pd.DataFrame
    comparisons: pd.DataFrame
    sentences: pd.DataFrame
    excluded: pd.DataFrame
    notices: tuple[str, ...] = ()
    signature: dict[str, Any] = field(default_factory=dict)
