"""The words beside the numbers: every choice has its sentence, and each model the sentences that concern it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.datasets.formats.files import read_table
from engine.datasets.minimal_pairs.pairs import from_table
from engine.evaluations.minimal_pairs.evaluate import evaluate
from engine.evaluations.minimal_pairs.records import ONE_PREFIX, Result, Settings
from engine.evaluations.minimal_pairs.regions import of_reading_on
from engine.evaluations.minimal_pairs.running_text.tables import comparable_models
from engine.evaluations.minimal_pairs.scoring_rules import (
    ENCODER_RULES,
    PLL_RULES,
    SPACE_RULES,
    WORD_RULES,
    scoring_rule,
)
from engine.models.sources.facts import ModelFacts
from engine.models.tokenization.spans import WORDS as WORDS_OF_SPANS
from tests.support.session_fake import SessionFake, facts


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


class WithDecoders(SessionFake):
    """Every encoder has a decoder beside it."""

    def describe(self, model: str) -> ModelFacts:
        found = super().describe(model)
        return replace(found, n_seq2seq_parameters=2000) if found.kind == "encoder" else found


def of_decoders(content: str, name: str, reads: str) -> Result:
    """A masked model, a causal one and an encoder-decoder over the same data."""
    session = WithDecoders({"m": "masked", "c": "causal", "t5": "encoder"})
    dataset = from_table(read_table(content.encode(), name))
    return evaluate(Settings(("m", "c", "t5"), encoder_reads=reads), dataset, session)  # type: ignore[arg-type]


def said(result: Result) -> str:
    return "\n".join(map(str, result.notices))


@pytest.mark.parametrize(
    ("reads", "groups", "pseudo"),
    [
        ("nothing", [("m",), ("c", "t5")], "The numbers of m are pseudo-perplexities"),
        ("sentence", [("m",), ("c",), ("t5",)], "The numbers of m are pseudo-perplexities"),
        ("masked", [("m", "t5"), ("c",)], "The numbers of m, t5 are pseudo-perplexities"),
    ],
)
def test_models_that_see_other_sides_of_a_token_are_not_compared(
    reads: str, groups: list[tuple[str, ...]], pseudo: str
) -> None:
    result = of_decoders("text\n" + "\n".join(f"猫が魚を食べた。{i}" for i in range(6)), "texts.csv", reads)
    assert comparable_models(result) == groups
    assert pseudo in said(result) and ("t5: the encoder is given the text itself" in said(result)) == (
        reads == "sentence"
    )


@pytest.mark.parametrize(("reads", "named"), [("nothing", "m:"), ("sentence", "m, t5:"), ("masked", "m, t5:")])
def test_a_prefix_method_names_the_models_that_read_on(reads: str, named: str) -> None:
    pairs = (
        "acceptable,unacceptable,one_prefix_prefix,one_prefix_word_good,one_prefix_word_bad\n"
        "Ann sees herself here.,Ann sees himself here.,Ann sees,herself,himself\n"
    )
    (notice,) = of_reading_on(of_decoders(pairs, "pairs.csv", reads), ONE_PREFIX)
    assert str(notice).startswith(named)


@pytest.mark.parametrize(("reads", "named"), [("nothing", "m:"), ("sentence", "m:"), ("masked", "m, t5:")])
def test_reading_times_name_the_models_that_read_on(reads: str, named: str) -> None:
    words = "item,word,RT\n" + "\n".join(f"{i},{word},{300 + i}" for i in range(6) for word in ("The", "dog", "ran."))
    notices = said(of_decoders(words, "words.csv", reads)).splitlines()
    assert next(line for line in notices if "from both sides of it" in line).startswith(named)
    assert any("is given the text itself" in line for line in notices) == (reads == "sentence")
