from __future__ import annotations

from typing import Any

import pytest
import torch
import transformers
from transformers import PreTrainedModel

from engine.models.scoring.batching import autocast
from engine.models.scoring.vocabulary_projection import _tensor_cores

CPU = torch.device("cpu")
VOCABULARY, OFFSET = 300, -100.0
SIZES = {"vocab_size": VOCABULARY, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2,
         "intermediate_size": 64, "max_position_embeddings": 32, "initializer_range": 0.1, "pad_token_id": 0}
IDS = torch.arange(40).reshape(4, 10)


def model(name: str, **settings: Any) -> PreTrainedModel:
    kind = getattr(transformers, name)
    torch.manual_seed(0)
    return kind(kind.config_class(**SIZES, **settings)).eval()


def far_from_zero() -> PreTrainedModel:
    """A GPT-2 whose logits all lie 100 lower, as those of the published ones do; the softmax does not see it."""
    found = model("GPT2LMHeadModel", tie_word_embeddings=False)
    with torch.no_grad():
        found.transformer.ln_f.weight[0], found.transformer.ln_f.bias[0] = 0.0, 1.0
        found.lm_head.weight[:, 0] += OFFSET
    return found


@torch.inference_mode()
def log_likelihoods(language_model: PreTrainedModel) -> torch.Tensor:
    return torch.log_softmax(language_model(input_ids=IDS).logits.float(), dim=-1)


@pytest.mark.parametrize("precision", ["bf16", "fp16"])
def test_logits_far_from_zero_keep_their_differences(precision: str) -> None:
    language_model = far_from_zero()
    expected = log_likelihoods(language_model)
    with torch.inference_mode():
        assert -110 < float(language_model(input_ids=IDS).logits.mean()) < -90
        with autocast(CPU, precision, language_model):
            kept = (log_likelihoods(language_model) - expected).abs().max()
        with autocast(CPU, precision):
            rounded = (log_likelihoods(language_model) - expected).abs().max()
    # Numbers from 64 to 128 are half a nat apart in bfloat16, a sixteenth in float16.
    assert rounded > {"bf16": 0.2, "fp16": 0.025}[precision]
    assert kept < rounded / 5
    # and in float32 all is as it was
    torch.testing.assert_close(log_likelihoods(language_model), expected, rtol=0, atol=0)


@pytest.mark.parametrize(("name", "settings"), [
    ("BertForMaskedLM", {}), ("RobertaForMaskedLM", {}), ("DistilBertForMaskedLM", {}), ("LlamaForCausalLM", {}),
    ("GPTNeoXForCausalLM", {}), ("OPTForCausalLM", {}), ("GraniteForCausalLM", {"logits_scaling": 4.0}),
    ("Gemma2ForCausalLM", {"head_dim": 16, "num_key_value_heads": 2, "final_logit_softcapping": 3.0}),
])
def test_heads_of_every_make_write_float32(name: str, settings: dict[str, Any]) -> None:
    language_model = model(name, **settings)
    with torch.inference_mode(), autocast(CPU, "bf16", language_model):
        logits = language_model(input_ids=IDS).logits
    assert logits.dtype == torch.float32
    assert "forward" not in vars(language_model.get_output_embeddings())
    torch.testing.assert_close(logits, language_model(input_ids=IDS).logits, rtol=0.05, atol=0.05)


def test_an_encoder_has_no_logits_and_works_in_halves() -> None:
    encoder = model("BertModel")
    with torch.inference_mode(), autocast(CPU, "bf16", encoder):
        encoder(input_ids=IDS)


def test_a_failed_pass_leaves_the_head_as_it_was() -> None:
    language_model = model("GPT2LMHeadModel")
    with pytest.raises(IndexError), torch.inference_mode(), autocast(CPU, "bf16", language_model):
        language_model(input_ids=IDS + VOCABULARY)
    assert "forward" not in vars(language_model.lm_head)


def test_the_precision_of_products_is_put_back() -> None:
    before = torch.get_float32_matmul_precision()
    with pytest.raises(ZeroDivisionError), _tensor_cores():
        assert torch.get_float32_matmul_precision() == "high"
        raise ZeroDivisionError
    assert torch.get_float32_matmul_precision() == before
