"""The minimal-pairs evaluation, on token log-likelihoods that are noise from each text."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

from engine.datasets.minimal_pairs.pairs import MinimalPairs
from engine.errors import InputError, ModelError
from engine.evaluations.minimal_pairs.evaluate import evaluate
from engine.evaluations.minimal_pairs.records import Result, Settings
from engine.evaluations.minimal_pairs.views import decided, scores, summary
from engine.models.sources.facts import ModelFacts
from engine.runs.storage.packing import pack, unpack
from tests.support.session_fake import TOO_LONG, SessionFake, likelihoods

SUBJECTS = ["猫", "犬", "となりの子", "先生", "わたしの姉"]
ACCEPTABLE = tuple(f"{s}が{o}を食べた。" for s in SUBJECTS for o in ("魚", "りんご", "あたたかいパン"))
UNACCEPTABLE = tuple(
    text.replace("を食べた", ("が食べた", "をたべるた", "を食た")[i % 3]) for i, text in enumerate(ACCEPTABLE)
)
PAIRS = MinimalPairs(
    "made up",
    ACCEPTABLE,
    UNACCEPTABLE,
    tuple(["case", "tense", "tense"] * 5),
    tuple(range(1, 16)),
    {"object": tuple(["fish", "apple", "bread"] * 5)},
)


def run(pairs: MinimalPairs = PAIRS, session: SessionFake | None = None, **settings: Any) -> Result:
    given = {"models": ("m", "c"), **settings}
    return evaluate(Settings(**given), pairs, session or SessionFake({"c": "causal", "e": "encoder"}))  # type: ignore[arg-type]


def pairs_of(*sentences: tuple[str, str]) -> MinimalPairs:
    good, bad = zip(*sentences, strict=True)
    return MinimalPairs("made up", good, bad, ("",) * len(good), tuple(range(1, len(good) + 1)))


def test_sums_and_token_counts_are_those_of_each_sentence() -> None:
    pairs = run().pairs
    for _, row in pairs.iterrows():
        expected = float(np.sum(likelihoods(row["model"], row["acceptable"]), dtype=np.float64))
        assert row["acceptable_log_likelihood"] == expected
        assert row["unacceptable_tokens"] == len(row["unacceptable"])
    assert len(pairs) == 30
    assert (pairs["scored_in"] == "fp32").all() and (pairs["error_bound"] == 0).all()


def test_tokens_of_a_sentence_add_up_to_its_sum() -> None:
    result = run()
    sums = result.tokens.groupby(["model", "row", "side"])["log_likelihood"].sum()
    for _, row in result.pairs.iterrows():
        # a sum of float32 by pandas against one in float64
        assert sums[row["model"], row["row"], "acceptable"] == pytest.approx(row["acceptable_log_likelihood"], rel=1e-5)
    one = result.tokens.query("model == 'm' and row == 2 and side == 'unacceptable'")
    assert "".join(one["token"]) == UNACCEPTABLE[1] and one["position"].tolist() == list(range(len(UNACCEPTABLE[1])))


def test_causal_models_are_scored_causally_and_masked_ones_by_pll() -> None:
    result = run(pll="original")
    assert result.signature["scoring"] == {"m": "pll-original", "c": "causal"}
    assert "pseudo-log-likelihood (original)" in result.rules["m"] and "from left to right" in result.rules["c"]
    assert "MeCab" in run().rules["m"] and "crosses a boundary" in run(words="mecab").rules["m"]


def test_a_model_that_cannot_score_is_refused_before_any_is_asked() -> None:
    session = SessionFake({"e": "encoder"})
    with pytest.raises(ModelError, match="no language-model head"):
        run(session=session, models=("m", "e"))
    assert session.calls == []

    class WithoutMask(SessionFake):
        def describe(self, model: str) -> ModelFacts:
            return dataclasses.replace(super().describe(model), has_mask=False)

    with pytest.raises(ModelError, match=r"The tokenizer of m \(Fake\) has no mask token"):
        run(session=WithoutMask(), models=("m",))


def test_accuracy_by_hand() -> None:
    result = run(models=("m",))
    table = summary(result, ["LP"]).set_index("stratum")
    right, longer = 0, {"A=U": 0, "A>U": 0, "A<U": 0}
    for good, bad in zip(ACCEPTABLE, UNACCEPTABLE, strict=True):
        right += likelihoods("m", good).sum() > likelihoods("m", bad).sum()
        longer["A=U" if len(good) == len(bad) else "A>U" if len(good) > len(bad) else "A<U"] += 1
    assert table.loc["all", "n_correct"] == right and table.loc["all", "n"] == 15
    assert {stratum: table.loc[stratum, "n"] for stratum in longer} == longer


def test_in_pairs_of_equal_length_every_length_normalisation_decides_alike() -> None:
    pairs = run().pairs
    equal = pairs[pairs["acceptable_tokens"] == pairs["unacceptable_tokens"]]
    assert len(equal) >= 5
    lp = decided(equal, "LP")
    assert (decided(equal, "MeanLP") == lp).all() and (decided(equal, "PenLP", 0.4) == lp).all()


def test_alpha_0_is_lp_and_per_character_divides_by_characters() -> None:
    pairs = run().pairs
    np.testing.assert_allclose(scores(pairs, "PenLP", 0.0)[0], pairs["acceptable_log_likelihood"])
    np.testing.assert_allclose(
        scores(pairs, "per character")[1], pairs["unacceptable_log_likelihood"] / pairs["unacceptable"].str.len()
    )


def test_slor_takes_its_unigrams_from_these_sentences() -> None:
    # Both sentences of every pair are the corpus; a token is a character: log((count + 1) / (tokens + types + 1)).
    result = run(models=("m",))
    corpus = "".join(ACCEPTABLE + UNACCEPTABLE)
    n = len(corpus) + len(set(corpus)) + 1
    expected = [sum(np.log((corpus.count(c) + 1) / n) for c in text) for text in ACCEPTABLE]
    np.testing.assert_allclose(result.pairs["acceptable_unigrams"], expected, rtol=1e-12)
    slor = scores(result.pairs, "SLOR")[0]
    np.testing.assert_allclose(
        slor, (result.pairs["acceptable_log_likelihood"] - expected) / result.pairs["acceptable_tokens"]
    )
    assert result.unigrams == "these sentences"
    with pytest.raises(InputError, match="SLOR needs the unigram log-probability"):
        scores(result.pairs.drop(columns="acceptable_unigrams"), "SLOR")


def test_sentences_that_become_the_same_ids_are_ties_and_said() -> None:
    result = run(pairs_of(("Cat", "cat"), ("猫がいる", "猫はいる")), models=("m",))  # the fake lower-cases ids
    assert result.pairs["identical"].tolist() == [True, False]
    assert summary(result, ["LP"]).iloc[0]["n_tied"] == 1
    assert any("counted as ties" in notice for notice in result.notices)


def test_too_long_pairs_are_left_out_on_both_sides_and_listed() -> None:
    long = "あ" * (TOO_LONG + 1)
    pairs = MinimalPairs("long", (long, "猫がいる"), ("猫がいる", "猫はいる"), ("", ""), (7, 9))
    result = run(pairs, models=("m",))
    assert result.excluded[["row", "reason"]].to_numpy().tolist() == [[7, "acceptable sentence: too long"]]
    assert result.pairs["row"].tolist() == [9] and set(result.tokens["row"]) == {9}
    assert result.items["row"].tolist() == [7, 9] and result.pairs["item"].tolist() == [1]
    assert "m: 1 of 2 pairs could not be scored and were left out, both sentences of each." in result.notices
    with pytest.raises(InputError, match=r"none of the 1 pair\. The first, row 7"):
        run(MinimalPairs("long", (long,), ("猫",), ("",), (7,)), models=("m",))


def test_unknown_characters_are_counted_and_said() -> None:
    result = run(pairs_of(("猫\ufffdと\ufffd", "猫\ufffd"), ("犬", "犬が")), models=("m",))
    assert result.pairs["acceptable_unknown"].tolist() == [2, 0]
    assert result.pairs["unacceptable_unknown"].tolist() == [1, 0]
    (notice,) = (notice for notice in result.notices if "does not know" in notice)
    assert notice.startswith("m: in 1 pair a sentence holds characters") and "(3 unknown tokens in all)" in notice


class Liking(SessionFake):
    """A model that finds every sentence without 食 impossible, or the other way about."""

    def token_log_likelihoods(self, model: str, texts: Any, **settings: Any) -> list[dict[str, Any]]:
        pieces = super().token_log_likelihoods(model, texts, **settings)
        return [
            {**piece, "log_likelihoods": np.full(len(text), -1.0 if "食" in text else -9.0, np.float32)}
            for piece, text in zip(pieces, texts, strict=True)
        ]


def test_swapped_columns_are_suspected() -> None:
    right = [(f"猫{i}食", f"猫{i}飲") for i in range(20)]
    suspected = [
        any(
            "columns of acceptable and unacceptable sentences swapped?" in notice
            for notice in run(pairs_of(*pairs), session=Liking(), models=("m",)).notices
        )
        for pairs in (
            right,
            [pair[::-1] for pair in right],
            right[:10] + [pair[::-1] for pair in right[10:]],
            [pair[::-1] for pair in right[:3]],
            [(first, first) for first, _ in right],
            right[:3] + [(first, first) for first, _ in right],
        )
    ]  # three pairs prove nothing, and ties stay ties when columns are swapped
    assert suspected == [False, True, False, False, False, False]
    # CrowS-Pairs has no better sentence
    crows = dataclasses.replace(pairs_of(*[pair[::-1] for pair in right]), formats=("CrowS-Pairs",) * 20)
    assert not any("swapped" in notice for notice in run(crows, session=Liking(), models=("m",)).notices)


# Rows 2 and 3 begin with different characters, which are the fake's tokens.
BEGINNINGS = pairs_of(("猫がいる", "猫はいる"), ("犬がいる", "猫がいる"), ("鳥だ", "魚だ"))


def first_token_notice(result: Result) -> str:
    (notice,) = (notice for notice in result.notices if "first token" in notice)
    return notice


def test_what_a_causal_model_reads_first_stands_in_the_result() -> None:
    result = run(BEGINNINGS)
    assert result.prefixes == result.signature["prefixes"] == {"c": "<s>"}
    assert first_token_notice(result) == (
        "c: Each sentence is read after <s> (BOS), so its first token is scored. 2 of 3 pairs differ in it."
    )
    for model in ("m", "c"):
        assert result.pairs.query(f"model == '{model}'")["first_token_differs"].tolist() == [False, True, True]


def test_pairs_whose_difference_is_not_measured_are_listed() -> None:
    result = run(BEGINNINGS, prefix="none")
    assert result.prefixes == result.signature["prefixes"] == {"c": ""}
    assert first_token_notice(result) == (
        "c: The first token is not scored, for nothing is to stand before it: pairs that differ in the first token "
        "lose that difference. 2 rows differ in it: 2, 3."
    )
    assert result.pairs.query("model == 'c'")["first_token_differs"].tolist() == [False, True, True]


@pytest.mark.parametrize(
    ("changed", "settings", "prefix", "words"),
    [
        ({"bos_token": "", "has_bos": False, "eos_token": "</s>", "has_eos": True}, {}, "</s>", "after </s> (EOS)"),
        (
            {"bos_token": "", "has_bos": False, "opening": ("[gMASK]", "<sop>")},
            {},
            "[gMASK] <sop>",
            "after [gMASK] <sop> (the tokenizer's own beginning)",
        ),
        ({"eos_token": "</s>", "has_eos": True}, {"prefix": "eos"}, "</s>", "after </s> (EOS)"),
        ({"has_bos": False}, {}, "", "for the model has no embedding for <s> (BOS)"),
        ({"bos_token": "", "has_bos": False}, {"prefix": "bos"}, "", "for the tokenizer has no BOS token"),
        ({}, {"prefix": "template"}, "", "for the tokenizer itself puts nothing before a text"),
    ],
)
def test_each_prefix_is_named_with_its_role_or_the_reason_why_there_is_none(
    changed: dict[str, Any],
    settings: dict[str, Any],
    prefix: str,
    words: str,
) -> None:
    class Changed(SessionFake):
        def describe(self, model: str) -> ModelFacts:
            facts = super().describe(model)
            return dataclasses.replace(facts, **changed) if facts.kind == "causal" else facts

    result = run(session=Changed({"c": "causal"}), **settings)
    assert result.prefixes == {"c": prefix}
    assert words in first_token_notice(result) and words in result.rules["c"]


def test_shared_tokens_are_scored_when_asked_by_masked_models_alone() -> None:
    session = SessionFake({"c": "causal"})
    result = run(session=session, shared_tokens=True)
    assert [call for call in session.calls if call[0] == "shared_token_log_likelihoods"] == [
        ("shared_token_log_likelihoods", "m", "auto")
    ]
    assert set(result.shared["model"]) == {"m"} and len(result.shared) == 15
    place = 4
    good, bad = ACCEPTABLE[place], UNACCEPTABLE[place]
    shared = [i for i, (one, other) in enumerate(zip(good, bad, strict=False)) if one == other]
    line = result.shared.iloc[place]
    assert line["n_shared"] == len(shared)
    assert line["unacceptable_log_likelihood"] == pytest.approx(likelihoods("m", bad)[shared].sum(), rel=1e-6)
    assert any("c fills no masks" in notice for notice in result.notices)
    assert run().shared.empty


def test_what_the_file_said_of_the_pairs_is_in_items() -> None:
    result = run()
    assert result.items["field:object"].tolist() == ["fish", "apple", "bread"] * 5
    assert set(result.items["source"]) == {"made up"} and result.format == "two sentence columns"
    assert not result.right_to_left


def test_a_result_is_kept_whole() -> None:
    result = run(shared_tokens=True)
    again = unpack(Result, pack(result).__getitem__, "it")
    for field in dataclasses.fields(Result):
        one, other = getattr(result, field.name), getattr(again, field.name)
        if isinstance(one, pd.DataFrame):
            pd.testing.assert_frame_equal(one, other)
        elif field.name == "signature":  # is JSON, which knows no tuples
            assert json.loads(json.dumps(one)) == other
        else:
            assert one == other, field.name


@pytest.mark.parametrize(
    "changed", [{"models": ()}, {"pll": "l2r"}, {"words": "spaces"}, {"precision": "fp64"}, {"prefix": "<s>"}]
)
def test_settings_that_cannot_be_are_refused(changed: dict[str, object]) -> None:
    with pytest.raises(InputError):
        run(**changed)


class OfFurtherKinds(SessionFake):
    """With an encoder-decoder, and a decoder that reads in both directions; keeps what each was asked."""

    def describe(self, model: str) -> ModelFacts:
        given = super().describe(model)
        if model == "t5":
            return dataclasses.replace(given, kind="encoder", has_mask=False, n_seq2seq_parameters=2000)
        return dataclasses.replace(given, masked_next_token=model == "gpt-bert", opening=())

    def token_log_likelihoods(self, model: str, texts: Any, *, scoring: str, **settings: Any) -> list[dict[str, Any]]:
        self.calls.append((model, scoring, settings["encoder_reads"], settings["encoder_text"]))
        return super().token_log_likelihoods(model, texts, scoring=scoring)


def test_an_encoder_decoder_is_scored_by_its_decoder_and_a_next_token_head_before_the_mask() -> None:
    session = OfFurtherKinds()
    asked = {"models": ("t5", "gpt-bert", "m"), "encoder_reads": "text", "encoder_text": "猫"}
    result = run(session=session, **asked)
    assert result.signature["scoring"] == {"t5": "seq2seq", "gpt-bert": "mntp-word-l2r", "m": "pll-word-l2r"}
    assert ("t5", "seq2seq", "text", "猫") in session.calls
    assert set(result.pairs["model"]) == {"t5", "gpt-bert", "m"}
    assert result.rules["t5"].startswith("The decoder's") and "MNTP" in result.rules["gpt-bert"]
    at_mask = run(session=session, models=("gpt-bert",), predicted_at="mask")
    assert at_mask.signature["scoring"] == {"gpt-bert": "pll-word-l2r"}


def test_a_text_for_the_encoder_has_to_be_named() -> None:
    with pytest.raises(InputError, match="No text for the encoder is named"):
        run(encoder_reads="text")
    with pytest.raises(InputError, match="A text for the encoder is named, but it is given nothing"):
        run(encoder_text="猫")
