"""Encoders, whose hidden states alone are evaluated, and text models in multimodal packaging."""

from __future__ import annotations

from typing import Any

from tests.models.zoo.kinds.causal import GEMMA, LENGTH, LLAMA2, LLAMA3, NEOX, NEOX_SIZES, QWEN, SIZES
from tests.models.zoo.kinds.masked import MODERNBERT_JA, ROBERTA_SIZES, fairseq_unigram, roberta
from tests.models.zoo.specimens import ModelKind
from tests.models.zoo.tokenizer_files.byte_level import byte_level
from tests.models.zoo.tokenizer_files.published import Writer
from tests.models.zoo.tokenizer_files.sentence_pieces import model_file, unigram
from tests.models.zoo.tokenizer_files.word_pieces import japanese, word_piece

T5_ROLES = {"eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}
T5 = unigram("T5Tokenizer", "<pad> </s> <unk>", after="</s>", **T5_ROLES)
T5_MODEL = model_file(
    "T5Tokenizer",
    "spiece.model",
    after=["</s>"],
    config={"extra_ids": 0},
    settings={"pad_id": 0, "eos_id": 1, "unk_id": 2, "bos_id": -1},
    **T5_ROLES,
)
XLNET = unigram(
    "XLNetTokenizer",
    "<unk> <s> </s> <cls> <sep> <pad> <mask>",
    after="<sep> <cls>",
    bos_token="<s>",
    eos_token="</s>",
    unk_token="<unk>",
    sep_token="<sep>",
    pad_token="<pad>",
    cls_token="<cls>",
    mask_token="<mask>",
)
BART = byte_level(
    "BartTokenizer",
    before="<s>",
    after="</s>",
    first=["<s>", "<pad>", "</s>", "<unk>", "<mask>"],
    bos_token="<s>",
    eos_token="</s>",
    cls_token="<s>",
    sep_token="</s>",
    pad_token="<pad>",
    unk_token="<unk>",
    mask_token="<mask>",
)
T5_SIZES = {"d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 2, "num_heads": 4, "decoder_start_token_id": 0}
BART_SIZES = {
    "d_model": 32,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 64,
    "decoder_ffn_dim": 64,
    "max_position_embeddings": LENGTH,
}


def encoder(
    name: str, architecture: str, tokens: Writer, sizes: dict[str, Any] = NEOX_SIZES, cls: int | None = 0, **more: Any
) -> ModelKind:
    return ModelKind(name, architecture, "encoder", tokens, {**sizes, **more}, cls=cls)


M2M = unigram(
    "PreTrainedTokenizerFast",
    "<s> <pad> </s> <unk> __ja__",
    before="__ja__",
    after="</s>",
    bos_token="<s>",
    eos_token="</s>",
    pad_token="<pad>",
    unk_token="<unk>",
)
T5GEMMA_PART = {**SIZES, "sliding_window": 16, "query_pre_attn_scalar": 8}
ENCODER_DECODERS = (
    encoder("switch transformers", "SwitchTransformersForConditionalGeneration", T5, T5_SIZES, None, num_experts=2),
    encoder("m2m_100", "M2M100ForConditionalGeneration", M2M, {**BART_SIZES, "decoder_start_token_id": 2}, None),
    encoder("marian", "MarianMTModel", T5, {**BART_SIZES, "decoder_start_token_id": 0}, None),
    encoder("blenderbot", "BlenderbotForConditionalGeneration", T5, {**BART_SIZES, "decoder_start_token_id": 0}, None),
    encoder(
        "led",
        "LEDForConditionalGeneration",
        BART,
        {**BART_SIZES, "max_encoder_position_embeddings": LENGTH, "max_decoder_position_embeddings": LENGTH},
        attention_window=8,
    ),
    encoder(
        "prophetnet",
        "ProphetNetForConditionalGeneration",
        word_piece(),
        {
            "hidden_size": 32,
            "encoder_ffn_dim": 64,
            "num_encoder_layers": 2,
            "num_encoder_attention_heads": 4,
            "decoder_ffn_dim": 64,
            "num_decoder_layers": 2,
            "num_decoder_attention_heads": 4,
            "max_position_embeddings": LENGTH,
            "decoder_start_token_id": 2,
        },
    ),
    encoder(
        "t5gemma",
        "T5GemmaForConditionalGeneration",
        GEMMA,
        {"encoder": T5GEMMA_PART, "decoder": T5GEMMA_PART},
        None,
    ),
)

ENCODERS = (
    encoder("t5", "T5ForConditionalGeneration", T5, T5_SIZES, None),
    encoder("t5 from its .model", "T5ForConditionalGeneration", T5_MODEL, T5_SIZES, None),
    encoder("mt5", "MT5ForConditionalGeneration", T5, T5_SIZES, None),
    encoder("umt5", "UMT5ForConditionalGeneration", T5, T5_SIZES, None),
    encoder("longt5", "LongT5ForConditionalGeneration", T5, T5_SIZES, None, local_radius=8),
    encoder("bart", "BartForConditionalGeneration", BART, BART_SIZES),
    encoder("mbart", "MBartForConditionalGeneration", fairseq_unigram("PreTrainedTokenizerFast"), BART_SIZES),
    encoder("pegasus", "PegasusForConditionalGeneration", T5, BART_SIZES, None),
    encoder("xlnet", "XLNetLMHeadModel", XLNET, {"d_model": 32, "n_layer": 2, "n_head": 4, "d_inner": 64}, -1),
    encoder("RoBERTa with a causal head, no decoder", "RobertaForCausalLM", roberta("RobertaTokenizer"), ROBERTA_SIZES),
    encoder("bert without a head", "BertModel", japanese("wordpiece")),
    encoder("bert of a classifier", "BertForSequenceClassification", word_piece()),
    encoder("electra's discriminator", "ElectraForPreTraining", word_piece("ElectraTokenizer"), embedding_size=16),
    encoder("xlm-roberta without a head", "XLMRobertaModel", fairseq_unigram("XLMRobertaTokenizer"), ROBERTA_SIZES),
    encoder(
        "modernbert-ja without a head",
        "ModernBertModel",
        MODERNBERT_JA,
        local_attention=16,
        global_attn_every_n_layers=2,
    ),
    encoder("qwen3 embedding", "Qwen3Model", QWEN, SIZES, None),
    encoder(
        "embedding gemma",
        "Gemma3TextModel",
        GEMMA,
        SIZES,
        sliding_window=16,
        query_pre_attn_scalar=8,
        use_bidirectional_attention=True,
        layer_types=["sliding_attention", "full_attention"],
    ),
    encoder("qwen3 in both directions", "Qwen3Model", QWEN, SIZES, None, is_causal=False),
    encoder("llama in both directions, with its head", "LlamaForCausalLM", LLAMA3, SIZES, is_causal=False),
    encoder("mistral in both directions", "MistralModel", LLAMA2, SIZES, is_causal=False, sliding_window=16),
    encoder("gemma2 in both directions", "Gemma2Model", GEMMA, SIZES, is_causal=False, sliding_window=16),
    encoder("gpt-neox in both directions", "GPTNeoXModel", NEOX, NEOX_SIZES, None, is_causal=False),
)

VISION = {
    "hidden_size": 16,
    "intermediate_size": 32,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "image_size": 28,
    "patch_size": 14,
}
QWEN_VISION = {
    "depth": 1,
    "hidden_size": 16,
    "intermediate_size": 32,
    "num_heads": 2,
    "out_hidden_size": 32,
    "num_position_embeddings": 16,
    "patch_size": 14,
}


def packaged(name: str, architecture: str, tokens: Writer, part: dict[str, Any], **more: Any) -> ModelKind:
    return ModelKind(name, architecture, "causal", tokens, more, part={**SIZES, **part})


PACKAGED = (
    packaged(
        "gemma3 with vision",
        "Gemma3ForConditionalGeneration",
        GEMMA,
        {"sliding_window": 16},
        vision_config=VISION,
        mm_tokens_per_image=4,
        image_token_index="image",
        boi_token_index="image",
        eoi_token_index="image",
    ),
    packaged(
        "mistral3",
        "Mistral3ForConditionalGeneration",
        LLAMA3,
        {"model_type": "mistral"},
        vision_config={"model_type": "pixtral", **VISION, "head_dim": 8},
        image_token_index="image",
    ),
    packaged(
        "llava",
        "LlavaForConditionalGeneration",
        LLAMA2,
        {"model_type": "llama"},
        vision_config={"model_type": "clip_vision_model", **VISION},
        image_token_index="image",
    ),
    packaged(
        "llama4",
        "Llama4ForConditionalGeneration",
        LLAMA3,
        {
            "intermediate_size_mlp": 64,
            "num_local_experts": 2,
            "num_experts_per_tok": 1,
            "interleave_moe_layer_step": 1,
            "attention_chunk_size": 16,
            "no_rope_layers": [1, 0],
        },
        vision_config={
            **VISION,
            "intermediate_size": 64,
            "vision_output_dim": 16,
            "projector_input_dim": 16,
            "projector_output_dim": 16,
        },
        image_token_index="image",
    ),
    packaged(
        "qwen3.5",
        "Qwen3_5ForConditionalGeneration",
        QWEN,
        {
            "linear_num_key_heads": 2,
            "linear_num_value_heads": 4,
            "linear_key_head_dim": 8,
            "linear_value_head_dim": 8,
            "layer_types": ["linear_attention", "full_attention"],
        },
        vision_config={**QWEN_VISION, "deepstack_visual_indexes": []},
        image_token_id="image",
    ),
    packaged(
        "qwen3_vl",
        "Qwen3VLForConditionalGeneration",
        QWEN,
        {"rope_parameters": {"rope_type": "default", "mrope_section": [1, 1, 2], "rope_theta": 1e4}},
        vision_config={**QWEN_VISION, "deepstack_visual_indexes": [0]},
        image_token_id="image",
    ),
)
