"""Tokenizers with the habits that make spans and words hard, each made in memory."""

from __future__ import annotations

from pathlib import Path

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
from tokenizers.processors import TemplateProcessing
from transformers import BertJapaneseTokenizer, PreTrainedTokenizerFast

from tests.support import tiny_models

SPECIAL = ["<unk>", "<s>", "</s>", "<pad>"]


def unigram_with_bytes(*, scheme: str = "never", split: bool = False, ends: bool = False) -> PreTrainedTokenizerFast:
    """Unigram over a few characters, all others as bytes; NFKC; opens with <s> and, with `ends`, closes with </s>."""
    pieces = [(token, 0.0) for token in SPECIAL] + [(f"<0x{byte:02X}>", -20.0) for byte in range(256)]
    pieces += [(piece, -5.0) for piece in "▁東京でatecks"] + [("東京", -3.0), ("▁the", -3.0), ("cat", -3.0)]
    core = Tokenizer(models.Unigram(pieces, unk_id=0, byte_fallback=True))
    core.normalizer = normalizers.NFKC()
    core.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme=scheme, split=split)
    template = "<s> $A </s>" if ends else "<s> $A"
    core.post_processor = TemplateProcessing(
        single=template,
        pair=f"{template} $B",
        special_tokens=[("<s>", 1), ("</s>", 2)],
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=core,
        unk_token="<unk>",
        bos_token="<s>",
        eos_token="</s>",
        pad_token="<pad>",
    )


def unigram_that_writes_eos_for_unknown() -> PreTrainedTokenizerFast:
    """What transformers 5 makes of a T5Tokenizer whose vocabulary opens <unk>, <s>, </s>: the third is its unknown."""
    core = Tokenizer(models.Unigram([*[(token, 0.0) for token in SPECIAL], ("東", -5.0), ("京", -5.0)], unk_id=2))
    core.post_processor = TemplateProcessing(
        single="$A </s>",
        pair="$A </s> $B </s>",
        special_tokens=[("</s>", 2)],
    )
    return PreTrainedTokenizerFast(tokenizer_object=core, unk_token="<unk>", bos_token="<s>", eos_token="</s>")


def japanese(
    folder: Path, *, words: str = "mecab", pieces: str = "wordpiece", lower: bool = False
) -> BertJapaneseTokenizer:
    """`BertJapaneseTokenizer` with a small vocabulary: "mecab" or "basic" words, "wordpiece" or "character" pieces."""
    characters = sorted({*"".join(tiny_models.JAPANESE), *"ラーメンガギ株式会社CDcdabct", "タワー", "東京"})
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *characters, *("##" + piece for piece in characters)]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n", encoding="utf-8")
    return BertJapaneseTokenizer(
        str(folder / "vocab.txt"),
        word_tokenizer_type=words,
        subword_tokenizer_type=pieces,
        do_lower_case=lower,
        mecab_kwargs={"mecab_dic": "unidic_lite"},
    )
