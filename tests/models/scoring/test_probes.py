"""Which rows may share a batch, and what reads ahead: tried on models that are known for either."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import (
    BertConfig,
    BertModel,
    BigBirdConfig,
    BigBirdModel,
    ConvBertConfig,
    ConvBertModel,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedModel,
    RobertaConfig,
    RobertaForCausalLM,
)

from engine.errors import ModelError
from engine.models.loading.attention_type import keep_attention_type
from engine.models.loading.weights import load
from engine.models.scoring.batching import groups_for, run_buckets
from engine.models.scoring.causal_lm import token_log_likelihoods
from engine.models.scoring.probes import batching_of, require_causal
from tests.support import tiny_models

SIZE = {
    "vocab_size": 150,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 64,
    "max_position_embeddings": 128,
    "initializer_range": 0.2,
}


def made(model_class: type, config: object) -> PreTrainedModel:
    torch.manual_seed(0)
    model: PreTrainedModel = model_class(config).eval()
    return model


def test_rows_of_a_bert_and_of_a_gpt2_may_be_padded() -> None:
    assert batching_of(made(BertModel, BertConfig(**SIZE))) == "any"
    assert batching_of(made(GPT2LMHeadModel, GPT2Config(vocab_size=150, n_embd=32, n_layer=2, n_head=2))) == "any"


def test_convolutions_read_padding() -> None:
    assert batching_of(made(ConvBertModel, ConvBertConfig(**SIZE, embedding_size=32))) == "equal lengths"


@pytest.mark.parametrize(
    "rope",
    [
        {"rope_type": "dynamic", "factor": 2.0, "rope_theta": 10000.0},
        {
            "rope_type": "longrope",
            "short_factor": [1.0] * 8,
            "long_factor": [2.0] * 8,
            "factor": 2.0,
            "original_max_position_embeddings": 64,
            "rope_theta": 10000.0,
        },
    ],
)
def test_rotary_positions_scaled_by_the_longest_row_keep_lengths_apart(rope: dict[str, object]) -> None:
    config = LlamaConfig(**SIZE, num_key_value_heads=2, rope_parameters=rope)
    assert batching_of(made(LlamaForCausalLM, config)) == "equal lengths"


def test_bigbird_reads_a_long_text_the_same_after_a_short_one() -> None:
    config = BigBirdConfig(**{**SIZE, "max_position_embeddings": 512}, block_size=8, num_random_blocks=1)
    model = made(BigBirdModel, config)
    keep_attention_type(model)
    long, short = torch.arange(10, 130)[None], torch.arange(10, 15)[None]
    with torch.inference_mode():
        before = model(input_ids=long).last_hidden_state
        model(input_ids=short)
        assert torch.equal(model(input_ids=long).last_hidden_state, before)
    assert batching_of(model) == "equal lengths"


def test_a_causal_head_that_reads_ahead_is_refused(tmp_path: Path) -> None:
    folder = tiny_models.gpt2_unigram(tmp_path / "gpt2")
    loaded = load(str(folder), "causal")
    require_causal(loaded)
    both_ways = made(RobertaForCausalLM, RobertaConfig(**SIZE, is_decoder=False))
    ahead = type(loaded)(both_ways, loaded.tokenizer, loaded.facts, loaded.device)
    with pytest.raises(ModelError, match=r"reads ahead.*no likelihood of a text"):
        token_log_likelihoods(ahead, ["猫がいる。"])


def test_groups_keep_rows_apart() -> None:
    lengths = [3, 5, 3, 4, 5]
    batches: list[list[int]] = []
    run_buckets(lengths, 100, batches.append, groups_for("equal lengths", lengths))
    assert [sorted(batch) for batch in batches] == [[1, 4], [3], [0, 2]]
    alone: list[list[int]] = []
    run_buckets(lengths, 100, alone.append, groups_for("alone", lengths))
    assert sorted(alone) == [[0], [1], [2], [3], [4]]
    assert groups_for("any", lengths) is None


def test_costs_that_differ_within_a_group_stay_within_the_budget() -> None:
    batches: list[list[int]] = []
    costs = np.array([10, 4, 10, 4])
    run_buckets(costs, 12, batches.append, [7, 7, 9, 9])
    assert all(len({(0, 0, 1, 1)[i] for i in batch}) == 1 for batch in batches)
    assert sorted(i for batch in batches for i in batch) == [0, 1, 2, 3]
