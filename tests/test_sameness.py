from __future__ import annotations

import os
from pathlib import Path

import pytest

from engine.runs.sameness import run_key

SETTINGS = {"models": ["builtin/a", "owner/b"], "layer": None, "scoring": {"idf": "wiki"}}


def test_the_same_question_has_the_same_key_whatever_the_order_of_fields() -> None:
    assert run_key("clusters", SETTINGS, "h") == run_key("clusters", dict(reversed(SETTINGS.items())), "h")


@pytest.mark.parametrize(("kind", "settings", "dataset"), [
    ("bertscore", SETTINGS, "h"), ("clusters", SETTINGS, "g"), ("clusters", {**SETTINGS, "layer": 0}, "h"),
    ("clusters", {**SETTINGS, "models": ["owner/b", "builtin/a"]}, "h"),
])
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
    absent = run_key("bertscore", settings, "h")
    dictionary.write_text("{}")
    assert run_key("bertscore", settings, "h") != absent


@pytest.mark.parametrize("text", ["", " ", "/", "~", "~nobody-of-that-name", "x" * 5000, "a\0b"])
def test_no_text_is_too_odd(text: str) -> None:
    assert run_key("clusters", {"models": [text]}, "h") == run_key("clusters", {"models": [text]}, "h")
