"""Reading times through the evaluation and the command, held against a plain version of the challenge's script."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from engine.__main__ import main
from engine.datasets.formats.files import read_table
from engine.datasets.minimal_pairs.pairs import MinimalPairs, from_table
from engine.errors import InputError
from engine.evaluations.comparison.compare import compare
from engine.evaluations.comparison.records import Side
from engine.evaluations.minimal_pairs.babylm.predictions import prediction_files
from engine.evaluations.minimal_pairs.evaluate import evaluate
from engine.evaluations.minimal_pairs.files import FILES, check_predictions, check_shown, file_tables
from engine.evaluations.minimal_pairs.kinds.finding import finding
from engine.evaluations.minimal_pairs.kinds.on_card import headlines
from engine.evaluations.minimal_pairs.reading import times
from engine.evaluations.minimal_pairs.reading.times import (
    EYE_TRACKING,
    OWN,
    SELF_PACED,
    WITH_PREVIOUS,
    challenge_scores,
    gains,
    word_surprisals,
)
from engine.evaluations.minimal_pairs.records import PairScoring, Result, Settings
from engine.evaluations.shared.stored_table import in_memory
from engine.inference.cache import Cache
from engine.inference.gateway import Gateway
from engine.measures.reading_times import TOO_FEW, gain
from engine.models.sources.cards import built_in_directory
from tests.support.in_process import InProcess
from tests.support.session_fake import SessionFake

GPT = "builtin/gpt2-mini-en"
SENTENCES = (
    "The old man gave the boy a small red apple.",
    "She had never seen the sea before that cold morning.",
    "A letter lay on the table by the window.",
    "They walked along the river until the light was gone.",
    "His brother laughed and closed the heavy door.",
    "Nobody in the village knew the name of the stranger.",
    "We shall leave for London early in the spring.",
    "The doctor looked at the paper for a long while.",
)
MEASURES = ("RTfirstfix", "RTfirstpass", "RTgopast", "RTrightbound", "self_paced_reading_time", "N400")


def challenge_rows() -> list[dict[str, Any]]:
    """Rows as the challenge has them: a word after its context, of every sentence but its first and its last word."""
    draw = np.random.default_rng(5)
    rows = []
    for sentence in SENTENCES:
        words = sentence.split()
        for place in range(1, len(words) - 1):
            word, before = words[place], " ".join(words[:place])
            times = {name: round(float(200 + 6 * len(word) + draw.normal(0, 20)), 2) for name in MEASURES}
            if draw.random() < 0.1:
                times["RTgopast"] = ""  # type: ignore[assignment]
            rows.append(
                {
                    "item": before,
                    "word": word,
                    "prev_item": " ".join(words[: place - 1]),
                    "prev_word": words[place - 1],
                    **times,
                    "Subtlex_log10": round(float(draw.normal(4, 1)), 3),
                    "length": len(word),
                    "context_length": place,
                    "prev_length": len(words[place - 1]),
                }
            )
    return rows


def as_csv(rows: list[dict[str, Any]]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, rows[0])
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def read(text: str) -> MinimalPairs:
    return from_table(read_table(text.encode(), "reading_data.csv"))


class Plainly:
    """Surprisals as the challenge's script has them: the tokens of the word, one after the other, after the context."""

    def __init__(self) -> None:
        folder = built_in_directory(GPT)
        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        self.model = AutoModelForCausalLM.from_pretrained(folder).eval()

    def __call__(self, context: str, word: str) -> float:
        read_first = self.tokenizer(context)["input_ids"]
        total = 0.0
        for token in self.tokenizer(f" {word}", add_special_tokens=False)["input_ids"]:
            with torch.no_grad():
                last = self.model(input_ids=torch.tensor([read_first])).logits[0, -1]
            total -= float(torch.log_softmax(last, dim=-1)[token])
            read_first = [*read_first, token]
        return total


def r_squared(y: np.ndarray, columns: list[np.ndarray]) -> float:
    design = np.column_stack([np.ones(len(y)), *columns])
    weights = np.linalg.pinv(design, rcond=1e-13) @ y
    return float(1 - ((y - design @ weights) ** 2).sum() / ((y - y.mean()) ** 2).sum())


