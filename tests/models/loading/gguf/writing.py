"""GGUF files of tiny models, written as the format's converter writes them, and the numbers that they stand for.

Numbers are worked out here from the blocks by the formulas of ggml (`ggml-quants.c`), independently of what reads them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import sentencepiece
import torch
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers.models.qwen2.tokenization_qwen2 import PRETOKENIZE_REGEX

from tests.models.zoo.kinds.causal import GPT2, LLAMA3
from tests.models.zoo.specimens import ModelKind, Specimen, build
from tests.models.zoo.texts import CORPUS
from tests.models.zoo.tokenizer_files.published import Published, Writer, write_tokenizer_json
from tests.models.zoo.tokenizer_files.sentence_pieces import model_file

Numbers = dict[str, torch.Tensor]
NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED = 1, 2, 3, 4, 5
WIDTH = 64
SIZES: dict[str, Any] = {
    "hidden_size": WIDTH,
    "intermediate_size": WIDTH,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "max_position_embeddings": 256,
}
GPT2_SIZES: dict[str, Any] = {"n_embd": WIDTH, "n_layer": 2, "n_head": 4, "n_positions": 256, "n_inner": WIDTH}
LLAMA3_ROPE = {
    "rope_type": "llama3",
    "rope_theta": 500000.0,
    "factor": 32.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8192,
}
BPE: dict[str, Any] = {
    "kind": "bpe",
    "settings": {
        "byte_fallback": True,
        "vocab_size": 700,
        "normalization_rule_name": "identity",
        "remove_extra_whitespaces": False,
    },
}


def qwen(folder: Path) -> Published:
    """Byte-level BPE with Qwen2's expression, over composed characters, as its tokenizer.json has it."""
    core = Tokenizer(models.BPE())
    core.normalizer = normalizers.NFC()
    core.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split(Regex(PRETOKENIZE_REGEX), "isolated"), pre_tokenizers.ByteLevel(False, use_regex=False)]
    )
    core.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    core.train_from_iterator(
        CORPUS * 4, trainers.BpeTrainer(vocab_size=420, show_progress=False, initial_alphabet=alphabet)
    )
    core.add_special_tokens(
        [AddedToken(name, special=True, normalized=False) for name in ("<|endoftext|>", "<|im_end|>")]
    )
    core.add_tokens([AddedToken("<think>", special=False, normalized=False)])
    core.post_processor = processors.ByteLevel(trim_offsets=False)
    roles = {"eos_token": "<|im_end|>", "pad_token": "<|endoftext|>"}
    return write_tokenizer_json(folder, core, "Qwen2Tokenizer", roles)


LLAMA_SP: Writer = model_file(
    "LlamaTokenizer", "tokenizer.model", before=["<s>"], **BPE, bos_token="<s>", eos_token="</s>", unk_token="<unk>"
)
GEMMA_SP: Writer = model_file(
    "GemmaTokenizer",
    "tokenizer.model",
    before=["<s>"],
    kind="bpe",
    settings={**BPE["settings"], "add_dummy_prefix": False, "user_defined_symbols": "▁▁,▁▁▁,<2en>"},
    bos_token="<s>",
    eos_token="</s>",
    unk_token="<unk>",
)


@dataclass(frozen=True)
class Case:
    """A kind of model as the format has it. cut: what its header calls the tokenizer's expression."""

    name: str
    architecture: str
    kind: ModelKind
    cut: str = ""
    more: Mapping[str, Any] = field(default_factory=dict)


def _case(name: str, arch: str, cls: str, tokens: Writer, cut: str = "", *, sizes: Any = SIZES, **more: Any) -> Case:
    return Case(name, arch, ModelKind(name, cls, "causal", tokens, {**sizes, **more}), cut)


CASES = {
    case.name: case
    for case in (
        _case("llama", "llama", "LlamaForCausalLM", LLAMA_SP),
        _case("mistral", "llama", "MistralForCausalLM", LLAMA_SP, sliding_window=None),
        _case("llama 3", "llama", "LlamaForCausalLM", LLAMA3, "llama-bpe", rope_parameters=LLAMA3_ROPE),
        _case("llama with biases", "llama", "LlamaForCausalLM", LLAMA_SP, attention_bias=True, mlp_bias=True),
        _case("qwen2", "qwen2", "Qwen2ForCausalLM", qwen, "qwen2"),
        _case("qwen3", "qwen3", "Qwen3ForCausalLM", qwen, "qwen2", tie_word_embeddings=True),
        _case("gpt2", "gpt2", "GPT2LMHeadModel", GPT2, "gpt-2", sizes=GPT2_SIZES),
        _case("gemma2", "gemma2", "Gemma2ForCausalLM", GEMMA_SP, sliding_window=16, query_pre_attn_scalar=16),
        _case(
            "gemma3",
            "gemma3",
            "Gemma3ForCausalLM",
            GEMMA_SP,
            sliding_window=16,
            query_pre_attn_scalar=16,
            num_hidden_layers=7,
        ),
    )
}


