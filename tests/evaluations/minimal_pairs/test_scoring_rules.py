"""The words beside the numbers: every choice has its sentence, and each model the sentences that concern it."""

from __future__ import annotations

from engine.evaluations.minimal_pairs.scoring_rules import (
    PLL_RULES,
    SPACE_RULES,
    WORD_RULES,
    scoring_rule,
)
from engine.models.tokenization.spans import WORDS as WORDS_OF_SPANS
from tests.support.session_fake import facts


def test_every_choice_is_explained() -> None:
    assert set(PLL_RULES) == {"word-l2r", "original"} and set(WORD_RULES) == set(WORDS_OF_SPANS)
    assert "crosses a boundary joins the words" in WORD_RULES["mecab"]


def test_each_kind_of_model_has_its_own_rule() -> None:
    settings = {"pll": "word-l2r", "words": "mecab", "prefix": "auto", "leading_space": True}
    causal = scoring_rule(facts("c", "causal"), **settings)  # type: ignore[arg-type]
    masked = scoring_rule(facts("m"), **settings)  # type: ignore[arg-type]
    assert SPACE_RULES[True] in causal and "MeCab" not in causal
    assert WORD_RULES["mecab"] in masked and "BOS" not in masked
    original = scoring_rule(facts("m"), **{**settings, "pll": "original"})  # type: ignore[arg-type]
    assert "Words:" not in original
