"""Where a command writes is asked before anything is computed."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from engine.__main__ import main
from engine.commands.shared import output
from engine.messages.languages import in_language
from hakari.__main__ import main as hakari

MODEL = ["--model", "builtin/bert-mini-ja"]
COMMANDS = {
    "clusters": ["--data", "sample/labelled-sentences", *MODEL],
    "classification": ["--data", "sample/labelled-sentences", *MODEL],
    "fill-mask": ["--data", "sample/masked-sentences", *MODEL],
    "alignment": ["--data", "sample/sentence-pairs", *MODEL],
    "metric-study": ["--data", "sample/scored-pairs", *MODEL],
    "minimal-pairs": ["--data", "sample/minimal-pairs", *MODEL],
    "agreement": [],
    "compare": [],
    "card": MODEL,
    "model-map": [],
    "name-study": [],
    "pretrain": ["--corpus", "corpus.txt", "--architecture", "bert"],
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("below", ["", "tables"])
def test_a_file_in_place_of_the_folder_is_refused_at_once(
    command: str, below: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "old.csv").write_text("a", encoding="utf-8")
    out = tmp_path / "old.csv" / below
    with pytest.raises(SystemExit) as ended:
        main([command, *COMMANDS[command], "--out", str(out)])
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert f"argument --out: {tmp_path / 'old.csv'} is a file, where a folder is needed; name another one" in said
    assert (tmp_path / "old.csv").read_text(encoding="utf-8") == "a"


def test_the_site_too_needs_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "site").write_text("a", encoding="utf-8")
    with pytest.raises(SystemExit):
        hakari(["export", "--site", str(tmp_path / "site"), "run"])
    assert "is a file, where a folder is needed" in capsys.readouterr().err


def test_a_dictionary_needs_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with in_language("ja"), pytest.raises(SystemExit):
        main(["idf", *MODEL, "--corpus", "corpus.txt", "--out", str(tmp_path)])
    assert f"{tmp_path}はフォルダです。その中のファイル名を指定してください" in capsys.readouterr().err


def test_folders_that_stand_or_can_be_made_are_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in (tmp_path, tmp_path / "a" / "b"):
        assert output.folder(str(path)) == path and not (tmp_path / "a").exists()
    monkeypatch.chdir(tmp_path)
    assert output.folder("out") == Path("out") and output.file("idf.json") == Path("idf.json")


def test_a_folder_that_may_not_be_written_to_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def allowed(path: Path, mode: int) -> bool:  # as os.access, which lets root do everything
        return path.stat().st_mode & (stat.S_IWUSR | stat.S_IXUSR) == stat.S_IWUSR | stat.S_IXUSR

    monkeypatch.setattr(output.os, "access", allowed)
    (tmp_path / "locked").mkdir(mode=0o500)
    with pytest.raises(SystemExit):
        main(["name-study", "--out", str(tmp_path / "locked" / "tables")])
    assert f"nothing can be written into the folder {tmp_path / 'locked'}; name another one" in capsys.readouterr().err
