"""Filling masks, against transformers itself: plain passes by hand, and its fill-mask pipeline on the built-in."""

from __future__ import annotations

import copy
import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import BertConfig, BertForMaskedLM, PreTrainedTokenizerFast, pipeline

from engine.datasets import sample_data
from engine.errors import InputError, ModelError
from engine.models.loading.weights import LoadedModel, load
from engine.models.scoring import batching, lm_head
from engine.models.scoring.fill_mask import MAX_PREDICTIONS, fill_masks
from engine.models.tokenization.encoding import token_ids
from tests.support import tiny_models
from tests.support.layouts.papers import sentencepiece_bert

# Words of one piece and of several, at the beginning, in the midst and at the end.
SENTENCES = (
    ("昨日、私は", "東京", "タワーでラーメンを食べました。"),
    ("", "猫", "が庭で静かに眠っている。"),
    ("この", "小説", "はとても面白かった。"),
    ("斉藤さんは新しい", "本を三冊", "買った。"),
    ("雨が降った", "。", ""),
    ("", "電車が遅れ", "て、会議に間に合わなかった。"),
    ("彼女は明日、京都へ行く", "予定", "です。"),
)


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    return load(str(tiny_models.bert_japanese(tmp_path_factory.mktemp("bert"))), "masked")


@pytest.fixture(scope="module")
def built_in() -> LoadedModel:
    return load("builtin/bert-mini-ja", "masked")


def distribution(loaded: LoadedModel, ids: list[int], position: int) -> torch.Tensor:
    """p over the vocabulary at a position, by one plain pass of the whole model."""
    with torch.inference_mode():
        return torch.softmax(loaded.model(input_ids=torch.tensor([ids])).logits[0, position].float(), dim=-1)


def test_one_piece_by_hand(bert: LoadedModel) -> None:
    (piece,) = fill_masks(bert, [("昨日、私は", "東京", "タワーでラーメンを食べました。")], top=5)
    tokenizer = bert.tokenizer
    ids = tokenizer("昨日、私は[MASK]タワーでラーメンを食べました。")["input_ids"]
    position, target = ids.index(tokenizer.mask_token_id), tokenizer.convert_tokens_to_ids("東京")
    p = distribution(bert, ids, position)
    assert piece["tokens"] == ["東京"] and piece["ids"].tolist() == [target] and piece["crossing"] is False
    assert np.exp(piece["log_likelihoods"]) == pytest.approx(float(p[target]), rel=1e-5)
    assert piece["ranks"].tolist() == [1 + int((p > p[target]).sum())]
    best = torch.topk(p, 5)
    assert piece["top_ids"].tolist() == [best.indices.tolist()]
    assert piece["top_tokens"] == tokenizer.convert_ids_to_tokens(best.indices.tolist())
    np.testing.assert_allclose(np.exp(piece["top_log_likelihoods"][0]), best.values, rtol=1e-5)


def test_several_pieces_by_hand(bert: LoadedModel) -> None:
    # The first piece is asked for with masks for all, each later one with those before it in their places.
    before, word, after = "電車が", "遅れて、", "会議に間に合わなかった。"
    (piece,) = fill_masks(bert, [(before, word, after)], top=4)
    tokenizer, n = bert.tokenizer, len(piece["ids"])
    assert n >= 3 and piece["ranks"].shape == (n,) and piece["top_ids"].shape == (n, 4)
    ids = tokenizer(before + "[MASK]" * n + after)["input_ids"]
    position = ids.index(tokenizer.mask_token_id)
    for j in range(n):
        filled = ids[:position] + piece["ids"][:j].tolist() + ids[position + j :]
        p = distribution(bert, filled, position + j)
        target = int(piece["ids"][j])
        assert np.exp(piece["log_likelihoods"][j]) == pytest.approx(float(p[target]), rel=1e-5)
        assert piece["ranks"][j] == 1 + int((p > p[target]).sum())
        # What stands first at each mask is asked with all of them masked.
        best = torch.topk(distribution(bert, ids, position + j), 4)
        assert piece["top_ids"][j].tolist() == best.indices.tolist()
        np.testing.assert_allclose(np.exp(piece["top_log_likelihoods"][j]), best.values, rtol=1e-5)


def test_equal_to_the_pipeline_of_transformers(built_in: LoadedModel) -> None:
    sample = sample_data.masked_sentences()
    pieces = fill_masks(built_in, sample.parts)
    theirs = pipeline("fill-mask", model=built_in.model, tokenizer=built_in.tokenizer)
    single = [(parts, piece) for parts, piece in zip(sample.parts, pieces, strict=True) if len(piece["ids"]) == 1]
    assert len(single) == 100
    for (before, _, after), piece in single[::5]:
        text = f"{before}[MASK]{after}"
        best = theirs(text, top_k=10)
        assert [one["token"] for one in best] == piece["top_ids"][0].tolist()
        # 1e-6: two float32 passes in batches of other shapes
        np.testing.assert_allclose([one["score"] for one in best], np.exp(piece["top_log_likelihoods"][0]), atol=1e-6)
        (target,) = theirs(text, targets=built_in.tokenizer.convert_ids_to_tokens(piece["ids"].tolist()))
        assert np.exp(piece["log_likelihoods"][0]) == pytest.approx(target["score"], abs=1e-6)


