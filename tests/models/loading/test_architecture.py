"""What an architecture is asked, and text models in multimodal packaging."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from transformers import (
    BertConfig,
    Gemma3Config,
    Gemma3ForConditionalGeneration,
    LlavaConfig,
    LlavaForConditionalGeneration,
    Mistral3Config,
    Mistral3ForConditionalGeneration,
    PreTrainedConfig,
    PreTrainedTokenizerFast,
    RobertaConfig,
    T5Config,
    XLMConfig,
    XLNetConfig,
)

from engine.models.loading.architecture import architecture_of, kind_of
from engine.models.loading.weights import load
from tests.support import tiny_models

TEXT = {
    "vocab_size": 400,
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "max_position_embeddings": 64,
}
VISION = {
    "hidden_size": 16,
    "intermediate_size": 32,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "image_size": 28,
    "patch_size": 14,
}


@pytest.mark.parametrize(
    ("config", "kind"),
    [
        (XLNetConfig(architectures=["XLNetLMHeadModel"]), "encoder"),
        (RobertaConfig(architectures=["RobertaForCausalLM"]), "encoder"),
        (RobertaConfig(architectures=["RobertaForCausalLM"], is_decoder=True), "causal"),
        (BertConfig(architectures=["BertLMHeadModel"]), "encoder"),
        (XLMConfig(architectures=["XLMWithLMHeadModel"]), "masked"),
        (XLMConfig(architectures=["XLMWithLMHeadModel"], causal=True), "causal"),
        (T5Config(architectures=["T5ForConditionalGeneration"]), "encoder"),
    ],
)
def test_what_reads_in_both_directions_is_not_causal(config: PreTrainedConfig, kind: str) -> None:
    assert kind_of(config) == kind


def packaged(name: str) -> torch.nn.Module:
    torch.manual_seed(0)
    if name == "gemma3":
        return Gemma3ForConditionalGeneration(
            Gemma3Config(
                text_config={**TEXT, "sliding_window": 16},
                vision_config=VISION,
                mm_tokens_per_image=4,
                image_token_index=5,
                boi_token_index=6,
                eoi_token_index=7,
            )
        )
    if name == "mistral3":
        return Mistral3ForConditionalGeneration(
            Mistral3Config(
                text_config={"model_type": "mistral", **TEXT},
                image_token_index=5,
                vision_config={"model_type": "pixtral", **VISION, "head_dim": 8},
            )
        )
    return LlavaForConditionalGeneration(
        LlavaConfig(
            text_config={"model_type": "llama", **TEXT},
            image_token_index=5,
            vision_config={"model_type": "clip_vision_model", **VISION},
        )
    )


@pytest.mark.parametrize("name", ["gemma3", "mistral3", "llava"])
def test_the_text_part_of_a_packaged_model_gives_its_numbers(name: str, tmp_path: Path) -> None:
    model = packaged(name).eval()
    folder = tiny_models.gpt2_unigram(tmp_path / "tokenizer")
    tokenizer = PreTrainedTokenizerFast.from_pretrained(folder)
    model.save_pretrained(tmp_path / name)  # type: ignore[operator]
    tokenizer.save_pretrained(tmp_path / name)
    assert architecture_of(model.config).kind == "causal"  # type: ignore[arg-type]
    loaded = load(str(tmp_path / name), "causal")
    assert not any("vision" in key for key in loaded.model.state_dict())
    ids = torch.arange(10, 22)[None]
    with torch.inference_mode():
        expected = model(input_ids=ids, output_hidden_states=True)
        assert (loaded.model(input_ids=ids).logits - expected.logits).abs().max() <= 1e-5
        states = load(str(tmp_path / name), "encode").model(input_ids=ids).last_hidden_state
    assert (states - expected.hidden_states[-1]).abs().max() <= 1e-5
