"""Models under three evaluations side by side: each one's number, ranks by its better end, agreement in pairs."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from engine.errors import InputError
from engine.evaluations.agreement.directories import Sources, read_directories
from engine.evaluations.agreement.evaluate import (
    AGREEMENT,
    MEASURES,
    agreement_notices,
    agreement_table,
    different_files,
    model_table,
    models_with_different_files,
    scores_of,
)
from engine.measures.cards.catalog import CARDS


def clusters(**scores: float) -> Any:
    return SimpleNamespace(models=pd.DataFrame({"model": list(scores), "score": list(scores.values())}))


def classify(**accuracies: float) -> Any:
    return SimpleNamespace(models=pd.DataFrame({"model": list(accuracies), "accuracy_mean": list(accuracies.values())}))


def fill_mask(**means: float) -> Any:
    rows = [
        (model, domain, mean / part) for model, mean in means.items() for domain, part in (("books", 2), ("all", 1))
    ]
    common = pd.DataFrame(rows, columns=["model", "domain", "mean_probability"])
    return SimpleNamespace(common=common, models=common.assign(mean_probability=0.0))


RESULTS = {
    "classification": classify(a=0.5, b=0.7, c=0.6, e=0.1),
    "clusters": clusters(a=300.0, b=100.0, c=200.0, d=50.0),
    "fill-mask": fill_mask(a=0.1, b=0.3, c=0.2),
}


def test_each_evaluation_judges_by_its_own_number() -> None:
    assert dict(scores_of("clusters", RESULTS["clusters"])) == {"a": 300.0, "b": 100.0, "c": 200.0, "d": 50.0}
    assert dict(scores_of("classification", RESULTS["classification"])) == {"a": 0.5, "b": 0.7, "c": 0.6, "e": 0.1}
    assert dict(scores_of("fill-mask", RESULTS["fill-mask"])) == {"a": 0.1, "b": 0.3, "c": 0.2}
    with pytest.raises(
        InputError,
        match="Agreement can be computed for clusters, fill-mask, classification, benchmark; got 'alignment'",
    ):
        scores_of("alignment", None)


def test_models_stand_in_one_table_with_ranks_by_the_better_end() -> None:
    table = model_table(RESULTS)
    assert list(table.columns) == [
        "model",
        "clusters",
        "rank clusters",
        "fill-mask",
        "rank fill-mask",
        "classification",
        "rank classification",
        "rank_first clusters",
        "rank_last clusters",
        "rank_first fill-mask",
        "rank_last fill-mask",
        "rank_first classification",
        "rank_last classification",
    ]
    assert table["model"].tolist() == ["a", "b", "c", "d", "e"]
    assert table["rank clusters"].tolist()[:4] == [4, 2, 3, 1] and pd.isna(table["rank clusters"][4])
    assert table["rank classification"].tolist()[:3] == [3, 1, 2] and table["rank classification"][4] == 4
    assert table["fill-mask"].isna().tolist() == [False, False, False, True, True]


COMPARED = pd.DataFrame(
    [("A=a", "b", True), ("A=a", "c", True), ("b", "c", False)], columns=["model", "other", "separable"]
)


def ranges(results: dict[str, Any], kind: str) -> list[tuple[int, int] | None]:
    table = model_table(results)
    firsts, lasts = table[f"rank_first {kind}"], table[f"rank_last {kind}"]
    return [None if pd.isna(first) else (first, last) for first, last in zip(firsts, lasts, strict=True)]


def test_ranges_are_those_of_the_run() -> None:
    compared = SimpleNamespace(
        **vars(clusters(**{"b": 200.0, "A=a": 300.0, "c": 100.0, "d": np.nan})), comparisons=COMPARED
    )
    # No comparison of fill-mask is there, so that nobody is known to differ.
    results = {"clusters": compared, "fill-mask": fill_mask(a=0.1, b=0.3, c=0.2)}
    assert ranges(results, "clusters") == [(1, 2), (3, 3), (1, 2), None]
    assert ranges(results, "fill-mask") == [None] * 4
    masked = SimpleNamespace(**vars(fill_mask(a=0.1, b=0.3, c=0.2)), comparisons=COMPARED.replace("A=a", "a"))
    assert ranges({"fill-mask": masked}, "fill-mask") == [(3, 3), (1, 2), (1, 2)]
    # Of a run that says its ranges these are taken; of one of an earlier version its groups, without comparisons.
    said = compared.models.assign(rank=[2, 3, 1, pd.NA], rank_group=[1, 2, 1, pd.NA])
    grouped = SimpleNamespace(models=said, comparisons=None)
    assert ranges({"clusters": grouped}, "clusters") == [(1, 2), (3, 3), (1, 2), None]
    nothing = SimpleNamespace(models=said.assign(rank_group=pd.NA), comparisons=COMPARED.head(0))
    assert ranges({"clusters": nothing}, "clusters") == [None] * 4
    own = said.assign(rank_first=[2, 3, 1, pd.NA], rank_last=[2, 3, 1, pd.NA])
    ranged = SimpleNamespace(models=own, comparisons=COMPARED)
    assert ranges({"clusters": ranged}, "clusters") == [(2, 2), (3, 3), (1, 1), None]


def test_a_model_that_is_alone_in_its_run_has_no_rank_but_is_counted() -> None:
    table = model_table({"clusters": clusters(b=2.0), "classification": classify(a=0.5, b=0.7)})
    assert table["model"].tolist() == ["b", "a"] and table["clusters"].tolist()[0] == 2.0
    assert table[["rank clusters", "rank_first clusters", "rank_last clusters"]].isna().all(axis=None)
    assert table["rank classification"].tolist() == [1, 2]
    (row,) = agreement_table(table).to_dict("records")
    assert row["n"] == 1 and "there are 1" in row["reason"].replace("there is", "there are")


def test_a_model_is_one_with_its_label_and_without() -> None:
    labelled = clusters(**{"A=a": 300.0, "B=b": 100.0})
    table = model_table({"clusters": labelled, "classification": classify(a=0.5, c=0.6, b=0.7)})
    assert table["model"].tolist() == ["A=a", "B=b", "c"]
    assert table["classification"].tolist() == [0.5, 0.7, 0.6]
    np.testing.assert_array_equal(table["clusters"], [300.0, 100.0, np.nan])


def test_agreement_counts_the_models_that_two_evaluations_share() -> None:
    found = agreement_table(model_table(RESULTS))
    assert list(found.columns) == AGREEMENT.headers
    assert found[["first", "second", "n"]].to_numpy().tolist() == [
        ["clusters", "fill-mask", 3],
        ["clusters", "classification", 3],
        ["fill-mask", "classification", 3],
    ]
    # b is best, c second and a third under each of them, though one of them calls the smallest number best
    assert found["spearman"].tolist() == [1.0, 1.0, 1.0] and found["kendall"].tolist() == [1.0, 1.0, 1.0]


def test_too_few_models_are_no_agreement_and_it_is_said() -> None:
    (line,) = agreement_table(
        model_table({"clusters": clusters(a=1.0, b=2.0), "classification": classify(a=1.0, b=0.5)})
    ).to_dict("records")
    assert np.isnan(line["spearman"]) and np.isnan(line["kendall"])
    assert "at least 3 pairs; there are 2" in line["reason"]
    alike = {"clusters": clusters(a=1.0, b=2.0, c=3.0), "classification": classify(a=0.5, b=0.5, c=0.5)}
    assert "classification is" in agreement_table(model_table(alike))["reason"][0]


def test_an_undefined_score_takes_a_model_out_of_ranks_and_pairs() -> None:
    results = {
        "clusters": clusters(a=1.0, b=np.nan, c=2.0, d=3.0),
        "classification": classify(a=0.9, b=0.8, c=0.7, d=0.6),
    }
    table = model_table(results)
    assert pd.isna(table["rank clusters"][1]) and table["rank clusters"].tolist()[2:] == [2, 3]
    assert agreement_table(table)["n"].tolist() == [3]


def test_a_model_that_its_run_does_not_rank_is_in_no_order() -> None:
    # b has the smallest M_m of the table, but no rank in its run: c is first, and three models are counted.
    unranked = SimpleNamespace(
        models=pd.DataFrame(
            {"model": ["a", "b", "c", "d"], "score": [3.0, 1.0, 2.0, 4.0], "rank": pd.array([2, None, 1, 3], "Int64")}
        ),
        signature={"models": [], "dataset": "x"},
    )
    other = SimpleNamespace(**vars(classify(a=0.8, b=0.1, c=0.9, d=0.7)), signature=unranked.signature)
    table = model_table({"clusters": unranked, "classification": other})
    assert table["clusters"].tolist() == [3.0, 1.0, 2.0, 4.0]
    assert table["rank clusters"].tolist()[:1] + table["rank clusters"].tolist()[2:] == [2, 1, 3]
    assert pd.isna(table["rank clusters"][1])
    (row,) = agreement_table(table).to_dict("records")
    assert row["n"] == 3 and row["spearman"] == 1.0
    assert agreement_notices({"clusters": unranked, "classification": other}) == (
        "clusters: without a rank in its run, so not in the agreement: b.",
    )


def test_other_vectors_and_other_data_of_a_model_are_said() -> None:
    def run(dataset: str, **vectors: str) -> Any:
        return SimpleNamespace(
            models=pd.DataFrame({"model": ["a"], "score": [1.0], "accuracy_mean": [0.5]}),
            signature={"models": [], "dataset": dataset, "vectors": vectors},
        )

    assert agreement_notices({"clusters": run("x", a="cls"), "classification": run("x", a="cls")}) == ()
    assert agreement_notices({"clusters": run("x", a="cls", b="cls"), "classification": run("y", a="mean")}) == (
        "The runs of clusters and of classification are of different data.",
        "Sentence vectors are made in different ways in clusters (cls) and in classification (mean): a.",
    )


def test_one_or_no_evaluation_is_nothing_to_compare() -> None:
    assert agreement_table(model_table({"clusters": clusters(a=1.0)})).empty
    empty = model_table({})
    assert empty["model"].tolist() == [] and list(agreement_table(empty).columns) == AGREEMENT.headers


def test_every_number_has_a_card_with_a_better_end() -> None:
    assert all(CARDS[measure].better in ("lower", "higher") for measure in MEASURES.values())


def test_one_name_for_two_models_is_detected() -> None:
    def signature(**fingerprints: str) -> dict[str, Any]:
        return {"models": [{"name": name, "fingerprint": fingerprint} for name, fingerprint in fingerprints.items()]}

    signatures = {"clusters": signature(a="1", b="2"), "classification": signature(a="1", b="3", c="4")}
    assert models_with_different_files(signatures) == ["b"]
    (notice,) = different_files(signatures)
    assert notice.startswith("b stands for different files")
    assert different_files({"clusters": signature(a="1"), "fill-mask": signature(a="1")}) == ()
    assert models_with_different_files({"clusters": signature(**{"A=a": "1"}), "fill-mask": signature(a="2")}) == ["a"]


def test_a_directory_of_clusters_over_different_sentences_has_no_order(tmp_path: Path) -> None:
    # As an earlier version wrote it: "a" left two of three sentences out and was first by that.
    for kind, column in (("clusters", "score"), ("classification", "accuracy_mean")):
        (tmp_path / kind).mkdir()
        (tmp_path / kind / "settings.json").write_text('{"models": [], "dataset": "x"}')
        (tmp_path / kind / "models.csv").write_text(f"model,{column},rank\na,1.0,1\nb,2.0,2\nc,,\n")
    points = tmp_path / "clusters" / "points.csv"
    sources = Sources(clusters=str(tmp_path / "clusters"), classification=str(tmp_path / "classification"))
    points.write_text("model,row,text\na,1,x\na,2,y\nb,1,x\nb,2,y\n")
    assert model_table(read_directories(sources))["rank clusters"].tolist()[:2] == [1, 2]
    points.write_text("model,row,text\na,1,x\nb,1,x\nb,2,y\nb,3,z\n")
    table = model_table(read_directories(sources))
    assert table["rank clusters"].isna().all() and table["clusters"].tolist()[:2] == [1.0, 2.0]
    assert table["rank classification"].tolist()[:2] == [2, 1]
