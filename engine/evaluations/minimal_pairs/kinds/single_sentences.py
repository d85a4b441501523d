"""Single sentences, judged or in conditions: no sentence is compared with another of its row."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from engine.datasets.minimal_pairs import kinds
from engine.datasets.minimal_pairs.designs import CONDITION, REGION_NAMES, check_regions, named_regions, regions_of
from engine.datasets.minimal_pairs.pairs import MinimalPairs
from engine.errors import InputError
from engine.evaluations.minimal_pairs import length_effects, notices, single_sentences
from engine.evaluations.minimal_pairs.designs import predictions as designs
from engine.evaluations.minimal_pairs.kinds.analysis import OF_CARDS, PAIRS, PROMPTED, Analysis, Asked, check_no_prompts
from engine.evaluations.minimal_pairs.records import PairScoring, Result, Settings
from engine.evaluations.shared.on_card import Headline
from engine.evaluations.shared.stored_table import in_memory
from engine.measures.cards.catalog import CARDS
from engine.messages.message import Message
from engine.precision import EXACT_DECISIONS

FILES = (
    single_sentences.JUDGEMENTS,
    single_sentences.RELIABILITY,
    designs.PREDICTIONS,
    designs.REGIONS,
    designs.SURPRISALS,
    designs.OF_ITEMS,
)
OF_PAIRS_ALONE = ("subset", "levels", "clustered_by", "region")  # options that compare the sentences of a pair


def _check(settings: Settings, _: MinimalPairs) -> None:
    if settings.precision == EXACT_DECISIONS:
        raise InputError(
            Message(
                "Exact decisions are about the winner of a pair; single sentences have none. Choose another precision."
            )
        )
    if settings.shared_tokens:
        raise InputError(Message("Shared tokens are of two sentences; these are single ones. Leave that measure out."))


def _check_conditions(settings: Settings, dataset: MinimalPairs) -> None:
    check_no_prompts(settings, dataset)
    _check(settings, dataset)


def _check_judged(settings: Settings, dataset: MinimalPairs) -> None:
    judgements = {label for label in dataset.labels if label is not None}
    if len(judgements) < 2:
        only = Message("acceptable (1)") if judgements == {True} else Message("unacceptable (0)")
        raise InputError(
            Message(
                "All {n:,} sentences of {name} are judged {only}. Scores are compared with "
                "judgements of both kinds; add sentences of the other one.",
                n=dataset.n,
                name=dataset.name,
                only=only,
            )
        )
    _check(settings, dataset)


def _check_scores_of_conditions(
    dataset: MinimalPairs, _: PairScoring, normalizations: Sequence[str], __: Settings
) -> None:
    if normalizations:
        raise InputError(
            Message(
                "{name} holds sentences in conditions, which are compared by the surprisals of their "
                "regions, without a score of the sentence. Leave --normalization out.",
                name=dataset.name,
            )
        )


def _check_formulas(dataset: MinimalPairs, formulas: Sequence[str]) -> None:
    cut = [formula for formula in formulas if formula.count("%") % 2]
    if cut and len(formulas) > 1:
        raise InputError(
            Message(
                "The prediction {cut!r} begins or ends inside the name of a condition: commas "
                "separate predictions. Write one with a comma in it in double quotes: --predictions "
                "'\"(1;%a,b%) > (1;%c%)\"'.",
                cut=cut[0],
            )
        )
    numbers = {number for regions in regions_of(dataset.originals) for number, _ in regions}
    numbers |= set(named_regions("\n".join(dict.fromkeys(dataset.fields[REGION_NAMES]))))
    check_regions(dataset.name, formulas, set(dataset.fields[CONDITION]), set(range(1, max(numbers, default=0) + 1)))


def _tables_of_judged(result: Result, asked: Asked) -> dict[str, pd.DataFrame]:
    normalizations, alpha, folds = asked.normalizations, asked.shown.alpha, asked.shown.folds
    return {
        "pairs": PAIRS.selected(result.pairs),
        "judgements": single_sentences.judgements(result, normalizations, alpha, folds=folds, by=asked.shown.by),
        "reliability": single_sentences.reliability_curves(result, normalizations, alpha, folds=folds),
        "correlations": length_effects.length_correlations(result, normalizations, alpha),
        PROMPTED.name: PROMPTED.selected(result.prompted),
        "tokens": in_memory(result.tokens),
        "excluded": result.excluded,
    }


def _tables_of_conditions(result: Result, asked: Asked) -> dict[str, pd.DataFrame]:
    return {
        "pairs": PAIRS.selected(result.pairs),
        "predictions": designs.predictions(result, asked.shown.predictions),
        "item_predictions": designs.item_predictions(result, asked.shown.predictions),
        "region_surprisals": designs.region_surprisals(result),
        "surprisals": designs.surprisals(result),
        "tokens": in_memory(result.tokens),
        "excluded": result.excluded,
    }


def _headlines_of_judged(result: Result, model: str) -> list[Headline]:
    """AUC by plain and by length-penalised log-likelihood; it is not compared item by item."""
    areas = single_sentences.judgements(result, OF_CARDS)
    return [
        Headline(
            "judgement_auc",
            line["auc"],
            line["n"],
            "sentences",
            line["ci_low"],
            line["ci_high"],
            line["normalization"],
            CARDS["judgement_auc"].better,
            line["reason"],
            is_compared=False,
        )
        for line in areas[(areas["model"] == model) & (areas["field"] == "")].to_dict("records")
    ]


def _headlines_of_conditions(result: Result, model: str) -> list[Headline]:
    """How often the predictions hold; it is not compared item by item."""
    table = designs.predictions(result)
    return [
        Headline(
            "prediction_accuracy",
            line["accuracy"],
            line["n"],
            "items",
            line["ci_low"],
            line["ci_high"],
            line["prediction"],
            CARDS["prediction_accuracy"].better,
            line["reason"] if not line["n"] else "",
            is_compared=False,
        )
        for line in designs.suite_scores(table[table["model"] == model]).to_dict("records")
    ]


OF_JUDGED = Analysis(
    kinds.JUDGED,
    OF_PAIRS_ALONE,
    Message("{name} holds single sentences, and these options are of pairs: {flags}. Leave them out."),
    check=_check_judged,
    check_scores=lambda dataset, shown, normalizations, settings: None,
    tables=_tables_of_judged,
    notices=notices.of_sentences,
    headlines=_headlines_of_judged,
)
OF_CONDITIONS = Analysis(
    kinds.CONDITIONS,
    (*OF_PAIRS_ALONE, "by", "alpha", "unigrams", "folds"),
    Message("{name} holds sentences in conditions, and these options do not apply to them: {flags}. Leave them out."),
    check=_check_conditions,
    check_scores=_check_scores_of_conditions,
    tables=_tables_of_conditions,
    notices=notices.of_sentences,
    headlines=_headlines_of_conditions,
    check_formulas=_check_formulas,
)