def made(case: Case, folder: Path, **more: Any) -> Specimen:
    """The model as it was published, before it was converted; `more`: of its configuration."""
    kind = case.kind
    specimen = build(
        ModelKind(kind.name, kind.architecture, kind.kind, kind.tokens, {**kind.settings, **more}), folder / "published"
    )
    return specimen


def convert(
    case: Case,
    specimen: Specimen,
    path: Path,
    quantisation: str = "F32",
    *,
    fields: Mapping[str, Any] | None = None,
    extra: Mapping[str, np.ndarray] | None = None,
    without: tuple[str, ...] = (),
) -> Numbers:
    """Write a GGUF file of a model; the numbers that it stands for, by the names of the model's weights.

    quantisation: of the matrices; vectors stay in F32. fields: further ones of the header, or others. extra: further
    tensors. without: fields that are left out.
    """
    config = specimen.model.config
    writer = _Writer(path, case.architecture, set(without), dict(fields or {}))
    _describe(writer, case, config)
    _vocabulary(writer, case, specimen)
    writer.rest()
    numbers: Numbers = {}
    weights = {name: weight.detach().float().numpy() for name, weight in specimen.model.named_parameters()}
    names = gguf.get_tensor_name_map(_number(case.architecture), config.num_hidden_layers)
    for name, weight in weights.items():
        stem, _, suffix = name.rpartition(".")
        tensor = f"{names.get_name(stem)}.{suffix}"
        change, restore = _changes(case.architecture, tensor, config)
        written = np.ascontiguousarray(change(weight), np.float32)
        kind = quantisation if written.ndim == 2 and "position" not in tensor else "F32"
        stored, meant = QUANTISED[kind](written)
        writer.tensor(tensor, stored, kind)
        numbers[name] = torch.from_numpy(np.ascontiguousarray(restore(meant), np.float32))
    if config.tie_word_embeddings and "lm_head.weight" not in numbers:
        numbers["lm_head.weight"] = numbers[next(name for name in numbers if "embed_tokens" in name or "wte" in name)]
    for tensor, values in (extra or {}).items():
        writer.tensor(tensor, values, "F32")
    if case.name == "llama 3" and "rope_freqs.weight" not in (extra or {}):
        writer.tensor("rope_freqs.weight", rope_factors(config), "F32")
    writer.close()
    return numbers


def rope_factors(config: Any) -> np.ndarray:
    """The factors of Llama 3's frequencies, as its report has them: one frequency after the other."""
    rope, factors = config.rope_parameters, []
    for i in range(0, config.head_dim, 2):
        wave = 2 * np.pi * rope["rope_theta"] ** (i / config.head_dim)
        low = rope["original_max_position_embeddings"] / rope["low_freq_factor"]
        high = rope["original_max_position_embeddings"] / rope["high_freq_factor"]
        smooth = (rope["original_max_position_embeddings"] / wave - rope["low_freq_factor"]) / (
            rope["high_freq_factor"] - rope["low_freq_factor"]
        )
        between = 1 / ((1 - smooth) / rope["factor"] + smooth)
        factors.append(1.0 if wave < high else rope["factor"] if wave > low else between)
    return np.array(factors, np.float32)


class _Writer:
    """Writes fields as the package does, but for those that a test replaces or leaves out."""

    def __init__(self, path: Path, architecture: str, without: set[str], changed: dict[str, Any]) -> None:
        self._writer = gguf.GGUFWriter(path, architecture)
        self._without, self._changed = without, changed
        if "general.architecture" in changed:
            self._writer.kv_data[0]["general.architecture"].value = changed.pop("general.architecture")

    def field(self, key: str, value: Any) -> None:
        if key in self._without:
            return
        value = self._changed.pop(key, value)
        if isinstance(value, bool):
            self._writer.add_bool(key, value)
        elif isinstance(value, int):
            self._writer.add_uint32(key, value)
        elif isinstance(value, float):
            self._writer.add_float32(key, value)
        elif isinstance(value, str):
            self._writer.add_string(key, value)
        else:
            self._writer.add_array(key, value)

    def rest(self) -> None:
        for key in list(self._changed):
            self.field(key, self._changed[key])

    def tensor(self, name: str, stored: np.ndarray, kind: str) -> None:
        raw = None if kind in ("F32", "F16") else gguf.GGMLQuantizationType[kind]
        self._writer.add_tensor(name, stored, raw_dtype=raw)

    def close(self) -> None:
        self._writer.write_header_to_file()
        self._writer.write_kv_data_to_file()
        self._writer.write_tensors_to_file()
        self._writer.close()


