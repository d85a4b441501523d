from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
import transformers
from transformers import PreTrainedModel

from engine.models.scoring import lm_head
from engine.models.scoring.lm_head import log_distributions_at, log_likelihoods_at, row_costs, target_log_likelihoods_at
from engine.models.sources.memory_budget import FEWEST_LOGITS

VOCABULARY = 40
SIZES = {
    "vocab_size": VOCABULARY,
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "max_position_embeddings": 32,
    "initializer_range": 0.5,
    "pad_token_id": 0,
}


def model(name: str, **settings: Any) -> PreTrainedModel:
    """A random model of a class of transformers'."""
    kind = getattr(transformers, name)
    torch.manual_seed(0)
    return kind(kind.config_class(**SIZES, **settings)).eval()


def batch() -> tuple[dict[str, torch.Tensor], torch.Tensor, torch.Tensor, torch.Tensor]:
    ids = torch.randint(5, VOCABULARY, (3, 7), generator=torch.manual_seed(1))
    inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    return inputs, torch.tensor([0, 0, 1, 2]), torch.tensor([1, 4, 6, 3]), torch.tensor([7, 8, 9, 10])


# Heads of every make: one module, two, four; a bias of its own; a scaled and a capped output.
@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("BertForMaskedLM", {}),
        ("RobertaForMaskedLM", {}),
        ("DistilBertForMaskedLM", {}),
        ("ElectraForMaskedLM", {}),
        ("AlbertForMaskedLM", {}),
        ("DebertaV2ForMaskedLM", {}),
        ("ModernBertForMaskedLM", {}),
        ("GPT2LMHeadModel", {}),
        ("LlamaForCausalLM", {}),
        ("GPTNeoXForCausalLM", {}),
        ("OPTForCausalLM", {}),
        ("Gemma2ForCausalLM", {"head_dim": 8, "num_key_value_heads": 2, "final_logit_softcapping": 3.0}),
        ("GraniteForCausalLM", {"logits_scaling": 4.0}),
    ],
)
@torch.inference_mode()
def test_picked_positions_equal_the_whole_pass(name: str, settings: dict[str, Any]) -> None:
    language_model = model(name, **settings)
    inputs, rows, columns, targets = batch()
    assert lm_head._body_of(language_model) is not None
    found = log_likelihoods_at(language_model, inputs, rows, columns, targets)
    logits = language_model(**inputs).logits[rows, columns]
    expected = torch.log_softmax(logits, dim=-1)[torch.arange(4), targets]
    # float32 sums in another order
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)
    # and the model is as it was
    torch.testing.assert_close(language_model(**inputs).logits[rows, columns], logits)


class Neighbourly(transformers.BertForMaskedLM):
    """A head that looks at the position before, so that it must not be run at picked positions."""

    def forward(self, *arguments: Any, **settings: Any) -> Any:
        output = super().forward(*arguments, **settings)
        output.logits = output.logits + output.logits.roll(1, dims=1)
        return output


@torch.inference_mode()
def test_a_head_that_mixes_positions_gets_the_whole_pass() -> None:
    torch.manual_seed(0)
    language_model = Neighbourly(transformers.BertConfig(**SIZES)).eval()
    inputs, rows, columns, targets = batch()
    assert lm_head._body_of(language_model) is None
    expected = torch.log_softmax(language_model(**inputs).logits, dim=-1)[rows, columns, targets]
    torch.testing.assert_close(log_likelihoods_at(language_model, inputs, rows, columns, targets), expected)


@pytest.mark.parametrize("cached", [1, 2 * VOCABULARY, 2**19])
@torch.inference_mode()
def test_followers_of_shared_positions_whatever_the_step(cached: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lm_head, "CPU_CACHED_LOGITS", cached)
    language_model = model("GPT2LMHeadModel")
    inputs, rows, columns, _ = batch()
    which, targets = torch.tensor([3, 0, 0, 2, 1, 3]), torch.tensor([5, 6, 7, 8, 9, 5])
    expected = log_distributions_at(language_model, inputs, rows, columns)[which, targets]
    computed = target_log_likelihoods_at(language_model, inputs, rows, columns, which, targets)
    torch.testing.assert_close(computed, expected)
    nothing = torch.zeros(0, dtype=torch.int64)
    assert target_log_likelihoods_at(language_model, inputs, nothing, nothing, nothing, nothing).shape == (0,)


