"""Words in contexts over checkpoints: when a model learns each word is held against when children do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from engine.datasets.minimal_pairs import kinds
from engine.datasets.minimal_pairs.pairs import MinimalPairs
from engine.evaluations.minimal_pairs import notices
from engine.evaluations.minimal_pairs.acquisition import curves
from engine.evaluations.minimal_pairs.kinds.analysis import PAIRS, Analysis, Asked
from engine.evaluations.minimal_pairs.kinds.pair_findings import Tables
from engine.evaluations.minimal_pairs.kinds.reading import OF_READING, check_scores
from engine.evaluations.minimal_pairs.records import PairView, Result
from engine.evaluations.minimal_pairs.scoring_rules import checkpoint_series, echo_notice
from engine.evaluations.shared.finding import Contest, Standing, finding_of, finding_parts, left_out_rows, spoken
from engine.evaluations.shared.on_card import Headline
from engine.evaluations.shared.stored_table import in_memory
from engine.measures.cards.catalog import CARDS
from engine.measures.word_acquisition import FEWEST_POINTS
from engine.messages.message import Message
from engine.models.sources.facts import ModelFacts

FILES = (curves.AGES, curves.LEARNED, curves.CURVES, curves.SURPRISALS)


def _tables(result: Result, asked: Asked) -> dict[str, pd.DataFrame]:
    learned = curves.learned_words(result)
    return {
        "pairs": PAIRS.selected(result.pairs),
        curves.AGES.name: curves.acquisition_ages(result, learned),
        curves.LEARNED.name: learned,
        curves.CURVES.name: curves.word_curves(result),
        curves.SURPRISALS.name: curves.context_surprisals(result),
        "tokens": in_memory(result.tokens),
        "excluded": result.excluded,
    }


def _notices(
    result: Result, dataset: MinimalPairs, all_facts: Sequence[ModelFacts], about_shared: Iterable[str]
) -> list[str]:
    series = checkpoint_series(result, result.scored_models)
    is_short = not any(len(found) >= FEWEST_POINTS for found in series.values())
    return [
        *([curves.NO_SERIES.format(fewest=FEWEST_POINTS)] if is_short else []),
        *notices.of_sentences(result, dataset, all_facts, about_shared),
        *notices.of_unread_series(result),
        *echo_notice(result),
    ]


def _headlines(result: Result, model: str) -> list[Headline]:
    """The correlation of the training that a model is a checkpoint of; it is not compared word by word."""
    table = curves.acquisition_ages(result)
    series = next(
        (
            name
            for name, found in checkpoint_series(result, result.scored_models).items()
            if any(checkpoint.model == model for checkpoint in found)
        ),
        None,
    )
    line = next(iter(table[table["series"] == series].to_dict("records")), None)
    return [
        Headline(
            "acquisition_correlation",
            line["pearson"] if line else np.nan,
            line["n"] if line else 0,
            "words",
            line["ci_low"] if line else np.nan,
            line["ci_high"] if line else np.nan,
            "",
            CARDS["acquisition_correlation"].better,
            line["reason"] if line else curves.NO_SERIES.format(fewest=FEWEST_POINTS),
            is_compared=False,
        )
    ]


def _finding(result: Result, _: PairView | None = None, __: Tables | None = None) -> Message:
    """How the ages of each training and of children agree, and whether chance explains it; no two trainings are compared."""
    ages = curves.acquisition_ages(result).to_dict("records")
    names = spoken(str(line["series"]) for line in ages)
    sentences: list[str] = []
    for line in ages:
        contest = Contest(
            Message("correlation of ages of acquisition"),
            CARDS["acquisition_correlation"].better,
            int(line["n"]),
            "word",
            [Standing(str(line["series"]), line["pearson"], line["ci_low"], line["ci_high"])],
            {},
            is_share=False,
            digits=3,
            reason=line["reason"],
            names=names,
        )
        sentences.append(finding_of(contest))
        if line["ci_low"] > 0:
            sentences.append(Message("Words that children learn early are learned early by the model, too."))
        elif line["ci_high"] < 0:
            sentences.append(Message("Words that children learn early are learned late by the model."))
        elif np.isfinite(line["ci_low"]):
            sentences.append(Message("It is not distinguishable from 0."))
    return finding_parts(sentences or [curves.NO_SERIES.format(fewest=FEWEST_POINTS)], left_out_rows(result.excluded))


OF_ACQUISITION = Analysis(
    kinds.ACQUISITION,
    (*OF_READING.not_applicable, "folds"),
    Message("{name} holds words in contexts, and these options do not apply to them: {flags}. Leave them out."),
    check=OF_READING.check,
    check_scores=check_scores,
    tables=_tables,
    notices=_notices,
    headlines=_headlines,
    finding=_finding,
)
