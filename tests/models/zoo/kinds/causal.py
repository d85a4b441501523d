"""Causal models, each with a tokenizer as its family publishes it."""

from __future__ import annotations

from typing import Any

from tests.models.zoo.specimens import ModelKind
from tests.models.zoo.tokenizer_files.byte_level import byte_level, end_of_word
from tests.models.zoo.tokenizer_files.published import Writer
from tests.models.zoo.tokenizer_files.sentence_pieces import byte_fallback, model_file, unigram
from tests.models.zoo.tokenizer_files.word_pieces import BERT, gpt_neox_japanese, word_piece

LENGTH = 256
SIZES: dict[str, Any] = {
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "max_position_embeddings": LENGTH,
}
GPT2_SIZES: dict[str, Any] = {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": LENGTH}

END = "<|endoftext|>"
GPT2 = byte_level("GPT2Tokenizer", last=[END], bos_token=END, eos_token=END, unk_token=END)
NEOX = byte_level("GPTNeoXTokenizer", first=[END, "<|padding|>"], bos_token=END, eos_token=END, unk_token=END)
OPT = byte_level(
    "GPT2Tokenizer",
    before="</s>",
    first=["<s>", "<pad>", "</s>", "<unk>"],
    bos_token="</s>",
    eos_token="</s>",
    pad_token="<pad>",
    unk_token="</s>",
)
LLAMA3 = byte_level(
    "PreTrainedTokenizerFast",
    before="<|begin_of_text|>",
    modern=True,
    bos_token="<|begin_of_text|>",
    last=["<|begin_of_text|>", "<|end_of_text|>"],
    eos_token="<|end_of_text|>",
)
QWEN = byte_level("Qwen2Tokenizer", modern=True, last=[END, "<|im_end|>"], eos_token="<|im_end|>", pad_token=END)
COHERE = byte_level(
    "CohereTokenizer",
    before="<BOS_TOKEN>",
    modern=True,
    first=["<PAD>", "<UNK>", "<BOS_TOKEN>", "<EOS>"],
    bos_token="<BOS_TOKEN>",
    eos_token="<EOS>",
    pad_token="<PAD>",
    unk_token="<UNK>",
)
GLM = byte_level(
    "PreTrainedTokenizerFast",
    before="[gMASK] <sop>",
    modern=True,
    last=[END, "[gMASK]", "<sop>"],
    eos_token=END,
    pad_token=END,
)
BLOOM = byte_level(
    "BloomTokenizer",
    first=["<unk>", "<s>", "</s>", "<pad>"],
    modern=True,
    bos_token="<s>",
    eos_token="</s>",
    pad_token="<pad>",
    unk_token="<unk>",
)
PLAIN = byte_level(
    "PreTrainedTokenizerFast", modern=True, last=[END, "<|pad|>"], bos_token=END, eos_token=END, pad_token="<|pad|>"
)
LLAMA2 = byte_fallback("LlamaTokenizer", "<unk> <s> </s>", bos_token="<s>", eos_token="</s>", unk_token="<unk>")
GEMMA = byte_fallback(
    "GemmaTokenizer",
    "<pad> <eos> <bos> <unk>",
    before="<bos>",
    prefix=False,
    bos_token="<bos>",
    eos_token="<eos>",
    unk_token="<unk>",
    pad_token="<pad>",
)
HELIUM = unigram(
    "PreTrainedTokenizerFast",
    "<unk> <s> </s> <pad>",
    before="<s>",
    bos_token="<s>",
    eos_token="</s>",
    unk_token="<unk>",
    pad_token="<pad>",
)
XGLM = unigram(
    "XGLMTokenizer",
    "<s> <pad> </s> <unk>",
    before="</s>",
    bos_token="<s>",
    eos_token="</s>",
    unk_token="<unk>",
    pad_token="<pad>",
    sep_token="</s>",
    cls_token="<s>",
)
BIOGPT = end_of_word(
    "PreTrainedTokenizerFast",
    before="</s>",
    first=["<s>", "<pad>", "</s>", "<unk>"],
    bos_token="<s>",
    eos_token="</s>",
    unk_token="<unk>",
    pad_token="<pad>",
    sep_token="</s>",
)


def causal(name: str, architecture: str, tokens: Writer, sizes: dict[str, Any] = SIZES, **more: Any) -> ModelKind:
    about = {name: more.pop(name) for name in ("changes_with_use", "layers") if name in more}
    return ModelKind(name, architecture, "causal", tokens, {**sizes, **more}, **about)


LONGROPE = {
    "rope_type": "longrope",
    "short_factor": [1.0, 1.1, 1.2, 1.3],
    "long_factor": [1.0, 2.0, 3.0, 4.0],
    "rope_theta": 10000.0,
}
NEOX_SIZES = {
    name: SIZES[name]
    for name in (
        "hidden_size",
        "intermediate_size",
        "num_hidden_layers",
        "num_attention_heads",
        "max_position_embeddings",
    )
}
OPT_SIZES = {
    "hidden_size": 32,
    "ffn_dim": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "max_position_embeddings": LENGTH,
}
EXPERTS = {"num_local_experts": 4, "num_experts_per_tok": 2}

OLDER = (
    causal("gpt2", "GPT2LMHeadModel", GPT2, GPT2_SIZES),
    causal(
        "gpt_neo",
        "GPTNeoForCausalLM",
        GPT2,
        {
            "hidden_size": 32,
            "num_layers": 2,
            "num_heads": 4,
            "attention_types": [[["global", "local"], 1]],
            "window_size": 16,
            "max_position_embeddings": LENGTH,
        },
    ),
    causal("gpt_neox", "GPTNeoXForCausalLM", NEOX, NEOX_SIZES),
    causal("gpt_neox_japanese", "GPTNeoXJapaneseForCausalLM", gpt_neox_japanese, NEOX_SIZES),
    causal("gptj", "GPTJForCausalLM", GPT2, GPT2_SIZES, rotary_dim=4),
    causal("gpt_bigcode", "GPTBigCodeForCausalLM", GPT2, GPT2_SIZES),
    causal(
        "codegen",
        "CodeGenForCausalLM",
        byte_level("CodeGenTokenizer", last=[END], bos_token=END, eos_token=END, unk_token=END),
        GPT2_SIZES,
        rotary_dim=4,
    ),
    causal("opt", "OPTForCausalLM", OPT, OPT_SIZES),
    causal(
        "opt with a projection",
        "OPTForCausalLM",
        OPT,
        OPT_SIZES,
        word_embed_proj_dim=16,
        do_layer_norm_before=False,
        layers=((0, 1), (2,)),
    ),
    causal("bloom", "BloomForCausalLM", BLOOM, {"hidden_size": 32, "n_layer": 2, "n_head": 4}),
    causal(
        "mpt",
        "MptForCausalLM",
        NEOX,
        {"d_model": 32, "n_layers": 2, "n_heads": 4, "max_seq_len": LENGTH, "expansion_ratio": 2},
    ),
    causal(
        "falcon",
        "FalconForCausalLM",
        PLAIN,
        {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "max_position_embeddings": LENGTH},
    ),
    causal(
        "falcon with alibi",
        "FalconForCausalLM",
        PLAIN,
        {
            "hidden_size": 32,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
            "alibi": True,
            "parallel_attn": False,
            "max_position_embeddings": LENGTH,
        },
    ),
    causal(
        "xglm",
        "XGLMForCausalLM",
        XGLM,
        {"d_model": 32, "ffn_dim": 64, "num_layers": 2, "attention_heads": 4, "max_position_embeddings": LENGTH},
    ),
    causal("biogpt", "BioGptForCausalLM", BIOGPT, NEOX_SIZES),
    causal("BERT as a decoder", "BertLMHeadModel", word_piece(), NEOX_SIZES, is_decoder=True),
    causal(
        "RoBERTa as a decoder",
        "RobertaForCausalLM",
        byte_level(
            "RobertaTokenizer",
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
        ),
        NEOX_SIZES,
        is_decoder=True,
    ),
    causal(
        "rinna GPT-2",
        "GPT2LMHeadModel",
        model_file(
            "T5Tokenizer",
            "spiece.model",
            after=["</s>"],
            settings={"pad_id": 3},
            config={"extra_ids": 0},
            bos_token="<s>",
            eos_token="</s>",
            unk_token="<unk>",
            pad_token="<pad>",
        ),
        GPT2_SIZES,
    ),
)
NEWER = (
    causal("llama 2", "LlamaForCausalLM", LLAMA2),
    causal(
        "llama 3",
        "LlamaForCausalLM",
        LLAMA3,
        rope_parameters={
            "rope_type": "llama3",
            "rope_theta": 500000.0,
            "factor": 8.0,
            "low_freq_factor": 1.0,
            "high_freq_factor": 4.0,
            "original_max_position_embeddings": 64,
        },
    ),
    causal(
        "llama with dynamic rope",
        "LlamaForCausalLM",
        LLAMA2,
        max_position_embeddings=40,
        rope_parameters={"rope_type": "dynamic", "rope_theta": 10000.0, "factor": 2.0},
        changes_with_use=True,
    ),
    causal(
        "sarashina",
        "LlamaForCausalLM",
        model_file(
            "LlamaTokenizer",
            "tokenizer.model",
            before=["<s>"],
            settings={"byte_fallback": True, "vocab_size": 600},
            config={"add_bos_token": True},
            bos_token="<s>",
            eos_token="</s>",
            unk_token="<unk>",
        ),
    ),
    causal("mistral", "MistralForCausalLM", LLAMA2, sliding_window=16),
    causal("mixtral", "MixtralForCausalLM", LLAMA2, **EXPERTS),
    causal("ministral3", "Ministral3ForCausalLM", LLAMA3),
    causal("qwen2", "Qwen2ForCausalLM", QWEN),
    causal("qwen3", "Qwen3ForCausalLM", QWEN, tie_word_embeddings=True),
    causal(
        "qwen3_moe",
        "Qwen3MoeForCausalLM",
        QWEN,
        num_experts=4,
        num_experts_per_tok=2,
        moe_intermediate_size=32,
        decoder_sparse_step=1,
    ),
    causal("gemma", "GemmaForCausalLM", GEMMA),
    causal("gemma2", "Gemma2ForCausalLM", GEMMA, sliding_window=16, query_pre_attn_scalar=8),
    causal(
        "gemma3_text",
        "Gemma3ForCausalLM",
        GEMMA,
        sliding_window=16,
        query_pre_attn_scalar=8,
        layer_types=["sliding_attention", "full_attention"],
    ),
    causal(
        "phi", "PhiForCausalLM", byte_level("CodeGenTokenizer", last=[END], bos_token=END, eos_token=END, unk_token=END)
    ),
    causal("phi3", "Phi3ForCausalLM", LLAMA2, pad_token_id=0),
    causal(
        "phi3 with longrope",
        "Phi3ForCausalLM",
        LLAMA2,
        pad_token_id=0,
        rope_parameters=LONGROPE,
        original_max_position_embeddings=40,
        changes_with_use=True,
    ),
    causal("olmo", "OlmoForCausalLM", NEOX),
    causal("olmo2", "Olmo2ForCausalLM", PLAIN),
    causal("olmo3", "Olmo3ForCausalLM", PLAIN, sliding_window=16, layer_types=["sliding_attention", "full_attention"]),
    causal("stablelm", "StableLmForCausalLM", NEOX, use_parallel_residual=True),
    causal("starcoder2", "Starcoder2ForCausalLM", GPT2),
    causal("cohere", "CohereForCausalLM", COHERE),
    causal(
        "cohere2", "Cohere2ForCausalLM", COHERE, sliding_window=16, layer_types=["sliding_attention", "full_attention"]
    ),
    causal("granite", "GraniteForCausalLM", GPT2, logits_scaling=2.0, residual_multiplier=0.5),
    causal("glm", "GlmForCausalLM", GLM),
    causal("glm4", "Glm4ForCausalLM", GLM),
    causal("nemotron", "NemotronForCausalLM", LLAMA2),
    causal("helium", "HeliumForCausalLM", HELIUM),
    causal("smollm3", "SmolLM3ForCausalLM", LLAMA3, no_rope_layers=[1, 0], pad_token_id=0),
    causal(
        "exaone4", "Exaone4ForCausalLM", LLAMA3, sliding_window=16, layer_types=["sliding_attention", "full_attention"]
    ),
    causal(
        "modernbert-decoder",
        "ModernBertDecoderForCausalLM",
        byte_level(
            "PreTrainedTokenizerFast",
            before="[CLS]",
            after="[SEP]",
            modern=True,
            last=["[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]"],
            **BERT,
            bos_token="[CLS]",
            eos_token="[SEP]",
        ),
        local_attention=16,
        layer_types=["full_attention", "sliding_attention"],
    ),
)