def share_plainly(frame: pd.DataFrame, measure: str, predictors: list[str]) -> float:
    """The script's number of a column of times, in per cent."""
    kept = frame[[measure, "pred", *predictors]].astype(float).dropna()
    columns = [kept[name].to_numpy() for name in predictors]
    columns += [kept[one].to_numpy() * kept[other].to_numpy() for one, other in combinations(predictors, 2)]
    y = kept[measure].to_numpy()
    baseline, full = r_squared(y, columns), r_squared(y, [*columns, kept["pred"].to_numpy()])
    return 100 * (full - baseline) / (1 - baseline)


@pytest.fixture(scope="module")
def dataset() -> MinimalPairs:
    return read(as_csv(challenge_rows()))


@pytest.fixture(scope="module")
def result(dataset: MinimalPairs, tmp_path_factory: pytest.TempPathFactory) -> Result:
    gateway = Gateway(InProcess(), Cache(tmp_path_factory.mktemp("cache") / "cache.sqlite", 10**8))
    return evaluate(Settings((GPT,), prefix="template"), dataset, gateway.session("run"))


@pytest.fixture(scope="module")
def plain() -> pd.DataFrame:
    frame, surprisal = pd.DataFrame(challenge_rows()), Plainly()
    for name in MEASURES:
        frame[name] = pd.to_numeric(frame[name])
    frame["pred"] = [surprisal(context, word) for context, word in zip(frame["item"], frame["word"], strict=True)]
    frame["prev_pred"] = [
        surprisal(context, word) if context else np.nan
        for context, word in zip(frame["prev_item"], frame["prev_word"], strict=True)
    ]
    return frame


def test_surprisals_are_those_of_the_script(result: Result, plain: pd.DataFrame) -> None:
    words = word_surprisals(result)
    assert words["row"].tolist() == list(range(1, len(plain) + 1)) and words["word"].tolist() == plain["word"].tolist()
    assert words["surprisal"].to_numpy() * np.log(2) == pytest.approx(plain["pred"].to_numpy(), abs=2e-4)
    before = words["previous_surprisal"].to_numpy() * np.log(2)
    assert before == pytest.approx(plain["prev_pred"].to_numpy(), abs=2e-4, nan_ok=True)
    assert words["item"].nunique() == len(SENTENCES) and (words["tokens"] > 0).all()
    assert words["time:RTgopast"].isna().sum() == plain["RTgopast"].isna().sum() > 0


def test_the_two_scores_are_those_of_the_script(result: Result, plain: pd.DataFrame) -> None:
    own = ["Subtlex_log10", "length", "context_length"]
    eye = np.mean([share_plainly(plain, name, own) for name in MEASURES if "RT" in name])
    paced = share_plainly(plain, "self_paced_reading_time", [*own, "prev_length", "prev_pred"])
    found = challenge_scores(gains(result), result.format).set_index("score")["challenge"]
    assert found[EYE_TRACKING] == pytest.approx(eye, abs=2e-3)
    assert found[SELF_PACED] == pytest.approx(paced, abs=2e-3)


def test_every_line_is_the_measure_of_the_words_that_are_listed(result: Result) -> None:
    words, table = word_surprisals(result), gains(result, folds=4)
    assert len(table) == 2 * len(MEASURES) and (table["reason"] == "").all()
    line = table.query("measure == 'N400' and baseline == @WITH_PREVIOUS").iloc[0]
    controls = ["frequency", "length", "position", "previous_length", "previous_surprisal"]
    found = gain(
        words["time:N400"], words["surprisal"], [words[name] for name in controls], words["item"].to_numpy(), folds=4
    )
    assert (line["gain"], line["share"], line["coefficient"]) == (found.delta, found.share, found.coefficient)
    assert line["n"] < len(words) and line["n_items"] == len(SENTENCES)  # the second word of a sentence has none before
    assert table.query("measure == 'N400' and baseline == @OWN")["n"].item() == len(words)


