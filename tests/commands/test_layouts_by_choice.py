"""`--column`, `--header` and `--quoting`: files whose columns are not recognised, or that name none."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from engine.__main__ import main
from engine.commands.shared import common
from engine.runs.computing import open_computing
from tests.support.fakes import FakeBackend


@pytest.fixture(autouse=True)
def no_models(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        common, "open_computing", lambda cache, **options: open_computing(cache, backend=FakeBackend(), **options)
    )


def run(kind: str, folder: Path, name: str, content: str, *options: str) -> int:
    (folder / name).write_text(content, encoding="utf-8")
    given = ["--data", str(folder / name), "--model", "somebody/bert", "--out", str(folder / "out")]
    return main([kind, *given, "--cache", str(folder / "cache"), *options])


def test_judged_sentences_of_a_file_without_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content = 'rhr1\t1\t"部屋"が広い。\nrhr2\t0\t部屋を広い。\n'
    columns = ["--column", "sentence=column 3", "--column", "label=column 2"]
    assert run("minimal-pairs", tmp_path, "own.tsv", content, "--header", "data", *columns) == 0
    assert "note: Columns as chosen: --column 'sentence=column 3'" in capsys.readouterr().err
    judgements = pd.read_csv(tmp_path / "out" / "judgements.csv")
    assert set(judgements["n"]) == {2} and set(judgements["n_acceptable"]) == {1}


def test_the_side_that_is_acceptable_is_in_a_column(tmp_path: Path) -> None:
    content = "sentence_a,sentence_b,right\n猫がいる,猫をいる,0\n雨をだ,雨だ,1\n"
    columns = ["--column", "answer=right", "--column", "first=sentence_a"]
    assert run("minimal-pairs", tmp_path, "own.csv", content, *columns) == 0
    assert len(pd.read_csv(tmp_path / "out" / "pairs.csv")) == 2


def test_a_refusal_says_what_is_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("minimal-pairs", tmp_path, "own.csv", "x,y\na b,1\nb a,0\n") == 2
    said = capsys.readouterr().err
    assert "judged sentences ('sentence', 'label')" in said and "--header data" in said


def test_sentence_pairs_by_position(tmp_path: Path) -> None:
    content = '4.5,"A" cat,The cat\n1,A dog,The house\n2,Rain,Snow\n'
    options = ["--header", "data", "--quoting", "none", "--column", "reference=column 2"]
    options += ["--column", "candidate=column 3", "--column", "human=column 1"]
    assert run("alignment", tmp_path, "sts.csv", content, *options) == 0
    pairs = pd.read_csv(tmp_path / "out" / "pairs.csv")
    assert pairs["row"].tolist() == [1, 2, 3]
