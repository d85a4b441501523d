"""Causal models with states, convolutions or experts beside attention, and others of a build of their own."""

from __future__ import annotations

from tests.models.zoo.kinds.causal import (
    GEMMA,
    GPT2,
    GPT2_SIZES,
    LENGTH,
    LLAMA2,
    LLAMA3,
    NEOX,
    NEOX_SIZES,
    PLAIN,
    QWEN,
    causal,
)
from tests.models.zoo.kinds.masked import XLM

CAPPED = {"layer_types": ["sliding_attention", "full_attention"], "sliding_window": 16}
STATES = {"hidden_size": 32, "num_hidden_layers": 2, "state_size": 8}

HYBRIDS = (
    causal("mamba", "MambaForCausalLM", NEOX, STATES, intermediate_size=64, time_step_rank=4),
    causal("mamba2", "Mamba2ForCausalLM", NEOX, STATES, num_heads=8, head_dim=8, n_groups=1, chunk_size=16),
    causal("lfm2", "Lfm2ForCausalLM", LLAMA3, layer_types=["conv", "full_attention"], conv_L_cache=3),
    causal("falcon_h1", "FalconH1ForCausalLM", LLAMA3, mamba_d_ssm=32, mamba_n_heads=4, mamba_d_head=8,
           mamba_d_state=8, mamba_n_groups=1, mamba_chunk_size=16),
    causal("bamba", "BambaForCausalLM", LLAMA3, mamba_n_heads=8, mamba_d_head=8, mamba_d_state=8, mamba_n_groups=1,
           mamba_chunk_size=16, attn_layer_indices=[1]),
    causal("jamba", "JambaForCausalLM", LLAMA2, attn_layer_period=2, attn_layer_offset=1, expert_layer_period=2,
           expert_layer_offset=1, num_experts=2, mamba_d_state=8, mamba_dt_rank=4, use_mamba_kernels=False,
           pad_token_id=0),
    causal("recurrent_gemma", "RecurrentGemmaForCausalLM", GEMMA, block_types=["recurrent", "attention"],
           attention_window_size=16, lru_width=32),
    causal("rwkv", "RwkvForCausalLM", NEOX, {"hidden_size": 32, "num_hidden_layers": 2, "attention_hidden_size": 32,
                                             "intermediate_size": 64, "context_length": LENGTH}),
    causal("qwen3_next", "Qwen3NextForCausalLM", QWEN, linear_num_key_heads=2, linear_num_value_heads=4,
           linear_key_head_dim=8, linear_value_head_dim=8, layer_types=["linear_attention", "full_attention"],
           num_experts=4, num_experts_per_tok=2, moe_intermediate_size=32, shared_expert_intermediate_size=32),
    causal("minimax", "MiniMaxForCausalLM", LLAMA3, layer_types=["linear_attention", "full_attention"], block_size=16,
           num_local_experts=2, num_experts_per_tok=1),
    causal("gpt_oss", "GptOssForCausalLM", PLAIN, num_local_experts=4, num_experts_per_tok=2, **CAPPED),
    causal("olmoe", "OlmoeForCausalLM", NEOX, num_experts=4, num_experts_per_tok=2),
    causal("deepseek_v3", "DeepseekV3ForCausalLM", LLAMA3, kv_lora_rank=16, q_lora_rank=16, qk_rope_head_dim=8,
           qk_nope_head_dim=8, v_head_dim=8, n_routed_experts=4, n_shared_experts=1, num_experts_per_tok=2, n_group=1,
           topk_group=1, moe_intermediate_size=32, first_k_dense_replace=1, num_key_value_heads=4),
    causal("phimoe", "PhimoeForCausalLM", LLAMA2, num_local_experts=4, num_experts_per_tok=2),
    causal("granitemoe", "GraniteMoeForCausalLM", GPT2, num_local_experts=4, num_experts_per_tok=2),
    causal("ernie4_5", "Ernie4_5ForCausalLM", LLAMA2),
    causal("hunyuan", "HunYuanDenseV1ForCausalLM", PLAIN),
    causal("persimmon", "PersimmonForCausalLM", LLAMA2, NEOX_SIZES),
    causal("openai-gpt", "OpenAIGPTLMHeadModel", GPT2, GPT2_SIZES),
    causal("ctrl", "CTRLLMHeadModel", GPT2, GPT2_SIZES, dff=64),
    causal("xlm as a decoder", "XLMWithLMHeadModel", XLM, {
        "emb_dim": 32, "n_layers": 2, "n_heads": 4, "max_position_embeddings": LENGTH, "causal": True, "n_langs": 1}),
    causal("gemma3n", "Gemma3nForCausalLM", GEMMA, **CAPPED, num_kv_shared_layers=0, laurel_rank=8,
           hidden_size_per_layer_input=8, altup_num_inputs=2, vocab_size_per_layer_input=420,
           activation_sparsity_pattern=[0.5, 0.0], layers=()),
    causal("gemma4_text", "Gemma4ForCausalLM", GEMMA, **CAPPED, num_kv_shared_layers=0, hidden_size_per_layer_input=0,
           global_head_dim=8),
    causal("apertus", "ApertusForCausalLM", LLAMA3),
    causal("seed_oss", "SeedOssForCausalLM", PLAIN),
    causal("arcee", "ArceeForCausalLM", LLAMA3),
    causal("diffllama", "DiffLlamaForCausalLM", LLAMA2),
    causal("nanochat", "NanoChatForCausalLM", PLAIN),
    causal("jetmoe", "JetMoeForCausalLM", LLAMA2, kv_channels=8, num_local_experts=2, num_experts_per_tok=1,
           activation_function="silu"),
    causal("dbrx", "DbrxForCausalLM", PLAIN, {"d_model": 32, "n_heads": 4, "n_layers": 2, "max_seq_len": LENGTH},
           ffn_config={"ffn_hidden_size": 64, "moe_num_experts": 2, "moe_top_k": 1},
           attn_config={"kv_n_heads": 2, "rope_theta": 10000.0, "clip_qkv": 8.0}),
)
