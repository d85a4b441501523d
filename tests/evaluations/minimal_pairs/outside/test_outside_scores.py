"""Scores from a file are a model like any other: the tables of the model that they are of, as far as the file says."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import hakari
from engine.__main__ import main
from engine.datasets import sample_data
from engine.datasets.minimal_pairs.files import read_pairs
from engine.datasets.minimal_pairs.pairs import MinimalPairs
from engine.datasets.scores.files import read_frame, read_scores
from engine.datasets.scores.matching import attached
from engine.errors import InputError, ModelError
from engine.evaluations.comparison.compare import compare
from engine.evaluations.comparison.records import Side
from engine.evaluations.minimal_pairs.evaluate import evaluate
from engine.evaluations.minimal_pairs.files import file_tables
from engine.evaluations.minimal_pairs.kinds.on_card import ON_CARD
from engine.evaluations.minimal_pairs.outside.lm_eval_files import lm_eval_files
from engine.evaluations.minimal_pairs.outside.spellings import token_spans
from engine.evaluations.minimal_pairs.records import DIFFERING, EQUAL, MATCHED, Result, Settings
from engine.evaluations.minimal_pairs.regions import of_region, regions_of
from engine.evaluations.minimal_pairs.unigrams import with_unigrams
from engine.evaluations.minimal_pairs.views import available, counts, summary, without_token_counts
from engine.evaluations.model_map.evaluate import map_of
from engine.evaluations.shared.signature import require_models
from engine.inference.gateway import Gateway, GatewaySession
from engine.runs.storage.packing import pack, unpack
from tests.support.in_process import InProcess
from tests.support.minimal_results import from_margins

CAUSAL, MASKED = "builtin/gpt2-mini-ja", "builtin/bert-mini-ja"
OUTSIDE = "scores/x"
BY_TOKENS = {"MeanLP", "PenLP", "SLOR", "SLLN-LP"}
SAMPLE = sample_data.minimal_pairs()
# Fewer pairs, so that each test takes a moment.
PAIRS = replace(SAMPLE.subset(SAMPLE.rows[::5]), name="sample.csv")


@pytest.fixture(scope="module")
def session() -> Iterator[GatewaySession]:
    yield Gateway(InProcess(), None).session("outside")


@pytest.fixture(scope="module")
def local(session: GatewaySession) -> Mapping[str, Result]:
    return {model: evaluate(Settings((model,)), PAIRS, session) for model in (CAUSAL, MASKED)}


def frame_of(result: Result, *columns: str) -> pd.DataFrame:
    """The sentences of a result with these columns of the long form."""
    rows = []
    for side in ("acceptable", "unacceptable"):
        of_side = result.tokens[result.tokens["side"] == side].groupby("row", sort=False)
        tokens = {
            row: json.dumps(list(zip(group["token"].astype(str), map(float, group["log_likelihood"]), strict=True)))
            for row, group in of_side
        }
        for row in result.pairs.to_dict("records"):
            rows.append(
                {
                    "sentence": row[side],
                    "log_likelihood": repr(row[f"{side}_log_likelihood"]),
                    "n_tokens": row[f"{side}_tokens"],
                    "tokens": tokens[row["row"]],
                }
            )
    return pd.DataFrame(rows)[["sentence", "log_likelihood", *columns]]


def given(frame: pd.DataFrame) -> MinimalPairs:
    return attached(PAIRS, read_frame(frame, "x.csv"))


def texts(result: Result, normalizations: tuple[str, ...]) -> dict[str, str]:
    """Every table as CSV, without what says whose numbers they are."""
    tables = file_tables(result, normalizations, 0.8, "category", 0)
    hidden = ["model", "scored_in", "error_bound"]
    return {
        name: table.drop(columns=hidden, errors="ignore").to_csv(index=False, lineterminator="\n")
        for name, table in tables.items()
    }


@pytest.mark.parametrize("model", [CAUSAL, MASKED])
def test_tokens_give_every_table_of_the_model_itself(
    model: str, local: Mapping[str, Result], session: GatewaySession
) -> None:
    expected = local[model]
    result = evaluate(Settings((OUTSIDE,)), given(frame_of(expected, "tokens")), session)
    scores = available(expected.pairs)
    assert available(result.pairs) == scores
    assert texts(result, scores) == texts(expected, scores)
    assert set(result.pairs["scored_in"]) == {"file"}
    differing = of_region(result, DIFFERING)
    assert texts(differing, ("SLOR",)) == texts(of_region(expected, DIFFERING), ("SLOR",))
    signed = result.signature["models"][0]
    assert (signed["name"], signed["scores"]["file"], signed["scores"]["form"]) == (OUTSIDE, "x.csv", "long form")
    assert len(signed["scores"]["digest"]) == 64
    assert result.signature["dataset"] == expected.signature["dataset"]
    assert "What is scored is as the file says: x.csv" in result.rules[OUTSIDE]


def test_numbers_of_tokens_give_all_that_needs_no_token(local: Mapping[str, Result], session: GatewaySession) -> None:
    expected = local[CAUSAL]
    result = evaluate(Settings((OUTSIDE,)), given(frame_of(expected, "n_tokens")), session)
    assert set(available(expected.pairs)) - set(available(result.pairs)) == {"SLOR"}
    scores = ("LP", "PenLP")
    own, others = texts(result, scores), texts(expected, scores)
    of_tokens = {"tokens", "pairs", "fair_subsets", "fair_summary", "conditions", "linking"}
    assert {name for name in own if own[name] != others[name]} <= of_tokens
    columns = [
        "row",
        "acceptable_tokens",
        "unacceptable_tokens",
        "acceptable_log_likelihood",
        "unacceptable_log_likelihood",
    ]
    pd.testing.assert_frame_equal(result.pairs[columns], expected.pairs[columns])
    fair = file_tables(result, scores, 0.8, "category", 0)["fair_subsets"]
    assert set(fair["subset"]) == {"A=U", "A=U for all models", "matched"}
    assert any("no SLOR, no cut of words and no region" in notice for notice in result.notices)


def test_sums_alone_give_what_needs_no_number_of_tokens(local: Mapping[str, Result], session: GatewaySession) -> None:
    expected = local[CAUSAL]
    result = evaluate(Settings((OUTSIDE,)), given(frame_of(expected)), session)
    scores = available(result.pairs)
    assert scores == ("LP", "per character", "bits per byte")
    assert without_token_counts(result) == [OUTSIDE]
    table, other = summary(result, scores), summary(expected, scores)
    other = other[other["stratum"] == "all"].reset_index(drop=True)
    pd.testing.assert_frame_equal(table.drop(columns="model"), other.drop(columns="model"))
    assert (
        counts(result).to_dict("records") == [{"model": OUTSIDE, "all": 40, "A=U": pd.NA, "A>U": pd.NA, "A<U": pd.NA}]
        or counts(result)["A=U"].isna().all()
    )
    tables = file_tables(result, scores, 0.8, "category", 0)
    assert (
        set(tables["bias"]["reason"])
        == {"the numbers of tokens are not known"}
        == set(tables["correlations"]["reason"])
    )
    assert tables["differences"].empty and tables["fair_subsets"].empty and tables["tokens"].empty
    assert set(tables["categories"]["stratum"]) == {"all"}
    with pytest.raises(InputError, match="MeanLP counts tokens"):
        summary(result, ("MeanLP",))
    for subset in (EQUAL, MATCHED):
        with pytest.raises(InputError, match=r"scores/x, whose numbers of tokens are not known.*--tokenizer"):
            file_tables(result, scores, 0.8, "category", 0, subset)
    assert regions_of(result) == ("whole sentence",)
    with pytest.raises(InputError, match="needs the log-likelihood of each token, which the file of scores/x"):
        of_region(result, DIFFERING)
    assert any("none of MeanLP, PenLP, SLOR, SLLN-LP, MORCELA" in notice for notice in result.notices)


def test_a_tokenizer_loaded_alone_counts_tokens(
    local: Mapping[str, Result], session: GatewaySession, tmp_path: Path
) -> None:
    """Its directory holds no model: the tokens of the model whose tokenizer it is, and with them SLOR and the cuts."""
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(Path("engine/builtin/gpt2-mini-ja") / name, tmp_path / name)
    expected = local[CAUSAL]
    settings = Settings((OUTSIDE,), tokenizer=(f"x={tmp_path}",))
    result = evaluate(settings, given(frame_of(expected)), session)
    assert available(result.pairs) == available(expected.pairs)
    scores = ("LP", "SLOR")
    own, others = texts(result, scores), texts(expected, scores)
    assert {name for name in own if own[name] != others[name]} == {"tokens"}  # they have no log-likelihoods
    assert regions_of(result) == ("whole sentence",)
    assert any(f"its tokens are those of {tmp_path}" in notice for notice in result.notices)
    with pytest.raises(InputError, match="is for 'y', but there are scores of x"):
        evaluate(replace(settings, tokenizer=(f"y={tmp_path}",)), given(frame_of(expected)), session)
    with pytest.raises(ModelError, match=r"without a config.json it is read from a tokenizer.json"):
        (tmp_path / "none").mkdir()
        evaluate(replace(settings, tokenizer=(str(tmp_path / "none"),)), given(frame_of(expected)), session)


def test_the_name_of_a_model_stands_for_its_tokenizer(local: Mapping[str, Result], session: GatewaySession) -> None:
    result = evaluate(Settings((OUTSIDE,), tokenizer=(MASKED,)), given(frame_of(local[MASKED])), session)
    novel = with_unigrams(result, "novel")  # a dictionary counted with this tokenizer
    expected = with_unigrams(local[MASKED], "novel")
    assert texts(novel, ("SLOR",))["summary"] == texts(expected, ("SLOR",))["summary"]


def test_beside_a_local_model(local: Mapping[str, Result], session: GatewaySession) -> None:
    """The local model keeps its numbers; what the other lacks is not there for both, and is said."""
    dataset = given(frame_of(local[CAUSAL]))
    result = evaluate(Settings((CAUSAL, OUTSIDE)), dataset, session)
    assert available(result.pairs) == ("LP", "per character", "bits per byte")
    table, alone = summary(result, ("LP",)), summary(local[CAUSAL], ("LP",))
    pd.testing.assert_frame_equal(table[table["model"] == CAUSAL], alone)
    tables = file_tables(result, ("LP",), 0.8, "category", 0)
    [line] = tables["comparisons"].to_dict("records")
    assert (line["n_only_model"], line["n_only_other"], line["difference"]) == (0, 0, 0.0)
    assert tables["ranking"]["accuracy"].nunique() == 1
    assert "Scores by tokens are there where every model has them" in " ".join(result.notices)
    stored = pack(result)
    again = unpack(Result, lambda name: stored[name], "x")
    pd.testing.assert_frame_equal(again.pairs, result.pairs)
    compared = compare("minimal-pairs", Side("a", result, CAUSAL), Side("b", result, OUTSIDE))
    assert compared.numbers["difference"].tolist() == [0.0]
    headlines = ON_CARD.headlines(result, OUTSIDE)
    own = ON_CARD.headlines(result, CAUSAL)
    assert [h.items for h in headlines] == [h.items for h in own]
    assert headlines[0].value == own[0].value and np.isnan(headlines[1].value)
    assert str(headlines[1].reason) == "the numbers of tokens are not known"


def test_sentences_without_a_score_are_left_out(local: Mapping[str, Result], session: GatewaySession) -> None:
    frame = frame_of(local[CAUSAL], "tokens")
    result = evaluate(Settings((OUTSIDE,)), given(frame.iloc[1:]), session)
    assert result.excluded[["model", "row", "reason"]].astype(str).values.tolist() == [
        [OUTSIDE, str(PAIRS.rows[0]), "acceptable sentence: the file has no score of it"]
    ]
    assert len(result.pairs) == PAIRS.n - 1


def test_scores_that_are_not_there_and_other_evaluations() -> None:
    with pytest.raises(ModelError, match="stands for scores from a file, which are of the sentences of minimal pairs"):
        require_models((OUTSIDE,))
    require_models((OUTSIDE,), endpoints=True)
    with pytest.raises(InputError, match="The data hold no scores of scores/x; they hold those of no model"):
        evaluate(Settings((OUTSIDE,)), PAIRS, Gateway(InProcess(), None).session("x"))


@pytest.mark.parametrize(
    ("tokens", "n_before", "text", "spans"),
    [
        (["The", "Ġcat"], 0, "The cat", [(0, 3), (4, 7)]),
        (["▁The", "▁ca", "t"], 0, "The cat", [(0, 3), (4, 6), (6, 7)]),
        (["play", "##ing"], 0, "playing", [(0, 4), (4, 7)]),
        (["çĮ", "«", "ãģĮ"], 0, "猫が", [(0, 1), (0, 1), (1, 2)]),
        (["<s>", "The", " cat"], 1, "The cat", [(-1, -1), (0, 3), (4, 7)]),
        (["The", " cat"], 1, "The cat", [(0, 3), (4, 7)]),
        ([" cat"], 0, "The cat", [(4, 7)]),
        (["a", "dog"], 0, "The cat", None),
    ],
)
def test_tokens_are_placed_in_the_sentence(
    tokens: list[str], n_before: int, text: str, spans: list[tuple[int, int]] | None
) -> None:
    placed = token_spans(tokens, n_before, text)
    assert placed is None if spans is None else [tuple(span) for span in placed.tolist()] == spans  # type: ignore[union-attr]


def test_tokens_of_another_spelling_have_no_cuts(local: Mapping[str, Result], session: GatewaySession) -> None:
    """A lower-casing tokenizer writes other texts: lengths and SLOR are there, cuts of words are not."""
    frame = frame_of(local[CAUSAL], "tokens")
    frame["tokens"] = [
        json.dumps([["?" * len(token), value] for token, value in json.loads(text)]) for text in frame["tokens"]
    ]
    result = evaluate(Settings((OUTSIDE,)), given(frame), session)
    assert result.pairs["cut_words"].isna().all()
    assert any("in 40 pairs the tokens do not join to the sentence" in notice for notice in result.notices)
    assert {"MeanLP", "SLOR"} <= set(available(result.pairs))


def test_equal_tokens_of_unequal_scores_are_no_tie(session: GatewaySession) -> None:
    """Parts of characters are all written alike, so that two texts may have the same tokens."""
    frame = pd.DataFrame(
        {
            "sentence": [*PAIRS.acceptable, *PAIRS.unacceptable],
            "tokens": [json.dumps([["\ufffd", -1.0], ["\ufffd", -2.0]])] * PAIRS.n
            + [json.dumps([["\ufffd", -1.0], ["\ufffd", -2.5]])] * (PAIRS.n - 1)
            + [json.dumps([["\ufffd", -1.0], ["\ufffd", -2.001]])],
        }
    )
    result = evaluate(Settings((OUTSIDE,)), given(frame), session)
    line = summary(result, ("LP",)).iloc[0]
    assert (line["n"], line["n_correct"], line["n_tied"]) == (PAIRS.n, PAIRS.n - 1, 1)


def test_a_tokenizer_without_use_is_named(local: Mapping[str, Result], session: GatewaySession) -> None:
    settings = Settings((OUTSIDE,), tokenizer=(CAUSAL,))
    result = evaluate(settings, given(frame_of(local[CAUSAL], "tokens")), session)
    assert any(f"The tokenizer {CAUSAL} is not used" in notice for notice in result.notices)


def test_samples_for_lm_evaluation_harness_are_read_again(
    local: Mapping[str, Result], session: GatewaySession, tmp_path: Path
) -> None:
    """What is written as its samples has the same accuracies when it is read as scores, and its own is the results'."""
    expected = local[CAUSAL]
    for name, text in lm_eval_files(expected).items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    [folder] = tmp_path.iterdir()
    dataset = attached(
        PAIRS,
        read_scores(
            [(folder.name, folder)],
        ),
    )
    assert [scores.name for scores in dataset.scores] == [f"scores/{CAUSAL}"]
    result = evaluate(Settings((f"scores/{CAUSAL}",)), dataset, session)
    columns = ["stratum", "n", "n_correct", "n_tied", "accuracy"]
    own = summary(expected, ("LP", "per character"))
    own = own[own["stratum"] == "all"].reset_index(drop=True)
    pd.testing.assert_frame_equal(summary(result, ("LP", "per character"))[columns], own[columns])
    [results] = [json.loads(path.read_text(encoding="utf-8")) for path in folder.glob("results_*.json")]
    line = own.iloc[0]
    assert results["results"]["sample"]["acc,none"] == (line["n_correct"] + line["n_tied"]) / line["n"]
    assert not any("not of one run" in notice for notice in dataset.notices)
    assert any(f"the file itself has an accuracy of {line['accuracy']:.4f} over 40 pairs" in n for n in result.notices)


