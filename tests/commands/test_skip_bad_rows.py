"""`--skip-bad-rows`: what was left out is said on stderr and listed in excluded.csv; without it the file is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from engine.__main__ import main
from engine.commands.equivalent import COMMANDS
from engine.commands.shared import common
from engine.runs.computing import open_computing
from tests.support.fakes import FakeBackend

# Row 2 has nothing to evaluate, row 4 another number of fields.
DATA = {
    "clusters": "text,label\n雨が降る,天気\n,天気\n雪が積もる,天気\nx\n試合に負けた,試合\n試合に勝った,試合\n",
    "fill-mask": "text,label,domain\n雨が降る,雨,天気\n雪,雨,天気\n犬と猫,猫,動物\nx\n本を読む,本,本\n",
    "alignment": "reference,candidate,human\n雨が降る,雨だ,1\n,雪,2\n犬と猫,犬だ,2\nx\n本を読む,本だ,5\n"
    "青い空,空だ,3\n",
    "minimal-pairs": "good,bad\n猫が魚を,猫が魚に\n,犬が\n雨が降る,雨を降る\nx\n本を読む,本が読む\n",
}
DATA |= {"classification": DATA["clusters"], "metric-study": DATA["alignment"]}
FURTHER = {
    "classification": ["--test-share", "0.5", "--epochs", "1", "--seeds", "1"],
    "metric-study": ["--idf", "none"],
}


@pytest.fixture(autouse=True)
def no_models(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        common, "open_computing", lambda cache, **options: open_computing(cache, backend=FakeBackend(), **options)
    )


def run(kind: str, folder: Path, *options: str, content: str = "") -> int:
    (folder / "mine.csv").write_text(content or DATA[kind], encoding="utf-8")
    return main(
        [
            kind,
            "--data",
            str(folder / "mine.csv"),
            "--model",
            "somebody/bert",
            "--model",
            "other/bert",
            "--out",
            str(folder / "out"),
            "--cache",
            str(folder / "cache"),
            *FURTHER.get(kind, ()),
            *options,
        ]
    )


@pytest.mark.parametrize("kind", COMMANDS)
def test_the_rows_are_named_and_listed(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(kind, tmp_path, "--skip-bad-rows") == 0
    assert capsys.readouterr().err.count("note: 2 rows left out: ") == 1
    excluded = pd.read_csv(tmp_path / "out" / "excluded.csv", keep_default_na=False)
    assert excluded["row"].tolist() == [2, 4] and excluded["model"].tolist() == ["", ""]
    assert all(excluded["reason"]) and excluded["reason"][1] == "line 5 has 1 field instead of " + str(
        DATA[kind].splitlines()[0].count(",") + 1
    )
    assert json.loads((tmp_path / "out" / "settings.json").read_text())["rows_left_out"] == 2


@pytest.mark.parametrize("kind", COMMANDS)
def test_without_it_the_file_is_refused(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(kind, tmp_path) == 2
    errors = capsys.readouterr().err
    assert "row 4: line 5 has 1 field" in errors and errors.rstrip().endswith("--skip-bad-rows leaves them out.")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("kind", COMMANDS)
def test_where_nothing_is_left_out_it_changes_nothing(kind: str, tmp_path: Path) -> None:
    lines = DATA[kind].splitlines()
    good = "\n".join(line for number, line in enumerate(lines) if number not in (2, 4))
    settings = []
    for options in ((), ("--skip-bad-rows",)):
        assert run(kind, tmp_path, *options, content=good) == 0
        settings.append((tmp_path / "out" / "settings.json").read_text())
    assert settings[0] == settings[1] and "rows_left_out" not in json.loads(settings[0])


def test_sentences_that_words_are_chosen_from(tmp_path: Path) -> None:
    content = "text,domain\n面白い本を読んだ,本\n,本\n新しい本を買った,本\n"
    assert run("fill-mask", tmp_path, "--domain-column", "domain", "--skip-bad-rows", content=content) == 0
    assert pd.read_csv(tmp_path / "out" / "excluded.csv")["row"].tolist() == [2]


def test_a_file_of_blank_rows_is_listed_in_full_and_said_in_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [f"文{number},{number // 500 % 2}" if number % 500 == 1 else f",{number}" for number in range(1, 10_001)]
    content = "\n".join(["text,label", *rows, "終わり,1"])
    assert run("clusters", tmp_path, "--skip-bad-rows", content=content) == 0
    note = next(line for line in capsys.readouterr().err.splitlines() if "left out" in line)
    assert note.startswith("note: 9,980 rows left out: ") and len(note) < 300
    excluded = pd.read_csv(tmp_path / "out" / "excluded.csv")
    assert excluded["row"].tolist() == [number for number in range(1, 10_001) if number % 500 != 1]


def test_an_encoding_is_named_and_one_that_is_not_certain_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pairs = "good,bad\n貓,我\n"
    file = tmp_path / "mine.csv"
    file.write_bytes(pairs.encode("big5"))
    command = ["minimal-pairs", "--data", str(file), "--model", "somebody/gpt2", "--cache", str(tmp_path / "cache")]
    assert main([*command, "--out", str(tmp_path / "guessed")]) == 0
    assert "note: The encoding of mine.csv is not certain: it was read as CP932" in capsys.readouterr().err
    assert main([*command, "--encoding", "big5hkscs", "--out", str(tmp_path / "named")]) == 0
    assert "not certain" not in capsys.readouterr().err
    assert main([*command, "--encoding", "utf-8", "--out", str(tmp_path / "wrong")]) == 2
    assert "mine.csv is not UTF-8 throughout" in capsys.readouterr().err
