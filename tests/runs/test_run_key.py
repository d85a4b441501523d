from __future__ import annotations

import os
from pathlib import Path

import pytest

from engine.runs.run_key import run_key
from tests.support import mecab_directories

SETTINGS = {"models": ["builtin/a", "owner/b"], "layer": None, "scoring": {"idf": "wiki"}}


def test_the_same_question_has_the_same_key_whatever_the_order_of_fields() -> None:
    assert run_key("clusters", SETTINGS, "h") == run_key("clusters", dict(reversed(SETTINGS.items())), "h")


@pytest.mark.parametrize(
    ("kind", "settings", "dataset"),
    [
        ("alignment", SETTINGS, "h"),
        ("clusters", SETTINGS, "g"),
        ("clusters", {**SETTINGS, "layer": 0}, "h"),
        ("clusters", {**SETTINGS, "models": ["owner/b", "builtin/a"]}, "h"),
    ],
)
def test_everything_counts(kind: str, settings: dict[str, object], dataset: str) -> None:
    assert run_key("clusters", SETTINGS, "h") != run_key(kind, settings, dataset)


def test_a_local_model_counts_by_its_files(tmp_path: Path) -> None:
    weights = tmp_path / "model.safetensors"
    weights.write_bytes(b"one")
    settings = {"models": [str(tmp_path)]}
    before = run_key("clusters", settings, "h")
    assert run_key("clusters", settings, "h") == before
    weights.write_bytes(b"two")
    os.utime(weights, ns=(1, 1))  # trained again: as long as before, at another time
    assert run_key("clusters", settings, "h") != before


def test_a_local_dictionary_counts_by_its_file(tmp_path: Path) -> None:
    dictionary = tmp_path / "idf.json"
    settings = {"scoring": {"idf": str(dictionary)}}
    absent = run_key("alignment", settings, "h")
    dictionary.write_text("{}")
    assert run_key("alignment", settings, "h") != absent


def test_a_model_behind_a_card_counts_by_its_files_and_its_dictionary(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = tmp_path / "model"
    model.mkdir()
    (model / "vocab.txt").write_text("one")
    dictionary = mecab_directories.whole(tmp_path / "neologd")
    monkeypatch.setenv("HAKARI_NEOLOGD_DIR", str(dictionary))
    settings = {"models": [f"paper/mecab={model}"]}
    keys = [run_key("clusters", settings, "h"), run_key("clusters", {"models": [f"paper/nict={model}"]}, "h")]
    (model / "vocab.txt").write_text("two or three")
    keys.append(run_key("clusters", settings, "h"))
    assert run_key("clusters", settings, "h") == keys[-1]
    (dictionary / "dicrc").unlink()
    (dictionary / "dicrc").write_bytes(mecab_directories.content("dicrc") + b"\n; changed\n")
    keys.append(run_key("clusters", settings, "h"))
    monkeypatch.delenv("HAKARI_NEOLOGD_DIR")
    keys.append(run_key("clusters", settings, "h"))
    (model / "hakari.json").write_text('{"card": "paper/nict"}')
    keys += [run_key("clusters", settings, "h"), run_key("clusters", {"models": [str(model)]}, "h")]
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "/",
        "~",
        "~nobody-of-that-name",
        "x" * 5000,
        "a\0b",
        "=",
        "paper/nict=~nobody-of-that-name",
        "paper/nict=" + "x" * 5000,
        "paper/nict=a\0b",
    ],
)
def test_no_text_is_too_odd(text: str) -> None:
    assert run_key("clusters", {"models": [text]}, "h") == run_key("clusters", {"models": [text]}, "h")


def test_another_device_has_another_key(monkeypatch: pytest.MonkeyPatch) -> None:
    # What "auto" stands for depends on it.
    keys = [run_key("clusters", SETTINGS, "h")]
    for variable, value in (("HAKARI_DEVICE", "cuda:1"), ("HAKARI_DEVICES", "cuda:0,cuda:1")):
        monkeypatch.setenv(variable, value)
        keys.append(run_key("clusters", SETTINGS, "h"))
    assert len(set(keys)) == 3


def test_a_label_is_part_of_the_key_and_the_model_behind_it_counts_by_its_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = tmp_path / "model"
    model.mkdir()
    (model / "vocab.txt").write_text("one")
    monkeypatch.setenv("HAKARI_NEOLOGD_DIR", str(mecab_directories.whole(tmp_path / "neologd")))
    monkeypatch.setenv("HAKARI_ENDPOINTS", "llama=https://gpu1:8000/v1 model=one")
    names = [f"Ours={model}", f"Ours=paper/mecab={model}", "Ours=endpoint/llama"]
    before = [run_key("clusters", {"models": [name]}, "h") for name in names]
    assert run_key("clusters", {"models": [f"Theirs={model}"]}, "h") not in before
    assert run_key("clusters", {"models": [str(model)]}, "h") not in before
    (model / "vocab.txt").write_text("two or three")
    monkeypatch.setenv("HAKARI_ENDPOINTS", "llama=https://gpu1:8000/v1 model=two")
    after = [run_key("clusters", {"models": [name]}, "h") for name in names]
    assert not set(before) & set(after)
    monkeypatch.delenv("HAKARI_NEOLOGD_DIR")  # the dictionary of the card's segmenter
    assert [run_key("clusters", {"models": [name]}, "h") == key for name, key in zip(names, after, strict=True)] == [
        True,
        False,
        True,
    ]
