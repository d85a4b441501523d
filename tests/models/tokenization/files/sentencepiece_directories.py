"""Directories with a SentencePiece model alone, trained on the spot, as the classes of tokenizers publish them."""

from __future__ import annotations

import io
import json
from functools import cache
from pathlib import Path
from typing import Any

import sentencepiece

from tests.support.tiny_models import ENGLISH, JAPANESE

SENTENCES = (
    *JAPANESE,
    *ENGLISH,
    "GPUで東京の小説を読む。",
    "ｶﾞｽ株式会社とＡＢＣ、ガラスとデータ。",
    "Naïve façade, 10,000 and 9, at £5 – (or €6).",
)
# White space of every kind, and special tokens spelled out in a text.
TEXTS = (
    *JAPANESE,
    *ENGLISH,
    "Hello",
    "　全角の空白と\u3000ﾃﾞｰﾀ",
    "か\u3099くせい",
    "  two  spaces ",
    "   ",
    "\u3000",
    "猫\u3000\u3000が\tいる。\n雨だ。",
    "\nthe cat\n",
    "猫<s>が",
    "the </s> cat",
    "[CLS] rain [SEP]",
    "<unk><pad> 雨 <mask>",
    "龘𠮷😀",
    "(cat) . – £ €",
)


def sentencepiece_directory(
    folder: Path, file: str, settings: dict[str, Any], config: dict[str, Any] | None = None, **training: Any
) -> sentencepiece.SentencePieceProcessor:
    """Write tokenizer_config.json, config.json and the model; return the model as its own library reads it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / file).write_bytes(trained(**training))
    (folder / "config.json").write_text(json.dumps(config or {}))
    (folder / "tokenizer_config.json").write_text(json.dumps(settings, ensure_ascii=False), encoding="utf-8")
    return sentencepiece.SentencePieceProcessor(model_file=str(folder / file))


def trained(**training: Any) -> bytes:
    """The bytes of a model; those of the same training are made once."""
    return _trained(tuple(sorted(training.items())))


@cache
def _trained(training: tuple[tuple[str, Any], ...]) -> bytes:
    model = io.BytesIO()
    options = dict(training)
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(SENTENCES * 20),
        model_writer=model,
        hard_vocab_limit=False,
        minloglevel=2,
        num_threads=1,
        **{"vocab_size": 700 if options.get("byte_fallback") else 420, "model_type": "unigram", **options},
    )
    return model.getvalue()
