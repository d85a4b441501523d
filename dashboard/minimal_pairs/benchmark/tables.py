"""The tables by levels of a view: name -> (result, normalization, alpha, further arguments) -> table."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pandas as pd

from engine.evaluations.minimal_pairs import levels
from engine.evaluations.minimal_pairs.views import available

LEVEL_TABLES: Mapping[str, Callable[..., pd.DataFrame]] = {
    "levels": lambda result, score, alpha, columns, clustered_by: levels.levels(
        result, score, columns, alpha, clustered_by),
    "conditions": lambda result, score, alpha, clustered_by: levels.conditions(
        result, available(result.pairs), alpha, clustered_by),
    "clustered_comparisons": lambda result, score, alpha, clustered_by: levels.clustered_comparisons(
        result, score, clustered_by, alpha),
}
