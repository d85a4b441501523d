from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.errors import ModelError
from engine.models.sources.paper_cards import PAPER_CARDS
from engine.models.sources.recipe_files import RECIPE_FILE, recipe_for
from engine.models.sources.recipes import Recipe

MECAB = PAPER_CARDS["paper/mecab"].recipe


def write(folder: Path, written: object) -> Path:
    (folder / RECIPE_FILE).write_text(written if isinstance(written, str) else json.dumps(written), encoding="utf-8")
    return folder


def test_without_card_and_file_there_is_no_recipe(tmp_path: Path) -> None:
    assert recipe_for(tmp_path, None, is_local=True) is None
    assert recipe_for(tmp_path, "paper/bert-base-cased", is_local=False) is None


def test_a_card_brings_its_own(tmp_path: Path) -> None:
    assert recipe_for(tmp_path, "paper/mecab", is_local=True) == MECAB == Recipe("mecab-neologd", (), "words")


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ({"card": "paper/mecab"}, MECAB),
        ({"card": "paper/mecab", "segmenter": "mecab:/opt/neologd"}, Recipe("mecab:/opt/neologd", (), "words")),
        ({"segmenter": "jumanpp", "vocabulary": "wordpiece"}, Recipe("jumanpp", (), "wordpiece")),
        ({"normalize": ["lower"]}, Recipe(None, ("lower",), "own")),
        ({"card": "paper/gpt2-medium"}, None),
    ],
)
def test_a_file_beside_the_weights_is_read(tmp_path: Path, written: object, expected: Recipe | None) -> None:
    assert recipe_for(write(tmp_path, written), None, is_local=True) == expected


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("{", "cannot be read as JSON"),
        ("[]", "holds no JSON object but a list"),
        ({}, "says nothing"),
        ({"card": "kyoto"}, r"names the card 'kyoto', which does not exist\. There are paper/kyoto-univ, "),
        ({"card": "paper/mecab", "segmenter": "x"}, "is no recipe: segmenter is one of "),
    ],
)
def test_a_file_that_is_none_says_how_it_would_be_one(tmp_path: Path, written: object, words: str) -> None:
    with pytest.raises(ModelError, match=f"{RECIPE_FILE} {words}"):
        recipe_for(write(tmp_path, written), None, is_local=True)


def test_a_card_and_a_file_must_agree(tmp_path: Path) -> None:
    write(tmp_path, {"card": "paper/mecab"})
    assert recipe_for(tmp_path, "paper/mecab", is_local=True) == MECAB
    with pytest.raises(ModelError, match=r"paper/nict names one recipe, and .*hakari\.json another"):
        recipe_for(tmp_path, "paper/nict", is_local=True)


def test_what_came_from_the_hub_names_no_directory_of_ours(tmp_path: Path) -> None:
    write(tmp_path, {"segmenter": "mecab:/home/somebody/dictionary"})
    assert recipe_for(tmp_path, None, is_local=True) is not None
    with pytest.raises(ModelError, match=r"came from the hub and names a directory of this machine"):
        recipe_for(tmp_path, None, is_local=False)
    write(tmp_path, {"segmenter": "mecab-jumandic"})
    assert recipe_for(tmp_path, None, is_local=False) == Recipe("mecab-jumandic")
