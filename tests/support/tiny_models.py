"""Tiny random models in Hugging Face layout, made in a temporary directory in well under a second each.

Every model has 2 layers of width 32, so hidden states 0, 1 and 2. The tokenizers are trained on the few
sentences below. Weights are drawn with a seed, ten times as wide as usual, so that different tokens give clearly
different scores; still wider ones would blow float32 rounding up beyond the tolerances that hold for real models.
"""

from __future__ import annotations

from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
from tokenizers.processors import TemplateProcessing
from transformers import (
    BertConfig,
    BertForMaskedLM,
    BertJapaneseTokenizer,
    BertTokenizer,
    GPT2Config,
    GPT2LMHeadModel,
    PreTrainedModel,
    PreTrainedTokenizerFast,
)

JAPANESE = (
    "昨日、私は東京タワーでラーメンを食べました。",
    "猫が庭で静かに眠っている。",
    "斉藤さんは新しい本を三冊買った。",
    "彼女は明日、京都へ行く予定です。",
    "雨が降ったので、試合は中止になった。",
    "ラーメンよりうどんの方が好きだ。",
    "この小説はとても面白かった。",
    "電車が遅れて、会議に間に合わなかった。",
)
ENGLISH = (
    "The cat sleeps quietly in the garden.",
    "She will go to Kyoto tomorrow.",
    "The match was cancelled because of rain.",
    "He bought three new books yesterday.",
    "Unbelievable stories are rarely believed.",
)
MAX_TOKENS = 64
HIDDEN = 32
LAYERS = 2


def bert(folder: Path, *, seed: int = 0, max_tokens: int = MAX_TOKENS) -> Path:
    """BERT with an English and Japanese character-seeded WordPiece and a fast tokenizer (tokenizer.json)."""
    learner = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    learner.normalizer = normalizers.BertNormalizer(lowercase=True)
    learner.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(
        vocab_size=500,
        special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"],
        show_progress=False,
    )
    learner.train_from_iterator(ENGLISH + JAPANESE, trainer)
    tokenizer = BertTokenizer(vocab=learner.get_vocab(), do_lower_case=True, model_max_length=max_tokens)
    return _save(folder, _bert_model(len(learner.get_vocab()), max_tokens, seed), tokenizer)


def bert_japanese(folder: Path, *, seed: int = 0, max_tokens: int = MAX_TOKENS) -> Path:
    """BERT as Japanese publishers lay it out: config.json, vocab.txt, tokenizer_config.json and no tokenizer.json.

    The tokenizer is MeCab (unidic-lite) and WordPiece, without offsets or word_ids.
    """
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    characters = sorted(set("".join(JAPANESE)))
    pieces += characters + ["##" + character for character in characters]
    pieces += ["東京", "タワー", "ラーメン", "食べ", "まし", "小説", "##メン", "昨日", "電車", "会議", "斉藤"]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "vocab.txt").write_text("".join(piece + "\n" for piece in pieces), encoding="utf-8")
    tokenizer = BertJapaneseTokenizer(
        str(folder / "vocab.txt"),
        word_tokenizer_type="mecab",
        subword_tokenizer_type="wordpiece",
        mecab_kwargs={"mecab_dic": "unidic_lite"},
        do_lower_case=False,
        model_max_length=max_tokens,
    )
    return _save(folder, _bert_model(len(pieces), max_tokens, seed), tokenizer)


def gpt2_unigram(folder: Path, *, seed: int = 0, max_tokens: int = MAX_TOKENS) -> Path:
    """GPT-2 with a fast Unigram tokenizer that opens every sequence with <s>, like builtin/gpt2-mini-ja."""
    learner = Tokenizer(models.Unigram())
    learner.normalizer = normalizers.NFKC()
    learner.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="never", split=False)
    trainer = trainers.UnigramTrainer(
        vocab_size=300,
        special_tokens=["<unk>", "<s>", "</s>", "<pad>"],
        unk_token="<unk>",
        show_progress=False,
    )
    learner.train_from_iterator(JAPANESE * 4, trainer)
    learner.decoder = decoders.Metaspace(prepend_scheme="never", split=False)
    learner.post_processor = TemplateProcessing(single="<s> $A", pair="<s> $A $B", special_tokens=[("<s>", 1)])
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=learner,
        unk_token="<unk>",
        bos_token="<s>",
        eos_token="</s>",
        pad_token="<pad>",
        model_max_length=max_tokens,
    )
    return _save(folder, _gpt2_model(tokenizer, max_tokens, seed), tokenizer)


def gpt2_byte_level(folder: Path, *, seed: int = 0, max_tokens: int = MAX_TOKENS) -> Path:
    """GPT-2 with byte-level BPE as first published: <|endoftext|> is BOS and EOS, and nothing adds or pads with it."""
    learner = Tokenizer(models.BPE())
    learner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    learner.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=["<|endoftext|>"],
        show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )
    learner.train_from_iterator(ENGLISH * 4 + JAPANESE, trainer)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=learner,
        unk_token="<|endoftext|>",
        bos_token="<|endoftext|>",
        eos_token="<|endoftext|>",
        model_max_length=max_tokens,
    )
    return _save(folder, _gpt2_model(tokenizer, max_tokens, seed), tokenizer)


def _bert_model(vocab_size: int, max_tokens: int, seed: int) -> PreTrainedModel:
    torch.manual_seed(seed)
    return BertForMaskedLM(
        BertConfig(
            vocab_size=vocab_size,
            hidden_size=HIDDEN,
            num_hidden_layers=LAYERS,
            num_attention_heads=2,
            intermediate_size=64,
            max_position_embeddings=max_tokens,
            initializer_range=0.2,
        )
    )


def _gpt2_model(tokenizer: PreTrainedTokenizerFast, max_tokens: int, seed: int) -> PreTrainedModel:
    torch.manual_seed(seed)
    return GPT2LMHeadModel(
        GPT2Config(
            vocab_size=len(tokenizer),
            n_embd=HIDDEN,
            n_layer=LAYERS,
            n_head=2,
            n_positions=max_tokens,
            bos_token_id=tokenizer.bos_token_id,
            eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id,
            initializer_range=0.2,
        )
    )


def _save(folder: Path, model: PreTrainedModel, tokenizer: object) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)  # type: ignore[attr-defined]
    return folder
