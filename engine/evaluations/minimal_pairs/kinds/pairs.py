"""Pairs, and the pairs of a benchmark of stereotypes, of which accuracy is the wrong word."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd

from engine.datasets.minimal_pairs import kinds
from engine.datasets.minimal_pairs.pairs import MinimalPairs
from engine.errors import InputError
from engine.evaluations.minimal_pairs import (
    comparison,
    fair_subsets,
    length_effects,
    levels,
    linking,
    notices,
    records,
    stereotypes,
    views,
)
from engine.evaluations.minimal_pairs.judgements import ratings
from engine.evaluations.minimal_pairs.kinds.analysis import OF_CARDS, PAIRS, PROMPTED, Analysis, Asked
from engine.evaluations.minimal_pairs.kinds.pair_findings import of_pairs
from engine.evaluations.minimal_pairs.prompts.tables import TEMPLATES, by_template
from engine.evaluations.minimal_pairs.records import ALL, SUBSETS, WHOLE, PairScoring, PairView, Result, Settings
from engine.evaluations.minimal_pairs.regions import regions_in
from engine.evaluations.minimal_pairs.unigrams import check_fitted
from engine.evaluations.shared.common_columns import best_in_bold
from engine.evaluations.shared.on_card import Headline, rows_of
from engine.evaluations.shared.stored_table import in_memory
from engine.measures.cards.catalog import CARDS
from engine.measures.minimal_pairs.length_bias import strata
from engine.measures.minimal_pairs.normalizations import NORMALIZATIONS
from engine.messages.message import Message, list_of, named

# The number of a stratum or of a score where numbers of tokens are not known.
_UNCOUNTED: dict[str, Any] = {
    "accuracy": math.nan,
    "ci_low": math.nan,
    "ci_high": math.nan,
    "n": 0,
    "reason": views.UNCOUNTED,
}
_STRATA = {"all": named("all pairs"), "A=U": named("pairs with A = U")}  # on a card
# Of views under one normalisation, one below the other.
_WITH_NORMALIZATION = (views.NORMALIZATION,)
FAIR_SUMMARY = fair_subsets.BESIDE.extended(fair_subsets.FAIR_SUBSETS["subset"], *_WITH_NORMALIZATION)
SHARED_TOKENS = records.SHARED.reduced(
    [name for name in records.SHARED.headers if name != "item"], name="shared_tokens", only_with_rows=True
)
STEREOTYPES = replace(stereotypes.STEREOTYPES, only_with_rows=True)
_RANKING = comparison.RANKING.extended(
    *_WITH_NORMALIZATION, bold=best_in_bold("accuracy", comparison.OVER_METHOD, views.NORMALIZATION.name)
)
FILES = (
    views.SUMMARY,
    length_effects.SLOPES,
    length_effects.CORRELATIONS,
    linking.LINKING,
    linking.PAIRING,
    views.DIFFERENCES.extended(*_WITH_NORMALIZATION),
    views.CATEGORIES,
    fair_subsets.FAIR_SUBSETS,
    FAIR_SUMMARY,
    comparison.COMPARISONS.extended(*_WITH_NORMALIZATION),
    _RANKING,
    levels.LEVELS,
    levels.CONDITIONS,
    levels.CLUSTERED,
    levels.CHECKPOINTS,
    levels.OF_ITEMS,
    TEMPLATES,
)


def _check_scores(dataset: MinimalPairs, shown: PairScoring, normalizations: Sequence[str], settings: Settings) -> None:
    if shown.region not in (there := regions_in(dataset)):
        raise InputError(
            Message(
                "{name} marks no region {region!r}; there are: {there}.",
                name=dataset.name,
                region=shown.region,
                there=list_of(there),
            )
        )
    of_whole = [name for name in dict.fromkeys(normalizations) if NORMALIZATIONS[name].of_whole_sentences]
    if shown.region != WHOLE and of_whole:
        raise InputError(
            Message(
                "{of_whole}: a score of whole sentences, which a part of them does not have. Leave "
                "it out, or --region.",
                of_whole=list_of(of_whole),
            )
        )
    fitted = any(NORMALIZATIONS[name].is_fitted for name in normalizations)
    if fitted and ratings(dataset, settings.ratings) is None:
        raise InputError(views.NOT_FITTED)


def _tables(result: Result, asked: Asked) -> dict[str, pd.DataFrame]:
    """Every view under each normalisation; the tables of fair subsets have all pairs beside each."""
    check_fitted(result, asked.normalizations)
    normalizations, shown, seed = asked.normalizations, asked.shown, asked.seed
    alpha, by, clustered_by = shown.alpha, shown.by, shown.clustered_by
    subsets = [name for name in SUBSETS if name != ALL]
    whole, result = result, fair_subsets.of_subset(result, shown.subset)

    def each(view: Callable[[str], pd.DataFrame]) -> pd.DataFrame:
        """A view under each normalisation, one below the other."""
        return pd.concat([view(name).assign(normalization=name) for name in normalizations], ignore_index=True)

    rows = [
        (name, model, row)
        for name in subsets
        for model, kept in fair_subsets.fair_rows(whole, name, seed).items()
        for row in kept.tolist()
    ]
    tables = {
        "pairs": PAIRS.selected(result.pairs),
        "summary": views.summary(result, normalizations, alpha, clustered_by),
        "bias": length_effects.slopes(result, normalizations, alpha, clustered_by),
        "correlations": length_effects.length_correlations(result, normalizations, alpha),
        "linking": linking.linking(result, normalizations, alpha),
        "pairing": linking.pairing(result, normalizations, alpha),
        "differences": each(lambda name: views.by_difference(result, name, alpha, clustered_by=clustered_by)),
        "categories": each(lambda name: views.by_category(result, name, alpha, by, clustered_by)),
        "fair_subsets": fair_subsets.FAIR_SUBSETS.frame(rows),
        "fair_summary": fair_subsets.besides(
            whole, subsets, normalizations, alpha, field=by, seed=seed, clustered_by=clustered_by
        ),
        "comparisons": each(lambda name: comparison.comparisons(result, name, alpha)),
        "ranking": each(lambda name: comparison.ranking(result, name, alpha, clustered_by)),
        "items": each(lambda name: levels.item_accuracy(result, name, alpha)),
        "checkpoints": each(lambda name: levels.checkpoints(result, name, alpha, by, clustered_by)),
        TEMPLATES.name: by_template(result, clustered_by),
        PROMPTED.name: PROMPTED.selected(result.prompted),
        "tokens": in_memory(result.tokens),
        "excluded": result.excluded,
        "precision": result.precision,
        "shared_tokens": SHARED_TOKENS.selected(result.shared),
    }
    if shown.levels or clustered_by:
        tables["levels"] = pd.concat(
            [levels.levels(result, name, shown.levels, alpha, clustered_by) for name in normalizations],
            ignore_index=True,
        )
        tables["conditions"] = levels.conditions(result, normalizations, alpha, clustered_by)
    if clustered_by:
        tables["clustered_comparisons"] = pd.concat(
            [levels.clustered_comparisons(result, name, clustered_by, alpha) for name in normalizations],
            ignore_index=True,
        )
    return tables


def _headlines(result: Result, model: str) -> list[Headline]:
    """Accuracy by plain and by length-penalised log-likelihood, over all pairs and those of equal length."""
    known = [name for name in OF_CARDS if name in views.available(views.of_model(result, model))]
    table = views.summary(replace(result, settings=replace(result.settings, models=(model,)), conditions={}), known)
    by_place = {(line["normalization"], line["stratum"]): line for line in table.to_dict("records")}
    lines = [
        (by_place.get((name, stratum), _UNCOUNTED | {"normalization": name, "stratum": stratum}), items)
        for name in OF_CARDS
        for stratum, items in _STRATA.items()
    ]
    return [
        Headline(
            "accuracy",
            line["accuracy"],
            line["n"],
            items,
            line["ci_low"],
            line["ci_high"],
            line["normalization"],
            CARDS["accuracy"].better,
            "" if line["n"] else line.get("reason", Message("no such pair")),
            is_compared=line["stratum"] == "all",
            shown=PairView(line["normalization"]),
            rows=_rows_of(result, model, line["stratum"]),
        )
        for line, items in lines
    ]


def _details(result: Result, model: str) -> dict[str, list[dict[str, Any]]]:
    """The effect of length, by normalisation."""
    alone = replace(result, settings=replace(result.settings, models=(model,)), conditions={})
    known = [name for name in ("LP", "MeanLP", "PenLP") if name in views.available(views.of_model(result, model))]
    table = length_effects.slopes(alone, known)
    return {"length_bias": rows_of(table.drop(columns="model"))}


def _rows_of(result: Result, model: str, stratum: str) -> frozenset[int]:
    """The rows of the pairs of a stratum, which another tokenizer sorts otherwise."""
    pairs = views.of_model(result, model)
    rows = pairs["row"].to_numpy()
    if stratum != "all" and not views.has_token_counts(pairs):
        return frozenset()
    return frozenset((rows if stratum == "all" else rows[strata(*views.token_counts(pairs)) == stratum]).tolist())


def _tables_of_stereotypes(result: Result, asked: Asked) -> dict[str, pd.DataFrame]:
    tables, counted = _tables(result, asked), fair_subsets.of_subset(result, asked.shown.subset)
    # The shared tokens know no normalisation: they would come again under each.
    shares = [
        stereotypes.stereotypes(counted, name, asked.shown.alpha, field=asked.shown.by) for name in asked.normalizations
    ]
    return tables | {STEREOTYPES.name: pd.concat(shares, ignore_index=True).drop_duplicates()}


OF_PAIRS = Analysis(
    kinds.PAIRS,
    ("folds",),
    Message("{name} holds pairs, and these options are of single judged sentences: {flags}. Leave them out."),
    check=lambda settings, dataset: None,
    check_scores=_check_scores,
    tables=_tables,
    notices=lambda result, dataset, facts, shared: [
        *notices.swapped(result),
        *notices.of_pairs(result, dataset, facts, shared),
    ],
    headlines=_headlines,
    details=_details,
    finding=of_pairs,
)
# No sentence of a pair is the better one, so none can be swapped.
OF_STEREOTYPES = replace(
    OF_PAIRS,
    data=kinds.STEREOTYPES,
    tables=_tables_of_stereotypes,
    notices=notices.of_pairs,
    finding=partial(of_pairs, ranks=False),
)
