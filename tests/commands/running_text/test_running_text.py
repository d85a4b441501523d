"""`python -m engine minimal-pairs` on running text: with a built-in model against the loop of Hugging Face, its files."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from engine import notebook
from engine.__main__ import main
from engine.commands.shared import common
from engine.runs.computing import open_computing
from tests.models.scoring.running_text.test_document_log_likelihoods import loop_of_hugging_face
from tests.support import tiny_models
from tests.support.in_process import InProcess

GPT, BERT = "builtin/gpt2-mini-ja", "builtin/bert-mini-ja"
BUILT_IN = Path(notebook.__file__).parent / "builtin"
TEXTS = {
    "novel/rain": "".join(tiny_models.JAPANESE) * 4,
    "novel/cat": "猫が庭で眠っている。\n\n" + tiny_models.JAPANESE[5],
    "essay/train": "\n".join(tiny_models.JAPANESE[::-1]),
}


@pytest.fixture(scope="module", autouse=True)
def in_this_process() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        for module in (common, notebook):
            patched.setattr(
                module,
                "open_computing",
                lambda *places, **settings: open_computing(*places, **settings, backend=InProcess()),
            )
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("texts")
    for name, text in TEXTS.items():
        path = folder / f"{name}.txt"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text + "\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


def table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize(("window", "stride"), [(64, 32), (100, 100), (256, 17)])
def test_a_folder_has_the_perplexities_of_the_loop_of_hugging_face(
    folder: Path, cache: Path, tmp_path: Path, window: int, stride: int
) -> None:
    options = ["--prefix", "none", "--window", str(window), "--stride", str(stride), "--window-prefix", "first"]
    data = ["minimal-pairs", "--data", str(folder), "--model", GPT]
    assert main([*data, *options, "--out", str(tmp_path), "--cache", str(cache)]) == 0
    name = BUILT_IN / "gpt2-mini-ja"
    model, tokenizer = AutoModelForCausalLM.from_pretrained(name).eval(), AutoTokenizer.from_pretrained(name)

    class Loaded:
        pass

    loaded = Loaded()
    loaded.model = model  # type: ignore[attr-defined]
    total, n = 0.0, 0
    rows = {row["title"]: row for row in table(tmp_path / "documents.csv")}
    for path, text in TEXTS.items():
        ids = tokenizer(text, add_special_tokens=False)["input_ids"]
        with torch.no_grad():
            of_text, n_tokens = loop_of_hugging_face(loaded, ids, window, stride)  # type: ignore[arg-type]
        row = rows[path.partition("/")[2]]
        assert int(row["n_tokens"]) == n_tokens and row["category"] == path.partition("/")[0]
        assert float(row["perplexity"]) == pytest.approx(math.exp(-of_text / n_tokens), rel=1e-4)
        total, n = total + of_text, n + n_tokens
    [whole] = [row for row in table(tmp_path / "corpus.csv") if not row["category"]]
    assert float(whole["perplexity"]) == pytest.approx(math.exp(-total / n), rel=1e-4)
    signed = json.loads((tmp_path / "settings.json").read_text(encoding="utf-8"))
    assert signed["windows"] == {GPT: [window, stride]} and signed["format"] == "running text"
    assert signed["settings"]["window"] == window and signed["settings"]["window_prefix"] == "first"


def test_the_files_of_two_models_and_a_second_run_from_the_cache(
    folder: Path, cache: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["minimal-pairs", "--data", str(folder), "--model", GPT, "--model", BERT, "--window", "48"]
    assert main([*command, "--out", str(tmp_path / "one"), "--cache", str(cache)]) == 0
    said = capsys.readouterr().err
    assert "format: running text" in said and "pseudo-perplexities" in said and "The corpus is small" in said
    assert "longer than 48 tokens, read in windows that begin 24 tokens apart" in said
    names = {path.name for path in (tmp_path / "one").iterdir()}
    assert names == {"documents.csv", "corpus.csv", "tokens.csv", "excluded.csv", "settings.json"}
    assert len(table(tmp_path / "one" / "documents.csv")) == 6
    assert main([*command, "--out", str(tmp_path / "two"), "--cache", str(cache)]) == 0
    for name in names:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_scores_from_a_file_stand_beside_a_model(folder: Path, cache: Path, tmp_path: Path) -> None:
    with (tmp_path / "mine.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["sentence", "log_likelihood"])
        writer.writerows((text, -8 * math.log(2) * len(text.encode())) for text in TEXTS.values())
    command = ["minimal-pairs", "--data", str(folder), "--model", GPT, "--scores", f"mine={tmp_path / 'mine.csv'}"]
    assert main([*command, "--out", str(tmp_path / "out"), "--cache", str(cache)]) == 0
    whole = {row["model"]: row for row in table(tmp_path / "out" / "corpus.csv") if not row["category"]}
    mine = whole["mine=scores/mine"]
    assert float(mine["bits_per_byte"]) == pytest.approx(8) and mine["n_bytes"] == whole[GPT]["n_bytes"]
    assert mine["perplexity"] == mine["n_tokens"] == "" and int(whole[GPT]["n_tokens"]) > 100
    said = json.loads((tmp_path / "out" / "settings.json").read_text(encoding="utf-8"))
    assert said["windows"] == {GPT: [256, 128]} and "is left out" not in said["rules"]["mine=scores/mine"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--normalization", "LP"], "Leave --normalization out"),
        (["--alpha", "0.5"], "these options do not apply to it: --alpha"),
        (["--window", "100000"], "takes at most 256 tokens, fewer than the window of 100,000"),
        (["--window", "32", "--stride", "33"], "A stride of 33 tokens would leave out tokens"),
        (["--window", "1"], "window"),
        (["--precision", "exact-decisions"], "running text has none"),
    ],
)
def test_what_cannot_be_is_an_error_in_words(
    folder: Path, cache: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], said: str
) -> None:
    command = ["minimal-pairs", "--data", str(folder), "--model", GPT, "--cache", str(cache)]
    assert main([*command, *options, "--out", str(tmp_path)]) == 2
    assert said in capsys.readouterr().err


def test_windows_of_pairs_are_refused(tmp_path: Path, cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["minimal-pairs", "--data", "sample/minimal-pairs", "--model", GPT, "--cache", str(cache)]
    assert main([*command, "--window", "32", "--out", str(tmp_path)]) == 2
    assert "of running text, and these are pairs of sentences" in capsys.readouterr().err


def test_a_notebook_has_the_same_tables(cache: Path) -> None:
    frame = pd.DataFrame({"text": list(TEXTS.values()), "category": ["a", "a", "b"]})
    found = notebook.evaluate("minimal-pairs", frame, models=GPT, window=64, data_dir=cache)
    assert found.tables["corpus"]["category"].tolist() == ["", "a", "b"] and len(found.tables["documents"]) == 3
