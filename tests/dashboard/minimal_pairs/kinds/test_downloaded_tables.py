"""The tables that the page offers, as the command writes them."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

from dashboard.minimal_pairs.kinds.catalog import page_of
from dashboard.minimal_pairs.view import ScoredRun
from engine.evaluations.minimal_pairs.files import file_tables
from engine.evaluations.minimal_pairs.records import ALL
from engine.evaluations.minimal_pairs.views import available
from tests.support.minimal_results import synthetic

pytestmark = pytest.mark.usefixtures("no_cache_outlives_a_test")


@pytest.mark.parametrize("name", ["summary", "bias", "pairing", "differences"])
def test_models_and_scores_are_in_the_order_of_the_commands_table(name: str) -> None:
    result = synthetic(60, models=("scores/z", "a"))
    result = replace(result, pairs=result.pairs.assign(scored_in="fp32", first_token_differs=False))
    view = ScoredRun("of two models", ALL, result.unigrams, "LP", 0.8, result)
    offered = page_of(result).tables(view, "category", (), ())[name]()
    written = file_tables(result, available(result.pairs), 0.8, "category", 0)[name]
    pd.testing.assert_frame_equal(offered, written, check_dtype=False)