def test_the_predictions_are_those_of_the_script(result: Result, dataset: MinimalPairs, plain: pd.DataFrame) -> None:
    files = prediction_files(result, dataset)
    assert list(files) == ["gpt2-mini-en/main/zero_shot/causal/reading/predictions.json"]
    entries = json.loads(next(iter(files.values())))["reading"]["predictions"]
    assert [entry["id"] for entry in entries] == list(range(len(plain)))
    assert [entry["pred"] for entry in entries] == pytest.approx(plain["pred"].tolist(), abs=2e-4)
    assert [entry["prev_pred"] for entry in entries] == pytest.approx(
        plain["prev_pred"].tolist(), abs=2e-4, nan_ok=True
    )


def test_boundaries_of_words_make_surprisals_sum_to_that_of_the_text(
    dataset: MinimalPairs, result: Result, tmp_path: Path
) -> None:
    """Of a text that is all words, the terms between words cancel; what remains is that of the whole text."""
    gateway = Gateway(InProcess(), Cache(tmp_path / "cache.sqlite", 10**8))
    rows = [f"{place},{word},300" for place, sentence in enumerate(SENTENCES) for word in sentence.split()]
    whole = read("\n".join(["item,word,RT", *rows]))
    corrected = evaluate(Settings((GPT,), word_boundaries=True), whole, gateway.session("run"))
    plainly = evaluate(Settings((GPT,)), whole, gateway.session("run"))
    summed = word_surprisals(corrected).groupby("item")["surprisal"].sum().to_numpy() * np.log(2)
    pairs = corrected.pairs
    expected = -(pairs["acceptable_log_likelihood"] + pairs["acceptable_boundaries"])
    assert summed == pytest.approx(expected.to_numpy(), rel=1e-5)
    assert not np.allclose(word_surprisals(corrected)["surprisal"], word_surprisals(plainly)["surprisal"], atol=1e-3)


def test_a_text_that_a_model_left_out_has_no_words_and_texts_of_two_files_stay_apart() -> None:
    long = " ".join(["word"] * 30)
    rows = ["item,word,RT", *(f"1,{word},300" for word in ["a", "b", "c"]), *(f"2,{word},300" for word in long.split())]
    found = evaluate(Settings(("m",)), read("\n".join(rows)), SessionFake({"m": "causal"}))  # type: ignore[arg-type]
    assert word_surprisals(found)["item"].unique().tolist() == ["1"] and len(found.excluded) == 1
    only = gains(found)
    assert only["reason"].astype(bool).all() and only["gain"].isna().all()
    assert str(TOO_FEW) in str(finding(found))
    assert [headline.reason != "" for headline in headlines(found, "m")] == [True]


def test_the_finding_names_column_and_baseline_and_ranks_models_over_the_same_words_only(
    result: Result, dataset: MinimalPairs
) -> None:
    own = gains(result)
    own = own[(own["measure"] == own["measure"].iloc[0]) & (own["baseline"] == WITH_PREVIOUS)]
    numbers = {row["model"]: f"{row['gain']:.4f}".replace("-", "\u2212") for row in own.to_dict("records")}
    said = finding(result)
    assert f"Gain for {own['measure'].iloc[0]} by surprisal beyond {WITH_PREVIOUS}, in nats per word: " in said
    assert all(f"{model.removeprefix('builtin/')} {number}" in said for model, number in numbers.items())
    assert ("not ranked" in said) == (own["n"].nunique() > 1) and "highest" not in said
    in_japanese = said.in_language("ja")
    assert "利得" in in_japanese and not re.search("Gain|surprisal|words", in_japanese)
    two = replace(result, settings=replace(result.settings, models=(GPT, "other")))
    for part in ("tokens", "pairs"):
        table = in_memory(getattr(result, part))
        two = replace(two, **{part: pd.concat([table, table.assign(model="other")], ignore_index=True)})
    assert word_surprisals(two).index.is_unique
    assert "The difference between models was not tested." in finding(two)
    # The other model has no tokens of a text: its number is over other words.
    table = in_memory(two.tokens)
    is_left_out = (table["model"] == "other") & (table["row"] == table["row"].iloc[0])
    apart = finding(replace(two, tokens=table[~is_left_out].reset_index(drop=True)))
    assert "not ranked: their numbers are over different words" in apart and "not tested" not in apart


