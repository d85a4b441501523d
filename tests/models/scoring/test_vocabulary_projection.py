from __future__ import annotations

from typing import Any

import pytest
import torch
import transformers
from transformers import PreTrainedModel

from engine.models.scoring import vocabulary_projection
from engine.models.scoring.vocabulary_projection import project, projecting_in_float32, tensor_cores

DTYPES = {"bf16": torch.bfloat16, "fp16": torch.float16}
VOCABULARY, OFFSET = 300, -100.0
SIZES = {
    "vocab_size": VOCABULARY,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 64,
    "max_position_embeddings": 32,
    "initializer_range": 0.1,
    "pad_token_id": 0,
}
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
        found.lm_head.weight[:, 0] = OFFSET  # which bfloat16 has exactly
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
        in_half = far_from_zero().to(DTYPES[precision])
        with projecting_in_float32(in_half):
            kept = (log_likelihoods(in_half) - expected).abs().max()
        rounded = (log_likelihoods(in_half) - expected).abs().max()
    # Numbers from 64 to 128 are half a nat apart in bfloat16, a sixteenth in float16.
    assert rounded > {"bf16": 0.2, "fp16": 0.025}[precision]
    assert kept < rounded / 5


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("BertForMaskedLM", {}),
        ("RobertaForMaskedLM", {}),
        ("DistilBertForMaskedLM", {}),
        ("LlamaForCausalLM", {}),
        ("GPTNeoXForCausalLM", {}),
        ("OPTForCausalLM", {}),
        ("GraniteForCausalLM", {"logits_scaling": 4.0}),
        ("Gemma2ForCausalLM", {"head_dim": 16, "num_key_value_heads": 2, "final_logit_softcapping": 3.0}),
    ],
)
def test_heads_of_every_make_write_float32(name: str, settings: dict[str, Any]) -> None:
    language_model = model(name, **settings)
    in_half = model(name, **settings).to(torch.bfloat16)
    with torch.inference_mode(), projecting_in_float32(in_half):
        logits = in_half(input_ids=IDS).logits
    assert logits.dtype == torch.float32
    assert "forward" not in vars(in_half.get_output_embeddings())
    torch.testing.assert_close(logits, language_model(input_ids=IDS).logits, rtol=0.05, atol=0.05)


def test_an_encoder_has_no_logits_and_works_in_halves() -> None:
    encoder = model("BertModel").to(torch.bfloat16)
    with torch.inference_mode(), projecting_in_float32(encoder):
        assert encoder(input_ids=IDS).last_hidden_state.dtype == torch.bfloat16


def test_a_failed_pass_leaves_the_head_as_it_was() -> None:
    language_model = model("GPT2LMHeadModel").to(torch.bfloat16)
    with pytest.raises(IndexError), torch.inference_mode(), projecting_in_float32(language_model):
        language_model(input_ids=IDS + VOCABULARY)
    assert "forward" not in vars(language_model.lm_head)


def test_the_precision_of_products_is_put_back() -> None:
    before = torch.get_float32_matmul_precision()
    with pytest.raises(ZeroDivisionError), tensor_cores():
        assert torch.get_float32_matmul_precision() == "high"
        raise ZeroDivisionError
    assert torch.get_float32_matmul_precision() == before


@pytest.mark.parametrize("with_bias", [True, False])
@pytest.mark.parametrize("piece", [1, 32 * 7, 32 * 300, 2**25])  # one row, 7 of 300, all of them, more than there are
def test_pieces_of_the_vocabulary_are_the_whole(monkeypatch: pytest.MonkeyPatch, piece: int, with_bias: bool) -> None:
    torch.manual_seed(0)
    weight, hidden = torch.randn(300, 32).to(torch.bfloat16), torch.randn(2, 5, 32).to(torch.bfloat16)
    bias = torch.randn(300).to(torch.bfloat16) if with_bias else None
    expected = hidden.double() @ weight.double().T + (0 if bias is None else bias.double())
    monkeypatch.setattr(vocabulary_projection, "PIECE_NUMBERS", piece)
    logits = project(hidden, weight, bias)
    assert logits.dtype == torch.float32 and logits.shape == (2, 5, 300)
    torch.testing.assert_close(logits.double(), expected, rtol=1e-5, atol=1e-5)  # the order of float32 sums
