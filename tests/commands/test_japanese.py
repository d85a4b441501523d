"""The command line in Japanese, where the environment says so: words for people, never what programs read."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from unicodedata import east_asian_width

import pytest

from engine.__main__ import COMMANDS, main
from engine.commands import clusters
from engine.commands.shared.help import wrapped
from engine.commands.shared.options import option_rows
from engine.messages.languages import language

JAPANESE = re.compile(r"[ぁ-んァ-ヶ一-龠]")
Environment = Callable[[str], None]


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> Environment:
    """Set the language of the terminal; its width is 80."""
    monkeypatch.setenv("COLUMNS", "80")
    return lambda name: monkeypatch.setenv("LC_ALL", name)


def n_columns(line: str) -> int:
    return sum(2 if east_asian_width(character) in "WF" else 1 for character in line)


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"LC_ALL": "ja_JP.UTF-8", "LANG": "C"}, "ja"),
        ({"LC_ALL": "C", "LANG": "ja_JP.UTF-8"}, "en"),
        ({"LC_ALL": "", "LC_MESSAGES": "ja", "LANG": "en_GB.UTF-8"}, "ja"),
        ({"LANG": "ja_JP.eucJP"}, "ja"),
        ({"LANG": "fr_FR.UTF-8"}, "en"),
        ({}, "en"),
    ],
)
def test_the_variables_count_in_the_order_of_posix(
    variables: dict[str, str], expected: str, environment: Environment, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert language() == expected


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_the_help_has_the_same_options_in_japanese(
    command: str, environment: Environment, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = {}
    for name in ("C", "ja_JP.UTF-8"):
        environment(name)
        with pytest.raises(SystemExit):
            main([*filter(None, [command]), "--help"])
        shown[name] = capsys.readouterr().out
    english, japanese = shown.values()
    assert japanese.startswith("使い方: python -m engine") and "\nオプション:\n" in japanese
    assert not JAPANESE.search(english.partition("options:")[0])
    flags = [re.findall(r"^  (-[^ ,]+(?:, --[\w-]+)?|--[\w-]+)", text, re.MULTILINE) for text in (english, japanese)]
    assert flags[0] == flags[1] and len(flags[0]) >= 1
    assert max(n_columns(line) for line in japanese.splitlines() if JAPANESE.search(line)) <= 80


def test_the_help_of_a_setting_has_its_choices_bounds_and_default(
    environment: Environment, capsys: pytest.CaptureFixture[str]
) -> None:
    environment("ja_JP.UTF-8")
    with pytest.raises(SystemExit):
        main(["clusters", "--help"])
    text = re.sub(r"\s+", "", capsys.readouterr().out)
    assert "ブートストラップのリサンプル数、およびラベルのシャッフル回数。（100～10,000;既定値:1000）" in text
    assert "マップの射影方法。umap:近傍の関係を示す。pca:線形で安定しており、設定が要らない。（既定値:umap）" in text


def test_a_wrong_usage_is_told_in_japanese(environment: Environment, capsys: pytest.CaptureFixture[str]) -> None:
    environment("ja_JP.UTF-8")
    for arguments, expected in (
        (["agreement"], "エラー: 次の引数が必要です: --out"),
        (["agreement", "--out", "x", "--strange"], "エラー: 認識できない引数です: --strange"),
        (["name-study", "--model"], "エラー: 引数 --model: 引数が1つ必要です"),
    ):
        with pytest.raises(SystemExit) as stopped:
            main(arguments)
        assert stopped.value.code == 2 and expected in capsys.readouterr().err


def test_an_error_is_told_in_japanese_with_its_values(
    environment: Environment, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    environment("ja_JP.UTF-8")
    arguments = ["agreement", "--clusters", str(tmp_path), "--fill-mask", str(tmp_path), "--out", str(tmp_path / "out")]
    assert main(arguments) == 2
    assert capsys.readouterr().err.startswith(
        f"エラー: {tmp_path}/settings.jsonを読み込めません: ファイルまたはディレクトリがありません。--clustersには"
    )


def test_tables_and_what_programs_read_stay_as_they_are(
    environment: Environment, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    written = {}
    for name in ("C", "ja_JP.UTF-8"):
        environment(name)
        assert main(["agreement", "--published", "--out", str(tmp_path / name)]) == 0
        written[name] = {path.name: path.read_bytes() for path in sorted((tmp_path / name).iterdir())}
    assert written["C"] == written["ja_JP.UTF-8"] and len(written["C"]) > 1


def test_the_tables_of_the_documents_are_english_everywhere(environment: Environment) -> None:
    environment("ja_JP.UTF-8")
    assert not any(
        JAPANESE.search(row.help.replace("検索クエリ", "") + row.default)
        for row in option_rows(clusters.add_arguments)
        if row.setting != "normalize"
    )


def test_a_process_reads_its_environment_and_babel_only_where_it_is_needed() -> None:
    program = (
        "import sys; from engine.__main__ import main\ntry: main(['--help'])\nfinally: print('babel' in sys.modules)"
    )
    for name, usage, needed in (("C.UTF-8", "usage: ", "False"), ("ja_JP.UTF-8", "使い方: ", "True")):
        shown = subprocess.run(
            [sys.executable, "-X", "utf8", "-c", program],
            env=os.environ | {"LC_ALL": name},
            capture_output=True,
            encoding="utf-8",
            check=True,
        ).stdout
        assert shown.startswith(usage) and shown.splitlines()[-1] == needed


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("短い", ["短い"]),
        ("", []),
        ("一二三四五六", ["一二三四", "五六"]),
        ("一二三四。五", ["一二三", "四。五"]),
        ("一二三（四）五", ["一二三", "（四）五"]),
        ("a word of its own 語", ["a word", "of its", "own 語"]),
        ("unbreakableword 語", ["unbreakableword", "語"]),
    ],
)
def test_japanese_is_wrapped_at_its_width_in_columns(text: str, expected: list[str]) -> None:
    assert wrapped(text, 8) == expected
