"""The budget of published models, from their published configurations, and what is said where it is exceeded."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from transformers import (
    AutoModelForCausalLM,
    AutoModelForMaskedLM,
    BertConfig,
    LlamaConfig,
    PreTrainedModel,
    Qwen2Config,
)

from engine.errors import ModelError
from engine.models.loading.placement import device_map, require_room
from engine.models.sources.facts import ModelFacts
from engine.models.sources.memory_budget import budget_of
from tests.support.session_fake import facts

GB, GIB = 10**9, 2**30
# The sizes in config.json of the published models, and the parameters that their model cards state, in billions.
LLAMA = {"vocab_size": 128256, "num_key_value_heads": 8, "tie_word_embeddings": False}
PUBLISHED: dict[str, tuple[Any, float]] = {
    "8B (Llama 3.1)": (
        LlamaConfig(hidden_size=4096, intermediate_size=14336, num_hidden_layers=32, num_attention_heads=32, **LLAMA),
        8.03,
    ),
    "70B (Llama 3.1)": (
        LlamaConfig(hidden_size=8192, intermediate_size=28672, num_hidden_layers=80, num_attention_heads=64, **LLAMA),
        70.6,
    ),
    "7B (Qwen 2.5)": (
        Qwen2Config(
            vocab_size=152064,
            hidden_size=3584,
            intermediate_size=18944,
            num_hidden_layers=28,
            num_attention_heads=28,
            num_key_value_heads=4,
            tie_word_embeddings=False,
        ),
        7.62,
    ),
    "BERT base": (BertConfig(), 0.11),
}


def skeleton(name: str) -> PreTrainedModel:
    config = PUBLISHED[name][0]
    kind = AutoModelForMaskedLM if config.model_type == "bert" else AutoModelForCausalLM
    with torch.device("meta"):
        model: PreTrainedModel = kind.from_config(config, dtype=torch.bfloat16)
    return model


def facts_of(name: str, device: str = "cuda:0") -> ModelFacts:
    config, model = PUBLISHED[name][0], skeleton(name)
    kind = "masked" if config.model_type == "bert" else "causal"
    return replace(
        facts(name, kind),
        n_parameters=int(model.num_parameters()),
        hidden_size=config.hidden_size,
        vocab_size=config.vocab_size,
        device=device,
    )


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_weights_are_those_that_the_model_card_states(name: str) -> None:
    described = facts_of(name)
    assert described.n_parameters / GB == pytest.approx(PUBLISHED[name][1], rel=0.01)
    for precision, size in (("fp32", 4), ("tf32", 4), ("bf16", 2), ("fp16", 2)):
        assert budget_of(described, precision).weights == size * described.n_parameters


def test_8b_in_bf16_by_hand() -> None:
    budget = budget_of(facts_of("8B (Llama 3.1)"), "bf16")
    assert budget.weights == 2 * 8_030_261_248
    assert budget.activations == 512 * 4096 * 16 * 4  # tokens, dimensions, numbers for each, bytes
    # 512 positions of 128,256 logits, no more than 2^26, with their softmax; 2^25 numbers of the output matrix
    assert budget.logits == min(2**26, 512 * 128_256) * 8 + 2**25 * 4
    assert budget.total == budget.weights + budget.activations + budget.logits + budget.runtime
    assert budget.total < 18 * GB
    require_room(facts_of("8B (Llama 3.1)"), "bf16", {"cuda:0": 18 * GB})


def test_logits_of_a_large_vocabulary_are_bounded() -> None:
    described = facts_of("7B (Qwen 2.5)")
    most = budget_of(replace(described, vocab_size=10**9), "bf16").logits
    assert budget_of(described, "bf16").logits == most == 2**26 * 8 + 2**25 * 4
    assert budget_of(replace(described, kind="encoder"), "bf16").logits == 0


def test_a_processor_has_no_runtime_of_a_gpu() -> None:
    on_cpu, on_card = (budget_of(facts_of("BERT base", device), "fp32") for device in ("cpu", "cuda"))
    assert on_cpu.runtime == 0 < on_card.runtime


@pytest.mark.parametrize(
    ("name", "precision", "free", "advice"),
    [
        ("8B (Llama 3.1)", "fp32", {"cuda:0": 24 * GIB}, r"In bf16 it takes 16\.3 GiB, and fits \(--precision bf16\)"),
        (
            "8B (Llama 3.1)",
            "bf16",
            {"cuda:0": 12 * GIB},
            r"Over 2 such cards it would fit: HAKARI_DEVICES=cuda:0\+cuda:1",
        ),
        (
            "70B (Llama 3.1)",
            "bf16",
            {"cuda:0": 80 * GB},
            r"Over 2 such cards it would fit: HAKARI_DEVICES=cuda:0\+cuda:1",
        ),
        ("70B (Llama 3.1)", "fp32", {"cuda:0": 80 * GB, "cuda:1": 80 * GB}, r"In bf16 it takes 132\.9 GiB, and fits"),
        ("70B (Llama 3.1)", "bf16", {"cpu": 64 * GIB}, r"never moved out .* choose a smaller model"),
    ],
)
def test_what_does_not_fit_is_refused_with_what_would_do(
    name: str, precision: str, free: dict[str, int], advice: str
) -> None:
    described = facts_of(name, "+".join(free))
    with pytest.raises(ModelError, match=rf"{name[:3]}.* does not fit into the free memory \(.*: it takes .*{advice}"):
        require_room(described, precision, free)


def test_the_advice_is_right() -> None:
    """The number of cards and the precision that are named would do."""
    described = facts_of("70B (Llama 3.1)")
    with pytest.raises(ModelError) as refusal:
        require_room(described, "bf16", {"cuda:0": 24 * GIB})
    names = str(refusal.value).partition("HAKARI_DEVICES=")[2].partition(".")[0].split("+")
    require_room(described, "bf16", dict.fromkeys(names, 24 * GIB))
    with pytest.raises(ModelError):
        require_room(described, "bf16", dict.fromkeys(names[1:], 24 * GIB))


def bytes_by_device(model: PreTrainedModel, placed: dict[str, Any]) -> dict[Any, int]:
    taken: dict[Any, int] = {}
    for name, weight in model.named_parameters():
        device = next(
            placed[part]
            for part in sorted(placed, key=len, reverse=True)
            if name == part or name.startswith(f"{part}.") or not part
        )
        taken[device] = taken.get(device, 0) + weight.numel() * weight.element_size()
    return taken


def test_70b_in_bf16_is_dealt_out_over_two_cards_of_80() -> None:
    described, model = facts_of("70B (Llama 3.1)", "cuda:0+cuda:1"), skeleton("70B (Llama 3.1)")
    free = {"cuda:0": 80 * GB, "cuda:1": 80 * GB}
    budget = require_room(described, "bf16", free)
    taken = bytes_by_device(model, device_map(described, model, budget, free))
    assert set(taken) == {0, 1} and sum(taken.values()) == budget.weights
    for n_bytes in taken.values():
        assert n_bytes + budget.working < 80 * GB
        assert abs(n_bytes - budget.weights / 2) < 2 * GB  # a layer


def test_a_layer_that_no_card_has_room_for_is_not_moved_out() -> None:
    """The sum of the rooms would do, but no layer is divided: refused, where accelerate would offload."""
    described, model = facts_of("8B (Llama 3.1)", "cuda:0+cuda:1"), skeleton("8B (Llama 3.1)")
    budget = budget_of(described, "bf16")
    free = {"cuda:0": budget.working + budget.weights - GB // 10, "cuda:1": budget.working + GB // 10}
    require_room(described, "bf16", free)
    with pytest.raises(ModelError, match=r"does not fit into the free memory .* never moved out"):
        device_map(described, model, budget, free)


def test_one_device_has_all() -> None:
    described, model = facts_of("BERT base"), skeleton("BERT base")
    budget = budget_of(described, "bf16")
    assert device_map(described, model, budget, {"cuda:1": GIB}) == {"": torch.device("cuda:1")}
