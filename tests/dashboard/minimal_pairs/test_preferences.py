"""Graded judgements of the difference on the page of minimal pairs: their correlation, without empty columns."""

from __future__ import annotations

import pytest

from dashboard.minimal_pairs.view import SCORES
from dashboard.shared import session
from engine.datasets.formats.files import read_table
from engine.datasets.minimal_pairs.judged import RATINGS
from engine.datasets.minimal_pairs.pairs import from_table
from engine.evaluations.minimal_pairs.linking import pairing
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


def test_what_pairing_is_worth_is_a_press_away() -> None:
    lines = ["acceptable,unacceptable", *(f"猫が{'魚' * (i + 1)}を食べた,猫が{'魚' * i}に食べた" for i in range(12))]
    run_id = finished(from_table(read_table("\n".join(lines).encode(), "pairs.csv")), GPT)
    app = page_visits.visit("minimal_pairs", run=run_id, section=SCORES)
    assert not [frame for frame in app.dataframe if "auc" in frame.value]
    app.session_state[f"minimal-pairing-{run_id}"] = True
    (shown,) = [frame.value for frame in page_visits.drawn(app).dataframe if "auc" in frame.value]
    expected = pairing(session.access().result(run_id), ("LP",)).iloc[0]
    lp = shown[shown["normalization"] == "LP"].iloc[0]
    assert (lp["n"], lp["pearson"], lp["auc"]) == (12, expected["pearson"], expected["auc"])


@pytest.mark.parametrize(
    ("columns", "ratings", "named"),
    [
        (
            (*RATINGS, "Good Sentence LS", "Bad Sentence LS", "Good Sentence ME"),
            (),
            "acceptable_rating, unacceptable_rating",
        ),
        (
            ("Good Sentence LS", "Bad Sentence LS", "Good Sentence ME", "Bad Sentence ME"),
            (),
            "Good Sentence LS, Bad Sentence LS",
        ),
        (("Good Sentence LS", "Bad Sentence LS", "x", "y"), ("x", "y"), "x, y"),
    ],
)
def test_the_columns_of_the_judgements_that_count_are_named(
    columns: tuple[str, ...], ratings: tuple[str, ...], named: str
) -> None:
    lines = [",".join(("acceptable", "unacceptable", *columns))]
    lines += [
        ",".join((f"猫が{'魚' * (i + 1)}を食べた", f"猫が魚に食べた{'よ' * i}", *[str(i % 5)] * len(columns)))
        for i in range(12)
    ]
    run_id = finished(from_table(read_table("\n".join(lines).encode(), "rated.csv")), GPT, ratings=ratings)
    app = page_visits.visit("minimal_pairs", run=run_id, section=SCORES)
    said = page_visits.words(app).replace("\\", "")
    assert f"The judgements are those in {named};" in said
