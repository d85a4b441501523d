"""A run's numbers in the places of a paper's table: only where the data are those of the paper, as far as it says."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from engine.datasets import sample_data
from engine.datasets.minimal_pairs.pairs import MinimalPairs
from engine.evaluations.alignment.records import Scoring
from engine.evaluations.classification import records as classification
from engine.evaluations.clusters import records as clusters
from engine.evaluations.fill_mask import records as fill_mask
from engine.evaluations.metric_study import records as metric_study
from engine.evaluations.minimal_pairs import records as minimal_pairs
from engine.evaluations.paper_tables import length_bias
from engine.evaluations.paper_tables.beside import LIVEDOOR, NOUNS, VALUES, Beside, beside, label_of
from engine.models.sources.paper_cards import CLUSTERS, CLUSTERS_FIRST, LENGTH_BIAS, NOVELS

MODELS = ("paper/laboro=/srv/laboro", "somebody/bert")


def entry(kind: str, result: Any, key: str) -> Beside:
    (found,) = [each for each in beside(kind, result) if each.printed.key == key]
    VALUES.arranged(found.values)
    return found


def cells(each: Beside) -> dict[tuple[str, str, str], float]:
    return {(row["model"], row["row"], row["column"]): row["value"] for row in each.values.to_dict("records")}


def of_clusters(sizes: dict[str, int], name: str = "ldcc.zip (titles)", **settings: Any) -> Any:
    models = pd.DataFrame(
        {
            "model": MODELS,
            "in_class_dispersion": [150000.0, 1.0],
            "out_of_class_dispersion": [250.0, 2.0],
            "score": [600.0, 0.5],
        }
    )
    classes = pd.DataFrame(
        [(model, label, n) for model in MODELS for label, n in sizes.items()], columns=["model", "class", "n"]
    )
    return SimpleNamespace(
        dataset_name=name, models=models, classes=classes, settings=clusters.Settings(MODELS, **settings)
    )


NINE = dict.fromkeys(LIVEDOOR[0], 100)


@pytest.mark.parametrize(
    ("model", "paper", "label"),
    [
        ("paper/nict=/srv/nict", CLUSTERS, "NICT Ver."),
        ("paper/tohoku-univ", CLUSTERS, "Tohoku Univ. Ver."),
        ("cl-tohoku/bert-base-japanese", CLUSTERS, "Tohoku Univ. Ver."),
        ("paper/mecab=/x", CLUSTERS_FIRST, "MeCab 版"),
        ("gpt2-medium@v1", LENGTH_BIAS, "GPT-2 medium"),
        ("Ours=paper/nict=/srv/nict", CLUSTERS, "NICT Ver."),
        ("paper/kyoto-univ=/x", NOVELS, "Wikipedia Model"),
        ("gpt2-medium", CLUSTERS, None),
        ("builtin/bert-mini-ja", CLUSTERS, None),
        ("endpoint/x", CLUSTERS, None),
    ],
)
def test_a_model_is_the_papers_by_its_card_or_its_name_on_the_hub(model: str, paper: str, label: str | None) -> None:
    assert label_of(model, paper) == label


def test_scores_on_the_papers_corpus_stand_beside_the_printed_ones() -> None:
    found = entry("clusters", of_clusters(NINE), "paclic-2")
    assert found.is_comparable and "does not say which 100 articles" in found.reason
    # Laboro Ver. has a row in the paper, the other model gets one of its own
    assert cells(found) == {
        (MODELS[0], "Laboro Ver.", "A_m"): 150000.0,
        (MODELS[0], "Laboro Ver.", "B_m"): 250.0,
        (MODELS[0], "Laboro Ver.", "score"): 600.0,
        (MODELS[1], MODELS[1], "A_m"): 1.0,
        (MODELS[1], MODELS[1], "B_m"): 2.0,
        (MODELS[1], MODELS[1], "score"): 0.5,
    }
    assert found.printed.values("score")["Laboro Ver."] == 560.13  # table 2
    assert entry("clusters", of_clusters(dict.fromkeys(LIVEDOOR[1], 100)), "paclic-2").is_comparable


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        (of_clusters({**NINE, "peachy": 99}), "899 sentences of 9 classes"),
        (of_clusters({"a": 100, "b": 100}), "200 sentences of 2 classes"),
        (of_clusters(NINE, "ldcc.zip (bodies)"), "other data"),
        (of_clusters(NINE, pooling="mean"), "other vectors"),
        (of_clusters(NINE, layer=3), "other vectors"),
        (of_clusters(NINE, normalize=("nfkc",)), "normalised texts"),
        (of_clusters(NINE, prompt="x"), "other vectors"),
        (of_clusters(NINE, truncate_dim=8), "other vectors"),
    ],
)
def test_other_data_or_vectors_are_not_compared(result: Any, reason: str) -> None:
    for key in ("paclic-2", "nlp-2"):
        found = entry("clusters", result, key)
        assert not found.is_comparable and found.values.empty
        assert found.reason.startswith("Not comparable: ") and reason in found.reason


def test_the_forerunners_row_of_a_model_that_it_ran_otherwise_is_not_filled() -> None:
    result = of_clusters(NINE)
    result.models["model"] = ["paper/mecab=/x", "paper/sp=/y"]
    assert {row for _, row, _ in cells(entry("clusters", result, "nlp-2"))} == {"paper/mecab=/x", "SP Ver."}
    assert {row for _, row, _ in cells(entry("clusters", result, "paclic-2"))} == {"MeCab Ver.", "SP Ver."}


def test_tables_without_numbers_of_models_say_nothing_of_the_run() -> None:
    for key in ("paclic-1", "paclic-3", "paclic-5"):
        found = entry("clusters", of_clusters(NINE), key)
        assert found.values.empty and found.reason == ""


def of_classification(**settings: Any) -> Any:
    classes = pd.DataFrame(
        [(model, label, 80, 20) for model in MODELS for label in NINE], columns=["model", "class", "n_train", "n_test"]
    )
    models = pd.DataFrame(
        {
            "model": ["paper/kyoto-univ=/x", "m"],
            "accuracy_min": [0.6, 0.1],
            "accuracy_max": [0.7, 0.2],
            "accuracy_mean": [0.65, 0.15],
        }
    )
    return SimpleNamespace(
        dataset_name="ldcc", models=models, classes=classes, settings=classification.Settings(MODELS, **settings)
    )


def test_accuracies_stand_beside_the_forerunners() -> None:
    found = entry("classification", of_classification(), "nlp-3")
    assert found.is_comparable
    assert cells(found)["paper/kyoto-univ=/x", "Kyoto Univ. Ver.", "mean"] == 0.65
    assert found.printed.values("mean")["Kyoto Univ. Ver."] == 0.7  # table 3: 70.00%
    assert found.printed.as_printed("mean", 0.65) == "65.00%"
    for settings in ({"split": "stratified"}, {"epochs": 5}, {"hidden": (50,)}, {"test_share": 0.5}, {"seeds": 3}):
        assert "other settings" in entry("classification", of_classification(**settings), "nlp-3").reason
    assert "normalised texts" in entry("classification", of_classification(normalize=("nfkc",)), "nlp-3").reason
    assert entry("classification", of_classification(hidden=(200, 200, 200)), "nlp-3").is_comparable


def of_fill_mask(n: int = 5, nouns: Any = NOUNS) -> Any:
    rows = [(domain, noun) for domain, labels in nouns.items() for noun in labels for _ in range(n)]
    models = pd.DataFrame(
        [
            (model, domain, 0.01 * number)
            for model in ("paper/sp=/x", "m")
            for number, domain in enumerate((*nouns, "all"), start=1)
        ],
        columns=["model", "domain", "mean_probability"],
    )
    return SimpleNamespace(
        dataset_name="reviews",
        models=models,
        settings=fill_mask.Settings(("m",)),
        sentences=pd.DataFrame(rows, columns=["domain", "label"]),
    )


def test_probabilities_of_the_papers_nouns_stand_beside_the_printed_ones() -> None:
    found = entry("fill-mask", of_fill_mask(), "paclic-4")
    assert found.is_comparable
    assert {column: value for (model, row, column), value in cells(found).items() if row == "SP Ver."} == {
        "books": 0.01,
        "DVDs": 0.02,
        "music": 0.03,
        "all": 0.04,
    }
    assert found.printed.values("all")["SP Ver."] == 0.0788  # table 4: 7.88%
    named = {
        "Books": NOUNS["books"],
        "DVDs": NOUNS["dvd"],
        "music": [noun.replace("CD", "ＣＤ") for noun in NOUNS["music"]],
    }
    assert entry("fill-mask", of_fill_mask(nouns=named), "paclic-4").is_comparable  # full-width CD, as in the paper


def test_other_nouns_domains_or_numbers_are_not_compared() -> None:
    others = {**NOUNS, "books": [*list(NOUNS["books"])[:-1], "猫"]}
    assert "59 of the paper's 60 nouns" in entry("fill-mask", of_fill_mask(nouns=others), "paclic-4").reason
    assert not entry("fill-mask", of_fill_mask(4), "paclic-4").is_comparable
    assert "0 of the paper's 60 nouns" in entry("fill-mask", of_fill_mask(nouns={"a": ["本"]}), "paclic-4").reason


def of_metric_study(n: int, annotators: int, **settings_changed: Any) -> Any:
    pairs = pd.DataFrame({"row": range(n), **{f"human:{i}": 1.0 for i in range(annotators)}})
    settings = [("paper/kyoto-univ=/x", "novel", "reading"), ("m", "wiki", "none"), ("m", "none", "none")]
    grid = pd.DataFrame(
        [("bertscore", *setting, 0.1 * number) for number, setting in enumerate(settings)],
        columns=["kind", "model", "idf", "penalty", "pearson"],
    )
    return SimpleNamespace(
        dataset_name="mine", pairs=pairs, correlations=grid, settings=metric_study.Settings(("m",), **settings_changed)
    )


def test_correlations_are_compared_on_as_many_pairs_and_annotators_alone() -> None:
    found = entry("metric-study", of_metric_study(200, 3), "novels-1")
    assert cells(found) == {
        ("paper/kyoto-univ=/x", "Wikipedia", "novel dictionary, with penalty"): 0.0,
        ("m", "m", "wiki dictionary, without penalty"): pytest.approx(0.1),
    }
    # section 4.3, first table: Wikipedia, with penalty; second table: Novel, without
    assert found.printed.values("novel dictionary, with penalty")["Wikipedia"] == 0.395
    assert found.printed.values("wiki dictionary, without penalty")["Novel"] == 0.451
    for result in (of_metric_study(199, 3), of_metric_study(200, 1)):
        assert "were not published" in entry("metric-study", result, "novels-1").reason
        assert entry("metric-study", result, "novels-1").values.empty


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"score": "recall"}, "score"),
        ({"layer": 3}, "layer"),
        ({"scoring": Scoring(criterion="both")}, "criterion"),
        ({"scoring": Scoring(threshold=0.6, unit="word")}, "threshold, unit"),
        ({"scoring": Scoring(sounds="merged")}, "sounds"),
        ({"scoring": Scoring(readings="斉藤=さいとう")}, "readings"),
        ({"layer": -1, "scoring": Scoring(idf="novel", penalty="none", sounds="apart")}, ""),
    ],
)
def test_correlations_under_another_scoring_are_not_compared(changed: dict[str, Any], named: str) -> None:
    each = entry("metric-study", of_metric_study(200, 3, **changed), "novels-1")
    assert each.is_comparable == each.reason.startswith("Comparable") == (not named) == (not each.values.empty)
    assert f"({named})" in each.reason if named else True


def of_minimal_pairs(format_name: str, differences: dict[str, list[int]], uid: str = "", **settings: Any) -> Any:
    """Pairs whose acceptable sentence has so many more tokens, and is preferred where that is 0 or less."""
    n = len(next(iter(differences.values())))
    items = pd.DataFrame({"row": range(1, n + 1)} | ({"field:UID": [uid] * n} if uid else {}))
    pairs = pd.concat(
        [
            pd.DataFrame(
                {
                    "model": model,
                    "row": range(1, n + 1),
                    "acceptable_tokens": [9 + each for each in of_model],
                    "unacceptable_tokens": 9,
                    "acceptable_log_likelihood": [float(each <= 0) for each in of_model],
                    "unacceptable_log_likelihood": 0.5,
                }
            )
            for model, of_model in differences.items()
        ]
    )
    return SimpleNamespace(
        dataset_name="mine",
        format=format_name,
        right_to_left=False,
        items=items,
        pairs=pairs,
        settings=minimal_pairs.Settings(tuple(differences), **settings),
    )


def test_counts_of_a_whole_dataset_stand_beside_the_printed_ones() -> None:
    differences = [0] * 150 + [1] * 60 + [-2] * 121  # 331 pairs, as JBLiMP has
    result = of_minimal_pairs("JBLiMP", {"rinna/japanese-gpt2-medium": differences, "gpt2-medium": differences})
    found = entry("minimal-pairs", result, "length-2")
    assert found.is_comparable  # gpt2-medium is a model of the paper, but not one that it asked JBLiMP
    assert {(row, column): value for (_, row, column), value in cells(found).items()} == {
        ("JBLiMP", "GPT-2 A=U"): 150,
        ("JBLiMP", "GPT-2 A>U"): 60,
        ("JBLiMP", "GPT-2 A<U"): 121,
    }
    assert found.printed.values("GPT-2 A=U")["JBLiMP"] == 147  # table 2
    french = of_minimal_pairs("CrowS-Pairs", {"benjamin/gpt2-wechsel-french": [0] * 1676})
    assert {row for _, row, _ in cells(entry("minimal-pairs", french, "length-2"))} == {"French CrowS-Pairs"}
    part = entry("minimal-pairs", of_minimal_pairs("JBLiMP", {"m": [0] * 330}), "length-2")
    assert not part.is_comparable and "330 pairs" in part.reason
    assert "31,000" in entry("minimal-pairs", of_minimal_pairs("BLiMP", {"m": [0] * 9}), "length-2").reason


def test_accuracies_of_a_whole_phenomenon_stand_beside_the_printed_ones() -> None:
    differences = [0] * 500 + [1] * 300 + [-1] * 200  # right where not longer: 700 of 1,000, and all 500 equal ones
    result = of_minimal_pairs("BLiMP", {"bert-base-cased": differences, "m": differences}, "causative")
    found = entry("minimal-pairs", result, "length-3")
    assert found.is_comparable
    assert cells(found) == {
        ("bert-base-cased", "Causative", "BERT"): pytest.approx(70.0),
        ("bert-base-cased", "Causative", "BERT, balanced"): pytest.approx(100.0),
    }
    assert [found.printed.values(column)["Causative"] for column in ("BERT", "BERT, balanced")] == [73.1, 82.1]


@pytest.mark.parametrize(
    "result",
    [
        of_minimal_pairs("BLiMP", {"bert-base-cased": [0] * 999}, "causative"),
        of_minimal_pairs("BLiMP", {"bert-base-cased": [0] * 1000}, "passive_1"),
        of_minimal_pairs("BLiMP", {"bert-base-cased": [0] * 1000}),
        of_minimal_pairs("two sentence columns", {"bert-base-cased": [0] * 1000}, "causative"),
        of_minimal_pairs("BLiMP", {"bert-base-cased": [0] * 1000}, "causative", pll="original"),
    ],
)
def test_other_pairs_or_another_score_are_not_compared(result: Any) -> None:
    found = entry("minimal-pairs", result, "length-3")
    assert not found.is_comparable and found.values.empty and found.reason.startswith("Not comparable: ")


def test_the_sample_is_none_of_the_papers_data_and_other_kinds_have_no_table() -> None:
    dataset: MinimalPairs = sample_data.minimal_pairs()
    result = of_minimal_pairs(dataset.format, {"m": [0] * dataset.n})
    assert [each.is_comparable for each in beside("minimal-pairs", result)] == [False] * len(length_bias.TABLES)
    assert beside("dictionary", None) == []
