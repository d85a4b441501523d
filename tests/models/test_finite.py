"""NaN and infinity of a model are errors of their own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from engine.errors import ModelError
from engine.models.loading.weights import LoadedModel, load
from engine.models.scoring import causal_lm, encoder, fill_mask, masked_lm, sentence_vectors, shared_tokens
from engine.models.scoring.probes import batching_of, reads_ahead
from tests.support import tiny_models

TEXT = tiny_models.ENGLISH[0]
OPERATIONS: dict[str, tuple[str, Callable[[LoadedModel], object]]] = {
    "vectors": ("encode", lambda loaded: sentence_vectors.sentence_vectors(loaded, [TEXT], layers=[2])),
    "means": ("encode", lambda loaded: sentence_vectors.sentence_vectors(loaded, [TEXT], layers=[2], pooling="mean")),
    "similarities": ("encode", lambda loaded: encoder.token_similarities(loaded, [(TEXT, TEXT)], layers=[2])),
    "masked": ("masked", lambda loaded: masked_lm.token_log_likelihoods(loaded, [TEXT], scoring="pll-original")),
    "filled": ("masked", lambda loaded: fill_mask.fill_masks(loaded, [("The cat", " sleeps", " quietly.")])),
    "shared": (
        "masked",
        lambda loaded: shared_tokens.shared_token_log_likelihoods(loaded, [(TEXT, tiny_models.ENGLISH[1])]),
    ),
    "causal": ("causal", lambda loaded: causal_lm.token_log_likelihoods(loaded, [TEXT])),
}


def overflowing(folder: Path, task: str) -> LoadedModel:
    """A model in fp16 whose second layer exceeds the range of float16, not that of bfloat16."""
    folder = tiny_models.gpt2_byte_level(folder) if task == "causal" else tiny_models.bert(folder)
    loaded = load(str(folder), task, precision="fp16")  # type: ignore[arg-type]
    for path, weight in loaded.model.named_parameters():
        if path.endswith(("h.1.mlp.c_proj.weight", "layer.1.output.dense.weight")):
            weight.data.fill_(60_000)
    return loaded


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_overflow_in_half_precision_is_named_with_its_layer(name: str, tmp_path: Path) -> None:
    task, operation = OPERATIONS[name]
    loaded = overflowing(tmp_path / "model", task)
    with pytest.raises(ModelError, match=r"that are NaN or infinite in float16, first in \S+\.1\.\S+, .*bf16 or fp32"):
        operation(loaded)


def test_a_trial_says_it_before_it_says_reads_ahead(tmp_path: Path) -> None:
    loaded = overflowing(tmp_path / "model", "causal")
    for trial in (batching_of, reads_ahead):
        with pytest.raises(
            ModelError, match=r"^model \(GPT2LMHeadModel\) gives numbers that are NaN or infinite"
        ) as said:
            trial(loaded.model)
        assert str(tmp_path) not in str(said.value)


def test_nan_in_the_weights_of_float32(tmp_path: Path) -> None:
    loaded = load(str(tiny_models.bert(tmp_path / "bert")), "encode")
    next(iter(loaded.model.encoder.layer[0].parameters())).data[0] = torch.nan
    with pytest.raises(ModelError, match=r"in float32, first in encoder\.layer\.0\.attention\S+, .*copy or download"):
        sentence_vectors.sentence_vectors(loaded, [TEXT], layers=[2], pooling="mean")


def test_a_token_that_never_stands_may_have_no_probability(tmp_path: Path) -> None:
    loaded = load(str(tiny_models.gpt2_byte_level(tmp_path / "gpt2")), "causal")
    head = loaded.model.get_output_embeddings()
    head.register_forward_hook(lambda _module, _inputs, logits: logits.index_fill(-1, torch.tensor([3]), -torch.inf))  # type: ignore[union-attr]
    assert batching_of(loaded.model) == "any" and not reads_ahead(loaded.model)
