"""Random models, vocabularies and texts, made on the spot: what is checked and measured needs no file beside the code.

How fast a model is does not depend on what its weights are, and its numbers on two devices differ by rounding whatever
they are. A word of the texts is one or two tokens, so that lengths in tokens are exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import BertTokenizer, PreTrainedModel, PreTrainedTokenizerFast

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
END_OF_TEXT = "<|endoftext|>"
SYLLABLES = tuple("".join(pair) for pair in product("bdfghjklmnprstvwxyzc", "aeiou"))
# Number of texts by their tokens, special ones included: the 2,914 sentences of JSTS (validation, v1.3) under the
# tokenizer of cl-tohoku/bert-base-japanese, and the share of their tokens that continue a word.
JSTS_LENGTHS = {
    8: 6,
    9: 9,
    10: 11,
    11: 27,
    12: 78,
    13: 160,
    14: 260,
    15: 359,
    16: 375,
    17: 362,
    18: 288,
    19: 235,
    20: 202,
    21: 138,
    22: 109,
    23: 64,
    24: 52,
    25: 47,
    26: 34,
    27: 23,
    28: 10,
    29: 11,
    30: 7,
    31: 11,
    32: 7,
    33: 3,
    34: 2,
    35: 2,
    37: 1,
    38: 4,
    39: 3,
    40: 2,
    41: 1,
    42: 1,
    43: 3,
    45: 1,
    46: 2,
    50: 1,
    52: 1,
    55: 1,
    60: 1,
}
CONTINUING_SHARE = 0.064
# Of a sample of BLiMP, the sentences by their tokens under GPT-2, and the pairs by the tokens that they begin with in
# common.
BLIMP_LENGTHS = {
    3: 6,
    4: 43,
    5: 109,
    6: 146,
    7: 183,
    8: 172,
    9: 125,
    10: 58,
    11: 33,
    12: 13,
    13: 21,
    14: 16,
    15: 11,
    16: 9,
    17: 15,
    18: 13,
    19: 7,
    20: 9,
    21: 4,
    22: 1,
    23: 2,
    24: 2,
    25: 2,
}
BLIMP_SHARED = {0: 100, 1: 15, 2: 69, 3: 82, 4: 77, 5: 39, 6: 56, 7: 40, 8: 17, 9: 3, 10: 1, 11: 1}


@dataclass(frozen=True)
class Kind:
    """A kind of model: transformers' class, its settings where a size does not say otherwise, and what it scores."""

    class_name: str
    settings: dict[str, Any]
    is_causal: bool = False


KINDS = {
    "bert": Kind("BertForMaskedLM", {}),
    "roberta": Kind("RobertaForMaskedLM", {}),
    "modernbert": Kind("ModernBertForMaskedLM", {"local_attention": 16}),
    "deberta": Kind("DebertaV2ForMaskedLM", {"relative_attention": True, "pos_att_type": ["p2c", "c2p"]}),
    "gpt2": Kind("GPT2LMHeadModel", {}, is_causal=True),
    "llama": Kind("LlamaForCausalLM", {"num_key_value_heads": 2}, is_causal=True),
    "qwen": Kind("Qwen3ForCausalLM", {"num_key_value_heads": 2}, is_causal=True),
}
SMALL = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}
MIDDLE = {"hidden_size": 512, "num_hidden_layers": 6, "num_attention_heads": 8, "intermediate_size": 2048}
BASE = {"hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 3072}
SEVEN_BILLION = {"hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "intermediate_size": 11008}
POSITIONS = 512


def words(n_words: int) -> list[str]:
    """Distinct words of two syllables, or three, of four or six letters."""
    of_two = ["".join(pair) for pair in product(SYLLABLES, repeat=2)]
    return (
        of_two if n_words <= len(of_two) else of_two + ["".join(triple) for triple in product(SYLLABLES[:40], repeat=3)]
    )[:n_words]


def masked_tokenizer(n_entries: int) -> BertTokenizer:
    """WordPiece whose words are one token each, and two words written together two, of `n_entries` in all."""
    n_words = min((n_entries - len(SPECIAL)) // 2, len(SYLLABLES) ** 2)
    pieces = [*SPECIAL, *words(n_words), *(f"##{word}" for word in words(n_words))]
    pieces += [f"unused{number}" for number in range(n_entries - len(pieces))]
    return BertTokenizer(
        vocab={piece: number for number, piece in enumerate(pieces)}, do_lower_case=False, model_max_length=POSITIONS
    )


def causal_tokenizer(n_entries: int) -> PreTrainedTokenizerFast:
    """Words of one token each, and one special token."""
    vocabulary = {word: number for number, word in enumerate([END_OF_TEXT, *words(n_entries - 1)])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token=END_OF_TEXT))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        unk_token=END_OF_TEXT,
        bos_token=END_OF_TEXT,
        eos_token=END_OF_TEXT,
        pad_token=END_OF_TEXT,
        model_max_length=POSITIONS,
    )


def make(kind_name: str, folder: Path, size: dict[str, int], n_entries: int) -> str:
    """Save a random model of a kind with its tokenizer; its directory."""
    kind = KINDS[kind_name]
    tokenizer = causal_tokenizer(n_entries) if kind.is_causal else masked_tokenizer(n_entries)
    untrained(kind_name, size, n_entries).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)


