"""`python -m engine metric-study`: tables, columns, exit codes; and on JSTS, with the built-in model."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.__main__ import main
from engine.commands.shared import common
from engine.datasets.sample_data import path as sample_path
from engine.evaluations.metric_study.tables import FILES
from engine.runs.computing import Computing
from tests.support.fakes import FakeBackend
from tests.support.shared_data import shared_data

BERT = "builtin/bert-mini-ja"
pytestmark = pytest.mark.usefixtures("commands_share_workers")


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: Callable[..., Computing] = common.open_computing
    monkeypatch.setattr(
        common, "open_computing", lambda cache, **options: opened(cache, backend=FakeBackend(), **options)
    )


def table(path: Path) -> list[dict[str, str]]:
    raw = path.read_bytes()
    assert not raw.startswith(b"\xef\xbb\xbf")  # plain UTF-8
    return list(csv.DictReader(raw.decode("utf-8").splitlines()))


def run(folder: Path, data: Path, *options: str) -> int:
    return main(
        ["metric-study", "--data", str(data), "--out", str(folder / "out"), "--cache", str(folder / "cache"), *options]
    )


def test_tables_have_the_declared_columns_in_order(tmp_path: Path, fake: None) -> None:
    assert (
        run(tmp_path, sample_path("scored_pairs"), "--model", "a", "--model", "b", "--all-layers", "--threshold", "0.4")
        == 0
    )
    written = {
        path.stem: path.read_text(encoding="utf-8").splitlines()[0].split(",")
        for path in (tmp_path / "out").glob("*.csv")
    }
    # the annotators of the sample are columns of the input; the sample has no category and no further reference
    humans = ["human:annotator_a", "human:annotator_b", "human:annotator_c"]
    assert written == {declared.name: [*declared.headers, *(humans if declared.of_input else [])] for declared in FILES}
    grid = table(tmp_path / "out" / "settings.csv")
    # neither built-in dictionary fits the fake's tokenizer
    assert [(line["model"], line["idf"], line["penalty"]) for line in grid] == [
        (model, *cell)
        for model in "ab"
        for cell in (("none", "none"), ("references", "none"), ("references", "reading"))
    ]
    assert {line["n"] for line in grid} == {"60"}
    assert [line["model"] for line in table(tmp_path / "out" / "methods.csv")] == ["sentbleu", "chrf", "a", "b"]
    assert len(table(tmp_path / "out" / "layers.csv")) == 5 * 6
    assert [line["annotator"] for line in table(tmp_path / "out" / "annotators.csv")] == [
        "annotator_a",
        "annotator_b",
        "annotator_c",
    ]
    settings = json.loads((tmp_path / "out" / "settings.json").read_text(encoding="utf-8"))["settings"]
    assert settings["idfs"] == ["none", "references"] and settings["scoring"]["threshold"] == 0.4


def test_human_columns_are_named_and_the_grid_is_chosen(tmp_path: Path, fake: None) -> None:
    assert (
        run(
            tmp_path,
            sample_path("scored_pairs"),
            "--model",
            "a",
            "--column",
            "human=annotator_b",
            "--column",
            "human=annotator_c",
            "--idf",
            "references",
            "--penalty",
            "reading",
            "--score",
            "precision",
            "--no-surface",
            "--pooling",
            "none",
        )
        == 0
    )
    assert len(table(tmp_path / "out" / "settings.csv")) == 1 and table(tmp_path / "out" / "methods.csv") == []
    assert [line["annotator"] for line in table(tmp_path / "out" / "annotators.csv")] == ["annotator_b", "annotator_c"]


@pytest.mark.parametrize(
    ("content", "options", "said"),
    [
        ("reference,candidate\n雨,雪\n", [], "this dataset has none"),
        ("reference,candidate,human\n雨,雪,x\n山,川,1\n猫,犬,y\n", [], "row 3"),
        ("reference,candidate,human\n雨,雪,1\n", ["--column", "human=score"], "score"),
        ("reference,candidate,human\n雨,雪,1\n山,川,2\n", ["--idf", "novel"], "not counted with the tokenizer"),
        (
            "reference,candidate,human\n雨,雪,1\n山,川,2\n",
            ["--idf", "none", "--penalty", "reading"],
            "No setting is left",
        ),
    ],
)
def test_wrong_input_ends_with_2_and_says_why(
    tmp_path: Path, fake: None, capsys: pytest.CaptureFixture[str], content: str, options: list[str], said: str
) -> None:
    data = tmp_path / "data.csv"
    data.write_text(content, encoding="utf-8")
    assert run(tmp_path, data, "--model", "a", *options) == 2
    assert said in capsys.readouterr().err


def test_constant_scores_end_well_and_are_said(tmp_path: Path, fake: None, capsys: pytest.CaptureFixture[str]) -> None:
    data = tmp_path / "data.csv"
    data.write_text("reference,candidate,human\n雨だ,雪だ,3\n山へ,川へ,3\n猫が,犬が,3\n風,凪,3\n", encoding="utf-8")
    assert run(tmp_path, data, "--model", "a") == 0
    lines = table(tmp_path / "out" / "settings.csv")
    assert {line["pearson"] for line in lines} == {""} and "no annotator's scores vary" in lines[0]["reason"]
    assert "human gave 3 to every pair" in capsys.readouterr().err


def test_jsts_with_its_label_as_the_human_score(tmp_path: Path) -> None:
    lines = shared_data("jsts", "valid-v1.3.json").read_text(encoding="utf-8").splitlines(keepends=True)
    data = tmp_path / "jsts.jsonl"
    data.write_text("".join(lines[::8]), encoding="utf-8")
    assert run(tmp_path, data, "--model", BERT, "--column", "human=label") == 0
    grid = table(tmp_path / "out" / "settings.csv")
    cells = [(idf, penalty) for idf in ("references", "novel", "wiki") for penalty in ("none", "reading")]
    assert [(line["idf"], line["penalty"]) for line in grid] == [("none", "none"), *cells]
    # All 1,457 pairs gave 0.59 to 0.64; a built-in model that learnt something follows the humans on a part, too.
    assert all(float(line["ci_low"]) > 0.3 and line["n"] == "183" for line in grid)
    assert [line["scale"] for line in table(tmp_path / "out" / "annotators.csv")] == ["0-5"]


def test_m_eta_from_references_and_predictions_of_xc_translate(tmp_path: Path, fake: None) -> None:
    references, answers = tmp_path / "ja_JP.jsonl", tmp_path / "ja_JP.mine.json"
    targets = [{"translation": "星の道はいつ出ましたか。", "mention": "星の道"}]
    references.write_text(
        "".join(json.dumps({"id": f"Q1_{i}", "source": "?", "targets": targets}) + "\n" for i in range(3)),
        encoding="utf-8",
    )
    answers.write_text(
        "".join(
            json.dumps({"id": f"Q1_{i}", "prediction": text}) + "\n"
            for i, text in enumerate(("星の道は？", "道は？", "あの星の道？"))
        ),
        encoding="utf-8",
    )
    assert (
        run(tmp_path, references, "--predictions", str(answers), "--model", "a", "--idf", "none", "--pooling", "none")
        == 0
    )
    (line,) = table(tmp_path / "out" / "entity_accuracy.csv")
    assert (line["n"], line["n_right"], line["n_right_by_case"]) == ("3", "2", "2")
