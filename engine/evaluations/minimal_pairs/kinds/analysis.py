"""What is computed of minimal-pair data of one kind, and what may be asked of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from engine.datasets.minimal_pairs.kinds import DataKind
from engine.datasets.minimal_pairs.pairs import MinimalPairs
from engine.errors import InputError
from engine.evaluations.minimal_pairs import records
from engine.evaluations.minimal_pairs.kinds.pair_findings import Tables
from engine.evaluations.minimal_pairs.records import NO_PROMPTS, PairScoring, PairView, Result, Settings
from engine.evaluations.shared.on_card import Headline
from engine.messages.message import Message
from engine.models.sources.facts import ModelFacts

PAIRS = records.PAIRS.reduced(
    (
        "model",
        "row",
        "category",
        "acceptable_tokens",
        "unacceptable_tokens",
        "acceptable_log_likelihood",
        "unacceptable_log_likelihood",
        "identical",
        "acceptable",
        "unacceptable",
        "acceptable_unknown",
        "unacceptable_unknown",
        "scored_in",
        "acceptable_unigrams",
        "unacceptable_unigrams",
        "first_token_differs",
        "shared_words",
        "cut_words",
        "acceptable_parts",
        "unacceptable_parts",
    ),
    promised=7,
)
PROMPTED = records.PROMPTED.reduced([name for name in records.PROMPTED.headers if name != "item"])
OF_CARDS = ("LP", "PenLP")  # the normalisations on the card of a model


def check_no_prompts(settings: Settings, dataset: MinimalPairs) -> None:
    """Raises InputError for prompts: of such data no score of a whole sentence counts."""
    if settings.prompts != NO_PROMPTS:
        raise InputError(
            Message(
                "{name} holds {what}, of which no score of a whole sentence in a template counts. Leave --prompts out.",
                name=dataset.name,
                what=dataset.data_kind.holds,
            )
        )


@dataclass(frozen=True)
class Asked:
    """What the tables of a result are asked for: under these normalisations; seed: of the matched sample."""

    normalizations: Sequence[str]
    shown: PairScoring
    seed: int


@dataclass(frozen=True)
class Analysis:
    """One kind of data as the evaluation treats it.

    not_applicable: the options of `PairScoring` that say nothing of such data; refusal: what is said of them, with {name} of
    the data and {flags}. check: raises InputError for settings that such data cannot have; check_scores likewise for
    what is shown of them and the normalisations that were asked for, () for all, before anything is scored;
    check_formulas for predictions, None where the data are not what predictions are about. tables: those of the
    command, by name. notices: (result, dataset, facts of all models, notices of shared tokens) -> what is worth knowing,
    most serious first. headlines, details: of a model on its card
    (`on_card.OnCard`). finding: (result, what of it is on show, its tables by name) -> what was found; None where no
    two models are tested: then it is made of the first headline.
    """

    data: DataKind
    not_applicable: tuple[str, ...]
    refusal: Message
    check: Callable[[Settings, MinimalPairs], None]
    check_scores: Callable[[MinimalPairs, PairScoring, Sequence[str], Settings], None]
    tables: Callable[[Result, Asked], dict[str, pd.DataFrame]]
    notices: Callable[[Result, MinimalPairs, Sequence[ModelFacts], Sequence[str]], list[str]]
    headlines: Callable[[Result, str], list[Headline]]
    details: Callable[[Result, str], dict[str, list[dict[str, Any]]]] = lambda result, model: {}
    check_formulas: Callable[[MinimalPairs, Sequence[str]], None] | None = None
    finding: Callable[[Result, PairView | None, Tables | None], Message] | None = None