def untrained(kind_name: str, size: dict[str, int], n_entries: int) -> PreTrainedModel:
    """A random model of a kind, the same each time, in the data type and on the device that are torch's default."""
    kind = KINDS[kind_name]
    model_class = getattr(transformers, kind.class_name)
    special = (
        {"bos_token_id": 0, "eos_token_id": 0, "pad_token_id": 0}
        if kind.is_causal
        else {"pad_token_id": 0, "cls_token_id": 2, "sep_token_id": 3, "bos_token_id": 2, "eos_token_id": 3}
    )
    positions = POSITIONS + 1 if kind_name == "roberta" else POSITIONS  # of which one is that of padding
    torch.manual_seed(0)
    model: PreTrainedModel = model_class(
        model_class.config_class(
            **{**kind.settings, **size, **special},
            vocab_size=n_entries,
            max_position_embeddings=positions,
            initializer_range=0.05,
        )
    )
    return model.eval()


def masked_texts(lengths: list[int], n_entries: int, seed: int = 0) -> list[str]:
    """Texts of that many tokens under `masked_tokenizer`, [CLS] and [SEP] counted; some words are two tokens."""
    random = np.random.default_rng(seed)
    vocabulary = np.array(words(min((n_entries - len(SPECIAL)) // 2, len(SYLLABLES) ** 2)))
    texts = []
    for length in lengths:
        tokens = vocabulary[random.integers(0, len(vocabulary), length - 2)]
        spaces = np.where(random.random(length - 2) < CONTINUING_SHARE, "", " ")
        texts.append("".join(space + token for space, token in zip(spaces, tokens, strict=True)).strip())
    return texts


def minimal_pairs(n_pairs: int, n_entries: int, seed: int = 0) -> list[tuple[str, str]]:
    """Pairs that differ in one word, of the lengths and common beginnings of BLiMP under `causal_tokenizer`."""
    random = np.random.default_rng(seed)
    vocabulary = np.array(words(n_entries - 1))
    pairs = []
    for length, shared in zip(drawn(BLIMP_LENGTHS, n_pairs, seed), drawn(BLIMP_SHARED, n_pairs, seed + 1), strict=True):
        first = random.integers(0, len(vocabulary), length)
        second = first.copy()
        second[min(shared, length - 1)] = (second[min(shared, length - 1)] + 1) % len(vocabulary)
        pairs.append((" ".join(vocabulary[first]), " ".join(vocabulary[second])))
    return pairs


def drawn(histogram: dict[int, int], n: int, seed: int = 0) -> list[int]:
    """Lengths drawn from a histogram."""
    counts = np.array(list(histogram.values()))
    drawn_lengths = np.random.default_rng(seed).choice(list(histogram), n, p=counts / counts.sum())
    return [int(length) for length in drawn_lengths]
