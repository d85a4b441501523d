"""config.json from the header of a GGUF file, for the architectures whose numbers were proved the same. No torch.

What the header says of a model is written out in full, because a default of transformers is that of one published model.
A field that is not known here could change the numbers, so a file with one is refused unless the config.json of the
original lies beside it. Sources: the format's description of its fields, and the configuration classes of transformers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from engine.errors import ModelError
from engine.messages.message import Message, list_of
from engine.models.sources.gguf.header import PLAIN, Header, float32_numbers
from engine.models.sources.model_files import CONFIG

ROPE_FACTORS = "rope_freqs.weight"
_EMBEDDINGS, _HEAD = "token_embd.weight", "output.weight"
# Sizes that a config.json beside the file has to share with it, as the header and configurations call them.
_SIZES = {
    "embedding_length": ("hidden_size", "n_embd"),
    "block_count": ("num_hidden_layers", "n_layer"),
    "attention.head_count": ("num_attention_heads", "n_head"),
}
# Of a Llama 3: how its rope factors were made, but for the factor itself, which is the largest of them.
_LLAMA3 = {"low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8192}
# Number of layers of the one size of the family whose queries are scaled by the width of a head of the hidden size.
_LARGEST_GEMMA = {"gemma2": 46, "gemma3": 62}
_OF_ONE_HEAD = ("attention.key_length", "attention.value_length", "rope.dimension_count")
_COMMON = frozenset({"context_length", "embedding_length", "block_count", "feed_forward_length", "vocab_size"})
_DECODER = _COMMON | {
    "attention.head_count", "attention.head_count_kv", "attention.layer_norm_rms_epsilon", "rope.freq_base",
    "rope.scaling.type", "rope.scaling.factor", *_OF_ONE_HEAD,
}  # fmt: skip


@dataclass(frozen=True)
class Architecture:
    """An architecture that is read. name: as the format calls it. model_types: of transformers, that of a file without
    config.json first. model_class: that is published for it. known: its fields that are understood. own: the part of the
    configuration that is its own, from the header."""

    name: str
    model_types: tuple[str, ...]
    model_class: str
    known: frozenset[str]
    own: Callable[[_Fields], dict[str, Any]]


class _Fields:
    """The fields of a header that belong to its architecture. Raises ModelError where one is missing or no number."""

    def __init__(self, header: Header) -> None:
        self.header = header
        self.prefix = f"{header.architecture}."
        self.own = {
            key.removeprefix(self.prefix): value for key, value in header.fields.items() if key.startswith(self.prefix)
        }

    def number(self, name: str, default: float | None = None) -> Any:
        value = self.own.get(name, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
            raise ModelError(
                Message(
                    "The header of {path} has no number for {name}, which its architecture needs. Copy or download "
                    "the file again, or choose one made by a newer converter.",
                    path=self.header.path.name,
                    name=f"{self.prefix}{name}",
                )
            )
        return value

    def has(self, tensor: str) -> bool:
        return tensor in self.header.tensors

    @property
    def head(self) -> int:
        """Dimensions of a head."""
        sizes = {self.number(name) for name in _OF_ONE_HEAD if name in self.own}
        if len(sizes) > 1:
            raise ModelError(
                Message(
                    "The heads of {path} have parts of several sizes ({sizes}), which is not read from a GGUF file. "
                    "Choose the model that it was converted from.",
                    path=self.header.path.name,
                    sizes=list_of(f"{size:,}" for size in sorted(sizes)),
                )
            )
        return int(sizes.pop()) if sizes else self.by_width

    @property
    def by_width(self) -> int:
        return int(self.number("embedding_length")) // max(1, int(self.number("attention.head_count")))


def configuration(header: Header) -> dict[str, Any]:
    """The content of a config.json for a file. Raises ModelError for an architecture or a field that is not read."""
    architecture, fields = architecture_of(header), _Fields(header)
    unknown = sorted(set(fields.own) - architecture.known)
    if unknown:
        raise ModelError(
            Message(
                "The header of {path} says what is not read from a GGUF file, and could change the numbers: {unknown}. "
                "Put the {CONFIG} of the model that it was converted from beside it, or choose that model.",
                path=header.path.name,
                unknown=list_of(f"{fields.prefix}{name}" for name in unknown[:5]),
                CONFIG=CONFIG,
            )
        )
    return {
        "model_type": architecture.model_types[0],
        "architectures": [architecture.model_class],
        "vocab_size": header.tensors[_EMBEDDINGS].shape[0],
        "tie_word_embeddings": not fields.has(_HEAD),
        "dtype": published_dtype(header),
        **{role: header.fields.get(f"tokenizer.ggml.{name}") for role, name in _SPECIAL.items()},
        **architecture.own(fields),
    }


def checked_configuration(header: Header, published: Mapping[str, Any]) -> dict[str, Any]:
    """A config.json that lies beside a file, where it is that of this model. Raises ModelError where it is another's."""
    architecture, fields = architecture_of(header), _Fields(header)
    others = [
        f"{name}: {published[name]}"
        for field, names in _SIZES.items()
        for name in names
        if name in published and published[name] != fields.own.get(field)
    ]
    if published.get("model_type") not in architecture.model_types:
        others.insert(0, f"model_type: {published.get('model_type')}")
    if others:
        raise ModelError(
            Message(
                "The {CONFIG} beside {path} is not that of the model in it ({architecture}): {others}. Take both from "
                "the same model, or take {CONFIG} away: the header then says what the model is.",
                CONFIG=CONFIG,
                path=header.path.name,
                architecture=architecture.name,
                others=list_of(others),
            )
        )
    passed_over = ("quantization_config", "auto_map", "torch_dtype")
    kept = {name: value for name, value in published.items() if name not in passed_over}
    return {**kept, "dtype": published_dtype(header), "tie_word_embeddings": not fields.has(_HEAD)}


