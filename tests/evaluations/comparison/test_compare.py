"""Two sides held against each other: worked by hand, and against the tests of each evaluation's own page."""

from __future__ import annotations

import shutil
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from engine.datasets.minimal_pairs.pairs import MinimalPairs as Pairs
from engine.errors import InputError
from engine.evaluations.alignment.records import Result as Alignment
from engine.evaluations.catalog import EVALUATIONS
from engine.evaluations.comparison.alignment_sides import correlation_difference
from engine.evaluations.comparison.common_items import common_items, mean_difference
from engine.evaluations.comparison.compare import COMPARE, compare
from engine.evaluations.comparison.records import KINDS, AlignmentView, GridView, Side
from engine.evaluations.minimal_pairs.comparison import comparisons
from engine.evaluations.minimal_pairs.evaluate import evaluate
from engine.evaluations.minimal_pairs.records import DIFFERING, ONE_PREFIX, PairScoring, PairView, Settings
from engine.evaluations.minimal_pairs.records import Result as MinimalPairs
from engine.evaluations.minimal_pairs.regions import of_region
from engine.measures.statistics.correlations.williams import williams_test
from engine.runs.storage.artifacts import Artifacts
from tests.stored_runs import directories as stored_runs
from tests.support.session_fake import SessionFake

BERT, GPT = "builtin/bert-mini-ja", "builtin/gpt2-mini-ja"


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A stored result of every kind."""
    folder = tmp_path_factory.mktemp("stored") / "data"
    shutil.copytree(stored_runs.FOLDER / "0.1.0", folder)
    artifacts = Artifacts(folder)
    return {
        kind: artifacts.load_result(run_id, EVALUATIONS[kind].result_type)
        for run_id, kind in stored_runs.kinds("0.1.0").items()
        if kind in KINDS
    }


@pytest.fixture(scope="module")
def regional() -> MinimalPairs:
    """Two models on three pairs that differ in some words, and one pair of the same sentence twice."""
    texts = [("the cat sat", "the cat sit"), ("a dog runs", "a dogs runs"), ("all went", "went all"), ("it", "it")]
    dataset = Pairs.from_frame(pd.DataFrame(texts, columns=["acceptable", "unacceptable"]), "given")
    return evaluate(Settings(("m", "c")), dataset, SessionFake({"c": "causal"}))  # type: ignore[arg-type]


def sides(results: dict[str, Any], kind: str) -> tuple[Side, Side]:
    models = results[kind].settings.models
    return Side("A", results[kind], models[0]), Side("B", results[kind], models[-1])


def test_every_kind_but_dictionaries_is_compared() -> None:
    assert set(COMPARE) == set(KINDS) == set(EVALUATIONS) - {"dictionary"}


@pytest.mark.parametrize("kind", KINDS)
def test_sides_exchanged_turn_every_difference(results: dict[str, Any], kind: str) -> None:
    first, second = sides(results, kind)
    one, other = compare(kind, first, second), compare(kind, second, first)
    assert one.numbers["difference"].to_numpy() == pytest.approx(-other.numbers["difference"].to_numpy(), nan_ok=True)
    assert one.numbers["p_holm"].to_numpy() == pytest.approx(other.numbers["p_holm"].to_numpy(), nan_ok=True, rel=0.3)
    assert sorted(one.items["row"]) == sorted(other.items["other_row"])
    assert one.items["changed"].tolist() == sorted(one.items["changed"], reverse=True)


@pytest.mark.parametrize("kind", KINDS)
def test_a_side_against_itself_does_not_differ(results: dict[str, Any], kind: str) -> None:
    first, _ = sides(results, kind)
    found = compare(kind, first, first)
    assert not found.numbers["separable"].any() and not found.items["changed"].any()
    assert (found.numbers["difference"].fillna(0) == 0).all() and (found.items["difference"].fillna(0) == 0).all()


def test_minimal_pairs_have_the_test_of_their_page(results: dict[str, Any]) -> None:
    result: MinimalPairs = results["minimal-pairs"]
    for normalization, alpha in (("LP", 0.8), ("PenLP", 0.4)):
        view = PairView(normalization, PairScoring(alpha=alpha))
        found = compare("minimal-pairs", *(replace(side, shown=view) for side in sides(results, "minimal-pairs")))
        (own,) = comparisons(result, normalization, alpha).to_dict("records")
        row = found.numbers.iloc[0]
        assert (row["n"], row["difference"], row["p_value"]) == (own["n"], own["difference"], own["p_value"])
        assert (row["ci_low"], row["ci_high"]) == (own["ci_low"], own["ci_high"])
        assert int(found.items["changed"].sum()) >= own["n_only_model"] + own["n_only_other"]


def test_two_scores_of_one_model_are_compared(results: dict[str, Any]) -> None:
    side, _ = sides(results, "minimal-pairs")
    found = compare("minimal-pairs", replace(side, shown=PairView("LP")), replace(side, shown=PairView("MeanLP")))
    # where both sentences have as many tokens, LP and MeanLP decide alike
    equal = found.numbers[found.numbers["items"] == "pairs with A = U under both"]
    assert equal["difference"].tolist() == [0.0] and equal["p_value"].tolist() == [1.0]


def test_clusters_of_one_run_have_its_own_bootstrap(results: dict[str, Any]) -> None:
    result = results["clusters"]
    found = compare("clusters", *sides(results, "clusters"))
    (own,) = result.comparisons.to_dict("records")
    row = found.numbers.iloc[0]
    sign = 1 if (own["model"], own["other"]) == (BERT, GPT) else -1
    assert row["difference"] == pytest.approx(sign * own["difference"])
    assert sorted((row["ci_low"], row["ci_high"])) == pytest.approx(
        sorted(sign * np.array([own["ci_low"], own["ci_high"]]))
    )
    assert np.isnan(row["p_value"]) and "not a p-value" in row["reason"]
    apart = compare("clusters", Side("A", result, BERT), Side("B", replace(result), GPT)).numbers.iloc[0]
    assert np.isnan(apart["ci_low"]) and "no vectors" in apart["reason"] and not apart["separable"]


def test_dispersion_scores_over_other_sentences_have_no_difference(results: dict[str, Any]) -> None:
    result = results["clusters"]
    points = result.points
    fewer = replace(result, points=points[points["row"] > 3].reset_index(drop=True))
    found = compare("clusters", Side("A", result, BERT), Side("B", fewer, BERT))
    number = found.numbers.iloc[0]
    assert np.isnan(number["difference"]) and not number["separable"]
    assert number["reason"] == "not over the same sentences and classes"
    assert any(notice.startswith("M_m grows with the number of sentences per class") for notice in found.notices)
    assert number["first"] == number["second"] == result.models.set_index("model").loc[BERT, "score"]


def test_other_vectors_and_unknown_text_of_a_side_are_said(results: dict[str, Any]) -> None:
    cls, mean = (replace(results["clusters"], signature={"vectors": {BERT: pooling}}) for pooling in ("cls", "mean"))
    mean = replace(mean, models=mean.models.assign(unknown_share=0.8))
    notices = compare("clusters", Side("A", cls, BERT), Side("B", mean, BERT)).notices
    assert notices == (
        "The sentence vectors of the two sides are made in different ways (A: cls; B: mean).",
        "B: 80% of the tokens are unknown to the model.",
    )


def test_each_side_of_clusters_is_held_against_its_own_classes(results: dict[str, Any]) -> None:
    result = results["clusters"]
    renamed = replace(
        result,
        points=result.points.assign(
            label="x" + result.points["label"], nearest_class="x" + result.points["nearest_class"]
        ),
    )
    first = Side("A", result, BERT)
    own = compare("clusters", first, first).numbers.iloc[1]
    found = compare("clusters", first, Side("B", renamed, BERT))
    assert found.numbers.iloc[1]["first"] == found.numbers.iloc[1]["second"] == own["first"] > 0
    assert "another class on each side" in found.notices[-1]
    # Other names of the same classes leave M_m as it is; other classes do not.
    assert found.numbers.iloc[0]["difference"] == 0
    moved = replace(
        result,
        points=result.points.assign(
            label=result.points["label"].where(result.points["row"] > 1, result.points["label"].iloc[-1])
        ),
    )
    assert np.isnan(compare("clusters", first, Side("B", moved, BERT)).numbers.iloc[0]["difference"])


def test_alignments_of_one_model_are_compared_in_points_and_of_two_in_deviations(results: dict[str, Any]) -> None:
    result: Alignment = results["alignment"]
    scoring = result.settings.scoring
    plain = AlignmentView(scoring=replace(scoring, idf="none", penalty="none"))
    weighted = AlignmentView(scoring=replace(scoring, idf="references", penalty="none"))
    first, second = Side("A", result, BERT, plain), Side("B", result, BERT, weighted)
    found = compare("alignment", first, second)
    assert found.items["difference"].to_numpy() == pytest.approx(
        (found.items["first"] - found.items["second"]).to_numpy()
    )
    assert found.items["difference"].abs().is_monotonic_decreasing and not found.notices
    two = compare("alignment", first, Side("B", result, GPT, plain))
    assert two.notices and (two.numbers["reason"].str.contains("two models")).all()
    for name in ("difference", "p_value", "ci_low"):
        assert two.numbers[name].isna().all() and found.numbers["difference"].notna().all()
    assert two.numbers[["first", "second"]].notna().all(axis=None) and not two.numbers["separable"].any()
    assert two.items["difference"].mean() == pytest.approx(0, abs=1e-9)


def test_words_and_subwords_are_two_scales(results: dict[str, Any]) -> None:
    result: Alignment = results["alignment"]
    views = [
        AlignmentView(scoring=replace(result.settings.scoring, idf="none", penalty="none", unit=unit))
        for unit in ("subword", "word")
    ]
    found = compare("alignment", *(Side(name, result, BERT, view) for name, view in zip("AB", views, strict=True)))
    assert found.numbers[["difference", "p_value"]].isna().all(axis=None) and found.scale.startswith("F1 in standard")
    assert found.numbers["reason"].str.contains("words and subwords").all() and len(found.notices) == 1
    assert found.numbers[["first", "second"]].notna().all(axis=None)


def test_few_items_are_tested_by_sign_flips_and_many_by_the_bootstrap() -> None:
    # 0.1, 0.2, 0.3: every resampled mean is above 0, which the bootstrap takes for p = 0.002
    few = mean_difference("f1", "mean over pairs", np.array([0.1, 0.2, 0.3]), np.zeros(3))
    assert (few.test, few.p_value) == ("sign flips, exact", 0.25) and "fewer than 6" in few.reason
    values = np.linspace(-0.5, 1.5, 21)
    many = mean_difference("f1", "mean over pairs", values, np.zeros(21))
    assert many.test == "paired bootstrap" and many.p_value < 0.05
    grouped = mean_difference("f1", "mean over pairs", values, np.zeros(21), [*range(20), 0])
    assert grouped.test == "sign flips, exact"


def test_alignments_with_human_scores_have_williams_test(results: dict[str, Any]) -> None:
    result: Alignment = results["alignment"]
    human = np.linspace(0, 5, len(result.pairs)) + np.tile([0.3, -0.4], len(result.pairs))[: len(result.pairs)]
    judged = replace(result, pairs=result.pairs.assign(**{"human:a": human}))
    found = compare("alignment", Side("A", judged, BERT), Side("B", judged, GPT)).numbers.iloc[-1]
    assert (found["measure"], found["test"], found["n"]) == ("pearson", "Williams", len(result.pairs))
    assert found["ci_low"] < found["difference"] < found["ci_high"]
    gold, one, two = np.random.default_rng(0).normal(size=(3, 30)).cumsum(axis=0)
    assert correlation_difference(gold, one, two).p_value == williams_test(gold, one, two).p_value < 1
    # of whichever side the file has them, and of A where they differ
    for first, second in ((judged, result), (result, judged)):
        same = compare("alignment", Side("A", first, BERT), Side("B", second, GPT))
        assert same.numbers.iloc[-1]["first"] == found["first"] and len(same.notices) == 1
    other = replace(result, pairs=result.pairs.assign(**{"human:a": human[::-1]}))
    differing = compare("alignment", Side("A", judged, BERT), Side("B", other, GPT))
    assert "different human scores" in differing.notices[0] and differing.numbers.iloc[-1]["first"] == found["first"]


def test_the_grid_has_the_correlations_of_its_study(results: dict[str, Any]) -> None:
    result = results["metric-study"]
    found = compare("metric-study", *sides(results, "metric-study")).numbers.iloc[0]
    table = result.correlations[result.correlations["kind"] == "bertscore"]
    for side, model in (("first", BERT), ("second", GPT)):
        assert found[side] == pytest.approx(table[table["model"] == model]["pearson"].max())
    with pytest.raises(InputError, match=r"no setting of .* with idf elsewhere"):
        compare("metric-study", Side("A", result, BERT, GridView("elsewhere", "none")), Side("B", result, GPT))


def test_items_are_matched_by_text_and_repeated_ones_in_order() -> None:
    first = pd.DataFrame({"row": [1, 2, 3, 4], "text": ["a", "b", "a", "c"], "value": [1.0, 2.0, 3.0, 4.0]})
    second = pd.DataFrame({"row": [7, 8, 9], "text": ["a", "a", "b"], "value": [5.0, 6.0, 7.0]})
    found = common_items(first, second)
    assert found.table[["row", "other_row"]].to_numpy().tolist() == [[1, 7], [2, 9], [3, 8]]
    assert (found.n_only_first, found.n_only_second) == (1, 0)
    with pytest.raises(InputError, match="no sentence in common"):
        common_items(first, second.assign(text="x"))


def test_what_cannot_be_compared_is_refused(results: dict[str, Any]) -> None:
    first, second = sides(results, "clusters")
    with pytest.raises(InputError, match="dictionary have no items"):
        compare("dictionary", first, second)
    with pytest.raises(InputError, match="holds no model 'nobody'"):
        compare("clusters", first, replace(second, model="nobody"))


def test_a_region_is_compared_as_its_own_page_counts_it(regional: MinimalPairs) -> None:
    view = PairView("LP", PairScoring(region=DIFFERING))
    found = compare("minimal-pairs", *(Side(model, regional, model, view) for model in regional.settings.models))
    part = of_region(regional, DIFFERING)
    (own,) = comparisons(part, "LP").to_dict("records")
    row = found.numbers.iloc[0]
    assert (row["n"], row["difference"], row["p_value"]) == (own["n"], own["difference"], own["p_value"])
    assert row["n"] == 3 < regional.pairs["row"].nunique()  # of one pair no words differ
    whole = compare("minimal-pairs", *(Side(model, regional, model) for model in regional.settings.models))
    assert found.items.set_index("row")["first"].to_dict() != whole.items.set_index("row")["first"].to_dict()


def test_a_region_or_a_score_of_it_that_is_not_there_is_refused(regional: MinimalPairs) -> None:
    model = regional.settings.models[0]
    for view, words in (
        (PairView("LP", PairScoring(region=ONE_PREFIX)), "no scores of the region 'one-prefix'"),
        (
            PairView("per character", PairScoring(region=DIFFERING)),
            "A part of a sentence has no score per character; it has LP",
        ),
    ):
        with pytest.raises(InputError, match=words):
            compare("minimal-pairs", Side("A", regional, model, view), Side("B", regional, model))


def test_what_is_separable_alone_need_not_be_among_several(
    monkeypatch: pytest.MonkeyPatch, results: dict[str, Any]
) -> None:
    first, second = sides(results, "alignment")
    found = COMPARE["alignment"](first, second)

    def with_p(*p_values: float) -> pd.DataFrame:
        numbers = [replace(found.numbers[0], p_value=p_value) for p_value in p_values]
        monkeypatch.setitem(COMPARE, "alignment", lambda *sides: replace(found, numbers=numbers))  # type: ignore[misc]
        return compare("alignment", first, second).numbers

    alone, several = with_p(0.03), with_p(0.03, 0.2)
    assert (alone["p_holm"].tolist(), alone["separable"].tolist()) == ([0.03], [True])
    # Holm's by hand: 2 · 0.03, and 0.2 as it is
    assert (several["p_holm"].tolist(), several["separable"].tolist()) == ([0.06, 0.2], [False, False])
