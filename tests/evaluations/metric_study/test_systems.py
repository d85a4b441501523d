"""Systems and other metrics in a metric study: matrices of systems and segments, their tables, what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from engine.datasets.sentence_pairs import SentencePairs
from engine.errors import InputError
from engine.evaluations.metric_study.cases import method_cases
from engine.evaluations.metric_study.evaluate import evaluate
from engine.evaluations.metric_study.records import Result, Settings
from engine.evaluations.metric_study.systems import systems_of
from engine.measures.statistics.monte_carlo import p_value_error
from engine.measures.statistics.perm_both import perm_both
from engine.measures.statistics.system_ranking import system_agreement
from engine.measures.statistics.tie_calibration import tie_calibrated_accuracy
from tests.support.session_fake import SessionFake

NAN = np.nan
NAMES = ("斉藤", "尾崎", "渡辺", "田中", "小林")
REFERENCES = tuple(f"{name}は雨の降る町を歩いた" for name in NAMES)
SYSTEMS = {"good": "は雨の降る町を歩く", "middle": "は雪の町を歩く", "bad": "が本を読む"}
# Five segments under three systems; the last translation of "bad" has no human score.
HUMAN = (90, 80, 95, 85, 70, 60, 65, 82, 50, 55, 20, 30, 10, 25, NAN)
COMET = ("0.9", "0.8", "0.85", "0.9", "0.7", "0.6", "0.5", "0.9", "0.4", "0.5", "0.1", "0.3", "", "0.2", "0.4")


def pairs(**further: tuple[str, ...]) -> SentencePairs:
    columns = {"system": tuple(name for name in SYSTEMS for _ in NAMES), "COMET": COMET, **further}
    return SentencePairs(
        "made up",
        REFERENCES * 3,
        tuple(name + end for end in SYSTEMS.values() for name in NAMES),
        ("",) * 15,
        {"annotator": tuple(map(float, HUMAN))},
        tuple(range(1, 16)),
        further=columns,
    )


def study(dataset: SentencePairs, **settings: Any) -> Result:
    chosen = {"idfs": ("none",), "metric_columns": ("COMET",), **settings}
    return evaluate(Settings(("m/a",), **chosen), dataset, SessionFake())  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def result() -> Result:
    return study(pairs())


def test_the_tables_are_the_measures_of_the_matrices(result: Result) -> None:
    human = result.pairs["gold"].to_numpy().reshape(3, 5)
    comet = np.array([float(cell or "nan") for cell in COMET]).reshape(3, 5)
    line = result.system_agreement[result.system_agreement["model"] == "COMET"].iloc[0]
    assert line["kind"] == "metric" and line["n_systems"] == 3 and line["n_system_pairs"] == 3
    assert line["soft_pairwise_accuracy"] == system_agreement(human, comet).soft_pairwise_accuracy
    ties = tie_calibrated_accuracy(human, comet)
    assert (line["tie_calibrated_accuracy"], line["tie_threshold"]) == (ties.accuracy, ties.threshold)
    best = result.scores[result.correlations["best"].to_numpy().argmax()]
    assert line["perm_both_p"] == perm_both(human.ravel(), best, comet.ravel()).p_value
    names = [name for name in SYSTEMS for _ in NAMES]
    assert line["perm_both_systems_p"] == perm_both(human.ravel(), best, comet.ravel(), names).p_value
    assert len(result.system_agreement) == len(result.correlations)
    assert line["soft_pairwise_accuracy_error"] == system_agreement(human, comet).soft_pairwise_error > 0
    assert line["perm_both_p_error"] == p_value_error(line["perm_both_p"], 1000)
    assert line["perm_both_systems_p_error"] == p_value_error(line["perm_both_systems_p"], 1000)
    for test in result.system_tests.itertuples():
        assert test.p_value_error == p_value_error(test.p_value, 1000, sides=2)
        assert test.permutation_p_error == p_value_error(test.permutation_p, 1000)


def test_system_scores_are_means_over_pairs_with_a_human_score(result: Result) -> None:
    comet = result.system_scores[result.system_scores["model"] == "COMET"].set_index("system")
    assert comet["n"].to_dict() == {"good": 5, "middle": 5, "bad": 3}
    # By hand: (0.9 + 0.8 + 0.85 + 0.9 + 0.7) / 5 = 0.83, and of "bad" (0.1 + 0.3 + 0.2) / 3 = 0.2.
    assert comet["score"]["good"] == pytest.approx(0.83) and comet["score"]["bad"] == pytest.approx(0.2)
    humans = result.system_scores[result.system_scores["kind"] == "human"]
    assert humans["score"].is_monotonic_decreasing and humans["system"].tolist() == list(SYSTEMS)


def test_every_two_systems_are_tested_under_the_humans_and_the_best_setting(result: Result) -> None:
    table = result.system_tests
    assert table.groupby("kind", sort=False).size().to_dict() == {"human": 3, "bertscore": 3}
    human = table[table["kind"] == "human"].set_index(["system", "other"])
    assert human["n"].tolist() == [5, 4, 4]
    assert human["difference"]["good", "bad"] > human["difference"]["good", "middle"] > 0
    assert human["p_value"]["good", "bad"] < 0.05 and human["permutation_p"]["good", "bad"] < 0.2


def test_the_order_of_the_rows_changes_no_score_of_a_system(result: Result) -> None:
    order = np.random.default_rng(0).permutation(15)
    dataset = pairs()
    turned = SentencePairs(
        "made up",
        *(tuple(values[i] for i in order) for values in (dataset.references, dataset.candidates)),
        ("",) * 15,
        {"annotator": tuple(dataset.human["annotator"][i] for i in order)},
        tuple(range(1, 16)),
        further={name: tuple(values[i] for i in order) for name, values in dataset.further.items()},
    )
    columns = ["kind", "model", "idf", "penalty", "system"]
    first, second = (
        scores.sort_values(columns)["score"].to_numpy()
        for scores in (result.system_scores, study(turned).system_scores)
    )
    np.testing.assert_allclose(first, second, atol=1e-12)  # the same sums in another order


def test_a_column_of_a_metric_is_correlated_beside_ours(result: Result) -> None:
    line = result.correlations[result.correlations["kind"] == "metric"].iloc[0]
    gold, comet = result.pairs["gold"], np.array([float(cell or "nan") for cell in COMET])
    known = gold.notna() & ~np.isnan(comet)
    assert line["n"] == 13 and line["pearson"] == pytest.approx(np.corrcoef(gold[known], comet[known])[0, 1])
    assert not line["best"]


def test_without_systems_the_tables_are_empty() -> None:
    dataset = pairs(system=("only",) * 15)
    assert systems_of(dataset, None) is None and study(dataset).system_agreement.empty


def test_a_reference_that_a_system_has_twice_is_two_segments() -> None:
    dataset = SentencePairs(
        "made up",
        ("一", "一", "一", "一"),
        ("a", "b", "c", "d"),
        ("",) * 4,
        {},
        (1, 2, 3, 4),
        further={"engine": ("x", "x", "y", "y")},
    )
    systems = systems_of(dataset, "engine")
    assert systems is not None
    assert systems.matrix(np.array([1.0, 2, 3, 4])).tolist() == [[1, 2], [3, 4]]


def test_a_metric_in_which_lower_is_better_is_taken_with_the_opposite_sign() -> None:
    errors = tuple("" if cell == "" else f"{1 - float(cell):.2f}" for cell in COMET)
    columns = {"metric_columns": ("COMET", "MetricX")}
    plain, turned = (study(pairs(MetricX=errors), **columns, lower_columns=lower) for lower in ((), ("MetricX",)))
    comet, as_given = plain.correlations.tail(2).to_dict("records")
    metricx = turned.correlations.iloc[-1]
    # 1 - x has the opposite correlation of x, so that with the opposite sign it is that of x again
    assert as_given["pearson"] == pytest.approx(-comet["pearson"]) and comet["n"] == metricx["n"] == 13
    for name in ("pearson", "ci_low", "ci_high", "spearman", "kendall", "williams_t", "williams_p"):
        assert metricx[name] == pytest.approx(comet[name])
    np.testing.assert_array_equal(turned.scores[-1], -plain.scores[-1])
    np.testing.assert_allclose(
        method_cases(turned, len(turned.scores) - 1)["difference"].to_numpy(),
        method_cases(turned, len(turned.scores) - 2)["difference"].to_numpy(),
    )
    systems = turned.system_agreement.tail(2).drop(columns=["model", "tie_threshold"])
    assert systems.iloc[0]["soft_pairwise_accuracy"] == systems.iloc[1]["soft_pairwise_accuracy"]
    assert "MetricX: its scores fall as the human scores rise" in " ".join(plain.notices)
    assert "MetricX: lower is better, so its scores are taken with the opposite sign." in turned.notices
    assert not any("MetricX: its scores fall" in notice for notice in turned.notices)
    assert not any("COMET" in notice for notice in (*plain.notices, *turned.notices))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"system_column": "engine"}, "no further column 'engine'"),
        ({"metric_columns": ("BLEURT",)}, "'BLEURT'"),
        (
            {"metric_columns": ("words",)},
            r"have a score in 'words' that is not a number[\s\S]*row 1: 'words' holds 'good'",
        ),
        ({"metric_columns": ("empty",)}, "no number"),
        ({"lower_columns": ("MetricX",)}, "Lower is better in 'MetricX'"),
        ({"system_column": "same"}, "at least 2"),
    ],
)
def test_a_column_that_cannot_be_used_is_refused(settings: dict[str, Any], message: str) -> None:
    dataset = pairs(words=("good", "bad", *["1"] * 13), empty=("",) * 15, same=("one",) * 15)
    with pytest.raises(InputError, match=message):
        study(dataset, **settings)
