"""The tables of a minimal-pairs result as files: every view of it under each normalisation. No model is run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pandas as pd

from engine.datasets.minimal_pairs.designs import CONDITION, REGION_NAMES, check_regions, named_regions, regions_of
from engine.datasets.minimal_pairs.pairs import MinimalPairs
from engine.errors import InputError
from engine.evaluations.minimal_pairs import (
    comparison,
    fair_subsets,
    length_effects,
    levels,
    linking,
    records,
    single_sentences,
    stereotypes,
    views,
)
from engine.evaluations.minimal_pairs.designs import predictions as designs
from engine.evaluations.minimal_pairs.judgements import is_design, is_judged, ratings
from engine.evaluations.minimal_pairs.records import ALL, CATEGORY, SUBSETS, WHOLE, PairScoring, Result, Settings
from engine.evaluations.minimal_pairs.regions import regions_in
from engine.evaluations.minimal_pairs.unigrams import check_fitted
from engine.evaluations.shared.common_columns import best_in_bold
from engine.measures.minimal_pairs.judged_sentences import FOLDS
from engine.measures.minimal_pairs.normalizations import NORMALIZATIONS
from engine.messages.message import Message
from engine.options import options_of

# Of views under one normalisation, one below the other.
_WITH_NORMALIZATION = (views.NORMALIZATION,)

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
PAIR_FILE = PAIRS.with_input()
FAIR_SUMMARY = fair_subsets.BESIDE.extended(fair_subsets.FAIR_SUBSETS["subset"], *_WITH_NORMALIZATION)
SHARED_TOKENS = records.SHARED.reduced(
    [name for name in records.SHARED.headers if name != "item"], name="shared_tokens", only_with_rows=True
)
STEREOTYPES = replace(stereotypes.STEREOTYPES, only_with_rows=True)
_RANKING = comparison.RANKING.extended(
    *_WITH_NORMALIZATION, bold=best_in_bold("accuracy", comparison.OVER_METHOD, views.NORMALIZATION.name)
)
FILES = (
    PAIR_FILE,
    views.SUMMARY,
    length_effects.SLOPES,
    length_effects.CORRELATIONS,
    linking.LINKING,
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
    single_sentences.JUDGEMENTS,
    single_sentences.RELIABILITY,
    designs.PREDICTIONS,
    designs.REGIONS,
    designs.SURPRISALS,
    designs.OF_ITEMS,
    records.TOKENS,
    records.EXCLUDED,
    records.PRECISION,
    SHARED_TOKENS,
    STEREOTYPES,
)
NO_CONDITIONS = Message(
    "Predictions are about sentences in conditions (columns item, condition and sentence, or "
    "SyntaxGym's suites), which this run has not. Leave them out."
)


def check_predictions(dataset: MinimalPairs, formulas: Sequence[str]) -> None:
    """Raises InputError for formulas that cannot be read or are not about these data, before anything is scored."""
    if not formulas:
        return
    if not dataset.is_design:
        raise InputError(NO_CONDITIONS)
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


def check_shown(dataset: MinimalPairs, shown: PairScoring, normalizations: Sequence[str], settings: Settings) -> None:
    """Raises InputError for choices that these data cannot have, before anything is scored.

    Those are columns and regions that the file lacks, scores that need boundaries of words, judgements or the whole
    sentence and do not have them, and options that are of other kinds of data. normalizations: those asked for, () for
    all. settings: of the run.
    """
    by_words = [name for name in dict.fromkeys(normalizations) if NORMALIZATIONS[name].by_words]
    if by_words and not settings.word_boundaries:
        raise InputError(
            Message(
                "{by_words}: a score by words needs their boundaries. Add --word-boundaries.",
                by_words=", ".join(by_words),
            )
        )
    not_applicable = [
        name for name in _not_applicable(dataset) if getattr(shown, name) != options_of(PairScoring)[name].default
    ]
    if not_applicable:
        flags = ", ".join(f"--{name.replace('_', '-')}" for name in not_applicable)
        raise InputError(
            Message(
                "{name} holds pairs, and these options are of single judged sentences: {flags}. Leave them out.",
                name=dataset.name,
                flags=flags,
            )
            if not dataset.is_single
            else Message(
                "{name} holds single sentences, and these options are of pairs: {flags}. Leave them out.",
                name=dataset.name,
                flags=flags,
            )
            if dataset.is_judged
            else Message(
                "{name} holds sentences in conditions, and these options do not apply to them: {flags}. Leave "
                "them out.",
                name=dataset.name,
                flags=flags,
            )
        )
    known = (CATEGORY, "source", *dataset.fields)
    unknown = [
        name for name in dict.fromkeys(filter(None, (*shown.levels, shown.clustered_by, shown.by))) if name not in known
    ]
    if unknown:
        raise InputError(
            Message(
                "{name} has no column {unknown}; there are: {known}.",
                name=dataset.name,
                unknown=", ".join(map(repr, unknown)),
                known=", ".join(known),
            )
        )
    if not dataset.is_single:
        _check_region(dataset, shown.region, normalizations)
        fitted = any(NORMALIZATIONS[name].is_fitted for name in normalizations)
        if fitted and ratings(dataset, settings.ratings) is None:
            raise InputError(views.NOT_FITTED)
        return
    if normalizations and not dataset.is_judged:
        raise InputError(
            Message(
                "{name} holds sentences in conditions, which are compared by the surprisals of their "
                "regions, without a score of the sentence. Leave --normalization out.",
                name=dataset.name,
            )
        )


def _check_region(dataset: MinimalPairs, region: str, normalizations: Sequence[str]) -> None:
    if region not in (there := regions_in(dataset)):
        raise InputError(
            Message(
                "{name} marks no region {region!r}; there are: {there}.",
                name=dataset.name,
                region=region,
                there=", ".join(there),
            )
        )
    of_whole = [name for name in dict.fromkeys(normalizations) if NORMALIZATIONS[name].of_whole_sentences]
    if region != WHOLE and of_whole:
        raise InputError(
            Message(
                "{of_whole}: a score of whole sentences, which a part of them does not have. Leave "
                "it out, or --region.",
                of_whole=", ".join(of_whole),
            )
        )


def _not_applicable(dataset: MinimalPairs) -> tuple[str, ...]:
    """The options of PairScoring that say nothing of such data."""
    if not dataset.is_single:
        return ("folds",)
    of_pairs = ("subset", "levels", "clustered_by", "region")
    return of_pairs if dataset.is_judged else (*of_pairs, "by", "alpha", "unigrams", "folds")


def file_tables(
    result: Result,
    normalizations: Sequence[str],
    alpha: float,
    by: str,
    seed: int,
    subset: str = ALL,
    level_columns: Sequence[str] = (),
    clustered_by: str = "",
    folds: int = FOLDS,
    predictions: Sequence[str] = (),
) -> dict[str, pd.DataFrame]:
    """The tables of FILES by name; stereotypes only of pairs in the layout of CrowS-Pairs.

    alpha: of PenLP. by: the field that sorts the pairs, as in `views.categories_of`. seed: of the matched sample.
    subset: the pairs that are counted; the tables of fair subsets have all pairs beside each. level_columns: of
    `levels`, whose tables there are where it is named or clusters are. clustered_by: the column whose values are the
    clusters of pairs, as in `views.clusters_of`. folds: of `single_sentences`; of judged sentences there are these
    tables, and none that compares the sentences of a pair. predictions: the formulas of sentences in conditions, which
    have the tables of `designs`. Raises InputError where a model has no pair in the subset, for columns that the
    dataset does not have, for predictions about other data, and for MORCELA where it could not be fitted, with the
    reason.
    """
    if is_design(result):
        return _of_design(result, predictions)
    if predictions:
        raise InputError(NO_CONDITIONS)
    if is_judged(result):
        return _of_judged(result, normalizations, alpha, by, folds)
    check_fitted(result, normalizations)
    subsets = [name for name in SUBSETS if name != ALL]
    whole, result = result, fair_subsets.of_subset(result, subset)

    def each(view: Callable[[str], pd.DataFrame]) -> pd.DataFrame:
        """A view under each normalisation, one below the other."""
        return pd.concat([view(name).assign(normalization=name) for name in normalizations], ignore_index=True)

    def beside_fair(normalization: str) -> pd.DataFrame:
        return pd.concat(
            [
                fair_subsets.beside(
                    whole, name, normalization, alpha, field=by, seed=seed, clustered_by=clustered_by
                ).assign(subset=name)
                for name in subsets
            ]
        )

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
        "differences": each(lambda name: views.by_difference(result, name, alpha, clustered_by=clustered_by)),
        "categories": each(lambda name: views.by_category(result, name, alpha, by, clustered_by)),
        "fair_subsets": fair_subsets.FAIR_SUBSETS.frame(rows),
        "fair_summary": each(beside_fair),
        "comparisons": each(lambda name: comparison.comparisons(result, name, alpha)),
        "ranking": each(lambda name: comparison.ranking(result, name, alpha, clustered_by)),
        "items": each(lambda name: levels.item_accuracy(result, name, alpha)),
        "checkpoints": each(lambda name: levels.checkpoints(result, name, alpha, by, clustered_by)),
        "tokens": result.tokens,
        "excluded": result.excluded,
        "precision": result.precision,
        "shared_tokens": SHARED_TOKENS.selected(result.shared),
    }
    if stereotypes.is_bias_benchmark(result):
        # The shared tokens know no normalisation: they would come again under each.
        shares = [stereotypes.stereotypes(result, name, alpha, field=by) for name in normalizations]
        tables["stereotypes"] = pd.concat(shares, ignore_index=True).drop_duplicates()
    if level_columns or clustered_by:
        tables["levels"] = pd.concat(
            [levels.levels(result, name, level_columns, alpha, clustered_by) for name in normalizations],
            ignore_index=True,
        )
        tables["conditions"] = levels.conditions(result, normalizations, alpha, clustered_by)
    if clustered_by:
        tables["clustered_comparisons"] = pd.concat(
            [levels.clustered_comparisons(result, name, clustered_by, alpha) for name in normalizations],
            ignore_index=True,
        )
    return tables


def _of_judged(
    result: Result, normalizations: Sequence[str], alpha: float, by: str, folds: int
) -> dict[str, pd.DataFrame]:
    return {
        "pairs": PAIRS.selected(result.pairs),
        "judgements": single_sentences.judgements(result, normalizations, alpha, folds=folds, by=by),
        "reliability": single_sentences.reliability_curves(result, normalizations, alpha, folds=folds),
        "correlations": length_effects.length_correlations(result, normalizations, alpha),
        "tokens": result.tokens,
        "excluded": result.excluded,
    }


def _of_design(result: Result, predictions: Sequence[str]) -> dict[str, pd.DataFrame]:
    return {
        "pairs": PAIRS.selected(result.pairs),
        "predictions": designs.predictions(result, predictions),
        "item_predictions": designs.item_predictions(result, predictions),
        "region_surprisals": designs.region_surprisals(result),
        "surprisals": designs.surprisals(result),
        "tokens": result.tokens,
        "excluded": result.excluded,
    }
