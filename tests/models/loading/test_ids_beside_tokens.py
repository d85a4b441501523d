"""RoCBERT's shape and pronunciation ids, against transformers with all the ids that its tokenizer returns."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import RoCBertConfig, RoCBertForMaskedLM, RoCBertTokenizer

from engine.errors import ModelError
from engine.models.loading.weights import load
from engine.models.scoring.masked_lm import token_log_likelihoods
from engine.models.scoring.sentence_vectors import sentence_vectors
from tests.models.zoo.specimens import draw_weights
from tests.models.zoo.texts import CORPUS

TEXTS = ("猫", "昨日、東京の小説を読んだ。", "雨だ。")


@pytest.fixture(params=[True, False], ids=["concatenated", "averaged"])
def roc_bert(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, RoCBertForMaskedLM]:
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    vocabulary = [*special, *sorted(set("".join(CORPUS)) - {" "})]
    (tmp_path / "vocab.txt").write_text("".join(f"{piece}\n" for piece in vocabulary), encoding="utf-8")
    n = len(vocabulary)
    for name, step in (("word_shape.json", 7), ("word_pronunciation.json", 11)):
        ids = {piece: number * step % n for number, piece in enumerate(vocabulary)}
        (tmp_path / name).write_text(json.dumps(ids, ensure_ascii=False), encoding="utf-8")
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "RoCBertTokenizer"}))
    torch.manual_seed(0)
    model = RoCBertForMaskedLM(
        RoCBertConfig(
            vocab_size=n,
            hidden_size=32,
            num_hidden_layers=2,
            num_attention_heads=4,
            intermediate_size=48,
            max_position_embeddings=64,
            pronunciation_embed_dim=16 if request.param else 32,
            pronunciation_vocab_size=n,
            shape_embed_dim=16 if request.param else 32,
            shape_vocab_size=n,
            concat_input=request.param,
        )
    ).eval()
    draw_weights(model)
    model.save_pretrained(tmp_path)
    return tmp_path, model


@torch.inference_mode()
def test_shape_and_pronunciation_are_read(roc_bert: tuple[Path, RoCBertForMaskedLM]) -> None:
    folder, model = roc_bert
    tokenizer = RoCBertTokenizer.from_pretrained(folder)
    pieces = sentence_vectors(load(str(folder), "encode"), TEXTS, layers=[2], pooling="mean")
    without = 0.0
    for text, piece in zip(TEXTS, pieces, strict=True):
        inputs = tokenizer(text, return_tensors="pt")
        assert {"input_shape_ids", "input_pronunciation_ids"} <= set(inputs)
        states = model.roc_bert(**inputs).last_hidden_state[0].mean(0).numpy()
        np.testing.assert_allclose(piece["vectors"][0], states, rtol=0, atol=1e-5)
        alone = model.roc_bert(input_ids=inputs["input_ids"]).last_hidden_state[0].mean(0).numpy()
        without = max(without, float(np.abs(states - alone).max()))
    assert without > 0.1  # there is something to lose


@torch.inference_mode()
def test_a_mask_has_a_shape_of_its_own(roc_bert: tuple[Path, RoCBertForMaskedLM]) -> None:
    folder, model = roc_bert
    tokenizer = RoCBertTokenizer.from_pretrained(folder)
    (piece,) = token_log_likelihoods(load(str(folder), "masked"), ["猫の"], scoring="pll-original")
    expected = []
    for masked, token in (("[MASK]の", "猫"), ("猫[MASK]", "の")):
        inputs = tokenizer(masked, return_tensors="pt")
        at = inputs["input_ids"][0].tolist().index(tokenizer.mask_token_id)
        logits = model(**inputs).logits[0, at]
        expected.append(float(torch.log_softmax(logits, -1)[tokenizer.convert_tokens_to_ids(token)]))
    np.testing.assert_allclose(piece["log_likelihoods"], expected, rtol=0, atol=1e-5)


def test_a_tokenizer_without_shapes_is_refused(roc_bert: tuple[Path, RoCBertForMaskedLM]) -> None:
    folder, _ = roc_bert
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "BertTokenizer"}))
    with pytest.raises(ModelError, match=r"shape and pronunciation .*BertTokenizer.*word_shape\.json"):
        load(str(folder), "encode")
