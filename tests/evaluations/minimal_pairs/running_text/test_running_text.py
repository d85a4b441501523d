"""Running text through the evaluation: numbers by hand, sums, categories, tests, checkpoints, windows, what is refused."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_rel

from engine.datasets.formats.files import read_table
from engine.datasets.minimal_pairs.pairs import MinimalPairs, from_table
from engine.errors import InputError
from engine.evaluations.minimal_pairs.evaluate import evaluate
from engine.evaluations.minimal_pairs.files import FILES, check_shown, file_tables
from engine.evaluations.minimal_pairs.kinds.finding import finding
from engine.evaluations.minimal_pairs.kinds.on_card import headlines
from engine.evaluations.minimal_pairs.records import PairScoring, Result, Settings
from engine.evaluations.minimal_pairs.running_text.tables import (
    checkpoints,
    comparable_models,
    comparisons,
    corpus,
    documents,
)
from tests.support.session_fake import TOO_LONG, SessionFake, likelihoods

LN_2 = math.log(2)


def texts(n: int = 8, length: int = 3) -> MinimalPairs:
    rows = [
        {"text": "猫が魚を食べた。" * (i % length + 1) + str(i), "title": f"文書{i}", "category": "ab"[i % 2]}
        for i in range(n)
    ]
    return from_table(read_table("\n".join(map(json.dumps, rows)).encode(), "texts.jsonl"))


def run(
    dataset: MinimalPairs, *models: str, kinds: dict[str, str] | None = None, **settings: object
) -> tuple[Result, SessionFake]:
    session = SessionFake(kinds)
    return evaluate(Settings(models or ("m",), **settings), dataset, session), session  # type: ignore[arg-type]


def test_each_document_has_the_numbers_of_its_tokens() -> None:
    dataset = texts()
    result, _ = run(dataset)
    table = documents(result)
    for (_, row), text in zip(table.iterrows(), dataset.acceptable, strict=True):
        total = float(likelihoods("m", text).astype(np.float64).sum())
        size = len(text.encode())
        assert (row["n_tokens"], row["n_characters"], row["n_bytes"]) == (len(text), len(text), size)
        assert row["log_likelihood"] == pytest.approx(total)
        assert row["perplexity"] == pytest.approx(math.exp(-total / len(text)))
        assert row["bits_per_byte"] == pytest.approx(-total / LN_2 / size)
        assert row["bits_per_character"] == pytest.approx(-total / LN_2 / len(text))
    assert table["title"].tolist() == [f"文書{i}" for i in range(8)]


def test_a_corpus_is_the_ratio_of_its_sums() -> None:
    result, _ = run(texts(30))
    each, table = documents(result), corpus(result)
    assert table["category"].tolist() == ["", "a", "b"] and table["n_documents"].tolist() == [30, 15, 15]
    for category, row in table.set_index("category").iterrows():
        of = each if category == "" else each[each["category"] == category]
        sums = of[["log_likelihood", "n_tokens", "n_bytes", "n_characters"]].sum()
        assert row["log_likelihood"] == pytest.approx(sums["log_likelihood"])
        assert row["perplexity"] == pytest.approx(math.exp(-sums["log_likelihood"] / sums["n_tokens"]))
        assert row["bits_per_byte"] == pytest.approx(-sums["log_likelihood"] / LN_2 / sums["n_bytes"])
        assert row["ci_low"] < row["bits_per_byte"] < row["ci_high"]
        assert row["perplexity_low"] < row["perplexity"] < row["perplexity_high"]
        assert row["bits_per_character_low"] < row["bits_per_character"] < row["bits_per_character_high"]
    # Not the mean of the documents' own ratios: they are of several lengths.
    assert abs(table["perplexity"].iloc[0] - each["perplexity"].mean()) > 1e-3
    by_file = corpus(result, "source")
    assert by_file["category"].tolist() == ["", "texts.jsonl"]
    with pytest.raises(InputError, match="no column 'nowhere'"):
        corpus(result, "nowhere")


def test_few_documents_have_numbers_and_no_intervals() -> None:
    result, _ = run(texts(3))
    row = corpus(result).iloc[0]
    assert np.isfinite(row["perplexity"]) and np.isnan(row["ci_low"]) and "fewer than 5 documents" in str(row["reason"])
    assert any("The corpus is small" in str(notice) for notice in result.notices)


def test_models_are_compared_over_documents() -> None:
    result, _ = run(texts(20, length=1), "m", "n", "o")
    table = comparisons(result)
    assert list(zip(table["model"], table["other"], strict=True)) == [("m", "n"), ("m", "o"), ("n", "o")]
    each = documents(result).pivot(index="row", columns="model", values="bits_per_byte")
    whole = corpus(result).query("category == ''").set_index("model")["bits_per_byte"]
    for row in table.to_dict("records"):
        # The documents are of one length but for one digit more.
        expected = ttest_rel(each[row["model"]], each[row["other"]])
        assert row["p_value"] == pytest.approx(expected.pvalue, abs=0.05)
        assert row["difference"] == pytest.approx(whole[row["model"]] - whole[row["other"]])
        assert row["ci_low"] < row["difference"] < row["ci_high"] and row["p_holm"] >= row["p_value"]
    said = str(finding(result))
    assert f"bits per byte {whole.min():.3f}" in said and "over 20 documents" in said
    assert "%" not in said and "points" not in said


def test_a_pseudo_perplexity_is_not_ranked_beside_a_perplexity() -> None:
    result, _ = run(texts(), "m", "gpt", "n", kinds={"gpt": "causal"})
    assert comparable_models(result) == [("m", "n"), ("gpt",)]
    assert list(zip(comparisons(result)["model"], comparisons(result)["other"], strict=True)) == [("m", "n")]
    assert any("pseudo-perplexities" in str(notice) for notice in result.notices)
    of_masked, of_causal = str(finding(result)).split(". gpt: ")
    assert "gpt" not in of_masked and of_causal.startswith("bits per byte") and " m " not in of_causal
    (bits, perplexity) = headlines(result, "gpt")
    assert bits.measure == "bits_per_byte" and bits.is_ranked and not perplexity.is_ranked
    assert bits.value == pytest.approx(
        corpus(result).query("model == 'gpt' and category == ''")["bits_per_byte"].item()
    )


def test_checkpoints_are_a_curve() -> None:
    result, _ = run(texts(), "org/m@step10", "org/m@step200", "other")
    table = checkpoints(result)
    assert table["step"].unique().tolist() == [10.0, 200.0] and set(table["category"]) == {"", "a", "b"}
    whole = corpus(result).query("model == 'org/m@step10' and category == ''")
    assert table.query("step == 10 and category == ''")["perplexity"].item() == whole["perplexity"].item()
    assert checkpoints(run(texts())[0]).empty


def test_windows_are_asked_for_resolved_and_signed() -> None:
    long = texts(6, length=12)
    result, session = run(long)
    (call,) = [call for call in session.calls if call[0] == "document_log_likelihoods"]
    assert call[-2:] == (TOO_LONG, TOO_LONG // 2)
    assert result.signature["windows"] == {"m": [TOO_LONG, TOO_LONG // 2]} and result.excluded.empty
    assert "windows of so many, 30 tokens apart" in result.rules["m"]
    own, session = run(long, "m", "c", kinds={"c": "causal"}, window=40, stride=10)
    assert [call[-2:] for call in session.calls if call[0] == "document_log_likelihoods"] == [(40, 10)] * 2
    assert own.signature["settings"]["window"] == 40 and own.signature["settings"]["stride"] == 10
    (notice,) = [str(notice) for notice in own.notices if "longer than 40 tokens" in str(notice)]
    assert notice.startswith("m, c: 2 documents")  # one of both
    assert (own.documents.query("model == 'm'")["n_windows"] > 1).any()
    conditions, session = run(texts(), "c", kinds={"c": "causal"}, other_prefixes=("none",))
    assert set(conditions.documents["model"]) == {"c", *conditions.conditions}


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"window": 1000}, "takes at most 60 tokens, fewer than the window of 1,000"),
        ({"window": 20, "stride": 21}, "A stride of 21 tokens would leave out tokens"),
        ({"stride": 61}, "A stride of 61 tokens would leave out tokens"),
        ({"precision": "exact-decisions"}, "running text has none"),
        ({"word_boundaries": True}, "these options are of sentences: --word-boundaries"),
        ({"shared_tokens": True}, "these options are of sentences: --shared-tokens"),
        ({"prompts": "en"}, "holds running text, of which no score of a whole sentence in a template counts"),
        ({"window": 1}, "window"),
    ],
)
def test_settings_that_cannot_be_are_refused_in_words(settings: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        run(texts(), **settings)


def test_what_is_of_other_data_is_refused_in_words() -> None:
    pairs = from_table(read_table(b"good,bad\na b,c d\ne f,g h\n", "pairs.csv"))
    with pytest.raises(InputError, match="of running text, and these are pairs of sentences"):
        run(pairs, window=20)
    with pytest.raises(InputError, match="these options do not apply to it: --alpha"):
        check_shown(texts(), PairScoring(0.5), (), Settings(("m",)))
    with pytest.raises(InputError, match="Leave --normalization out"):
        check_shown(texts(), PairScoring(), ("LP",), Settings(("m",)))


def test_the_files_are_declared_and_have_the_documents_that_every_model_scored() -> None:
    result, _ = run(texts(), "m", "n")
    declared = {table.name: table for table in FILES}
    tables = file_tables(result, (), 0.8, "category", 0)
    assert set(tables) == {"documents", "corpus", "corpus_comparisons", "corpus_checkpoints", "tokens", "excluded"}
    for name, frame in tables.items():
        assert declared[name].arranged(frame) is not None
    first = result.documents[~((result.documents["model"] == "n") & (result.documents["row"] == 1))]
    assert corpus(replace(result, documents=first.reset_index(drop=True)))["n_documents"].tolist() == [7, 3, 4] * 2


def test_scores_without_tokens_have_bits_and_no_perplexity() -> None:
    result, _ = run(texts())
    table = result.documents.assign(n_tokens=pd.array([pd.NA] * 8, dtype="Int64"))
    row = corpus(replace(result, documents=table)).iloc[0]
    assert np.isnan(row["perplexity"]) and np.isfinite(row["bits_per_byte"]) and "no perplexity" in str(row["reason"])
    assert np.isnan(documents(replace(result, documents=table))["perplexity"]).all()