def test_probabilities_are_a_distribution(bert: LoadedModel) -> None:
    everything = min(bert.facts.vocab_size, MAX_PREDICTIONS)
    for piece in fill_masks(bert, SENTENCES, top=everything):
        total = np.exp(piece["top_log_likelihoods"].astype(np.float64)).sum(axis=1)
        assert (total <= 1 + 1e-6).all()
        assert (np.diff(piece["top_log_likelihoods"], axis=1) <= 0).all()
        assert (piece["log_likelihoods"] <= 0).all() and (piece["ranks"] >= 1).all()
        # The first piece is asked with all masked, as the predictions are: its rank is its place among them.
        rank = int(piece["ranks"][0])
        if rank <= everything:
            assert piece["top_ids"][0, rank - 1] == piece["ids"][0]


def test_nothing_of_the_word_shows_but_its_number_of_pieces(bert: LoadedModel) -> None:
    one, other = fill_masks(bert, [("昨日、私は", "猫", "を見た。"), ("昨日、私は", "本", "を見た。")], top=7)
    assert len(one["ids"]) == len(other["ids"]) == 1 and one["ids"] != other["ids"]
    np.testing.assert_array_equal(one["top_ids"], other["top_ids"])
    np.testing.assert_allclose(one["top_log_likelihoods"], other["top_log_likelihoods"], rtol=1e-6)


@pytest.mark.parametrize(
    ("dtype", "tolerance"),
    [
        (torch.float64, 1e-6),  # what is left is the rounding of the result to float32: no neighbour leaks in
        (torch.float32, 1e-5),  # sums in other batch shapes, in a random model that magnifies their rounding
    ],
)
def test_neighbours_and_their_order_change_nothing(bert: LoadedModel, dtype: torch.dtype, tolerance: float) -> None:
    loaded = dataclasses.replace(bert, model=copy.deepcopy(bert.model).to(dtype))
    together = fill_masks(loaded, [*SENTENCES, *reversed(SENTENCES)])
    for sentence, piece, again in zip(SENTENCES, together, reversed(together), strict=False):
        (alone,) = fill_masks(loaded, [sentence])
        for one in (piece, again):
            assert one["tokens"] == alone["tokens"] and one["top_tokens"] == alone["top_tokens"]
            np.testing.assert_allclose(one["log_likelihoods"], alone["log_likelihoods"], rtol=tolerance)
            np.testing.assert_allclose(one["top_log_likelihoods"], alone["top_log_likelihoods"], rtol=tolerance)