@pytest.mark.parametrize("piece", [1, 3 * VOCABULARY, 2**27])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_log_softmax_of_targets_alone(piece: int, dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch) -> None:
    """What devices other than a processor compute."""
    monkeypatch.setattr(lm_head, "DEVICE_LOGITS", piece)
    logits = (100 * torch.randn(7, VOCABULARY, generator=torch.manual_seed(2)) - 60).to(dtype)
    which, targets = torch.tensor([3, 0, 0, 6, 1, 3]), torch.tensor([5, 6, 7, 8, 9, 5])
    expected = torch.log_softmax(logits.float(), dim=-1)[which, targets]
    torch.testing.assert_close(lm_head._picked_log_softmax(logits, which, targets), expected, rtol=1e-6, atol=1e-6)


def test_only_the_picked_positions_reach_the_head() -> None:
    language_model = model("BertForMaskedLM")
    lm_head._body_of(language_model)
    seen: list[torch.Size] = []
    language_model.cls.register_forward_pre_hook(lambda _, arguments: seen.append(arguments[0].shape))
    log_likelihoods_at(language_model, *batch())
    assert seen == [(1, 4, 16)]  # 4 positions, not 3 x 7


def test_the_try_is_made_once() -> None:
    language_model = model("BertForMaskedLM")
    passes: list[int] = []
    language_model.register_forward_hook(lambda *_: passes.append(1))
    assert lm_head._body_of(language_model) is lm_head._body_of(language_model) is language_model.bert
    assert len(passes) == 2  # one whole, one picked


def test_the_softmax_is_float32_in_a_model_of_halves() -> None:
    language_model = model("BertForMaskedLM").to(torch.bfloat16)
    assert lm_head._body_of(language_model) is not None
    assert log_likelihoods_at(language_model, *batch()).dtype == torch.float32


@pytest.mark.parametrize("most", [40, 100, 160, 10_000])  # one position at a time, two, all four, more than there are
@torch.inference_mode()
def test_logits_in_parts_are_those_of_all_positions(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    language_model = model("BertForMaskedLM")
    inputs, rows, columns, targets = batch()
    position_of_target = torch.tensor([3, 0, 0, 2, 1, 3])
    further = targets[position_of_target].roll(1)
    expected = target_log_likelihoods_at(language_model, inputs, rows, columns, position_of_target, further)
    written: list[int] = []
    language_model.cls.register_forward_hook(lambda _module, _arguments, output: written.append(output.shape[-2]))
    monkeypatch.setattr(lm_head, "MAX_LOGITS", most)
    parts = target_log_likelihoods_at(language_model, inputs, rows, columns, position_of_target, further)
    torch.testing.assert_close(parts, expected, rtol=1e-5, atol=1e-6)
    assert sum(written) == 4 and max(written) * 40 <= max(most, 40)


def test_a_card_has_room_for_as_many_logits_as_its_free_memory_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    class OnCard(torch.nn.Module):
        device = torch.device("cuda", 0)

        def get_output_embeddings(self) -> None:
            return None

    # A quarter of the free memory, 8 bytes for a logit and its share of the softmax.
    for free, expected in ((64 * 2**30, lm_head.MAX_LOGITS), (4 * 2**30, 2**27), (2**20, FEWEST_LOGITS)):
        monkeypatch.setattr(lm_head, "free_memory", lambda device, free=free: free)
        card = OnCard()
        assert lm_head.logits_at_once(card) == expected  # type: ignore[arg-type]
        monkeypatch.setattr(lm_head, "free_memory", lambda device: 0)
        assert lm_head.logits_at_once(card) == expected  # type: ignore[arg-type]  # measured once


def test_row_costs_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    # A batch may write 400 logits: 10 rows of 40. Of a budget of 100 tokens one row of logits takes 100 / 10 = 10.
    monkeypatch.setattr(lm_head, "MAX_LOGITS", 400)
    language_model = model("BertForMaskedLM")
    np.testing.assert_array_equal(row_costs(language_model, [3, 5], [1, 5], 100), [3 + 10, 5 + 50])
    monkeypatch.setitem(lm_head._bodies, language_model, None)
    np.testing.assert_array_equal(row_costs(language_model, [3, 5], [1, 5], 100), [3 + 30, 5 + 50])
