from __future__ import annotations

import copy
import dataclasses
from typing import Any

import numpy as np
import pytest
import torch
from minicons import scorer
from transformers import GPT2Config, GPT2LMHeadModel

from engine.errors import InputError
from engine.models.loading.weights import LoadedModel, load
from engine.models.scoring import lm_head
from engine.models.scoring.causal_lm import token_log_likelihoods
from tests.support import tiny_models
from tests.support.odd_tokenizers import unigram_with_bytes
from tests.support.precisions import in_precision

TEXTS = (*tiny_models.ENGLISH, "cats", *tiny_models.JAPANESE, "猫と斉藤さん 😀")


@pytest.fixture(scope="module")
def unigram(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    """Its tokenizer puts <s> in front itself."""
    return load(str(tiny_models.gpt2_unigram(tmp_path_factory.mktemp("unigram"))), "causal")


@pytest.fixture(scope="module")
def byte_level(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    """Its tokenizer has a BOS and adds nothing."""
    return load(str(tiny_models.gpt2_byte_level(tmp_path_factory.mktemp("byte-level"))), "causal")


@pytest.fixture(scope="module")
def closing(unigram: LoadedModel) -> LoadedModel:
    """Its tokenizer puts <s> in front and </s> at the end."""
    tokenizer = unigram_with_bytes(ends=True)
    torch.manual_seed(0)
    model = GPT2LMHeadModel(
        GPT2Config(
            vocab_size=len(tokenizer),
            n_embd=16,
            n_layer=2,
            n_head=2,
            n_positions=64,
            bos_token_id=1,
            eos_token_id=2,
            pad_token_id=3,
            initializer_range=0.5,
        )
    )
    return dataclasses.replace(unigram, model=model.eval().requires_grad_(False), tokenizer=tokenizer)


def by_plain_pass(loaded: LoadedModel, ids: list[int]) -> list[float]:
    """log p of each id but the first after those before it, by one pass of the model."""
    logits = loaded.model(input_ids=torch.tensor([ids])).logits[0]
    log_probabilities = torch.log_softmax(logits, dim=-1)
    return [float(log_probabilities[i - 1, ids[i]]) for i in range(1, len(ids))]


def test_by_hand(byte_level: LoadedModel) -> None:
    ids = byte_level.tokenizer("the cat")["input_ids"]
    (piece,) = token_log_likelihoods(byte_level, ["the cat"])
    assert piece["ids"].tolist() == ids and piece["tokens"] == byte_level.tokenizer.convert_ids_to_tokens(ids)
    assert len(piece["spans"]) == len(ids) and "".join("the cat"[a:b] for a, b in piece["spans"]) == "thecat"
    expected = by_plain_pass(byte_level, [byte_level.tokenizer.bos_token_id, *ids])
    np.testing.assert_allclose(piece["log_likelihoods"], expected, rtol=1e-5)
    assert piece["log_likelihoods"].dtype == np.float32 and piece["ids"].dtype == piece["spans"].dtype == np.int32


def sums_of_minicons(loaded: LoadedModel, *, bos_token: bool) -> list[float]:
    tokenizer = copy.deepcopy(loaded.tokenizer)
    tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token  # minicons would set it, with a warning
    reference = scorer.IncrementalLMScorer(loaded.model, "cpu", tokenizer=tokenizer)
    return reference.sequence_score(list(TEXTS), reduction=lambda scores: scores.sum(0).item(), bos_token=bos_token)


@pytest.mark.parametrize(
    ("kind", "settings", "bos_token"),
    [
        ("unigram", {}, False),  # its tokenizer adds the BOS
        ("byte_level", {}, True),
        ("byte_level", {"prefix": ()}, False),
    ],
)
def test_equal_to_minicons(
    kind: str, settings: dict[str, Any], bos_token: bool, request: pytest.FixtureRequest
) -> None:
    loaded: LoadedModel = request.getfixturevalue(kind)
    ours = [piece["log_likelihoods"].sum() for piece in token_log_likelihoods(loaded, TEXTS, **settings)]
    # 1e-4 a sentence: float32 sums of up to 60 numbers near -10, in another order
    np.testing.assert_allclose(ours, sums_of_minicons(loaded, bos_token=bos_token), rtol=0, atol=1e-4)


def test_bos_is_not_doubled_and_the_first_token_needs_it(unigram: LoadedModel) -> None:
    ids = unigram.tokenizer("猫が庭で")["input_ids"]
    assert ids[0] == unigram.tokenizer.bos_token_id
    (with_bos,) = token_log_likelihoods(unigram, ["猫が庭で"])
    (without,) = token_log_likelihoods(unigram, ["猫が庭で"], prefix=())
    assert with_bos["ids"].tolist() == ids[1:] and without["ids"].tolist() == ids[2:]
    np.testing.assert_allclose(with_bos["log_likelihoods"], by_plain_pass(unigram, ids), rtol=1e-5)
    np.testing.assert_allclose(without["log_likelihoods"], by_plain_pass(unigram, ids[1:]), rtol=1e-5)
    assert len(without["tokens"]) == len(without["spans"]) == len(with_bos["tokens"]) - 1


def test_eos_that_the_tokenizer_appends_is_not_scored(closing: LoadedModel) -> None:
    ids = closing.tokenizer("the cat")["input_ids"]
    assert ids[-1] == closing.tokenizer.eos_token_id
    (piece,) = token_log_likelihoods(closing, ["the cat"])
    assert piece["ids"].tolist() == ids[1:-1]
    np.testing.assert_allclose(piece["log_likelihoods"], by_plain_pass(closing, ids[:-1]), rtol=1e-5)


def test_a_leading_space_is_scored_and_spans_stay(byte_level: LoadedModel) -> None:
    plain, spaced = (token_log_likelihoods(byte_level, ["The cat"], leading_space=flag)[0] for flag in (False, True))
    ids = byte_level.tokenizer(" The cat")["input_ids"]
    assert spaced["ids"].tolist() == ids != plain["ids"].tolist()
    np.testing.assert_allclose(
        spaced["log_likelihoods"], by_plain_pass(byte_level, [byte_level.tokenizer.bos_token_id, *ids]), rtol=1e-5
    )
    assert spaced["spans"].dtype == np.int32
    assert "".join("The cat"[a:b] for a, b in spaced["spans"]) == "Thecat"


@pytest.mark.parametrize("kind", ["unigram", "byte_level"])
@pytest.mark.parametrize(
    ("dtype", "tolerance"),
    [
        (torch.float64, 1e-6),  # what is left is the rounding of the result to float32: no neighbour leaks in
        (torch.float32, 1e-5),  # sums in other batch shapes, in a random model that magnifies their rounding
    ],
)
def test_neighbours_change_nothing(
    kind: str, dtype: torch.dtype, tolerance: float, request: pytest.FixtureRequest
) -> None:
    loaded: LoadedModel = request.getfixturevalue(kind)
    loaded = dataclasses.replace(loaded, model=copy.deepcopy(loaded.model).to(dtype))
    together = token_log_likelihoods(loaded, [*TEXTS, *reversed(TEXTS)])
    for text, piece, again in zip(TEXTS, together, reversed(together), strict=False):
        (alone,) = token_log_likelihoods(loaded, [text])
        assert alone["tokens"] == piece["tokens"] == again["tokens"]
        np.testing.assert_allclose(piece["log_likelihoods"], alone["log_likelihoods"], rtol=tolerance)
        np.testing.assert_allclose(again["log_likelihoods"], alone["log_likelihoods"], rtol=tolerance)


def test_the_whole_pass_gives_the_same(unigram: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = token_log_likelihoods(unigram, TEXTS)
    monkeypatch.setitem(lm_head._bodies, unigram.model, None)
    for one, other in zip(expected, token_log_likelihoods(unigram, TEXTS), strict=True):
        np.testing.assert_allclose(other["log_likelihoods"], one["log_likelihoods"], rtol=1e-5)


def test_what_cannot_be_scored_is_excluded_and_never_cut(byte_level: LoadedModel) -> None:
    limit = byte_level.facts.max_tokens  # 64, BOS among them
    fitting = "7" * (limit - 1)  # there is no digit in what the vocabulary was learnt from
    assert len(byte_level.tokenizer(fitting)["input_ids"]) == limit - 1
    pieces = token_log_likelihoods(byte_level, ["", "cats", fitting + "7", fitting])
    assert pieces[0]["excluded"] == "It has no token to score."
    assert pieces[2]["excluded"].endswith(f"takes at most {limit}.") and pieces[2]["n_tokens"] == limit + 1
    assert f"{limit + 1} tokens" in pieces[2]["excluded"]
    assert len(pieces[3]["log_likelihoods"]) == limit - 1
    (alone,) = token_log_likelihoods(byte_level, ["cats"])
    np.testing.assert_allclose(pieces[1]["log_likelihoods"], alone["log_likelihoods"], rtol=1e-6)
    assert token_log_likelihoods(byte_level, []) == []


def test_a_control_token_in_a_text_is_scored_as_text(byte_level: LoadedModel) -> None:
    (piece,) = token_log_likelihoods(byte_level, ["<|endoftext|>猫"])
    end = byte_level.tokenizer.eos_token_id
    assert piece["read_ids"][0] == end and end not in piece["ids"] and len(piece["ids"]) > 5
    assert byte_level.tokenizer.decode(piece["ids"]) == "<|endoftext|>猫"
    np.testing.assert_allclose(
        piece["log_likelihoods"], by_plain_pass(byte_level, piece["read_ids"].tolist()), rtol=1e-5
    )


def test_unknown_characters_are_counted(unigram: LoadedModel, byte_level: LoadedModel) -> None:
    (piece,) = token_log_likelihoods(unigram, ["猫と䶵と䶵"])
    unknown = unigram.tokenizer.unk_token
    assert piece["n_unknown"] == piece["tokens"].count(unknown) == 2
    # A byte-level tokenizer knows every character; its <|endoftext|> is no unknown token of the text.
    assert token_log_likelihoods(byte_level, ["猫と䶵"])[0]["n_unknown"] == 0


def test_what_is_read_but_not_scored_is_told(byte_level: LoadedModel) -> None:
    # Without BOS the first token is not scored, but two sentences that differ in it are not one to the model.
    the, a = token_log_likelihoods(byte_level, ["the cat", "she cat"], prefix=())
    assert the["ids"].tolist()[-1] == a["ids"].tolist()[-1] and the["read_ids"].tolist() != a["read_ids"].tolist()
    bos = byte_level.tokenizer.bos_token_id
    assert token_log_likelihoods(byte_level, ["cat"])[0]["read_ids"][0] == bos


def test_one_token_without_bos_is_excluded(byte_level: LoadedModel) -> None:
    assert token_log_likelihoods(byte_level, ["a"], prefix=()) == [
        {"excluded": "It has no token to score.", "n_tokens": 1}
    ]


def test_several_tokens_before_a_text(unigram: LoadedModel) -> None:
    # GLM's tokenizer puts two tokens there; here they stand in place of its own <s>.
    ids = unigram.tokenizer("猫が庭で")["input_ids"][1:]
    (piece,) = token_log_likelihoods(unigram, ["猫が庭で"], prefix=("</s>", "<s>"))
    assert piece["read_ids"].tolist() == [2, 1, *ids] and piece["ids"].tolist() == ids
    np.testing.assert_allclose(piece["log_likelihoods"], by_plain_pass(unigram, [2, 1, *ids])[1:], rtol=1e-5)


@pytest.mark.parametrize(("half", "tolerance"), [("bf16", 0.5), ("fp16", 0.05)])  # 8 and 11 bits of logits of about 10
def test_halves_are_near_fp32(unigram: LoadedModel, half: str, tolerance: float) -> None:
    fp32, halves = (token_log_likelihoods(in_precision(unigram, precision), TEXTS) for precision in ("fp32", half))
    differences: list[Any] = []
    for one, other in zip(fp32, halves, strict=True):
        assert other["log_likelihoods"].dtype == np.float32
        np.testing.assert_allclose(other["log_likelihoods"], one["log_likelihoods"], atol=tolerance)
        differences += list(other["log_likelihoods"] != one["log_likelihoods"])
    assert any(differences)
    with pytest.raises(InputError, match="got 'int8'"):
        in_precision(unigram, "int8")