def test_small_batches_and_lack_of_memory_change_nothing(bert: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = fill_masks(bert, SENTENCES)
    monkeypatch.setitem(batching.TOKEN_BUDGETS, "cpu", 40)
    same(expected, fill_masks(bert, SENTENCES))
    monkeypatch.setitem(batching.TOKEN_BUDGETS, "cpu", 4096)
    monkeypatch.setitem(lm_head._bodies, bert.model, None)
    same(expected, fill_masks(bert, SENTENCES))
    monkeypatch.undo()

    def fail_on_many(_module: Any, arguments: tuple[()], inputs: dict[str, torch.Tensor]) -> None:
        if inputs["input_ids"].shape[0] > 2:
            raise torch.OutOfMemoryError("CUDA out of memory")

    hook = bert.model.register_forward_pre_hook(fail_on_many, with_kwargs=True)
    same(expected, fill_masks(bert, SENTENCES))
    hook.remove()


def same(expected: list[dict[str, Any]], found: list[dict[str, Any]]) -> None:
    for one, other in zip(expected, found, strict=True):
        np.testing.assert_allclose(other["log_likelihoods"], one["log_likelihoods"], rtol=1e-5)
        np.testing.assert_array_equal(other["top_ids"], one["top_ids"])


def test_what_cannot_be_filled_is_excluded_with_its_reason(bert: LoadedModel) -> None:
    long = "猫" * 70
    pieces = fill_masks(bert, [(long, "猫", ""), ("私は", "龘", "を見た。"), ("[MASK]の", "猫", "")])
    assert pieces[0] == {
        "excluded": f"It has 73 tokens with the special ones, and {bert.facts.name} takes at most 64.",
        "n_tokens": 73,
    }
    assert pieces[1]["excluded"] == "The vocabulary cannot spell '龘': [UNK]."
    assert pieces[2]["excluded"] == "The sentence itself contains [MASK], so that it has 2 masks."
    # An unknown piece elsewhere is no reason: the model reads it as [UNK].
    assert "excluded" not in fill_masks(bert, [("龘は", "猫", "だ。")])[0]


def test_another_control_token_in_the_sentence_is_text(bert: LoadedModel) -> None:
    (piece,) = fill_masks(bert, [("[SEP]の", "猫", "が庭で")])
    spelled = token_ids(bert.tokenizer, "[SEP]の猫が庭で")
    assert spelled.count(bert.tokenizer.sep_token_id) == 1  # that of the template
    at = spelled.index(piece["ids"][0])
    masked = torch.tensor([[*spelled[:at], bert.tokenizer.mask_token_id, *spelled[at + 1 :]]])
    with torch.inference_mode():
        expected = torch.log_softmax(bert.model(input_ids=masked).logits[0, at].float(), dim=-1)[spelled[at]]
    assert len(piece["ids"]) == 1
    np.testing.assert_allclose(piece["log_likelihoods"], [float(expected)], rtol=1e-5)


def test_a_word_that_the_tokenizer_drops_is_excluded(tmp_path: Path) -> None:
    loaded = load(str(tiny_models.bert(tmp_path)), "masked")
    (piece,) = fill_masks(loaded, [("The cat ", "\u200b", " sleeps")])
    assert piece["excluded"] == "The tokenizer makes no token of '\\u200b'."


def test_masks_count_as_tokens(bert: LoadedModel) -> None:
    # [CLS] + 60 characters + 2 masks + [SEP] are 64: just as many as the model takes; one more is too many.
    rest = "、" * 60
    assert "excluded" not in fill_masks(bert, [("", "眠っ", rest)])[0]
    (piece,) = fill_masks(bert, [("", "眠っ", rest + "、")])
    assert piece == {
        "excluded": f"It has 65 tokens with the special ones, and {bert.facts.name} takes at most 64.",
        "n_tokens": 65,
    }


def test_settings_that_cannot_be(bert: LoadedModel) -> None:
    for top in (0, MAX_PREDICTIONS + 1):
        with pytest.raises(InputError, match=f"between 1 and {MAX_PREDICTIONS}; got {top}"):
            fill_masks(bert, SENTENCES[:1], top=top)
    assert fill_masks(bert, []) == []
    with pytest.raises(ModelError, match="causal model and fills no masks"):
        load("builtin/gpt2-mini-ja", "masked")


def unigram(scheme: str) -> LoadedModel:
    """A masked model over a Unigram vocabulary in which の本 is a piece, and the space mark where `scheme` puts it."""
    pieces = [("<unk>", 0.0), ("<s>", 0.0), ("</s>", 0.0), ("<pad>", 0.0), ("<mask>", 0.0)]
    pieces += [(piece, -6.0) for piece in "▁私彼の本屋は猫が好きだ"] + [("の本", -3.0), ("▁本", -4.0), ("▁cat", -4.0)]
    core = Tokenizer(models.Unigram(pieces, unk_id=0))
    core.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme=scheme, split=False)
    core.decoder = decoders.Metaspace(prepend_scheme=scheme, split=False)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=core,
        unk_token="<unk>",
        bos_token="<s>",
        eos_token="</s>",
        pad_token="<pad>",
        mask_token="<mask>",
    )
    torch.manual_seed(0)
    model = BertForMaskedLM(
        BertConfig(
            vocab_size=len(pieces),
            hidden_size=16,
            num_hidden_layers=1,
            num_attention_heads=2,
            intermediate_size=16,
            max_position_embeddings=32,
        )
    ).eval()
    facts = dataclasses.replace(load("builtin/bert-mini-ja", "masked").facts, max_tokens=32, vocab_size=len(pieces))
    return LoadedModel(model, tokenizer, facts, torch.device("cpu"))


@pytest.mark.parametrize("scheme", ["never", "first", "always"])
def test_a_piece_beyond_the_word_is_never_asked_for(scheme: str) -> None:
    loaded = unigram(scheme)
    crossing, inside, first, opening = fill_masks(
        loaded,
        [("私の", "本", "が好きだ"), ("私の", "猫", "が好きだ"), ("", "本", "が好きだ"), ("猫は", "本屋", "だ")],
        top=3,
    )
    # の本 is one piece of the whole sentence; asked is 本, as the tokenizer writes it after a mask.
    assert crossing["crossing"] is True
    assert crossing["ids"].tolist() == loaded.tokenizer.convert_tokens_to_ids(["▁本" if scheme == "always" else "本"])
    assert inside["crossing"] is False and inside["tokens"] == ["猫"]
    assert first["crossing"] is False and len(first["ids"]) == 1
    assert opening["tokens"] == ["本", "屋"]


def test_a_space_belongs_to_the_word_that_the_tokenizer_writes_it_into() -> None:
    loaded = unigram("never")
    (piece,) = fill_masks(loaded, [("猫 ", "cat", "")], top=2)
    assert piece["ids"].tolist() == [loaded.tokenizer.convert_tokens_to_ids("▁cat")] and piece["tokens"] == ["cat"]


def test_a_published_layout_with_its_own_segmentation_is_filled_as_any(tmp_path: Path) -> None:
    # Kikuta's SentencePiece model knows small letters only: the paper lower-cased for it, and its card says so.
    loaded = load(f"paper/sp={sentencepiece_bert(tmp_path)}", "masked")
    (piece,) = fill_masks(loaded, [("新しい", "ＣＤ", "を聴く")], top=3)
    assert "".join(piece["tokens"]) == "cd" and not piece["crossing"]
