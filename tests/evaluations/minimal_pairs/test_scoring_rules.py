"""The words beside the numbers: every choice has its sentence, and each model the sentences that concern it."""

from __future__ import annotations

from dataclasses import replace

from engine.evaluations.minimal_pairs.records import Settings
from engine.evaluations.minimal_pairs.scoring_rules import (
    ENCODER_RULES,
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
    settings = Settings(("c",), words="mecab", leading_space=True)
    causal = scoring_rule(facts("c", "causal"), settings, "auto")
    masked = scoring_rule(facts("m"), settings, "auto")
    assert SPACE_RULES[True] in causal and "MeCab" not in causal
    assert WORD_RULES["mecab"] in masked and "BOS" not in masked
    original = scoring_rule(facts("m"), replace(settings, pll="original"), "auto")
    assert "Words:" not in original


def test_a_decoder_that_reads_both_ways_says_where_it_predicts() -> None:
    declared = replace(facts("m"), masked_next_token=True)
    settings = Settings(("m",))
    assert "predicted at the token before it (MNTP)" in scoring_rule(declared, settings, "auto")
    assert "MNTP" not in scoring_rule(declared, replace(settings, predicted_at="mask"), "auto")
    assert "MNTP" not in scoring_rule(facts("m"), settings, "auto")
    assert "MNTP" in scoring_rule(facts("m"), replace(settings, predicted_at="before"), "auto")


def test_an_encoder_decoder_says_what_its_encoder_is_given() -> None:
    t5 = replace(facts("t5", "encoder"), n_seq2seq_parameters=2000)
    rule = scoring_rule(t5, Settings(("t5",)), "auto")
    assert rule.startswith("The decoder's log-likelihood") and ENCODER_RULES["nothing"] in rule
    given = Settings(("t5",), encoder_reads="text", encoder_text="<extra_id_0>")
    assert "is given the text '<extra_id_0>'" in scoring_rule(t5, given, "auto")
    masked = scoring_rule(t5, Settings(("t5",), encoder_reads="masked"), "auto")
    assert masked.startswith("The log-likelihood of each token") and ENCODER_RULES["masked"] in masked
