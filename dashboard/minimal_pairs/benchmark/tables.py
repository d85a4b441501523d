"""The tables of a view by levels and of judged sentences: name -> (result, normalization, alpha, …) -> table."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pandas as pd

from engine.evaluations.minimal_pairs import levels, single_sentences
from engine.evaluations.minimal_pairs.views import available

LEVEL_TABLES: Mapping[str, Callable[..., pd.DataFrame]] = {
    "levels": lambda result, score, alpha, columns, clustered_by: levels.levels(
        result, score, columns, alpha, clustered_by),
    "conditions": lambda result, score, alpha, clustered_by: levels.conditions(
        result, available(result.pairs), alpha, clustered_by),
    "clustered_comparisons": lambda result, score, alpha, clustered_by: levels.clustered_comparisons(
        result, score, clustered_by, alpha),
    "checkpoints": levels.checkpoints, "items": levels.item_accuracy,
}
JUDGED_TABLES: Mapping[str, Callable[..., pd.DataFrame]] = {
    "judgements": lambda result, score, alpha, by: single_sentences.judgements(result, (score,), alpha, by=by),
    "reliability": lambda result, score, alpha: single_sentences.reliability_curves(result, (score,), alpha),
    "sentences": lambda result, score, alpha, model: single_sentences.judged_sentences(result, model, score, alpha),
}