def test_the_finding_says_which_gains_chance_does_not_explain(result: Result, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the intervals of two models, in nats per word, which lie well within one."""
    above, around, below, none = (0.002, 0.006), (-0.002, 0.002), (-0.006, -0.002), (np.nan, np.nan)
    line = gains(result).query("baseline == @WITH_PREVIOUS").head(1).assign(gain=0.001)
    of_layers = result.layers.iloc[:0]
    monkeypatch.setattr(times, "words_of_gain", lambda *_: dict.fromkeys("ab", frozenset({("1", 1)})))
    for one, two, verdict in (
        (above, below, "Surprisal helps to predict the times under a. It misleads under b."),
        (above, around, "Surprisal helps to predict the times under a."),
        (around, below, "It misleads under b."),
        (around, around, "None is distinguishable from 0."),
        (around, none, "It is not distinguishable from 0."),
        (none, none, "Fewer than 5 texts give no interval."),
    ):
        lines = [
            line.assign(model=name, gain_low=ends[0], gain_high=ends[1]) for name, ends in (("a", one), ("b", two))
        ]
        monkeypatch.setattr(times, "gains", lambda _, lines=lines: pd.concat(lines, ignore_index=True))
        said = str(finding(replace(result, layers=of_layers)))
        assert f" words. {verdict} The difference between models was not tested." in said


def test_what_cannot_be_is_refused_in_words(dataset: MinimalPairs, tmp_path: Path) -> None:
    masked = evaluate(Settings(("m",)), dataset, SessionFake({"m": "masked"}))  # type: ignore[arg-type]
    assert any("both sides" in str(notice) for notice in masked.notices)
    with pytest.raises(InputError, match="stands before it"):
        prediction_files(masked, dataset)
    with pytest.raises(InputError, match="Exact decisions"):
        evaluate(Settings(("m",), precision="exact-decisions"), dataset, SessionFake({"m": "causal"}))  # type: ignore[arg-type]
    with pytest.raises(InputError, match="single sentences"):
        compare("minimal-pairs", Side("a", masked, "m"), Side("b", masked, "m"))
    with pytest.raises(InputError, match="options do not apply"):
        check_shown(dataset, PairScoring(alpha=0.3), (), Settings(("m",)))
    with pytest.raises(InputError, match="Predictions are about sentences in conditions"):
        check_predictions(dataset, ["(1;%a%) > 0"])
    assert set(file_tables(masked, (), 0.8, "category", 0)) <= {table.name for table in FILES}


@pytest.mark.usefixtures("commands_share_workers")
def test_the_command_writes_the_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = tmp_path / "reading_data.csv", tmp_path / "out"
    path.write_text(as_csv(challenge_rows()), encoding="utf-8")
    common = ["minimal-pairs", "--data", str(path), "--model", GPT, "--out", str(out)]
    assert main([*common, "--preset", "babylm", "--submission", "babylm", "--folds", "4"]) == 0
    table = pd.read_csv(out / "reading_times.csv", keep_default_na=False)
    assert set(table["measure"]) == set(MEASURES) and set(table["baseline"]) == {OWN, WITH_PREVIOUS}
    assert set(pd.read_csv(out / "babylm_reading.csv")["score"]) == {EYE_TRACKING, SELF_PACED}
    assert len(pd.read_csv(out / "word_surprisals.csv")) == len(challenge_rows())
    assert (out / "babylm/gpt2-mini-en/main/zero_shot/causal/reading/predictions.json").exists()
    assert json.loads((out / "settings.json").read_text(encoding="utf-8"))["folds"] == 4
    assert main([*common, "--normalization", "PenLP"]) == 2
    assert "Leave --normalization out" in capsys.readouterr().err
    assert main([*common, "--by", "source"]) == 2
    assert "--by" in capsys.readouterr().err
