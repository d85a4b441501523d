from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
import torch
from minicons import scorer
from transformers import GPT2Config, GPT2LMHeadModel

from engine.errors import InputError
from engine.models import lm_head
from engine.models.causal_lm import token_log_likelihoods
from engine.models.loading import Loaded, load
from tests import tiny_models
from tests.odd_tokenizers import unigram_with_bytes

TEXTS = (*tiny_models.ENGLISH, "cats", *tiny_models.JAPANESE, "猫と斉藤さん 😀")


@pytest.fixture(scope="module")
def unigram(tmp_path_factory: pytest.TempPathFactory) -> Loaded:
    """Its tokenizer puts <s> in front itself."""
    return load(str(tiny_models.gpt2_unigram(tmp_path_factory.mktemp("unigram"))), "causal")


@pytest.fixture(scope="module")
def byte_level(tmp_path_factory: pytest.TempPathFactory) -> Loaded:
    """Its tokenizer has a BOS and adds nothing."""
    return load(str(tiny_models.gpt2_byte_level(tmp_path_factory.mktemp("byte-level"))), "causal")


@pytest.fixture(scope="module")
def closing(unigram: Loaded) -> Loaded:
    """Its tokenizer puts <s> in front and </s> at the end."""
    tokenizer = unigram_with_bytes(ends=True)
    torch.manual_seed(0)
    model = GPT2LMHeadModel(GPT2Config(vocab_size=len(tokenizer), n_embd=16, n_layer=2, n_head=2, n_positions=64,
                                       bos_token_id=1, eos_token_id=2, pad_token_id=3, initializer_range=0.5))
    return dataclasses.replace(unigram, model=model.eval(), tokenizer=tokenizer)


def by_plain_pass(loaded: Loaded, ids: list[int]) -> list[float]:
    """log p of each id but the first after those before it, by one pass of the model."""
    logits = loaded.model(input_ids=torch.tensor([ids])).logits[0]
    log_probabilities = torch.log_softmax(logits, dim=-1)
    return [float(log_probabilities[i - 1, ids[i]]) for i in range(1, len(ids))]


def test_by_hand(byte_level: Loaded) -> None:
    ids = byte_level.tokenizer("the cat")["input_ids"]
    piece, = token_log_likelihoods(byte_level, ["the cat"])
    assert piece["ids"].tolist() == ids and piece["tokens"] == byte_level.tokenizer.convert_ids_to_tokens(ids)
    assert len(piece["spans"]) == len(ids) and "".join("the cat"[a:b] for a, b in piece["spans"]) == "thecat"
    expected = by_plain_pass(byte_level, [byte_level.tokenizer.bos_token_id, *ids])
    np.testing.assert_allclose(piece["log_likelihoods"], expected, rtol=1e-5)
    assert piece["log_likelihoods"].dtype == np.float32 and piece["ids"].dtype == piece["spans"].dtype == np.int32


@pytest.mark.parametrize(("kind", "adds_bos"), [("unigram", False), ("byte_level", True)])
def test_equal_to_minicons(kind: str, adds_bos: bool, request: pytest.FixtureRequest) -> None:
    loaded: Loaded = request.getfixturevalue(kind)
    with pytest.MonkeyPatch.context() as patch:
        if loaded.tokenizer.pad_token is None:  # minicons would set it, with a warning
            patch.setattr(loaded.tokenizer, "pad_token", loaded.tokenizer.eos_token)
        theirs = scorer.IncrementalLMScorer(loaded.model, "cpu", tokenizer=loaded.tokenizer).sequence_score(
            list(TEXTS), reduction=lambda scores: scores.sum(0).item(), bos_token=adds_bos)
    ours = token_log_likelihoods(loaded, TEXTS)
    # 1e-4 a sentence: float32 sums of up to 60 numbers near -10, in another order
    np.testing.assert_allclose([piece["log_likelihoods"].sum() for piece in ours], theirs, rtol=0, atol=1e-4)


def test_without_bos_equal_to_minicons_too(byte_level: Loaded) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(byte_level.tokenizer, "pad_token", byte_level.tokenizer.eos_token)
        theirs = scorer.IncrementalLMScorer(byte_level.model, "cpu", tokenizer=byte_level.tokenizer).sequence_score(
            list(TEXTS), reduction=lambda scores: scores.sum(0).item())
    ours = token_log_likelihoods(byte_level, TEXTS, bos=False)
    np.testing.assert_allclose([piece["log_likelihoods"].sum() for piece in ours], theirs, rtol=0, atol=1e-4)


def test_bos_is_not_doubled_and_the_first_token_needs_it(unigram: Loaded) -> None:
    ids = unigram.tokenizer("猫が庭で")["input_ids"]
    assert ids[0] == unigram.tokenizer.bos_token_id
    with_bos, = token_log_likelihoods(unigram, ["猫が庭で"])
    without, = token_log_likelihoods(unigram, ["猫が庭で"], bos=False)
    assert with_bos["ids"].tolist() == ids[1:] and without["ids"].tolist() == ids[2:]
    np.testing.assert_allclose(with_bos["log_likelihoods"], by_plain_pass(unigram, ids), rtol=1e-5)
    np.testing.assert_allclose(without["log_likelihoods"], by_plain_pass(unigram, ids[1:]), rtol=1e-5)
    assert len(without["tokens"]) == len(without["spans"]) == len(with_bos["tokens"]) - 1


