"""The case table, by hand and by what it must add up to; and the paper's numbers as printed."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.evaluations.metric_study.cases import CASES as CASE_TABLE
from engine.evaluations.metric_study.cases import (
    METHOD_CASES,
    all_cases,
    all_method_cases,
    cases,
    compare,
    method_cases,
)
from engine.evaluations.metric_study.grid import Cell, correlations
from engine.evaluations.metric_study.records import Result, Settings
from engine.evaluations.paper_tables.novels import (
    ANNOTATOR_AGREEMENT,
    CASES,
    N_ANNOTATORS,
    N_PAIRS,
    printed_correlations,
    printed_methods,
)
from engine.measures.statistics.correlations.correlation import pearson

NAN = math.nan


def result(base: list[float], penalized: list[float], gold: list[float]) -> Result:
    n = len(gold)
    scores = np.array([base, penalized], dtype=float)
    cells = [Cell("bertscore", "m", "novel", penalty) for penalty in ("none", "reading")]
    pairs = pd.DataFrame(
        {
            "row": range(1, n + 1),
            "reference": [f"r{i}" for i in range(n)],
            "candidate": [f"c{i}" for i in range(n)],
            "category": "",
            "gold": gold,
        }
    )
    nothing = pd.DataFrame()
    return Result(
        Settings(("m",)),
        "made up",
        correlations(cells, scores, pairs["gold"].to_numpy()),
        scores,
        pairs,
        nothing,
        nothing,
        NAN,
        nothing,
        nothing,
        nothing,
    )


def test_by_hand() -> None:
    # Four pairs, gold -1 1 -1 1 (mean 0, deviation 1). base 0.6 0.8 0.8 0.8: mean 0.75, deviation
    # sqrt((0.15² + 3 * 0.05²) / 4) = sqrt(0.0075), z = -sqrt 3, then 1 / sqrt 3 three times.
    # penalized 0.6 0.8 0.6 0.8: mean 0.7, deviation 0.1, z = gold itself. Only row 3 changed:
    # base_difference 1 + 1 / sqrt 3 = 1.577350, penalized_difference 0, gain 1.577350² / 8 = 0.311004
    table = cases(result([0.6, 0.8, 0.8, 0.8], [0.6, 0.8, 0.6, 0.8], [-1, 1, -1, 1]), "m", "novel")
    assert list(table) == CASE_TABLE.headers and table["row"].tolist() == [3]
    line = table.iloc[0]
    assert (line["human"], line["base"], line["penalized"]) == pytest.approx((-1, 1 / math.sqrt(3), -1))
    assert (line["base_difference"], line["penalized_difference"]) == pytest.approx((1.577350, 0), abs=1e-6)
    assert line["gain"] == pytest.approx(0.311004, abs=1e-6) and line["nearer"] == "with penalty"
    assert (line["base_score"], line["penalized_score"], line["reference"]) == (0.8, 0.6, "r2")


@settings(max_examples=50)
@given(seed=st.integers(0, 10_000), n=st.integers(4, 60), missing=st.floats(0, 0.4))
def test_gains_add_up_to_the_gain_in_correlation(seed: int, n: int, missing: float) -> None:
    random = np.random.default_rng(seed)
    gold, base = random.normal(size=(2, n))
    penalized = base - random.random(n) * (random.random(n) < 0.5)
    holes = random.random((3, n)) < missing
    gold, base, penalized = (
        np.where(hole, NAN, values) for hole, values in zip(holes, (gold, base, penalized), strict=True)
    )
    table = compare(result(list(base), list(penalized), list(gold)), "m", "novel")
    common = ~(np.isnan(gold) | np.isnan(base) | np.isnan(penalized))
    if common.sum() < 3:
        return
    gained = pearson(penalized[common], gold[common]).value - pearson(base[common], gold[common]).value
    # rounding in sums of numbers of about 1
    assert table["gain"].sum() == pytest.approx(gained, abs=1e-12)
    nearer = table["penalized_difference"] < table["base_difference"]
    assert (nearer == (table["nearer"] == "with penalty")).all() and (nearer == (table["gain"] > 0)).all()
    moved = cases(result(list(base), list(penalized), list(gold)), "m", "novel")
    assert len(moved) == (base[common] != penalized[common]).sum()
    assert moved["gain"].abs().is_monotonic_decreasing


def test_without_both_settings_or_a_correlation_there_are_no_cases() -> None:
    some = result([0.6, 0.8, 0.8], [0.6, 0.8, 0.6], [-1, 1, 0])
    assert list(cases(some, "m", "wiki")) == CASE_TABLE.headers and cases(some, "m", "wiki").empty
    assert cases(result([0.5] * 3, [0.6, 0.8, 0.6], [-1, 1, 0]), "m", "novel").empty
    for gold in ([NAN] * 3, [NAN, 1, NAN]):
        assert cases(result([0.6, 0.8, 0.8], [0.6, 0.8, 0.6], gold), "m", "novel").empty


def test_all_cases_stand_below_each_other() -> None:
    some = result([0.6, 0.8, 0.8, 0.8], [0.6, 0.8, 0.6, 0.8], [-1, 1, -1, 1])
    pd.testing.assert_frame_equal(all_cases(some), cases(some, "m", "novel"))
    assert list(all_cases(result([0.5] * 3, [0.5] * 3, [1, 2, 3]))) == CASE_TABLE.headers


def test_the_pairs_of_any_method_stand_by_their_distance_from_the_human_score() -> None:
    # Gold -1 1 -1 1 is its own z-score. A metric's 10 30 30 30: mean 25, deviation sqrt 75, z = -sqrt 3 and three times
    # 1 / sqrt 3: differences -0.732051, -0.422650, 1.577350, -0.422650.
    some = result([0.6, 0.8, 0.8, 0.8], [0.6, 0.8, 0.6, 0.8], [-1, 1, -1, 1])
    scores = np.array([*some.scores, [10, 30, 30, 30], [5, 5, 5, 5]], dtype=float)
    cells = [
        *(Cell("bertscore", "m", "novel", penalty) for penalty in ("none", "reading")),
        Cell("metric", "COMET"),
        Cell("metric", "flat"),
    ]
    some = replace(some, scores=scores, correlations=correlations(cells, scores, some.pairs["gold"].to_numpy()))
    table = method_cases(some, 2)
    assert list(table) == METHOD_CASES.headers and table["row"].tolist() == [3, 1, 2, 4]
    assert table["difference"].tolist() == pytest.approx([1.577350, -0.732051, -0.422650, -0.422650], abs=1e-6)
    assert (table.loc[0, "kind"], table.loc[0, "model"], table.loc[0, "score"], table.loc[0, "reference"]) == (
        "metric",
        "COMET",
        30.0,
        "r2",
    )
    assert 1 - (table["difference"] ** 2).sum() / 8 == pytest.approx(some.correlations.loc[2, "pearson"])
    assert method_cases(some, 3).empty  # one score for all
    assert all_method_cases(some).groupby(["model", "penalty"]).size().to_dict() == {
        ("COMET", ""): 4,
        ("m", "none"): 4,
        ("m", "reading"): 4,
    }
    assert len(method_cases(some, 0, 1)) == 1 and list(method_cases(some, 3)) == METHOD_CASES.headers


def test_a_pair_without_a_score_is_no_case() -> None:
    assert method_cases(result([0.6, NAN, 0.8, 0.7], [0.6] * 4, [-1, 1, NAN, 1]), 0)["row"].tolist() == [1, 4]


def test_the_papers_tables_as_printed() -> None:
    table = printed_correlations()
    assert len(table) == 16 and table["idf"].tolist() == ["novel"] * 8 + ["wiki"] * 8
    wide = table.pivot(index=["idf", "model"], columns="penalty", values="pearson")
    # With Penalty, Without Penalty
    assert wide.loc[("novel", "Multilingual"), ["reading", "none"]].tolist() == [0.169, 0.197]
    assert wide.loc[("novel", "Novel"), ["reading", "none"]].tolist() == [0.456, 0.451]
    assert wide.loc[("novel", "SNS"), ["reading", "none"]].tolist() == [0.153, 0.094]
    assert wide.loc[("wiki", "Wikipedia"), ["reading", "none"]].tolist() == [0.405, 0.397]
    assert wide.loc[("wiki", "Novel"), ["reading", "none"]].tolist() == [0.438, 0.451]
    # "the setting with the model based on novel corpus, the idf based novel corpus and the penalty had the highest"
    best = table.loc[table["pearson"].idxmax()]
    assert best[["model", "idf", "penalty"]].tolist() == ["Novel", "novel", "reading"]
    assert printed_methods()["pearson"].tolist() == [0.456, 0.093, 0.067]
    assert (ANNOTATOR_AGREEMENT, N_PAIRS, N_ANNOTATORS) == ((0.548, 0.657), 200, 3)


def test_the_papers_differences_are_those_of_its_scores() -> None:
    for case in CASES:
        assert case.base_difference == pytest.approx(abs(case.base - case.human), abs=1e-9)
        assert case.penalized_difference == pytest.approx(abs(case.penalized - case.human), abs=1e-9)
        smaller = case.penalized_difference < case.base_difference
        assert case.nearer == ("With penalty" if smaller else "Without Penalty")
