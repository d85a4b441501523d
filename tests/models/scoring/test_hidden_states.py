"""A stack that is left early, and a last layer at one position, give the states of the whole model."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import transformers
from transformers import PreTrainedModel

from engine.models.scoring.hidden_states import blocks_of, hidden_states
from engine.models.scoring.last_layer import can_read_one_position, reading_one_position

VOCABULARY = 40
SIZES = {
    "vocab_size": VOCABULARY,
    "hidden_size": 16,
    "num_hidden_layers": 3,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "max_position_embeddings": 32,
    "initializer_range": 0.5,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "cls_token_id": 3,
    "sep_token_id": 4,
}
LAYERS_OF_BERT = ("BertModel", "RobertaModel", "ElectraModel", "CamembertModel", "XLMRobertaModel")


def model(name: str, **settings: Any) -> PreTrainedModel:
    kind = getattr(transformers, name)
    torch.manual_seed(0)
    return kind(kind.config_class(**SIZES, **settings)).eval().requires_grad_(False)


def batch() -> dict[str, torch.Tensor]:
    ids = torch.randint(5, VOCABULARY, (3, 7), generator=torch.manual_seed(1))
    mask = torch.ones_like(ids)
    mask[1, 4:] = 0
    ids[1, 4:] = 0
    return {"input_ids": ids, "attention_mask": mask}


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        *((name, {}) for name in LAYERS_OF_BERT),
        ("DistilBertModel", {}),
        ("DebertaV2Model", {}),
        # with a norm after the stack
        ("GPT2Model", {}),
        ("ModernBertModel", {}),
        ("LlamaModel", {}),
        ("GPTNeoXModel", {}),
        ("OPTModel", {}),
        ("Gemma2Model", {"head_dim": 8, "num_key_value_heads": 2}),
    ],
)
@torch.inference_mode()
def test_every_layer_is_that_of_the_whole_pass(name: str, settings: dict[str, Any]) -> None:
    encoder, inputs = model(name, **settings), batch()
    blocks = blocks_of(encoder)
    assert blocks is not None
    whole = encoder(**inputs, output_hidden_states=True).hidden_states
    calls: list[int] = []
    for number, block in enumerate(blocks):
        block.register_forward_hook(lambda *_, number=number: calls.append(number))
    for layer in range(4):
        calls.clear()
        (state,) = hidden_states(encoder, inputs, [layer])
        torch.testing.assert_close(state, whole[layer], rtol=0, atol=1e-6)
        assert calls == list(range(layer))  # layer k needs k blocks
    for state, layer in zip(hidden_states(encoder, inputs, [2, 0, 2]), (2, 0, 2), strict=True):
        torch.testing.assert_close(state, whole[layer], rtol=0, atol=1e-6)
    torch.testing.assert_close(encoder(**inputs).last_hidden_state, whole[3])  # and the model is as it was


@torch.inference_mode()
def test_a_model_of_shared_layers_runs_whole() -> None:
    encoder, inputs = model("AlbertModel", num_hidden_groups=1), batch()
    assert blocks_of(encoder) is None  # one block, called three times
    whole = encoder(**inputs, output_hidden_states=True).hidden_states
    for state, expected in zip(hidden_states(encoder, inputs, [1, 3]), (whole[1], whole[3]), strict=True):
        torch.testing.assert_close(state, expected)


@pytest.mark.parametrize("name", LAYERS_OF_BERT)
@torch.inference_mode()
def test_one_position_is_that_of_the_whole_last_layer(name: str) -> None:
    encoder, inputs = model(name), batch()
    assert can_read_one_position(encoder)
    columns = torch.tensor([6, 2, 0])
    with reading_one_position(encoder, columns):
        read = encoder(**inputs).last_hidden_state
    assert read.shape == (3, 1, 16)
    whole = encoder(**inputs).last_hidden_state  # the model is as it was
    assert whole.shape == (3, 7, 16)
    torch.testing.assert_close(read[:, 0], whole[torch.arange(3), columns], rtol=0, atol=2e-6)


@torch.inference_mode()
def test_the_last_layer_computes_one_position_only() -> None:
    encoder = model("BertModel")
    assert can_read_one_position(encoder)
    seen: list[torch.Size] = []
    encoder.encoder.layer[-1].output.register_forward_pre_hook(lambda _, given: seen.append(given[0].shape))
    with reading_one_position(encoder, torch.tensor([6, 2, 0])):
        encoder(**batch())
    # One position of each text in the feed-forward network, not seven, in whole blocks of four texts.
    assert seen == [(4, 1, 32)]


@pytest.mark.parametrize("name", ["DistilBertModel", "DebertaV2Model", "GPT2Model", "ModernBertModel"])
def test_layers_of_another_make_are_left_whole(name: str) -> None:
    assert not can_read_one_position(model(name))
