"""Packing by common beginnings, and that a causal model reads a tree as it reads plain sequences."""

from __future__ import annotations

import copy
import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from hypothesis import given
from hypothesis import strategies as st

from engine.models.loading.weights import LoadedModel, load
from engine.models.scoring import causal_lm, tree_pass
from engine.models.scoring.causal_lm import token_log_likelihoods
from engine.models.scoring.prefixes import pack_sequences
from engine.models.scoring.tree_pass import supports_tree_attention
from tests.support import tiny_models

SIZES = {
    "vocab_size": 40,
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "max_position_embeddings": 32,
    "initializer_range": 0.5,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
PAIRS = (
    ("The cat sleeps quietly in the garden.", "The cat sleep quietly in the garden."),
    ("She will go to Kyoto tomorrow.", "She will went to Kyoto tomorrow."),
    ("He bought three new books.", "He bought three new books."),  # one text twice
    ("She", "She will"),  # one begins the other
)
TEXTS = [text for pair in PAIRS for text in pair]


@pytest.fixture(scope="module")
def gpt2(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    folder: Path = tmp_path_factory.mktemp("gpt2")
    return load(str(tiny_models.gpt2_byte_level(folder)), "causal")


def test_a_row_by_hand() -> None:
    # In order: 1 5 6, then 1 5 8 (8 follows 5, token 1 of the row), then 1 7 (7 follows 1, token 0).
    (row,) = pack_sequences([[1, 5, 6], [1, 7], [1, 5, 8]])
    assert row.ids == [1, 5, 6, 8, 7] and row.positions == [0, 1, 2, 2, 1] and row.parents == [-1, 0, 1, 1, 0]
    assert row.columns_by_sequence == {0: [0, 1, 2], 1: [0, 4], 2: [0, 1, 3]}
    assert row.attention().astype(int).tolist() == [
        [1, 0, 0, 0, 0],
        [1, 1, 0, 0, 0],
        [1, 1, 1, 0, 0],
        [1, 1, 0, 1, 0],
        [1, 0, 0, 0, 1],
    ]


@given(st.lists(st.lists(st.integers(0, 3), max_size=9), max_size=20), st.integers(1, 12))
def test_every_sequence_stands_in_one_row_behind_its_own_tokens(sequences: list[list[int]], row_tokens: int) -> None:
    rows = pack_sequences(sequences, row_tokens)
    assert sorted(number for row in rows for number in row.columns_by_sequence) == list(range(len(sequences)))
    for row in rows:
        longest = max(map(len, row.columns_by_sequence.values()))
        assert len(row.ids) <= row_tokens or len(row.columns_by_sequence) == 1 or longest == len(row.ids)
        seen = row.attention()
        for number, columns in row.columns_by_sequence.items():
            assert [row.ids[column] for column in columns] == sequences[number]
            assert [row.positions[column] for column in columns] == list(range(len(columns)))
            for i, column in enumerate(columns):
                assert np.flatnonzero(seen[column]).tolist() == columns[: i + 1]


@pytest.mark.parametrize("prefix", [("<s>",), ()])
@pytest.mark.parametrize(
    ("dtype", "tolerance"),
    [
        (torch.float64, 1e-6),  # rounding of the result to float32
        (torch.float32, 1e-5),  # sums in other shapes, in a random model that magnifies their rounding
    ],
)
def test_shared_prefixes_change_no_number(
    gpt2: LoadedModel, prefix: tuple[str, ...], dtype: torch.dtype, tolerance: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = dataclasses.replace(gpt2, model=copy.deepcopy(gpt2.model).to(dtype))
    assert supports_tree_attention(loaded.model, 60)
    shared = token_log_likelihoods(loaded, TEXTS, prefix=prefix)
    monkeypatch.setattr(causal_lm, "supports_tree_attention", lambda *_: False)
    apart = token_log_likelihoods(loaded, TEXTS, prefix=prefix)
    for one, other in zip(shared, apart, strict=True):
        assert one.keys() == other.keys() and one.get("tokens") == other.get("tokens")
        if "excluded" not in one:
            np.testing.assert_allclose(one["log_likelihoods"], other["log_likelihoods"], rtol=0, atol=tolerance)


def test_a_common_beginning_is_read_once(gpt2: LoadedModel) -> None:
    read: list[int] = []
    hook = gpt2.model.transformer.h[0].register_forward_pre_hook(lambda _, given: read.append(given[0].shape[1]))
    try:
        apart = sum(len(piece["read_ids"]) - 1 for text in PAIRS[0] for piece in token_log_likelihoods(gpt2, [text]))
        read.clear()
        pieces = token_log_likelihoods(gpt2, PAIRS[0])
    finally:
        hook.remove()
    one, other = (piece["read_ids"].tolist()[:-1] for piece in pieces)
    common = next(i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    assert common >= 3 and sum(read) == len(one) + len(other) - common == apart - common


@pytest.mark.parametrize(
    ("name", "settings", "expected"),
    [
        ("GPT2LMHeadModel", {}, True),
        ("LlamaForCausalLM", {}, True),
        ("GPTNeoXForCausalLM", {}, True),
        ("Gemma2ForCausalLM", {"head_dim": 8, "num_key_value_heads": 2}, True),
        ("BloomForCausalLM", {"n_layer": 2, "n_head": 2}, False),  # attends by distance in the row
    ],
)
def test_models_that_place_tokens_in_their_own_way_read_plain_sequences(
    name: str, settings: dict[str, Any], expected: bool
) -> None:
    kind = getattr(transformers, name)
    torch.manual_seed(0)
    model = kind(kind.config_class(**SIZES, **settings)).eval()
    assert supports_tree_attention(model, 10) is expected


def test_a_window_of_attention_is_kept(gpt2: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpt2.model.config, "sliding_window", 8, raising=False)
    assert supports_tree_attention(gpt2.model, 8) and not supports_tree_attention(gpt2.model, 9)


def test_the_try_is_made_once(gpt2: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    assert supports_tree_attention(gpt2.model, 8)
    monkeypatch.setattr(tree_pass, "_trees_agree", lambda _: pytest.fail("tried again"))
    assert supports_tree_attention(gpt2.model, 8)
