"""How pairs are cut, in the list of pairs: there where the pairs that are cut differently are chosen, else nowhere."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.minimal_pairs.browser import _cut_columns
from dashboard.minimal_pairs.pair_table import CUTS, pair_table
from dashboard.shared import session
from engine.evaluations.minimal_pairs.fair_subsets import fair_rows
from engine.evaluations.minimal_pairs.records import CUT_DIFFERENTLY
from tests.dashboard.minimal_pairs.test_page import GPT, finished, pairs
from tests.support import page_visits
from tests.support.minimal_results import from_margins, synthetic

pytestmark = [pytest.mark.usefixtures("no_cache_outlives_a_test"), pytest.mark.usefixtures("backend")]

# The tokens of the backend are characters, and it does not know \ufffd.
PAIRS = pairs(("猫が魚を食べた", "猫が魚が食べた"), ("雨が\ufffdる", "雨は\ufffdる"), ("犬が走る", "犬を\ufffdる"))


def listed(app: AppTest) -> tuple[list[int], list[str]]:
    """The rows of the list of pairs and its columns in their order."""
    [table] = [frame for frame in app.dataframe if {"acceptable", "margin"} <= set(frame.value.columns)]
    return table.value["row"].tolist(), list(table.proto.column_order)


def test_the_list_says_of_each_row_how_it_is_cut() -> None:
    run_id = finished(PAIRS, GPT)
    result = session.engine().runs.result(run_id)
    rows, columns = listed(page_visits.visit("minimal_pairs", run=run_id, subset=CUT_DIFFERENTLY))
    assert rows == fair_rows(result, CUT_DIFFERENTLY)[GPT].tolist() == [2, 3]
    # Nothing is cut differently here, nor into parts of characters: columns of zeros would only make the table wider.
    assert [name for name in columns if name in CUTS] == ["shared_words", "acceptable_unknown", "unacceptable_unknown"]
    assert not set(CUTS) & set(listed(page_visits.visit("minimal_pairs", run=run_id))[1])


def test_the_table_has_the_numbers_of_the_result_where_it_has_any() -> None:
    result = synthetic(8)
    table = pair_table(result, "m", "LP", 0.8)
    assert table["cut_words"].tolist() == result.pairs["cut_words"].tolist()[:8] and set(CUTS) <= set(table.columns)
    assert list(_cut_columns(table)) == ["cut_words", "shared_words"]
    assert not set(CUTS) & set(pair_table(from_margins({"m": [1.0]}, [(3, 3)]), "m", "LP", 0.8).columns)