def is_whole(published: Mapping[str, Any]) -> bool:
    """Whether a config.json says the sizes of a model; some that are published with GGUF files name its type alone."""
    return all(any(name in published for name in names) for names in _SIZES.values())


def published_dtype(header: Header) -> str:
    """The data type of most of the weights, by torch's name; of quantised ones that of the numbers they stand for."""
    return PLAIN.get(header.most_frequent, "float32")


def architecture_of(header: Header) -> Architecture:
    """The architecture of a file. Raises ModelError for one that is not read, and for a file that holds no model."""
    kind = str(header.fields.get("general.type", "model"))
    name = header.architecture
    if kind != "model" or name == "clip":
        raise ModelError(
            Message(
                "{path} holds no language model but a part of one ({kind}). Choose the file of the model itself; an "
                "adapter is read in the format of peft.",
                path=header.path.name,
                kind="mmproj" if name == "clip" else kind,
            )
        )
    if name not in ARCHITECTURES:
        raise ModelError(
            Message(
                "The architecture of {path} ({architecture}) is not read from a GGUF file; read are {known}. Choose the "
                "model that it was converted from, as safetensors.",
                path=header.path.name,
                architecture=name or Message("not named"),
                known=list_of(ARCHITECTURES),
            )
        )
    if _EMBEDDINGS not in header.tensors or len(header.tensors[_EMBEDDINGS].shape) != 2:
        raise ModelError(
            Message(
                "{path} holds no weights of a model ({n:,} tensors, no {name}). Choose the file of the whole model.",
                path=header.path.name,
                n=len(header.tensors),
                name=_EMBEDDINGS,
            )
        )
    return ARCHITECTURES[name]


def _sizes(fields: _Fields) -> dict[str, Any]:
    n_heads = fields.number("attention.head_count")
    return {
        "hidden_size": fields.number("embedding_length"),
        "intermediate_size": fields.number("feed_forward_length"),
        "num_hidden_layers": fields.number("block_count"),
        "num_attention_heads": n_heads,
        "num_key_value_heads": fields.number("attention.head_count_kv", n_heads),
        "head_dim": fields.head,
        "max_position_embeddings": fields.number("context_length"),
        "rms_norm_eps": fields.number("attention.layer_norm_rms_epsilon"),
    }


def _rope(fields: _Fields) -> dict[str, Any]:
    theta = float(fields.number("rope.freq_base", 10_000.0))
    kind = fields.own.get("rope.scaling.type", "none")
    if fields.has(ROPE_FACTORS):
        return _llama3_rope(fields, theta)
    if kind == "linear":
        return {"rope_type": "linear", "rope_theta": theta, "factor": float(fields.number("rope.scaling.factor"))}
    if kind != "none":
        raise ModelError(
            Message(
                "The positions of {path} are scaled in a way that is not read from a GGUF file ({kind}). Put the "
                "{CONFIG} of the model that it was converted from beside it.",
                path=fields.header.path.name,
                kind=str(kind),
                CONFIG=CONFIG,
            )
        )
    return {"rope_type": "default", "rope_theta": theta}


def _llama3_rope(fields: _Fields, theta: float) -> dict[str, Any]:
    """The scaling of Llama 3, whose factors the file holds. Raises ModelError where they are those of another one."""
    factor = max(rope_factors(fields.header, fields.head), default=0.0)
    found: dict[str, Any] = {"rope_type": "llama3", "rope_theta": theta, "factor": factor, **_LLAMA3}
    if "rope.scaling.type" in fields.own or not has_llama3_factors(fields.header, found, fields.head):
        raise ModelError(
            Message(
                "The positions of {path} are scaled in a way that is not read from a GGUF file ({kind}). Put the "
                "{CONFIG} of the model that it was converted from beside it.",
                path=fields.header.path.name,
                kind=ROPE_FACTORS,
                CONFIG=CONFIG,
            )
        )
    return found


