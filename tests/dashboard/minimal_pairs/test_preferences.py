"""Graded judgements of the difference on the page of minimal pairs: their correlation, without empty columns."""

from __future__ import annotations

import pytest

from dashboard.minimal_pairs.view import SCORES
from engine.datasets.formats.files import read_table
from engine.datasets.minimal_pairs.pairs import from_table
from tests.dashboard.minimal_pairs.test_page import GPT, finished
from tests.support import page_visits

pytestmark = [pytest.mark.usefixtures("no_cache_outlives_a_test"), pytest.mark.usefixtures("backend")]


def test_preferences_have_the_correlation_of_differences_alone() -> None:
    lines = ["acceptable,unacceptable,preference:Ann"]
    lines += [f"猫が{'魚' * (i + 1)}を食べた,猫が魚に食べた{'よ' * i},{i % 5 - 2}" for i in range(12)]
    run_id = finished(from_table(read_table("\n".join(lines).encode(), "rated.csv")), GPT)
    tables = [frame.value for frame in page_visits.visit("minimal_pairs", run=run_id, section=SCORES).dataframe]
    (shown,) = [table for table in tables if "difference_pearson" in table]
    assert (shown["n_pairs"] == 12).all() and shown["difference_pearson"].notna().all()
    assert not {"n", "pearson", "beta", "gamma"} & set(shown)
