"""The tables of a view of a minimal-pairs run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import pandas as pd

from dashboard.minimal_pairs.pair_table import pair_table
from engine.evaluations.minimal_pairs import (
    comparison as model_comparison,
)
from engine.evaluations.minimal_pairs import (
    fair_subsets,
    length_effects,
    levels,
    single_sentences,
    stereotypes,
)
from engine.evaluations.minimal_pairs import (
    linking as pair_linking,
)
from engine.evaluations.minimal_pairs import (
    views as pair_views,
)
from engine.evaluations.minimal_pairs.acquisition import curves
from engine.evaluations.minimal_pairs.designs import predictions as designs
from engine.evaluations.minimal_pairs.reading import layers, times
from engine.evaluations.minimal_pairs.records import TOKENS, Result
from engine.evaluations.minimal_pairs.running_text import tables as running_text
from engine.evaluations.minimal_pairs.views import available

FEWEST_IN_TAIL = 5  # outer differences with fewer pairs are merged into one point

LEVEL_TABLES: Mapping[str, Callable[..., pd.DataFrame]] = {
    "levels": lambda result, score, alpha, clustered_by, columns: levels.levels(
        result, score, columns, alpha, clustered_by
    ),
    "conditions": lambda result, score, alpha, clustered_by: levels.conditions(
        result, available(result.pairs), alpha, clustered_by
    ),
    "clustered_comparisons": lambda result, score, alpha, clustered_by: levels.clustered_comparisons(
        result, score, clustered_by, alpha
    ),
    "checkpoints": lambda result, score, alpha, clustered_by, column: levels.checkpoints(
        result, score, alpha, column, clustered_by
    ),
    "items": levels.item_accuracy,
}
JUDGED_TABLES: Mapping[str, Callable[..., pd.DataFrame]] = {
    "judgements": lambda result, score, alpha, by: single_sentences.judgements(result, (score,), alpha, by=by),
    "reliability": lambda result, score, alpha: single_sentences.reliability_curves(result, (score,), alpha),
    "sentences": lambda result, score, alpha, model: single_sentences.judged_sentences(result, model, score, alpha),
}
DESIGN_TABLES: Mapping[str, Callable[..., pd.DataFrame]] = {
    "predictions": lambda result, score, alpha, formulas: designs.predictions(result, formulas),
    "item_predictions": lambda result, score, alpha, formulas: designs.item_predictions(result, formulas),
    "region_surprisals": lambda result, score, alpha: designs.region_surprisals(result),
    "surprisals": lambda result, score, alpha: designs.surprisals(result),
}
READING_TABLES: Mapping[str, Callable[..., pd.DataFrame]] = {
    "reading_times": lambda result, score, alpha: times.gains(result),
    "reading_checkpoints": lambda result, score, alpha: times.along_checkpoints(result, times.gains(result)),
    "layers": lambda result, score, alpha: layers.layers(result),
    "word_surprisals": lambda result, score, alpha: times.word_surprisals(result),
}
ACQUISITION_TABLES: Mapping[str, Callable[..., pd.DataFrame]] = {
    "learned_words": lambda result, score, alpha: curves.learned_words(result),
    "word_curves": lambda result, score, alpha: curves.word_curves(result),
    "context_surprisals": lambda result, score, alpha: curves.context_surprisals(result),
}
TEXT_TABLES: Mapping[str, Callable[..., pd.DataFrame]] = {
    "documents": lambda result, score, alpha: running_text.documents(result),
    "corpus": lambda result, score, alpha, column: running_text.corpus(result, column),
    "corpus_comparisons": lambda result, score, alpha: running_text.comparisons(result),
    "corpus_checkpoints": lambda result, score, alpha, column: running_text.checkpoints(result, column),
}
# The tables whose intervals, or tests, are over clusters of pairs where a column of them is chosen.
OVER_CLUSTERS = frozenset(
    (
        "summary",
        "differences",
        "each_difference",
        "categories",
        "by_source",
        "slopes",
        "ranking",
        "beside",
        "levels",
        "conditions",
        "clustered_comparisons",
        "checkpoints",
    )
)
# The tables of which the command writes those of one score below those of another; of any other, of a model each.
BY_SCORE = frozenset(("each_difference", "items"))
# The tables of a view: name -> (result, normalization, alpha, further arguments) -> table. The first further argument
# of those in OVER_CLUSTERS is the column of the clusters, "" for independent pairs.
TABLES: Mapping[str, Callable[..., pd.DataFrame]] = {
    "summary": lambda result, score, alpha, clustered_by: pair_views.summary(result, (score,), alpha, clustered_by),
    "differences": lambda result, score, alpha, clustered_by: pair_views.by_difference(
        result, score, alpha, FEWEST_IN_TAIL, clustered_by
    ),
    "each_difference": lambda result, score, alpha, clustered_by: pair_views.by_difference(
        result, score, alpha, clustered_by=clustered_by
    ).assign(normalization=score),
    "categories": lambda result, score, alpha, clustered_by, column: pair_views.by_category(
        result, score, alpha, column, clustered_by
    ),
    "by_source": lambda result, score, alpha, clustered_by, model: by_source(
        result, model, score, alpha, FEWEST_IN_TAIL, clustered_by
    ),
    "slopes": lambda result, score, alpha, clustered_by: length_effects.slopes(result, (score,), alpha, clustered_by),
    "linking": lambda result, score, alpha: pair_linking.linking(result, (score,), alpha),
    "pairing": lambda result, score, alpha: pair_linking.pairing(result, (score,), alpha),
    "correlations": lambda result, score, alpha: length_effects.length_correlations(result, (score,), alpha),
    "points": lambda result, score, alpha, model: length_effects.length_points(result, model, score, alpha),
    "comparisons": model_comparison.comparisons,
    "ranking": model_comparison.ranking,
    "differing": lambda result, score, alpha, model, other: model_comparison.differing_pairs(
        result, model, other, score, alpha
    ),
    "stereotypes": lambda result, score, alpha, column: stereotypes.stereotypes(result, score, alpha, field=column),
    "beside": lambda result, score, alpha, clustered_by, subset, column: fair_subsets.beside(
        result, subset, score, alpha, field=column, seed=result.settings.seed, clustered_by=clustered_by
    ),
    **LEVEL_TABLES,
    **JUDGED_TABLES,
    **DESIGN_TABLES,
    **READING_TABLES,
    **ACQUISITION_TABLES,
    **TEXT_TABLES,
    "pairs": lambda result, score, alpha, model: pair_table(result, model, score, alpha),
}


def by_source(
    result: Result, model: str, normalization: str, alpha: float, least: int, clustered_by: str = ""
) -> pd.DataFrame:
    """`pair_views.by_difference` of one model, a row for each file in place of each model."""
    pairs = pair_views.of_model(result, model)
    sources = pair_views.categories_of(result, pairs, "source")
    alone = replace(result, settings=replace(result.settings, models=(model,)), conditions={}, tokens=TOKENS.frame())
    parts = []
    for source in dict.fromkeys(sources):
        rows = pairs["row"].to_numpy()[(sources == source).to_numpy()]
        part = fair_subsets.restricted(alone, {model: rows})
        parts.append(pair_views.by_difference(part, normalization, alpha, least, clustered_by).assign(model=source))
    return pd.concat(parts, ignore_index=True)
