"""Single judged sentences through the evaluation: numbers beside scikit-learn, categories, what is refused, JCoLA."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score, brier_score_loss, matthews_corrcoef, roc_auc_score

from engine.datasets.formats.files import read_table
from engine.datasets.minimal_pairs.pairs import MinimalPairs, from_table
from engine.errors import InputError
from engine.evaluations.minimal_pairs.evaluate import evaluate
from engine.evaluations.minimal_pairs.files import FILES, file_tables
from engine.evaluations.minimal_pairs.length_effects import (
    length_correlations,
    length_points,
    number_of_sentences,
)
from engine.evaluations.minimal_pairs.records import Result, Settings
from engine.evaluations.minimal_pairs.single_sentences import (
    JUDGEMENTS,
    RELIABILITY,
    SENTENCES,
    judged_sentences,
    judgements,
    reliability_curves,
)
from engine.evaluations.minimal_pairs.views import available, scores
from engine.measures.unigrams import unigram_log_probabilities
from tests.support.minimal_results import synthetic
from tests.support.session_fake import SessionFake, likelihoods
from tests.support.shared_data import shared_data

HEADER = "uid\tsource\tlabel\tdiacritic\tsentence\toriginal\tsimple\tbinding"


def judged(n: int = 60, labels: str = "") -> MinimalPairs:
    """Sentences whose judgement follows the fake model's mean token log-likelihood, with noise."""
    random = np.random.default_rng(0)
    lines = [HEADER]
    for i in range(n):
        text = "猫が魚を食べた"[: 3 + i % 5] + str(i)
        label = labels or str(int(likelihoods("m", text).mean() + random.normal(0, 0.3) > -2.0))
        lines.append("\t".join([str(100 + i), f"S_{i % 3}", label, "g", text, "", str(i % 2 == 0), str(i % 7 == 0)]))
    return from_table(read_table("\n".join(lines).encode(), "judged.tsv"))


def run(dataset: MinimalPairs, session: SessionFake | None = None, **settings: object) -> Result:
    return evaluate(Settings(("m",), **settings), dataset, session or SessionFake())  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def result() -> Result:
    return run(judged())


def test_the_numbers_are_those_of_scikit_learn(result: Result) -> None:
    table = judgements(result)
    assert JUDGEMENTS.arranged(table) is not None
    overall = table[table["field"] == ""].set_index("normalization")
    assert list(overall.index) == list(available(result.pairs)) and "MORCELA" not in overall.index
    for normalization, row in overall.iterrows():
        sentences = judged_sentences(result, "m", str(normalization))
        assert SENTENCES.arranged(sentences) is sentences and len(sentences) == 60
        label, predicted = sentences["label"], sentences["predicted"].astype(int)
        np.testing.assert_array_equal(sentences["score"], scores(result.pairs, str(normalization))[0])
        assert row["auc"] == pytest.approx(roc_auc_score(label, sentences["score"]))
        assert row["mcc"] == pytest.approx(matthews_corrcoef(label, predicted))
        assert row["accuracy"] == pytest.approx(accuracy_score(label, predicted))
        assert row["brier"] == pytest.approx(brier_score_loss(label, sentences["probability"]))
        assert row["majority"] == max(label.mean(), 1 - label.mean()) and row["n_acceptable"] == label.sum()
        assert row["ci_low"] < row["auc"] < row["ci_high"] and row["reason"] == ""
    assert overall.loc["MeanLP", "auc"] > 0.6  # the judgements are made of it


def test_the_spread_is_that_of_runs_under_other_seeds(result: Result) -> None:
    table = judgements(result, ["LP", "MeanLP"])
    seeds = [
        judgements(replace(result, settings=replace(result.settings, seed=seed)), ["LP", "MeanLP"])
        for seed in range(10)
    ]
    for name in ("mcc", "accuracy", "threshold", "brier", "ece"):
        seen = np.std([other[name] for other in seeds], axis=0, ddof=1)
        np.testing.assert_allclose(table[f"{name}_deviation"], seen, atol=1e-12)
    assert (table["brier_deviation"] > 0).all() and table["mcc_deviation"].iloc[0] > 0


def test_the_bins_are_those_of_the_error(result: Result) -> None:
    curve = reliability_curves(result, ["LP"])
    assert RELIABILITY.arranged(curve) is curve and curve["n"].sum() == 60 and len(curve) == 10
    error = (curve["n"] * (curve["share"] - curve["probability"]).abs()).sum() / 60
    assert judgements(result, ["LP"])["ece"].iloc[0] == pytest.approx(error)


def test_categories_are_phenomena_and_the_column_that_is_asked_for(result: Result) -> None:
    table = judgements(result, ["LP"], by="source")
    assert list(zip(table["field"], table["value"], strict=True)) == [
        ("", ""),
        ("simple", "True"),
        ("binding", "True"),
        ("source", "S_0"),
        ("source", "S_1"),
        ("source", "S_2"),
    ]
    assert table["n"].tolist() == [60, 30, 9, 20, 20, 20]
    rows = result.items["field:simple"] == "True"
    sentences = judged_sentences(result, "m", "LP")[rows.to_numpy()]
    simple = table.iloc[1]
    assert simple["auc"] == pytest.approx(roc_auc_score(sentences["label"], sentences["score"]))
    assert simple["mcc"] == pytest.approx(matthews_corrcoef(sentences["label"], sentences["predicted"].astype(int)))
    with pytest.raises(InputError, match="no column 'nowhere'"):
        judgements(result, ["LP"], by="nowhere")


