"""Juman++ through rhoknp, with a program in its place that answers as it does."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engine.errors import ModelError, RunError
from engine.language import jumanpp
from tests.support import fake_jumanpp


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PATH", fake_jumanpp.install(tmp_path / "bin") + os.pathsep + os.environ["PATH"])
    return tmp_path / "bin" / "jumanpp"


def test_words_come_from_the_program(installed: Path) -> None:
    text = "昨日、図書館でラーメンを食べました。"
    assert jumanpp.surfaces(text) == fake_jumanpp.words(text)
    assert jumanpp.surfaces("東京 タワー <b>") == ["東京", "タワー", "<", "b", ">"]
    assert jumanpp.surfaces("") == []


def test_signs_that_mean_something_to_the_programs_are_text(installed: Path) -> None:
    for text in ("# 見出し", "#猫 # S-ID:1", "EOS", "@ 猫", '\\t " * NIL', "EOS 猫 EOS"):
        assert "".join(jumanpp.surfaces(text)) == "".join(text.split()).replace('"', "”"), text


def test_a_long_text_goes_in_pieces_that_the_program_takes(installed: Path) -> None:
    text = "斉藤はとても面白かった。" * 300  # 10,800 bytes; the program takes 4,096
    assert jumanpp.surfaces(text) == fake_jumanpp.words(text)
    assert jumanpp.surfaces("𠮷" * 2500) == ["𠮷"] * 2500  # four bytes each


def test_the_identity_names_its_version_and_dictionary(installed: Path) -> None:
    assert jumanpp.identity() == f"rhoknp 1.8.2, {fake_jumanpp.VERSION}"
    before = jumanpp.state()
    installed.write_text(installed.read_text(encoding="utf-8").replace("2.0.0-rc4", "2.0.0-rc5"), encoding="utf-8")
    assert jumanpp.state() != before and "rc5" in jumanpp.identity()


def test_without_the_program_it_is_said_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    for ask in (lambda: jumanpp.surfaces("猫"), jumanpp.identity, jumanpp.state):
        with pytest.raises(ModelError, match=r"Juman\+\+ is not installed\. Build it from github.com/ku-nlp/jumanpp"):
            ask()


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("#!/bin/sh\nexit 3\n", ModelError),  # it does not start
        ("#!/bin/sh\nwhile read line; do echo '犬 いぬ 犬 名詞 6 普通名詞 1 * 0 * 0 NIL'; echo EOS; done\n", RunError),
    ],
)
def test_a_program_that_fails_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str, expected: type[Exception]
) -> None:
    (tmp_path / "jumanpp").write_text(program)
    (tmp_path / "jumanpp").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path) + os.pathsep + os.environ["PATH"])
    with pytest.raises(expected, match=r"does not start|other characters|stopped while it read"):
        jumanpp.surfaces("猫が眠る")