@pytest.mark.parametrize(
    ("margins", "accuracy", "error"),
    [
        # The deviation of 1, 1, 1 and 0 is 1/2, that of their mean half of it; a tie counts as right.
        ([1.0, 2.0, 0.0, -1.0], 3 / 4, 1 / 4),
        ([1.0, 2.0], 1.0, 0.0),
        ([-1.0], 0.0, "N/A"),  # as the harness writes it where there is none
    ],
)
def test_results_have_the_standard_error_of_the_harness(
    margins: list[float], accuracy: float, error: float | str
) -> None:
    files = lm_eval_files(from_margins({"m": margins}, [(3, 3)] * len(margins)))
    [results] = [json.loads(text) for name, text in files.items() if "/results_" in name]
    assert results["results"] == {"made_up": {"alias": "made_up", "acc,none": accuracy, "acc_stderr,none": error}}
    assert results["n-samples"] == {"made_up": {"original": len(margins), "effective": len(margins)}}


def test_a_notebook_takes_files_and_frames(local: Mapping[str, Result], tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    frame_of(local[CAUSAL], "n_tokens").to_csv(path, index=False)
    found = hakari.evaluate(
        "minimal-pairs", PAIRS, scores={"A": path, "B": frame_of(local[MASKED])}, data_dir=tmp_path / "data"
    )
    assert found.result.settings.models == ("A=scores/A", "B=scores/B")
    table = found.tables["summary"].query("normalization == 'LP' and stratum == 'all'").set_index("model")["accuracy"]
    for name, model in (("A=scores/A", CAUSAL), ("B=scores/B", MASKED)):
        expected = summary(local[model], ("LP",))["accuracy"].iloc[0]
        assert table[name] == expected
    with pytest.raises(InputError, match="are of the sentences of minimal pairs"):
        hakari.evaluate("clusters", "sample/labelled-sentences", CAUSAL, scores=path)


def test_the_command_takes_scores(
    local: Mapping[str, Result], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out = tmp_path / "mine.csv", tmp_path / "out"
    frame_of(local[CAUSAL], "tokens").to_csv(path, index=False)
    words = ["minimal-pairs", "--data", "sample/minimal-pairs", "--scores", f"GPT={path}", "--out", str(out)]
    assert main([*words, "--cache", str(tmp_path / "data"), "--lm-eval"]) == 0
    said = capsys.readouterr().err
    assert "160 rows of the data have a sentence that mine.csv has no score of" in said.replace(",", "")
    with (out / "summary.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["model"] for row in rows} == {"GPT=scores/GPT"}
    expected = summary(local[CAUSAL], ("LP",)).iloc[0]
    assert (int(rows[0]["n"]), int(rows[0]["n_correct"])) == (expected["n"], expected["n_correct"])
    assert json.loads((out / "settings.json").read_text(encoding="utf-8"))["models"][0]["scores"]["file"] == "mine.csv"
    assert [path.name for path in sorted((out / "lm-eval").iterdir())] == ["GPT"]
    assert main(["minimal-pairs", "--data", "sample/minimal-pairs", "--out", str(out)]) == 2
    assert "No model is chosen" in capsys.readouterr().err


def test_sentences_in_conditions_need_tokens_and_judged_ones_need_sums(session: GatewaySession) -> None:
    conditions = "item,condition,region_1,region_2,prediction\n" + "".join(
        f"{item},{name},The cat{item},sleep{name},(2;%a%) > (2;%b%)\n" for item in range(4) for name in "ab"
    )
    dataset = read_pairs([("suite.csv", conditions.encode())])
    sums = pd.DataFrame({"sentence": dataset.acceptable, "log_likelihood": [-10.0 - i for i in range(8)]})
    with pytest.raises(InputError, match=r"need the log-likelihood of each token, which the file of scores/x"):
        evaluate(Settings((OUTSIDE,)), attached(dataset, read_frame(sums, "x.csv")), session)
    tokens = [json.dumps([[text[:8], -5.0], [text[8:], -5.0 - i]]) for i, text in enumerate(dataset.acceptable)]
    result = evaluate(Settings((OUTSIDE,)), attached(dataset, read_frame(sums.assign(tokens=tokens), "x.csv")), session)
    [prediction] = file_tables(result, ("LP",), 0.8, "category", 0)["predictions"].to_dict("records")
    assert prediction["accuracy"] == 0.0  # the second condition of an item is the less probable one
    judged = read_pairs([("judged.csv", b"sentence,label\nGood one.,1\nBad one.,0\nFine one.,1\nOdd one.,0\n")])
    sums = pd.DataFrame({"sentence": judged.acceptable, "log_likelihood": [-1.0, -9.0, -2.0, -8.0]})
    result = evaluate(Settings((OUTSIDE,)), attached(judged, read_frame(sums, "x.csv")), session)
    assert file_tables(result, ("LP",), 0.8, "category", 0)["judgements"]["auc"].tolist() == [1.0]


def test_models_of_files_are_on_a_map(local: Mapping[str, Result], session: GatewaySession) -> None:
    result = evaluate(Settings((CAUSAL, OUTSIDE)), given(frame_of(local[CAUSAL])), session)
    found = map_of({"run": result})
    assert found.models["model"].tolist() == [CAUSAL, OUTSIDE]
    assert any("scores/x: scores from a file, taken as log-likelihoods" in notice for notice in found.notices)