def rope_factors(header: Header, head: int) -> list[float]:
    """By what the file divides each frequency of a head; empty where it holds no such factors, one for two dimensions."""
    tensor = header.tensors.get(ROPE_FACTORS)
    if tensor is None or tensor.kind != "F32" or tensor.shape != (head // 2,):
        return []
    return float32_numbers(header.path, tensor)


def has_llama3_factors(header: Header, rope: Mapping[str, Any], head: int) -> bool:
    """Whether the factors of a file are those of a scaling of Llama 3.

    Its frequencies are divided by the factor where their waves are long, by 1 where they are short, and between by
    the weighted mean (the report on Llama 3.1 and the configuration published with it).
    """
    stored = rope_factors(header, head)
    factor, low, high, original, theta = (
        float(rope[name])
        for name in ("factor", "low_freq_factor", "high_freq_factor", "original_max_position_embeddings", "rope_theta")
    )
    if not stored or not 0 < factor < math.inf or high <= low:
        return False
    for number, value in enumerate(stored):
        wave = 2 * math.pi * theta ** (2 * number / head)
        share = min(1.0, max(0.0, (original / wave - low) / (high - low)))
        if not math.isclose(value, 1 / ((1 - share) / factor + share), rel_tol=1e-5):
            return False
    return True


def _llama(fields: _Fields) -> dict[str, Any]:
    if fields.own.get("expert_count"):
        raise ModelError(
            Message(
                "{path} is a mixture of experts, which is not read from a GGUF file of the architecture {architecture}. "
                "Choose the model that it was converted from, as safetensors.",
                path=fields.header.path.name,
                architecture=fields.header.architecture,
            )
        )
    return {
        **_sizes(fields),
        "rope_parameters": _rope(fields),
        "hidden_act": "silu",
        "attention_bias": fields.has("blk.0.attn_q.bias"),
        "mlp_bias": fields.has("blk.0.ffn_up.bias"),
    }


def _qwen2(fields: _Fields) -> dict[str, Any]:
    return {**_sizes(fields), "rope_parameters": _rope(fields), "hidden_act": "silu", "use_sliding_window": False}


def _qwen3(fields: _Fields) -> dict[str, Any]:
    return {**_qwen2(fields), "attention_bias": fields.has("blk.0.attn_q.bias")}


def _gpt2(fields: _Fields) -> dict[str, Any]:
    return {
        "n_embd": fields.number("embedding_length"),
        "n_inner": fields.number("feed_forward_length"),
        "n_layer": fields.number("block_count"),
        "n_head": fields.number("attention.head_count"),
        "n_positions": fields.number("context_length"),
        "layer_norm_epsilon": fields.number("attention.layer_norm_epsilon"),
        "activation_function": "gelu_new",
    }


def _gemma(fields: _Fields) -> dict[str, Any]:
    is_largest = fields.number("block_count") == _LARGEST_GEMMA[fields.header.architecture]
    return {
        **_sizes(fields),
        "hidden_activation": "gelu_pytorch_tanh",
        "query_pre_attn_scalar": fields.by_width if is_largest else fields.head,
        "sliding_window": fields.number("attention.sliding_window"),
    }


def _gemma2(fields: _Fields) -> dict[str, Any]:
    return {
        **_gemma(fields),
        "rope_parameters": _rope(fields),
        "attn_logit_softcapping": float(fields.number("attn_logit_softcapping")),
        "final_logit_softcapping": float(fields.number("final_logit_softcapping")),
    }


def _gemma3(fields: _Fields) -> dict[str, Any]:
    nearby = {"rope_type": "default", "rope_theta": float(fields.number("rope.freq_base_swa", 10_000.0))}
    return {
        **_gemma(fields),
        "rope_parameters": {"full_attention": _rope(fields), "sliding_attention": nearby},
        "layer_types": [
            "sliding_attention" if (layer + 1) % 6 else "full_attention"
            for layer in range(int(fields.number("block_count")))
        ],
        "final_logit_softcapping": None,
        "attn_logit_softcapping": None,
    }


_SPECIAL = {"bos_token_id": "bos_token_id", "eos_token_id": "eos_token_id", "pad_token_id": "padding_token_id"}
_EXPERTS = {"expert_count", "expert_used_count"}
_ALL = (
    Architecture("llama", ("llama", "mistral"), "LlamaForCausalLM", _DECODER | _EXPERTS, _llama),
    Architecture("qwen2", ("qwen2",), "Qwen2ForCausalLM", _DECODER, _qwen2),
    Architecture("qwen3", ("qwen3",), "Qwen3ForCausalLM", _DECODER, _qwen3),
    Architecture(
        "gpt2",
        ("gpt2",),
        "GPT2LMHeadModel",
        _COMMON | {"attention.head_count", "attention.layer_norm_epsilon"},
        _gpt2,
    ),
    Architecture(
        "gemma2",
        ("gemma2",),
        "Gemma2ForCausalLM",
        _DECODER | {"attention.sliding_window", "attn_logit_softcapping", "final_logit_softcapping"},
        _gemma2,
    ),
    Architecture(
        "gemma3",
        ("gemma3_text",),
        "Gemma3ForCausalLM",
        _DECODER | {"attention.sliding_window", "rope.freq_base_swa"},
        _gemma3,
    ),
)
ARCHITECTURES = {architecture.name: architecture for architecture in _ALL}
