"""Packed texts have the numbers of each text alone, in every model that is packed; the others are padded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from transformers import AttentionInterface, PreTrainedModel

from engine.errors import InputError
from engine.models.loading.weights import load
from engine.models.scoring import causal_lm, encoder, fill_mask, masked_lm, sentence_vectors
from engine.models.scoring.attention import packing
from engine.models.scoring.attention.packed_pass import NAME, run_model
from engine.models.scoring.attention.packing import (
    is_packing_wanted,
    packed_rows,
    packed_trees,
    positions_of,
    supports_packing,
)
from engine.models.scoring.lm_head import log_likelihoods_at
from engine.models.scoring.prefixes import pack_sequences
from tests.support import tiny_models

VOCABULARY = 80
SIZES = {
    "vocab_size": VOCABULARY,
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "max_position_embeddings": 128,
    "initializer_range": 0.5,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "cls_token_id": 3,
    "sep_token_id": 4,
}
GROUPED = {"num_key_value_heads": 1}
MASKED = [
    ("BertForMaskedLM", {}),
    ("RobertaForMaskedLM", {}),
    ("ElectraForMaskedLM", {}),
    ("DistilBertForMaskedLM", {}),
    ("ModernBertForMaskedLM", {}),
    ("ModernBertForMaskedLM", {"local_attention": 8}),
]
# In half precision a convolution or attention across texts is hidden by rounding, unless it is looked for.
LEAKING = [
    ("DebertaV2ForMaskedLM", {"relative_attention": True, "pos_att_type": ["p2c", "c2p"]}),
    ("ConvBertModel", {}),
    ("Lfm2ForCausalLM", {**GROUPED, "layer_types": ["conv", "full_attention"]}),
]
CAUSAL = [
    ("GPT2LMHeadModel", {}),
    ("OPTForCausalLM", {}),
    ("LlamaForCausalLM", GROUPED),
    ("Qwen2ForCausalLM", GROUPED),
    ("Qwen3ForCausalLM", {**GROUPED, "head_dim": 8}),
    ("MistralForCausalLM", {**GROUPED, "sliding_window": 6}),
    ("Gemma3ForCausalLM", {**GROUPED, "head_dim": 8, "sliding_window": 6}),
]
# Attention of their own; a cap on its scores; biases by distance; convolutions over tokens.
NOT_PACKED = [
    ("DebertaV2ForMaskedLM", {}),
    ("MPNetForMaskedLM", {}),
    ("Gemma2ForCausalLM", {**GROUPED, "head_dim": 8}),
    ("BloomForCausalLM", {}),
    ("T5EncoderModel", {"d_model": 16, "d_kv": 8, "num_heads": 2}),
    ("ConvBertModel", {}),
    ("Lfm2ForCausalLM", {**GROUPED, "layer_types": ["conv", "full_attention"]}),
]


@pytest.fixture(autouse=True)
def packing_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(packing.PACKING_VARIABLE, "on")


def model(name: str, settings: dict[str, Any]) -> PreTrainedModel:
    kind = getattr(transformers, name)
    torch.manual_seed(0)
    return kind(kind.config_class(**{**SIZES, **settings})).eval().requires_grad_(False)


def texts(*lengths: int) -> list[list[int]]:
    generator = torch.manual_seed(1)
    return [torch.randint(5, VOCABULARY, (length,), generator=generator).tolist() for length in lengths]


def alone(language_model: PreTrainedModel, text: list[int]) -> torch.Tensor:
    ids = torch.tensor([text])
    return language_model(input_ids=ids, attention_mask=torch.ones_like(ids)).logits[0]


@pytest.mark.parametrize(("name", "settings"), [*MASKED, *CAUSAL])
@torch.inference_mode()
def test_packed_texts_equal_each_alone(name: str, settings: dict[str, Any]) -> None:
    language_model, rows = model(name, settings), texts(9, 1, 40, 9, 17)
    assert supports_packing(language_model, 40)
    before = language_model.config._attn_implementation
    packed = packed_rows(language_model, rows)
    assert packed.inputs["input_ids"].shape == (1, sum(map(len, rows)))
    logits = run_model(language_model, packed.inputs).logits[0]
    for start, row in zip(packed.starts, rows, strict=True):
        # float32 sums in another order, of logits up to about 10
        torch.testing.assert_close(logits[start : start + len(row)], alone(language_model, row), rtol=1e-4, atol=1e-4)
    assert language_model.config._attn_implementation == before != NAME


@pytest.mark.parametrize(("name", "settings"), CAUSAL)
@torch.inference_mode()
def test_packed_trees_equal_each_text_alone(name: str, settings: dict[str, Any]) -> None:
    language_model, (base, other) = model(name, settings), texts(30, 12)
    rows = [base, base[:20] + other, base[:20] + other[:3] + [7, 8], base[:5], other, base]
    assert supports_packing(language_model, 32, as_trees=True)
    trees = pack_sequences(rows, 50)  # so that there is more than one tree
    packed = packed_trees(language_model, trees)
    assert len(trees) > 1
    assert packed.inputs["input_ids"].shape[1] == sum(len(tree.ids) for tree in trees) < sum(map(len, rows))
    logits = run_model(language_model, packed.inputs).logits[0]
    columns = {
        number: start + np.array(own)
        for start, tree in zip(packed.starts, trees, strict=True)
        for number, own in tree.columns_by_sequence.items()
    }
    for number, row in enumerate(rows):
        torch.testing.assert_close(logits[columns[number]], alone(language_model, row), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(("name", "settings"), NOT_PACKED)
def test_other_models_keep_the_padded_pass(name: str, settings: dict[str, Any]) -> None:
    other = model(name, settings)
    before = other.config._attn_implementation
    assert not supports_packing(other, 20)
    assert not supports_packing(other, 20, as_trees=True)
    assert other.config._attn_implementation == before  # also after a pass that failed


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize(("name", "settings"), LEAKING)
def test_a_small_influence_of_one_text_on_another_is_seen_in_half_precision(
    name: str, settings: dict[str, Any], dtype: torch.dtype
) -> None:
    leaking: Any = model(name, {**settings, "initializer_range": 0.1})
    assert not supports_packing(leaking.to(dtype), 20)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("name", ["BertForMaskedLM", "GPT2LMHeadModel", "MixtralForCausalLM"])
def test_half_precision_keeps_no_sound_model_from_it(name: str, dtype: torch.dtype) -> None:
    sound: Any = model(name, GROUPED if name.startswith("Mixtral") else {})
    assert supports_packing(sound.to(dtype), 20)


def test_a_window_too_wide_to_be_tried_is_not_exceeded() -> None:
    # 2 x 512 tokens are more than a trial reads: a longer text would only be believed.
    wide = model("MistralForCausalLM", {**GROUPED, "sliding_window": 512})
    assert supports_packing(wide, 512)
    assert not supports_packing(wide, 513)


def test_the_trial_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    bert = model("BertForMaskedLM", {})
    passes: list[int] = []
    bert.register_forward_hook(lambda *_: passes.append(1))
    assert supports_packing(bert, 20)
    n_passes = len(passes)
    assert supports_packing(bert, 30)
    assert len(passes) == n_passes > 0
    monkeypatch.setenv(packing.PACKING_VARIABLE, "off")
    assert not supports_packing(bert, 20)


@pytest.mark.parametrize(
    ("choice", "on_cpu", "on_cuda", "on_mps"),
    [(None, False, True, False), ("auto", False, True, False), ("on", True, True, True), ("off", False, False, False)],
)
def test_where_texts_are_packed(
    choice: str | None, on_cpu: bool, on_cuda: bool, on_mps: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(packing.PACKING_VARIABLE)
    if choice is not None:
        monkeypatch.setenv(packing.PACKING_VARIABLE, choice)
    assert [is_packing_wanted(torch.device(name)) for name in ("cpu", "cuda", "mps")] == [on_cpu, on_cuda, on_mps]


def test_another_choice_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(packing.PACKING_VARIABLE, "yes")
    with pytest.raises(InputError, match="auto, on, off; got 'yes'"):
        is_packing_wanted(torch.device("cpu"))


def test_positions_are_the_models_own() -> None:
    assert positions_of(model("BertForMaskedLM", {}), [7, 0, 9]).tolist() == [0, 1, 2]
    # RoBERTa counts from after the padding position, here 0, and leaves padding there
    assert positions_of(model("RobertaForMaskedLM", {}), [7, 0, 9]).tolist() == [1, 0, 2]


@pytest.mark.parametrize("name", ["BertForMaskedLM", "RobertaForMaskedLM", "ElectraForMaskedLM"])
@torch.inference_mode()
def test_one_position_of_each_packed_text(name: str) -> None:
    language_model, rows = model(name, {}), texts(9, 1, 40, 9)
    packed = packed_rows(language_model, rows)
    in_text = np.array([8, 0, 3, 5])
    columns, targets = torch.from_numpy(packed.starts + in_text), torch.tensor([5, 6, 7, 8])
    widths: list[int] = []
    base: Any = language_model.base_model
    base.encoder.layer[-1].intermediate.register_forward_pre_hook(
        lambda _, arguments: widths.append(arguments[0].shape[-2])
    )
    log_likelihoods = log_likelihoods_at(
        language_model, packed.inputs, torch.zeros_like(columns), columns, targets, once_in_each=True
    )
    assert widths[-1] == 4  # positions, not 59
    expected = [
        torch.log_softmax(alone(language_model, row)[position], dim=0)[target]
        for row, position, target in zip(rows, in_text, targets, strict=True)
    ]
    torch.testing.assert_close(log_likelihoods, torch.stack(expected), rtol=1e-5, atol=1e-4)


def test_a_packed_pass_knows_no_mask() -> None:
    bert, rows = model("BertForMaskedLM", {}), texts(5)
    assert supports_packing(bert, 5)  # which registers the function
    query = torch.zeros(1, 2, 5, 8)
    with pytest.raises(ValueError, match="pass around it"):
        AttentionInterface()[NAME](bert, query, query, query, None)
    mask = torch.ones(1, 1, 5, 5, dtype=torch.bool)
    with pytest.raises(ValueError, match="no mask"):
        run_model(bert, {**packed_rows(bert, rows).inputs, "attention_mask": mask})


@pytest.mark.parametrize("kind", ["bert", "gpt2_byte_level"])
def test_every_operation_has_the_same_numbers_packed_and_padded(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = str(getattr(tiny_models, kind)(tmp_path / kind))
    sentences = [*tiny_models.ENGLISH, tiny_models.ENGLISH[0], *tiny_models.JAPANESE[:2]]
    pairs = list(zip(sentences, reversed(sentences), strict=True))

    def numbers() -> list[np.ndarray]:
        loaded = load(folder, "encode")
        assert supports_packing(loaded.model, 20) == (is_packing_wanted(loaded.device))
        pieces = [piece["similarity"] for piece in encoder.token_similarities(loaded, pairs, layers=[0, 1, 2])]
        for pooling in ("cls", "mean", "weighted-mean", "last") if kind == "bert" else ("mean", "last"):
            vectors = sentence_vectors.sentence_vectors(loaded, sentences, layers=[1, 2], pooling=pooling)
            pieces += [piece["vectors"] for piece in vectors]
        if kind == "bert":
            masked = load(folder, "masked")
            for scoring in masked_lm.SCORINGS:
                scored = masked_lm.token_log_likelihoods(masked, sentences, scoring=scoring)
                pieces += [piece["log_likelihoods"] for piece in scored]
            filled = fill_mask.fill_masks(masked, [("The ", "cat", " sleeps."), ("She will ", "unbelievable", ".")])
            return [*pieces, *(piece[name] for piece in filled for name in ("log_likelihoods", "ranks", "top_ids"))]
        causal = causal_lm.token_log_likelihoods(load(folder, "causal"), sentences)
        return [*pieces, *(piece["log_likelihoods"] for piece in causal)]

    packed = numbers()
    monkeypatch.setenv(packing.PACKING_VARIABLE, "off")
    for ours, padded in zip(packed, numbers(), strict=True):
        np.testing.assert_allclose(ours, padded, rtol=0, atol=2e-5)  # float32 sums in another order
