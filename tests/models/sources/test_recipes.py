from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.errors import ModelError
from engine.language import mecab
from engine.models.sources import recipes
from engine.models.sources.recipes import (
    EXAMPLE,
    Recipe,
    description,
    fingerprint_with_recipe,
    recipe_from,
    versioned_description,
)
from tests.support import mecab_directories

NICT = Recipe("mecab-jumandic", ("full-width",), "wordpiece")


def test_the_example_that_errors_show_is_read() -> None:
    assert recipe_from(json.loads(EXAMPLE), "here") == NICT


def test_fields_go_on_top_of_a_base_and_steps_have_one_order() -> None:
    assert recipe_from({"segmenter": "mecab:/x"}, "here", NICT) == Recipe("mecab:/x", ("full-width",), "wordpiece")
    assert recipe_from({"segmenter": None, "max_tokens": 64}, "here", NICT) == Recipe(
        None, ("full-width",), "wordpiece", 64
    )
    assert recipe_from({"normalize": ["lower", "nfkc"]}, "here").normalize == ("nfkc", "lower")


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"segmentor": "jumanpp"}, "segmentor is no field of a recipe"),
        ({"segmenter": "kuromoji"}, "segmenter is one of .* \\(got 'kuromoji'\\)"),
        ({"normalize": "nfkc"}, r"normalize is a list of nfkc, full-width, lower \(got 'nfkc'\)"),
        ({"normalize": ["NFKC"]}, r"normalize is a list of .* \(got \['NFKC'\]\)"),
        ({"vocabulary": "bpe"}, r"vocabulary is one of own, wordpiece, words, sentencepiece \(got 'bpe'\)"),
        ({"vocabulary": ["words"]}, "vocabulary is one of"),
        ({"max_tokens": "128"}, r"max_tokens is a whole number above 2 \(got '128'\)"),
        ({"max_tokens": True}, "max_tokens is a whole number"),
    ],
)
def test_wrong_fields_are_named(fields: dict, words: str) -> None:
    with pytest.raises(ModelError, match=f"here is no recipe: .*{words}.*It is read like this: "):
        recipe_from(fields, "here")


def test_all_wrong_fields_are_named_at_once() -> None:
    with pytest.raises(ModelError, match=r"colour is no field.*segmenter is one of.*vocabulary is one of"):
        recipe_from({"colour": 1, "segmenter": "x", "vocabulary": "x"}, "here")


def test_a_recipe_is_told_in_the_order_of_its_steps() -> None:
    recipe = Recipe("jumanpp", ("nfkc", "full-width", "lower"), "words", 128)
    assert description(recipe) == "nfkc, full-width, Juman++, lower case, whole words of vocab.txt, at most 128 tokens"
    assert description(Recipe()) == "the tokenizer published with it"
    assert versioned_description(NICT) == (
        "full-width, MeCab with jumandic, WordPiece of vocab.txt "
        f"(fugashi {recipes.segmenters.identity('mecab-jumandic').split()[1]} jumandic 1.0.0)"
    )


def test_whatever_changes_tokens_changes_the_fingerprint(tmp_path: Path) -> None:
    own = mecab_directories.whole(tmp_path / "own")
    changed = [
        NICT,
        Recipe("mecab-ipadic", ("full-width",), "wordpiece"),
        Recipe(None, ("full-width",), "wordpiece"),
        Recipe("mecab-jumandic", (), "wordpiece"),
        Recipe("mecab-jumandic", ("full-width",), "words"),
        Recipe("mecab-jumandic", ("full-width",), "wordpiece", 64),
        Recipe(f"mecab:{own}", ("full-width",), "wordpiece"),
    ]
    found = {fingerprint_with_recipe("files", recipe) for recipe in changed}
    assert len(found) == len(changed) and "files" not in found
    assert fingerprint_with_recipe("files", None) == "files" and fingerprint_with_recipe("other", NICT) not in found


def test_a_dictionary_under_the_same_path_with_other_content_is_another(tmp_path: Path) -> None:
    own = mecab_directories.whole(tmp_path / "own")
    recipe = Recipe(f"mecab:{own}", (), "wordpiece")
    before = fingerprint_with_recipe("files", recipe), recipes.state(recipe)
    (own / "dicrc").unlink()
    (own / "dicrc").write_bytes(mecab_directories.content("dicrc") + b"\n; changed\n")
    after = fingerprint_with_recipe("files", recipe), recipes.state(recipe)
    assert before[0] != after[0] and before[1] != after[1]


def test_neologd_that_moves_is_told_by_its_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = Recipe("mecab-neologd", (), "words")
    found = []
    for name in ("a", "b"):
        monkeypatch.setenv(mecab.NEOLOGD_VARIABLE, str(mecab_directories.whole(tmp_path / name)))
        found.append(fingerprint_with_recipe("files", recipe))
    assert found[0] == found[1]


def test_a_missing_segmenter_is_an_error_before_anything_is_keyed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(mecab.NEOLOGD_VARIABLE, raising=False)
    for ask in (recipes.identity, recipes.state, versioned_description):
        with pytest.raises(ModelError, match="NEologd comes in no package"):
            ask(Recipe("mecab-neologd"))
