"""The notice of a model whose vocabulary is of another script than the texts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.evaluations.shared.other_language import other_language_notices
from engine.models.loading.model_description import describe
from engine.models.sources.facts import ModelFacts
from engine.models.sources.model_location import locate
from engine.models.tokenization.scripts import piece_scripts, text_scripts

ENGLISH, JAPANESE = ["She opened the window.", "It rained."], ["彼女は窓を開けた。", "雨がふった。"]


@pytest.fixture(scope="module")
def japanese() -> ModelFacts:
    return describe(locate("builtin/bert-mini-ja")).facts


def with_scripts(facts: ModelFacts, **shares: float) -> ModelFacts:
    return replace(facts, scripts=tuple(shares), script_shares=tuple(shares.values()))


def test_scripts_by_hand() -> None:
    # 8 letters: 3 + 1 + 1 Latin, 2 of kana and 1 of Chinese, which are one; digits and marks are none.
    assert text_scripts(["the 2 Ａb、", "かな犬!"]) == {"Latin": 0.625, "CJK": 0.375}
    assert text_scripts(["12 + 3", ""]) == {}
    # A single letter does not count but a single character does; of мир's letters most are Cyrillic.
    assert piece_scripts(["a", "ab", "##ing", "犬", "мирx", "。"]) == {"Latin": 0.5, "CJK": 0.25, "Cyrillic": 0.25}


def test_a_japanese_model_on_english_is_said_and_on_japanese_is_not(japanese: ModelFacts) -> None:
    (notice,) = other_language_notices([japanese], ENGLISH)
    assert str(notice) == (
        "builtin/bert-mini-ja is probably a model of another language: 100% of the letters of the texts are Latin "
        "letters, but of the pieces of its vocabulary 0% are, and 100% are Chinese or Japanese characters. Its numbers on "
        "these texts say little about the model."
    )
    assert other_language_notices([japanese], JAPANESE) == []
    assert other_language_notices([japanese], ["Tokyo タワーに登った", "123"]) == []  # 5 of 12 letters are Latin


def test_an_english_model_on_japanese_is_said_and_a_multilingual_one_is_not(japanese: ModelFacts) -> None:
    english = with_scripts(japanese, Latin=1.0)
    assert [str(notice)[:20] for notice in other_language_notices([english], JAPANESE)] == ["builtin/bert-mini-ja"]
    assert other_language_notices([english], ENGLISH) == []
    # The shares of multilingual BERT, and of a Japanese BERT of 32,000 pieces.
    multilingual = with_scripts(japanese, Latin=0.603, CJK=0.136, Cyrillic=0.124)
    assert other_language_notices([multilingual], [*JAPANESE, *JAPANESE]) == []
    assert len(other_language_notices([with_scripts(japanese, CJK=0.92, Latin=0.08)], ENGLISH)) == 1


def test_a_vocabulary_that_is_not_known_says_nothing(japanese: ModelFacts) -> None:
    assert other_language_notices([with_scripts(japanese)], ENGLISH) == []