def _describe(writer: _Writer, case: Case, config: Any) -> None:
    prefix = case.architecture
    sizes = {
        "context_length": config.max_position_embeddings,
        "embedding_length": config.hidden_size,
        "block_count": config.num_hidden_layers,
        "attention.head_count": config.num_attention_heads,
    }
    if prefix == "gpt2":
        sizes |= {"feed_forward_length": config.n_inner, "attention.layer_norm_epsilon": config.layer_norm_epsilon}
    else:
        rope = config.rope_parameters
        sizes |= {
            "feed_forward_length": config.intermediate_size,
            "attention.head_count_kv": config.num_key_value_heads,
            "attention.layer_norm_rms_epsilon": config.rms_norm_eps,
            "attention.key_length": config.head_dim,
            "attention.value_length": config.head_dim,
            "rope.freq_base": float(rope.get("full_attention", rope)["rope_theta"]),
        }
    if prefix == "llama":
        sizes |= {"vocab_size": config.vocab_size, "rope.dimension_count": config.head_dim}
    if prefix.startswith("gemma"):
        sizes["attention.sliding_window"] = config.sliding_window
    if prefix == "gemma2":
        sizes |= {
            "attn_logit_softcapping": config.attn_logit_softcapping,
            "final_logit_softcapping": config.final_logit_softcapping,
        }
    for name, value in sizes.items():
        writer.field(f"{prefix}.{name}", value)


def _vocabulary(writer: _Writer, case: Case, specimen: Specimen) -> None:
    """As the converter writes it: the pieces of the published file, and padding up to the rows of the embeddings."""
    rows, roles = specimen.model.config.vocab_size, specimen.published.roles
    if case.cut:
        content = json.loads((specimen.folder / "tokenizer.json").read_text(encoding="utf-8"))
        ids = dict(content["model"]["vocab"])
        types = dict.fromkeys(ids.values(), NORMAL)
        for token in content["added_tokens"]:
            ids[token["content"]] = token["id"]
            types[token["id"]] = CONTROL if token["special"] else USER_DEFINED
        writer.field("tokenizer.ggml.model", "gpt2")
        writer.field("tokenizer.ggml.pre", case.cut)
        merges = [merge if isinstance(merge, str) else " ".join(merge) for merge in content["model"]["merges"]]
        writer.field("tokenizer.ggml.merges", merges)
    else:
        processor = sentencepiece.SentencePieceProcessor(model_file=str(specimen.folder / "tokenizer.model"))
        n = processor.vocab_size()
        ids = {processor.id_to_piece(i): i for i in range(n)}
        types = {i: _type(processor, i) for i in range(n)}
        # The converter takes words that were added as they are written, with blanks.
        ids = {p.replace("▁", " ") if types[i] == USER_DEFINED else p: i for p, i in ids.items()}
        writer.field("tokenizer.ggml.model", "llama")
        scores = [processor.get_score(i) for i in range(n)]
        writer.field("tokenizer.ggml.scores", [*scores, *([-1000.0] * (rows - n))])
        if case.architecture.startswith("gemma"):
            writer.field("tokenizer.ggml.add_space_prefix", False)
        writer.field("tokenizer.ggml.add_bos_token", True)
    spelled = {number: piece for piece, number in ids.items()}
    writer.field("tokenizer.ggml.tokens", [spelled.get(i, f"[PAD{i}]") for i in range(rows)])
    writer.field("tokenizer.ggml.token_type", [types.get(i, UNUSED) for i in range(rows)])
    for role, name in (("bos", "bos"), ("eos", "eos"), ("unk", "unknown"), ("pad", "padding")):
        if f"{role}_token" in roles:
            writer.field(f"tokenizer.ggml.{name}_token_id", roles[f"{role}_token"])


def _type(processor: Any, number: int) -> int:
    if processor.is_unknown(number):
        return UNKNOWN
    if processor.is_control(number):
        return CONTROL
    if processor.is_byte(number):
        return 6
    piece = processor.id_to_piece(number)
    return USER_DEFINED if piece in ("▁▁", "▁▁▁", "<2en>") else NORMAL


def _number(architecture: str) -> Any:
    return next(key for key, value in gguf.MODEL_ARCH_NAMES.items() if value == architecture)


Change = Callable[[np.ndarray], np.ndarray]


