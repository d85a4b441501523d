"""Boundary terms of words: by hand, against brute force over next pieces, and in every way of batching."""

from __future__ import annotations

import dataclasses
import itertools
import math
from pathlib import Path

import numpy as np
import pytest
import torch
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

from engine.models.loading.weights import LoadedModel, load
from engine.models.scoring import causal_lm, lm_head
from engine.models.scoring.causal_lm import token_log_likelihoods
from engine.models.tokenization.words.beginnings import word_beginnings
from tests.support import tiny_models

PIECES = ("<end>", "a", "b", "▁a", "▁b", ".")
TEXTS = (*tiny_models.ENGLISH, "The cat sleeps.", "The cats sleep.", "cats", " The  cat", "a\nb c")


@pytest.fixture(scope="module")
def byte_level(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    return load(str(tiny_models.gpt2_byte_level(tmp_path_factory.mktemp("byte-level"))), "causal")


@pytest.fixture(scope="module")
def six(byte_level: LoadedModel) -> LoadedModel:
    """Six pieces: the end, which also stands before a text, a and b in a word or at its beginning, and a full stop."""
    learner = Tokenizer(models.WordLevel({piece: i for i, piece in enumerate(PIECES)}, unk_token="<end>"))
    learner.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Metaspace(prepend_scheme="never", split=False),
            pre_tokenizers.Split(Regex("▁?[ab.]"), "isolated"),
        ]
    )
    learner.decoder = decoders.Metaspace(prepend_scheme="never")
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=learner, bos_token="<end>", eos_token="<end>")
    torch.manual_seed(0)
    model = GPT2LMHeadModel(
        GPT2Config(
            vocab_size=len(PIECES) + 1,
            n_embd=16,
            n_layer=2,
            n_head=2,
            n_positions=64,
            bos_token_id=0,
            eos_token_id=0,
            initializer_range=0.5,
        )
    )
    return dataclasses.replace(byte_level, model=model.eval().requires_grad_(False), tokenizer=tokenizer)


def test_the_pieces_of_six(six: LoadedModel) -> None:
    beginnings = word_beginnings(six.tokenizer)
    assert beginnings.spaced.tolist() == [False, False, False, True, True, False]
    assert beginnings.ends.tolist() == [True, *[False] * 5] and beginnings.share == 2 / 5
    assert six.tokenizer("ab a.")["input_ids"] == [1, 2, 3, 5]