def test_eos_that_the_tokenizer_appends_is_not_scored(closing: Loaded) -> None:
    ids = closing.tokenizer("the cat")["input_ids"]
    assert ids[-1] == closing.tokenizer.eos_token_id
    piece, = token_log_likelihoods(closing, ["the cat"])
    assert piece["ids"].tolist() == ids[1:-1]
    np.testing.assert_allclose(piece["log_likelihoods"], by_plain_pass(closing, ids[:-1]), rtol=1e-5)


def test_a_leading_space_is_scored_and_spans_stay(byte_level: Loaded) -> None:
    plain, spaced = (token_log_likelihoods(byte_level, ["The cat"], leading_space=flag)[0] for flag in (False, True))
    ids = byte_level.tokenizer(" The cat")["input_ids"]
    assert spaced["ids"].tolist() == ids != plain["ids"].tolist()
    np.testing.assert_allclose(
        spaced["log_likelihoods"], by_plain_pass(byte_level, [byte_level.tokenizer.bos_token_id, *ids]), rtol=1e-5)
    assert spaced["spans"].dtype == np.int32
    assert "".join("The cat"[a:b] for a, b in spaced["spans"]) == "Thecat"


@pytest.mark.parametrize("kind", ["unigram", "byte_level", "closing"])
def test_neighbours_change_nothing(kind: str, request: pytest.FixtureRequest) -> None:
    loaded: Loaded = request.getfixturevalue(kind)
    texts = TEXTS[-4:] if kind == "closing" else TEXTS  # all bytes to this vocabulary; the others are too long
    together = token_log_likelihoods(loaded, [*texts, *reversed(texts)])
    for text, piece, again in zip(texts, together, reversed(together), strict=False):
        alone, = token_log_likelihoods(loaded, [text])
        if "excluded" in alone:
            assert alone == piece == again
            continue
        assert alone["tokens"] == piece["tokens"] == again["tokens"]
        # 1e-6 relative: float32, other sums in other batch shapes
        np.testing.assert_allclose(piece["log_likelihoods"], alone["log_likelihoods"], rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(again["log_likelihoods"], alone["log_likelihoods"], rtol=1e-6, atol=1e-6)


def test_the_whole_pass_gives_the_same(unigram: Loaded, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = token_log_likelihoods(unigram, TEXTS)
    monkeypatch.setitem(lm_head._bodies, unigram.model, None)
    for one, other in zip(expected, token_log_likelihoods(unigram, TEXTS), strict=True):
        np.testing.assert_allclose(other["log_likelihoods"], one["log_likelihoods"], rtol=2e-6)


def test_what_cannot_be_scored_is_excluded_and_never_cut(byte_level: Loaded) -> None:
    limit = byte_level.facts.max_tokens  # 64, BOS among them
    fitting = "".join(chr(0x4E00 + i) for i in range(21))  # 3 bytes each, none of them joined by the vocabulary
    assert len(byte_level.tokenizer(fitting)["input_ids"]) == limit - 1
    pieces = token_log_likelihoods(byte_level, ["", "cats", fitting + "ab", fitting, "<|endoftext|>"])
    assert pieces[0]["excluded"] == pieces[4]["excluded"] == "It has no token to score."
    assert pieces[2]["excluded"].endswith(f"takes at most {limit}.") and pieces[2]["n_tokens"] > limit
    assert f"{pieces[2]['n_tokens']} tokens" in pieces[2]["excluded"]
    assert len(pieces[3]["log_likelihoods"]) == limit - 1
    alone, = token_log_likelihoods(byte_level, ["cats"])
    np.testing.assert_allclose(pieces[1]["log_likelihoods"], alone["log_likelihoods"], rtol=1e-6)
    assert token_log_likelihoods(byte_level, []) == []


def test_one_token_without_bos_is_excluded(byte_level: Loaded) -> None:
    assert token_log_likelihoods(byte_level, ["a"], bos=False) == [
        {"excluded": "It has no token to score.", "n_tokens": 1}]


def test_a_tokenizer_without_bos(byte_level: Loaded, monkeypatch: pytest.MonkeyPatch) -> None:
    without = token_log_likelihoods(byte_level, ["the cat"], bos=False)[0]
    monkeypatch.setattr(byte_level.tokenizer, "bos_token", None)
    piece, = token_log_likelihoods(byte_level, ["the cat"], bos=True)
    assert piece["ids"].tolist() == without["ids"].tolist()
    np.testing.assert_array_equal(piece["log_likelihoods"], without["log_likelihoods"])


def test_bf16_is_near_fp32(unigram: Loaded) -> None:
    fp32, bf16 = (token_log_likelihoods(unigram, TEXTS, precision=precision) for precision in ("fp32", "bf16"))
    differences: list[Any] = []
    for one, other in zip(fp32, bf16, strict=True):
        assert other["log_likelihoods"].dtype == np.float32
        # 8 bits of mantissa on logits of about 10
        np.testing.assert_allclose(other["log_likelihoods"], one["log_likelihoods"], atol=0.5)
        differences += list(other["log_likelihoods"] != one["log_likelihoods"])
    assert any(differences)
    with pytest.raises(InputError, match="got 'int8'"):
        token_log_likelihoods(unigram, ["猫"], precision="int8")