def _changes(architecture: str, tensor: str, config: Any) -> tuple[Change, Change]:
    """What the converter does to a weight, and how that is undone: by the place of each row, for a Llama."""
    part = tensor.split(".")[2] if tensor.startswith("blk.") else ""
    if architecture == "llama" and part in ("attn_q", "attn_k"):
        n_heads = config.num_attention_heads if part == "attn_q" else config.num_key_value_heads
        head, half = config.head_dim, config.head_dim // 2
        # Row 2i of a head in the file is row i of the model, row 2i + 1 is row i + half.
        places = np.array([h * head + (r // 2) + half * (r % 2) for h in range(n_heads) for r in range(head)])
        return (lambda weight: weight[places]), (lambda stored: stored[np.argsort(places)])
    if architecture.startswith("gemma") and tensor.endswith("norm.weight"):
        return (lambda weight: weight + 1), (lambda stored: stored - 1)
    if architecture == "gpt2" and part in ("attn_qkv", "attn_output", "ffn_up", "ffn_down") and "weight" in tensor:
        return (lambda weight: weight.T), (lambda stored: stored.T)
    return (lambda weight: weight), (lambda stored: stored)


def _plain(weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return weight, weight


def _half(weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return weight.astype(np.float16), weight.astype(np.float16).astype(np.float32)


def _brain(weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    rounded = torch.from_numpy(weight).bfloat16()
    return rounded.view(torch.uint16).numpy().view(np.uint8), rounded.float().numpy()


def _q8_0(weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """32 whole numbers of 8 bits times a scale in float16."""
    stored = gguf.quants.quantize(weight, gguf.GGMLQuantizationType.Q8_0)
    blocks = stored.reshape(-1, 34)
    scale = blocks[:, :2].copy().view(np.float16).astype(np.float32)
    return stored, (scale * blocks[:, 2:].view(np.int8)).reshape(weight.shape)


def _q4_0(weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """32 numbers of 4 bits, less 8, times a scale: the lower halves of 16 bytes first, then the upper."""
    stored = gguf.quants.quantize(weight, gguf.GGMLQuantizationType.Q4_0)
    blocks = stored.reshape(-1, 18)
    scale = blocks[:, :2].copy().view(np.float16).astype(np.float32)
    codes = np.concatenate([blocks[:, 2:] & 15, blocks[:, 2:] >> 4], axis=1).astype(np.int32) - 8
    return stored, (scale * codes).reshape(weight.shape)


def _q4_k(weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Random blocks: 8 groups of 32 numbers of 4 bits, each with a scale and a minimum of 6 bits, in 12 bytes."""
    random = np.random.default_rng(weight.size)
    n = weight.size // 256
    blocks = random.integers(0, 256, (n, 144), dtype=np.uint8)
    blocks[:, :4] = random.uniform(0.0002, 0.001, (n, 2)).astype(np.float16).view(np.uint8)
    values = np.empty((n, 256), np.float32)
    for block, out in zip(blocks, values, strict=True):
        d, dmin = (float(x) for x in block[:4].copy().view(np.float16))
        q = [int(x) for x in block[4:16]]
        for group in range(8):
            if group < 4:
                scale, least = q[group] & 63, q[group + 4] & 63
            else:
                scale = (q[group + 4] & 15) | ((q[group - 4] >> 6) << 4)
                least = (q[group + 4] >> 4) | ((q[group] >> 6) << 4)
            codes = block[16 + 32 * (group // 2) : 48 + 32 * (group // 2)]
            codes = codes >> 4 if group % 2 else codes & 15
            out[32 * group : 32 * group + 32] = d * scale * codes - dmin * least
    return blocks.reshape(weight.shape[0], -1), values.reshape(weight.shape)


def _q6_k(weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Random blocks: 16 groups of 16 numbers of 6 bits, less 32, each with a scale of 8 bits; 4 bits in `low`, 2 in `high`."""
    random = np.random.default_rng(weight.size)
    n = weight.size // 256
    blocks = random.integers(0, 256, (n, 210), dtype=np.uint8)
    blocks[:, 208:] = random.uniform(0.00001, 0.0001, (n, 1)).astype(np.float16).view(np.uint8)
    values = np.empty((n, 256), np.float32)
    for block, out in zip(blocks, values, strict=True):
        (d,) = (float(x) for x in block[208:].copy().view(np.float16))
        scales = block[192:208].view(np.int8)
        for i in range(256):
            half, place = divmod(i, 128)
            quarter, at = divmod(place, 32)
            low = int(block[64 * half + at + 32 * (quarter % 2)])
            low = low >> 4 if quarter > 1 else low & 15
            high = (int(block[128 + 32 * half + at]) >> (2 * quarter)) & 3
            out[i] = d * int(scales[8 * half + 2 * quarter + at // 16]) * ((low | high << 4) - 32)
    return blocks.reshape(weight.shape[0], -1), values.reshape(weight.shape)


QUANTISED: dict[str, Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]] = {
    "F32": _plain,
    "F16": _half,
    "BF16": _brain,
    "Q8_0": _q8_0,
    "Q4_0": _q4_0,
    "Q4_K": _q4_k,
    "Q6_K": _q6_k,
}