def test_by_hand_with_a_table_of_probabilities(six: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each next piece by the piece before it; the seventh entry of the model is not in the tokenizer's vocabulary."""
    table = np.array(
        [  # end, a, b, ▁a, ▁b, ., none
            [0.10, 0.40, 0.20, 0.10, 0.05, 0.10, 0.05],  # after the end: at the beginning
            [0.05, 0.10, 0.30, 0.20, 0.10, 0.20, 0.05],  # a
            [0.10, 0.10, 0.10, 0.30, 0.20, 0.10, 0.10],  # b
            [0.10, 0.20, 0.20, 0.10, 0.10, 0.20, 0.10],  # ▁a
            [0.10, 0.10, 0.10, 0.40, 0.10, 0.10, 0.10],  # ▁b
            [0.50, 0.05, 0.05, 0.15, 0.15, 0.05, 0.05],  # .
            [1, 0, 0, 0, 0, 0, 0],
        ]
    )

    def logits(inputs: dict[str, torch.Tensor]) -> torch.Tensor:
        return torch.tensor(table, dtype=torch.float32).log()[inputs["input_ids"]]

    monkeypatch.setattr(lm_head, "_logits_at", lambda model, inputs, rows, columns, once: logits(inputs)[rows, columns])
    monkeypatch.setattr(causal_lm, "supports_tree_attention", lambda *_: False)
    monkeypatch.setattr(causal_lm, "supports_packing", lambda *_, **__: False)
    monkeypatch.setattr(causal_lm, "batching_of", lambda model: "any")
    piece, spaced = token_log_likelihoods(six, ["ab a.", " b"], prefix=("<end>",), word_boundaries=True)
    np.testing.assert_allclose(np.exp(piece["log_likelihoods"]), [0.4, 0.3, 0.3, 0.2], rtol=1e-6)
    # Without white space first: a, b, . or the end. Before ▁a: ▁a, ▁b or the end; so at the end, after the stop.
    np.testing.assert_allclose(np.exp(piece["word_boundaries"]), [0.8, np.nan, 0.6, np.nan, 0.8], rtol=1e-6)
    np.testing.assert_allclose(np.exp(spaced["word_boundaries"]), [0.25, 0.6], rtol=1e-6)
    # The words "ab" and "a.": p(a) p(b) · .6 / .8, p(▁a) p(.) · .8 / .6
    corrected = piece["log_likelihoods"].sum() + piece["word_boundaries"][-1] - piece["word_boundaries"][0]
    assert math.exp(corrected) == pytest.approx((0.4 * 0.3 * 0.6 / 0.8) * (0.3 * 0.2 * 0.8 / 0.6), rel=1e-6)


def test_all_words_up_to_a_length_and_what_is_left_are_one(six: LoadedModel) -> None:
    """After "ab": p of each next word of at most three pieces, of the end, and of all longer words, is 1 in all.

    The p of a word is also that of its pieces and of what begins the next one, by a sum over these, given that the
    word before has ended. The model's seventh entry is no piece; it takes part as a piece inside of a word.
    """
    context = "ab"
    inside = ["a", "b", "."]

    def next_piece(ids: list[int]) -> np.ndarray:
        return torch.softmax(six.model(torch.tensor([[0, *ids]])).logits[0, -1].double(), -1).numpy()

    prefix = [1, 2]
    following = next_piece(prefix)
    boundary = following[[0, 3, 4]].sum()
    words = [
        first + "".join(rest) for first in ("a", "b") for n in range(3) for rest in itertools.product(inside, repeat=n)
    ]
    texts = [f"{context} {word}" for word in words]
    pieces = token_log_likelihoods(six, texts, prefix=("<end>",), word_boundaries=True)
    total = 0.0
    for word, piece in zip(words, pieces, strict=True):
        assert len(piece["ids"]) == 2 + len(word)
        start, end = piece["word_boundaries"][[2, -1]]
        corrected = math.exp(piece["log_likelihoods"][2:].sum(dtype=np.float64) + end - start)
        ids = [*prefix, *piece["ids"][2:].tolist()]
        brute = (
            math.prod(next_piece(ids[:i])[ids[i]] for i in range(2, len(ids)))
            * sum(next_piece(ids)[i] for i in (0, 3, 4))
            / boundary
        )
        assert corrected == pytest.approx(brute, rel=1e-4)
        total += corrected
    longer = 0.0  # words that go on after a third piece, and those that take the seventh entry
    for n in range(3):
        for first in (3, 4):
            for rest in itertools.product((1, 2, 5), repeat=n):
                ids = [*prefix, first, *rest]
                p = math.prod(next_piece(ids[:i])[ids[i]] for i in range(2, len(ids))) / boundary
                after = next_piece(ids)
                longer += p * (after[[1, 2, 5, 6]].sum() if n == 2 else after[6])
    assert total < 1 and total + longer + following[0] / boundary == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize("way", ["packed", "tree", "plain"])
def test_every_way_of_batching_gives_what_a_plain_loop_gives(
    byte_level: LoadedModel, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    packing = causal_lm.supports_packing
    monkeypatch.setattr(causal_lm, "supports_packing", packing if way == "packed" else lambda *_, **__: False)
    if way == "plain":
        monkeypatch.setattr(causal_lm, "supports_tree_attention", lambda *_: False)
    tokenizer = byte_level.tokenizer
    names = tokenizer.convert_ids_to_tokens(list(range(len(tokenizer))))
    spaced = np.array([name[0] in "ĠĉĊċČčĜĝĞğ" for name in names])
    pieces = token_log_likelihoods(byte_level, TEXTS, word_boundaries=True)
    for text, piece, off in zip(TEXTS, pieces, token_log_likelihoods(byte_level, TEXTS), strict=True):
        ids = [0, *tokenizer(text)["input_ids"]]
        p = torch.softmax(byte_level.model(torch.tensor([ids])).logits[0].double(), -1).numpy()
        end = np.arange(len(names)) == 0
        expected = [
            p[i][spaced | end].sum()
            if i == len(ids) - 1 or spaced[ids[i + 1]]
            else p[0][~spaced].sum()
            if i == 0
            else np.nan
            for i in range(len(ids))
        ]
        np.testing.assert_allclose(piece["word_boundaries"], np.log(expected), atol=1e-5)
        np.testing.assert_allclose(piece["log_likelihoods"], off["log_likelihoods"], atol=1e-5)
        assert piece["word_boundaries"].dtype == np.float32
        assert off.keys() == piece.keys() - {"word_boundaries"}


def test_nothing_before_a_text_leaves_its_first_token_out(byte_level: LoadedModel) -> None:
    after, alone = (
        token_log_likelihoods(byte_level, ["Undone cat"], prefix=prefix, word_boundaries=True)[0]
        for prefix in (None, ())
    )
    assert len(alone["word_boundaries"]) == len(alone["ids"]) + 1 == len(after["ids"])
    assert np.isnan(alone["word_boundaries"][0]) and np.isfinite(after["word_boundaries"][0])
    assert np.isfinite(alone["word_boundaries"]).sum() == 2  # before " cat" and at the end
    [nothing] = token_log_likelihoods(byte_level, ["T"], prefix=(), word_boundaries=True)
    assert "excluded" in nothing


def test_a_head_that_writes_few_logits_at_once_gives_the_same(
    byte_level: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = token_log_likelihoods(byte_level, TEXTS, word_boundaries=True)
    monkeypatch.setattr(lm_head, "MAX_LOGITS", 3 * 400)
    monkeypatch.setattr(lm_head, "CPU_CACHED_LOGITS", 2 * 400)
    for one, other in zip(whole, token_log_likelihoods(byte_level, TEXTS, word_boundaries=True), strict=True):
        np.testing.assert_allclose(one["word_boundaries"], other["word_boundaries"], atol=1e-5)
        np.testing.assert_allclose(one["log_likelihoods"], other["log_likelihoods"], atol=1e-5)


def test_sets_without_a_distribution_being_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """The way of graphics cards, on a processor."""
    monkeypatch.setattr(lm_head, "DEVICE_LOGITS", 20)
    torch.manual_seed(1)
    logits, sets = torch.randn(5, 9), torch.rand(2, 9) < 0.5
    position, targets = torch.tensor([0, 3, 3, 4, 0]), torch.tensor([-1, 2, -2, -1, -1])
    p = torch.softmax(logits, -1)
    expected = [p[0, sets[0]].sum(), p[3, 2], p[3, sets[1]].sum(), p[4, sets[0]].sum(), p[0, sets[0]].sum()]
    torch.testing.assert_close(
        lm_head._picked_log_softmax(logits, position, targets, sets), torch.stack(expected).log()
    )


def test_a_tokenizer_without_marks_has_no_boundaries(tmp_path: Path) -> None:
    unigram = load(str(tiny_models.gpt2_unigram(tmp_path / "unigram")), "causal")
    off, asked = (token_log_likelihoods(unigram, tiny_models.JAPANESE, word_boundaries=flag) for flag in (False, True))
    for one, other in zip(off, asked, strict=True):
        assert one.keys() == other.keys()
        assert np.array_equal(one["log_likelihoods"], other["log_likelihoods"])
