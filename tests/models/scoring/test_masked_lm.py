from __future__ import annotations

import copy
import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from minicons import scorer
from tokenizers import Tokenizer
from tokenizers.processors import TemplateProcessing
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from engine.errors import InputError
from engine.models.loading.weights import LoadedModel, load
from engine.models.scoring import batching, lm_head
from engine.models.scoring.fill_mask import fill_masks
from engine.models.scoring.masked_lm import SCORINGS, token_log_likelihoods
from engine.models.scoring.shared_tokens import shared_token_log_likelihoods
from tests.support import tiny_models
from tests.support.precisions import in_precision

# Words of several pieces (the vocabulary is learnt from tiny_models' sentences), and of one.
TEXTS = (
    "Unbelievable gardens sleep.",
    "cats",
    "The books of Kyoto were cancelled yesterday, because she believed it!",
    *tiny_models.ENGLISH,
    *tiny_models.JAPANESE,
)


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    return load(str(tiny_models.bert(tmp_path_factory.mktemp("bert"))), "masked")


@pytest.fixture(scope="module")
def bert_japanese(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    return load(str(tiny_models.bert_japanese(tmp_path_factory.mktemp("bert-japanese"))), "masked")


def by_plain_passes(loaded: LoadedModel, ids: list[int], masked: list[list[int]]) -> list[float]:
    """log p of the first of each list of positions, all of which are masked, by one pass of the model each."""
    found = []
    for positions in masked:
        copy = torch.tensor([ids])
        copy[0, positions] = loaded.tokenizer.mask_token_id
        logits = loaded.model(input_ids=copy).logits[0, positions[0]]
        found.append(float(torch.log_softmax(logits, dim=-1)[ids[positions[0]]]))
    return found


def test_three_tokens_by_hand(bert: LoadedModel) -> None:
    # [CLS] believ ##able cat [SEP]: three scored tokens, the first two of one word.
    (piece,) = token_log_likelihoods(bert, ["believable the"], scoring="pll-original", words="tokenizer")
    ids = bert.tokenizer("believable the")["input_ids"]
    n = len(ids) - 2
    assert piece["ids"].tolist() == ids[1:-1] and piece["tokens"] == bert.tokenizer.convert_ids_to_tokens(ids)[1:-1]
    assert ["".join("believable the"[a:b]) for a, b in piece["spans"]][-1] == "the" and n >= 3
    np.testing.assert_allclose(
        piece["log_likelihoods"], by_plain_passes(bert, ids, [[t] for t in range(1, n + 1)]), rtol=1e-5
    )
    assert piece["log_likelihoods"].dtype == np.float32 and (piece["log_likelihoods"] < 0).all()

    # word-l2r: a piece of "believable" is masked with the later pieces of the word, never with "the".
    (piece,) = token_log_likelihoods(bert, ["believable the"], scoring="pll-word-l2r", words="tokenizer")
    masked = [list(range(t, n)) for t in range(1, n)] + [[n]]
    np.testing.assert_allclose(piece["log_likelihoods"], by_plain_passes(bert, ids, masked), rtol=1e-5)


def with_a_head_for_the_next_token(folder: Path, *, opening: str = "[CLS]") -> Path:
    """A Llama that reads in both directions, as GPT-BERT does: a head for the next token, and a mask token."""
    tiny_models.bert(folder)
    core = Tokenizer.from_file(str(folder / "tokenizer.json"))
    core.post_processor = TemplateProcessing(
        single=[*opening.split(), "$A"], special_tokens=[("[CLS]", core.token_to_id("[CLS]"))]
    )
    size = core.get_vocab_size()
    special = {"unk_token": "[UNK]", "pad_token": "[PAD]", "mask_token": "[MASK]", "cls_token": "[CLS]"}
    PreTrainedTokenizerFast(tokenizer_object=core, model_max_length=64, **special).save_pretrained(folder)
    torch.manual_seed(0)
    sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
    config = LlamaConfig(vocab_size=size, max_position_embeddings=64, is_causal=False, initializer_range=0.2, **sizes)
    LlamaForCausalLM(config).save_pretrained(folder)
    return folder


@pytest.mark.parametrize("masking", ["original", "word-l2r"])
def test_masked_next_token_prediction_by_plain_passes(masking: str, tmp_path: Path) -> None:
    """The probability of a masked token is read at the position before it, with attention in both directions."""
    folder = with_a_head_for_the_next_token(tmp_path / "model")
    loaded = load(str(folder), "masked")
    assert loaded.facts.kind == "masked" and loaded.facts.masked_next_token
    plain = LlamaForCausalLM.from_pretrained(folder)
    texts = ["believable the", "cats", *tiny_models.ENGLISH]
    pieces = token_log_likelihoods(loaded, texts, scoring=f"mntp-{masking}", words="tokenizer")
    for text, piece in zip(texts, pieces, strict=True):
        ids = loaded.tokenizer(text)["input_ids"]
        words = loaded.tokenizer(text).word_ids()
        expected = []
        for t in range(1, len(ids)):
            copy = torch.tensor([ids])
            later = [i for i in range(t, len(ids)) if words[i] == words[t]] if masking == "word-l2r" else [t]
            copy[0, later] = loaded.tokenizer.mask_token_id
            with torch.inference_mode():
                logs = torch.log_softmax(plain(input_ids=copy).logits[0, t - 1], dim=-1)
            expected.append(float(logs[ids[t]]))
        np.testing.assert_allclose(piece["log_likelihoods"], expected, rtol=0, atol=1e-5)
    at_mask = token_log_likelihoods(loaded, texts[:1], scoring=f"pll-{masking}", words="tokenizer")
    assert not np.allclose(at_mask[0]["log_likelihoods"], pieces[0]["log_likelihoods"], atol=0.1)
    (filled,) = fill_masks(loaded, [("The ", "cat", " sleeps")])
    (scored,) = token_log_likelihoods(loaded, ["The cat sleeps"], scoring="mntp-original")
    if len(filled["ids"]) == 1:
        at = scored["ids"].tolist().index(int(filled["ids"][0]))
        np.testing.assert_allclose(filled["log_likelihoods"][0], scored["log_likelihoods"][at], atol=1e-5)
    (shared,) = shared_token_log_likelihoods(loaded, [("cats sleep", "cats believe")], next_token=True)
    assert len(shared["first_log_likelihoods"]) >= 1


def test_a_first_token_without_one_before_it_is_not_scored_by_next_token_heads(tmp_path: Path) -> None:
    loaded = load(str(with_a_head_for_the_next_token(tmp_path / "model", opening="")), "masked")
    before, at = (
        token_log_likelihoods(loaded, ["believable the"], scoring=f"{read}-original")[0] for read in ("mntp", "pll")
    )
    assert before["ids"].tolist() == at["ids"].tolist()[1:]
    (nothing,) = fill_masks(loaded, [("", "cat", " sleeps")])
    assert "No token stands before the mask" in nothing["excluded"]


def test_a_head_for_the_next_token_without_a_mask_token_is_an_encoder(tmp_path: Path) -> None:
    folder = with_a_head_for_the_next_token(tmp_path / "model")
    settings = json.loads((folder / "tokenizer_config.json").read_text())
    del settings["mask_token"]
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    facts = load(str(folder), "encode").facts
    assert facts.kind == "encoder" and not facts.masked_next_token


@pytest.mark.parametrize(("scoring", "metric"), [("pll-original", "original"), ("pll-word-l2r", "within_word_l2r")])
def test_equal_to_minicons(bert: LoadedModel, scoring: str, metric: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # minicons 0.3.39 calls batch_encode_plus, which transformers 5 dropped.
    monkeypatch.setattr(bert.tokenizer, "batch_encode_plus", bert.tokenizer, raising=False)
    theirs = scorer.MaskedLMScorer(bert.model, "cpu", tokenizer=bert.tokenizer).sequence_score(
        list(TEXTS), reduction=lambda scores: scores.sum(0).item(), PLL_metric=metric
    )
    ours = token_log_likelihoods(bert, TEXTS, scoring=scoring, words="tokenizer")
    # 1e-4 a sentence: float32 sums of up to 40 numbers near -10, in another order
    np.testing.assert_allclose([piece["log_likelihoods"].sum() for piece in ours], theirs, rtol=0, atol=1e-4)


def test_scorings_differ_in_words_of_several_pieces_only(bert: LoadedModel) -> None:
    original, by_word = (
        token_log_likelihoods(bert, TEXTS, scoring=scoring, words="tokenizer")
        for scoring in ("pll-original", "pll-word-l2r")
    )
    for one, other in zip(original, by_word, strict=True):
        continued = np.array([token.startswith("##") for token in [*one["tokens"][1:], ""]])
        same = np.isclose(one["log_likelihoods"], other["log_likelihoods"], rtol=1e-5)
        np.testing.assert_array_equal(same, ~continued)  # a piece that more pieces of its word follow


def test_japanese_words_are_mecabs(bert_japanese: LoadedModel) -> None:
    text = "斉藤さんは小説を読む。"
    auto, mecab, own = (
        token_log_likelihoods(bert_japanese, [text], scoring="pll-word-l2r", words=words)[0]
        for words in ("auto", "mecab", "tokenizer")
    )
    np.testing.assert_array_equal(auto["log_likelihoods"], mecab["log_likelihoods"])
    # MeCab cuts inside the tokenizer, so that here the tokenizer's own words are the same.
    np.testing.assert_allclose(own["log_likelihoods"], mecab["log_likelihoods"], rtol=1e-5)
    # An unknown piece is scored as [UNK] and keeps its place in the text.
    assert "[UNK]" in auto["tokens"] and "".join(text[a:b] for a, b in auto["spans"]) == text
    assert auto["n_unknown"] == auto["tokens"].count("[UNK]") > 0


@pytest.mark.parametrize("scoring", SCORINGS)
@pytest.mark.parametrize(
    ("dtype", "tolerance"),
    [
        (torch.float64, 1e-6),  # what is left is the rounding of the result to float32: no neighbour leaks in
        (torch.float32, 1e-5),  # sums in other batch shapes, in a random model that magnifies their rounding
    ],
)
def test_neighbours_change_nothing(bert: LoadedModel, scoring: str, dtype: torch.dtype, tolerance: float) -> None:
    loaded = dataclasses.replace(bert, model=copy.deepcopy(bert.model).to(dtype))
    together = token_log_likelihoods(loaded, [*TEXTS, *reversed(TEXTS)], scoring=scoring)
    for text, piece, again in zip(TEXTS, together, reversed(together), strict=False):
        (alone,) = token_log_likelihoods(loaded, [text], scoring=scoring)
        assert alone["tokens"] == piece["tokens"] == again["tokens"]
        np.testing.assert_allclose(piece["log_likelihoods"], alone["log_likelihoods"], rtol=tolerance)
        np.testing.assert_allclose(again["log_likelihoods"], alone["log_likelihoods"], rtol=tolerance)


def test_small_batches_and_lack_of_memory_change_nothing(bert: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = token_log_likelihoods(bert, TEXTS, scoring="pll-word-l2r")
    monkeypatch.setitem(batching.TOKEN_BUDGETS, "cpu", 100)
    same(expected, token_log_likelihoods(bert, TEXTS, scoring="pll-word-l2r"))
    monkeypatch.setitem(batching.TOKEN_BUDGETS, "cpu", 4096)
    monkeypatch.setitem(lm_head._bodies, bert.model, None)
    same(expected, token_log_likelihoods(bert, TEXTS, scoring="pll-word-l2r"))
    monkeypatch.undo()

    def fail_on_many(_module: Any, arguments: tuple[()], inputs: dict[str, torch.Tensor]) -> None:
        if inputs["input_ids"].shape[0] > 5:
            raise torch.OutOfMemoryError("CUDA out of memory")

    hook = bert.model.register_forward_pre_hook(fail_on_many, with_kwargs=True)
    same(expected, token_log_likelihoods(bert, TEXTS, scoring="pll-word-l2r"))
    hook.remove()


def same(expected: list[dict[str, Any]], found: list[dict[str, Any]]) -> None:
    for one, other in zip(expected, found, strict=True):
        np.testing.assert_allclose(other["log_likelihoods"], one["log_likelihoods"], rtol=1e-5)


def test_what_cannot_be_scored_is_excluded_and_never_cut(bert: LoadedModel) -> None:
    limit = bert.facts.max_tokens  # 64, [CLS] and [SEP] among them
    just, over = " ".join(["the"] * (limit - 2)), " ".join(["the"] * (limit - 1))
    pieces = token_log_likelihoods(bert, ["", "cats", over, " \n", just], scoring="pll-original")
    assert pieces[0] == pieces[3] == {"excluded": "It has no token to score.", "n_tokens": 2}
    assert pieces[2] == {
        "excluded": f"It has 65 tokens with the special ones, and {bert.facts.name} takes at most 64.",
        "n_tokens": 65,
    }
    assert len(pieces[4]["log_likelihoods"]) == limit - 2
    (alone,) = token_log_likelihoods(bert, ["cats"], scoring="pll-original")
    np.testing.assert_allclose(pieces[1]["log_likelihoods"], alone["log_likelihoods"], rtol=1e-6)
    assert token_log_likelihoods(bert, [], scoring="pll-original") == []


def test_a_mask_in_the_text_is_scored_as_text(bert: LoadedModel) -> None:
    text = "the [MASK] sleeps"
    (piece,) = token_log_likelihoods(bert, [text], scoring="pll-original")
    ids = bert.tokenizer(text, split_special_tokens=True)["input_ids"]
    assert bert.tokenizer.mask_token_id not in ids and piece["ids"].tolist() == ids[1:-1]
    assert "".join(text[a:b] for a, b in piece["spans"]) == "the[MASK]sleeps"
    np.testing.assert_allclose(
        piece["log_likelihoods"], by_plain_passes(bert, ids, [[t] for t in range(1, len(ids) - 1)]), rtol=1e-5
    )


def test_bf16_is_near_fp32(bert: LoadedModel) -> None:
    fp32, bf16 = (
        token_log_likelihoods(in_precision(bert, precision), TEXTS[:4], scoring="pll-original")
        for precision in ("fp32", "bf16")
    )
    for one, other in zip(fp32, bf16, strict=True):
        assert other["log_likelihoods"].dtype == np.float32
        # 8 bits of mantissa on logits of about 10, in a random model that magnifies rounding
        assert np.abs(other["log_likelihoods"] - one["log_likelihoods"]).mean() < 0.3
        assert not np.array_equal(other["log_likelihoods"], one["log_likelihoods"])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"scoring": "causal"}, "or mntp-original or mntp-word-l2r; got 'causal'"),
        ({"scoring": "pll-word-l2r", "words": "juman"}, "got 'juman'"),
    ],
)
def test_unknown_settings(bert: LoadedModel, settings: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        token_log_likelihoods(bert, ["cats"], **settings)


def test_the_limit_is_the_models(bert: LoadedModel) -> None:
    shorter = dataclasses.replace(bert, facts=dataclasses.replace(bert.facts, max_tokens=4))
    (piece,) = token_log_likelihoods(shorter, ["the cat sleeps quietly"], scoring="pll-original")
    assert "at most 4" in piece["excluded"]