def test_single_sentences_that_cannot_be_scored_are_not_called_pairs() -> None:
    table = read_table(f"sentence,label\n{'長' * 1000},1\n{'短' * 1000},0\n".encode(), "long.csv")
    with pytest.raises(InputError, match=r"^m can score none of the 2 sentences\. The first, row 1: too long"):
        run(from_table(table))


def test_edges(result: Result) -> None:
    constant = replace(result, pairs=result.pairs.assign(acceptable_log_likelihood=-3.0))
    row = judgements(constant, ["LP"]).iloc[0]
    assert row["auc"] == 0.5 and row["mcc"] == 0 and np.isnan(row["ci_low"]) and "all alike" in row["reason"]
    assert row["threshold"] == -np.inf
    label = result.items["label"].copy()
    label[:] = 0
    label.iloc[:3] = 1
    few = judgements(replace(result, items=result.items.assign(label=label)), ["LP"], folds=5).iloc[0]
    assert not np.isnan(few["auc"]) and np.isnan(few["mcc"])
    assert few["reason"] == "5 parts need 5 sentences of each judgement; there are 3 of one"
    infinite = result.pairs["acceptable_log_likelihood"].copy()
    infinite.iloc[0] = -np.inf
    assert (
        judgements(replace(result, pairs=result.pairs.assign(acceptable_log_likelihood=infinite)), ["LP"])["n"].iloc[0]
        == 59
    )
    assert judgements(synthetic(20)).empty and reliability_curves(synthetic(20)).empty


def test_a_sentence_is_scored_and_counted_once() -> None:
    class Counting(SessionFake):
        texts = 0

        def token_log_likelihoods(self, model: str, texts: object, **how: object) -> list[dict[str, object]]:
            self.texts += len(texts)  # type: ignore[arg-type]
            return super().token_log_likelihoods(model, texts, **how)  # type: ignore[arg-type]

    session = Counting()
    result = run(judged(), session)
    assert session.texts == 60
    text = "".join(result.pairs["acceptable"])
    counts = pd.Series(list(text)).value_counts()
    values = dict(zip(counts.index, unigram_log_probabilities(counts.to_numpy(), len(text), len(counts)), strict=True))
    assert result.pairs["acceptable_unigrams"].iloc[5] == pytest.approx(
        sum(values[character] for character in result.pairs["acceptable"].iloc[5])
    )
    assert (length_correlations(result, ["LP"])["n"] == 60).all() and len(length_points(result, "m", "LP")) == 60
    sides = length_points(result, "m", "LP").set_index("row")["side"]
    labels = result.items.set_index("row")["label"]
    assert (sides == labels.map({1: "acceptable", 0: "unacceptable"})).all() and sides.nunique() == 2
    assert number_of_sentences(result, "m") == 60 and number_of_sentences(synthetic(20), "m") == 40
    assert not any("tie" in notice or "pair" in notice for notice in result.notices)


def test_files_have_the_judgements_and_nothing_of_pairs(result: Result) -> None:
    frames = file_tables(result, ("LP", "PenLP"), 0.8, "category", 0)
    assert set(frames) == {"pairs", "judgements", "reliability", "correlations", "prompted", "tokens", "excluded"}
    for table in FILES:
        if table.name in ("judgements", "reliability", "correlations"):
            table.arranged(frames[table.name])
    in_two = file_tables(result, ("LP", "PenLP"), 0.8, "category", 0, folds=2)["judgements"]
    assert in_two["mcc"].tolist() != frames["judgements"]["mcc"].tolist()
    assert in_two.loc[0, "mcc"] == judgements(result, ["LP"], folds=2).loc[0, "mcc"]


def test_what_cannot_be_judged_is_refused() -> None:
    with pytest.raises(InputError, match=r"All 10 sentences of judged\.tsv are judged acceptable \(1\)"):
        run(judged(10, "1"))
    with pytest.raises(InputError, match="single sentences have none"):
        run(judged(), precision="exact-decisions")
    with pytest.raises(InputError, match="Shared tokens are of two sentences"):
        run(judged(), shared_tokens=True)


def test_jcola_as_published() -> None:
    path = shared_data("jcola", "out_of_domain_valid_annotated-v1.0.tsv")
    result = run(from_table(read_table(path.read_bytes(), path.name)))
    n_scored = len(result.pairs)
    table = judgements(result, ["LP"])
    assert n_scored + len(result.excluded) == 685 and table["n"].iloc[0] == n_scored
    # the published columns of phenomena; the fake model leaves out sentences of more than 60 characters
    assert table["field"].tolist() == [
        "",
        "simple",
        "Arg. Str.",
        "ellipsis",
        "filler-gap",
        "control/raising",
        "island effects",
        "NPI/NCI",
        "verbal agr.",
        "binding",
        "morphology",
        "nominal structure",
        "quantifier",
    ]
    assert abs(table["auc"].iloc[0] - 0.5) < 0.5 and table["majority"].iloc[0] == pytest.approx(502 / 685, abs=0.02)
