"""Model directories as the publishers of the papers' models lay them out, with tiny random weights.

None has a tokenizer.json, and config.json is what Google's and the first converters wrote: no model type, no
architecture, no version. The weights are a pytorch_model.bin with the names of that time (LayerNorm.gamma).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import sentencepiece
import torch
from transformers import BertConfig, BertForPreTraining

from engine.language.widths import full_width
from tests.support.tiny_models import HIDDEN, JAPANESE, LAYERS

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
WORDS = (
    "昨日",
    "東京",
    "タワー",
    "ラーメン",
    "食べ",
    "小説",
    "図書館",
    "図書",
    "館",
    "斉藤",
    "面白かっ",
    "GPU",
    "2020",
    "New",
    "York",
    "cd",
    "ガ",
    "株式会社",
    "いる",
    "##する",
    "##れた",
)
MAX_TOKENS = 160


def japanese_bert(
    folder: Path, *, special: Sequence[str] = SPECIAL, widen: bool = False, subwords: bool = True, lower: bool = False
) -> Path:
    """vocab.txt, config.json and pytorch_model.bin: Kyoto University's and NICT's (`widen`: full-width), Tohoku
    University's first release, and Stockmark's (no `subwords`, `lower`)."""
    characters = sorted(set("".join(JAPANESE)))
    pieces = [*WORDS, *characters, *("##" + character for character in characters), *"abcGPU<>/"]
    pieces = [piece for piece in dict.fromkeys(pieces) if subwords or not piece.startswith("##")]
    if not subwords:
        pieces = [piece for piece in pieces if len(piece) > 1 or not "一" <= piece <= "龥"]
    if widen:
        pieces = ["##" + full_width(p[2:]) if p.startswith("##") else full_width(p) for p in pieces]
    if lower:
        pieces = [piece.lower() for piece in pieces]
    vocabulary = list(dict.fromkeys([*special, *pieces]))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "vocab.txt").write_text("".join(piece + "\n" for piece in vocabulary), encoding="utf-8")
    return _weights(folder, len(vocabulary))


def sentencepiece_bert(folder: Path, name: str = "wiki-ja") -> Path:
    """Kikuta's and Laboro's: NAME.model and NAME.vocab, trained on lower-cased text; control symbols for BERT's."""
    folder.mkdir(parents=True, exist_ok=True)
    sentences = [text.lower() for text in (*JAPANESE, "GPUで東京の小説を読む。", "new york の cd ガス株式会社")]
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(sentences * 10),
        model_prefix=str(folder / name),
        vocab_size=150,
        hard_vocab_limit=False,
        control_symbols="[PAD],[CLS],[SEP],[MASK]",
        minloglevel=2,
        num_threads=1,
    )
    vocabulary = (folder / f"{name}.vocab").read_text(encoding="utf-8").splitlines()
    return _weights(folder, len(vocabulary))


def tensorflow_only(folder: Path) -> Path:
    """As Kikuta's and Hotto Link's models are downloaded."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in (
        "model.ckpt-1400000.meta",
        "model.ckpt-1400000.index",
        "model.ckpt-1400000.data-00000-of-00001",
        "graph.pbtxt",
        "wiki-ja.model",
        "wiki-ja.vocab",
    ):
        (folder / name).touch()
    (folder / "bert_config.json").write_text(json.dumps({"vocab_size": 32000}))
    return folder


def _weights(folder: Path, vocab_size: int) -> Path:
    shape = {
        "vocab_size": vocab_size,
        "hidden_size": HIDDEN,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": 2,
        "intermediate_size": 64,
        "max_position_embeddings": MAX_TOKENS,
        "type_vocab_size": 2,
        "hidden_act": "gelu",
        "initializer_range": 0.2,
    }
    (folder / "config.json").write_text(json.dumps(shape))
    torch.manual_seed(0)
    numbers = BertForPreTraining(BertConfig(**shape)).state_dict()
    old_names = {
        name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): value
        for name, value in numbers.items()
        if "position_ids" not in name and "decoder.bias" not in name
    }
    torch.save(old_names, folder / "pytorch_model.bin")
    return folder
