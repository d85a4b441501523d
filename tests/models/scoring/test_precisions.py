"""Every precision against fp32, for every operation on a loaded model, on the CPU.

Tolerances: bfloat16 keeps 8 bits of a number, float16 11; each is through two or three layers of random weights, which
magnify rounding more than trained ones. Of the built-in models, which are trained, the error of a log-likelihood is
stated in nats.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from engine.models.loading.weights import LoadedModel, load
from engine.models.scoring import causal_lm, encoder, fill_mask, masked_lm, sentence_vectors, shared_tokens
from tests.support import tiny_models
from tests.support.precisions import in_precision

TEXTS = [*tiny_models.ENGLISH[:4], "the cat"]
PAIRS = [(TEXTS[0], TEXTS[1]), (TEXTS[2], TEXTS[3])]
BITS = {"bf16": 8, "fp16": 11}
DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, LoadedModel]:
    folder = tmp_path_factory.mktemp("models")
    bert, gpt2 = str(tiny_models.bert(folder / "bert")), str(tiny_models.gpt2_byte_level(folder / "gpt2"))
    return {"encoder": load(bert, "encode"), "masked": load(bert, "masked"), "causal": load(gpt2, "causal")}


def concatenated(pieces: list[dict[str, Any]], name: str) -> np.ndarray:
    assert all(piece[name].dtype == np.float32 for piece in pieces)  # whatever it was computed in
    return np.concatenate([piece[name].ravel() for piece in pieces])


# What is asked, of which model, and its numbers; the scale of a number is about 1 to 10.
OPERATIONS: dict[str, tuple[str, Callable[[LoadedModel], np.ndarray]]] = {
    "CLS vectors": (
        "encoder",
        lambda loaded: concatenated(sentence_vectors.sentence_vectors(loaded, TEXTS, layers=[0, 1, 2]), "vectors"),
    ),
    "mean vectors": (
        "encoder",
        lambda loaded: concatenated(
            sentence_vectors.sentence_vectors(loaded, TEXTS, layers=[2], pooling="mean"), "vectors"
        ),
    ),
    "similarities": (
        "encoder",
        lambda loaded: concatenated(encoder.token_similarities(loaded, PAIRS, layers=[1, 2]), "similarity"),
    ),
    "pll-original": (
        "masked",
        lambda loaded: concatenated(
            masked_lm.token_log_likelihoods(loaded, TEXTS, scoring="pll-original"), "log_likelihoods"
        ),
    ),
    "pll-word-l2r": (
        "masked",
        lambda loaded: concatenated(
            masked_lm.token_log_likelihoods(loaded, TEXTS, scoring="pll-word-l2r"), "log_likelihoods"
        ),
    ),
    "shared tokens": (
        "masked",
        lambda loaded: concatenated(
            shared_tokens.shared_token_log_likelihoods(loaded, [("the cat sleeps", "the dog sleeps")]),
            "first_log_likelihoods",
        ),
    ),
    "filled masks": (
        "masked",
        lambda loaded: concatenated(fill_mask.fill_masks(loaded, [("the ", "cat", " sleeps")]), "log_likelihoods"),
    ),
    "causal": (
        "causal",
        lambda loaded: concatenated(causal_lm.token_log_likelihoods(loaded, TEXTS), "log_likelihoods"),
    ),
}


@pytest.mark.parametrize("half", ["bf16", "fp16"])
@pytest.mark.parametrize("operation", OPERATIONS)
def test_each_operation_in_half_precision_is_near_fp32(
    models: dict[str, LoadedModel], operation: str, half: str
) -> None:
    model, ask = OPERATIONS[operation]
    expected, numbers = ask(models[model]), ask(in_precision(models[model], half))
    scale = np.abs(expected).max()
    error = np.abs(numbers - expected)
    # Rounded at some twenty places of two layers, which add up like a random walk, here magnified by random weights.
    assert error.max() <= 12 * scale * 2.0 ** -BITS[half]
    assert error.max() > 0


@pytest.mark.parametrize("operation", OPERATIONS)
def test_tf32_is_fp32_where_there_are_no_tensor_cores(models: dict[str, LoadedModel], operation: str) -> None:
    model, ask = OPERATIONS[operation]
    again = load(
        models[model].facts.name,
        "encode" if model == "encoder" else model,  # type: ignore[arg-type]
        precision="tf32",
    )
    assert again.precision == "fp32"
    np.testing.assert_array_equal(ask(again), ask(models[model]))


@pytest.mark.parametrize("precision", ["fp32", "bf16", "fp16"])
def test_weights_have_the_data_type_that_is_computed_in(models: dict[str, LoadedModel], precision: str) -> None:
    for loaded in models.values():
        again = in_precision(loaded, precision)
        assert {weight.dtype for weight in again.model.parameters()} == {DTYPES[precision]}
        assert again.precision == precision


def test_no_pass_rounds_a_weight_again(models: dict[str, LoadedModel]) -> None:
    """Weights keep their storage and their numbers, and none is copied to the type that it has already."""
    loaded = in_precision(models["encoder"], "bf16")
    before = {name: (weight.data_ptr(), weight.clone()) for name, weight in loaded.model.named_parameters()}
    sentence_vectors.sentence_vectors(loaded, TEXTS, layers=[2])  # tries of the model, once
    copies: list[tuple[Any, ...]] = []

    class Copies(torch.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, function: Any, types: Any, arguments: Any = (), settings: Any = None) -> Any:
            if function in (torch.ops.aten._to_copy.default, torch.ops.aten.copy_.default):
                copies.append(tuple(arguments[0].shape))
            return function(*arguments, **(settings or {}))

    with Copies():
        sentence_vectors.sentence_vectors(loaded, TEXTS, layers=[2])
    shapes = {tuple(weight.shape) for weight in loaded.model.parameters() if weight.dim() == 2}
    assert not shapes & set(copies)
    for name, weight in loaded.model.named_parameters():
        assert weight.data_ptr() == before[name][0] and torch.equal(weight, before[name][1])


@pytest.mark.parametrize(
    ("name", "task", "of_sum"), [("builtin/gpt2-mini-ja", "causal", 0.05), ("builtin/bert-mini-ja", "masked", 0.05)]
)
def test_a_trained_model_in_bf16_is_off_by_hundredths_of_a_nat(name: str, task: Any, of_sum: float) -> None:
    texts = ["昨日、図書館で小説を読んだ。", "母は台所で魚を焼いている。", "この映画はとても面白かった。"]
    sums = []
    for precision in ("fp32", "bf16"):
        loaded = load(name, task, precision=precision)
        pieces = (
            causal_lm.token_log_likelihoods(loaded, texts)
            if task == "causal"
            else masked_lm.token_log_likelihoods(loaded, texts, scoring="pll-word-l2r")
        )
        sums.append([piece["log_likelihoods"].sum() / np.sqrt(len(piece["ids"])) for piece in pieces])
    # nats per square root of a token, as exact decisions measure it
    assert 0 < np.abs(np.subtract(*sums)).max() < of_sum
