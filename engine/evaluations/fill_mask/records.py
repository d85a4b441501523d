"""The records of fill-mask: what is asked (Settings) and what is found (Result)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from engine.language.normalize import STEP_MEANINGS
from engine.measures.mask_probability import RESAMPLES
from engine.options import option

ALL = "all"  # the domain of the rows over all sentences
NO_DOMAIN = "(none)"
TAILS = (0.025, 0.975)


@dataclass(frozen=True)
class Settings:
    """What to evaluate and how."""

    models: tuple[str, ...]
    normalize: tuple[str, ...] = option((), "Normalisation of sentences and words before any model reads them; the "
                                            "paper needed both steps.",
                                        choices=STEP_MEANINGS, separator=",", metavar="STEPS", unset="none")
    top: int = option(10, "Predictions kept at each mask.", least=1)
    resamples: int = option(RESAMPLES, "Resamples of the bootstrap that the intervals come from.", least=1)
    seed: int = option(0, "Seed of the intervals, and of the sentences drawn where they are built.", least=0)


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
