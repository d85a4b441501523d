"""Models of the size of BERT-base and GPT-2 (small) with random weights, and texts for them.

How fast a model is does not depend on what its weights are. Vocabularies and texts are the published ones beside the
checkout; where they are absent, those of the built-in models and the samples.
"""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

import torch
from transformers import (
    BertConfig,
    BertForMaskedLM,
    BertJapaneseTokenizer,
    BertTokenizer,
    GPT2Config,
    GPT2LMHeadModel,
    GPT2Tokenizer,
    PreTrainedTokenizerBase,
)

from engine.datasets import sample_data
from engine.models.sources.cards import built_in_directory

SHARED = Path(__file__).parents[3] / "shared" / "data"
# HAKARI_BENCH_SHARE=0.25 in the environment takes a quarter of the texts.
SHARE = float(os.environ.get("HAKARI_BENCH_SHARE", "1"))
N_SENTENCE_PAIRS, N_TITLES, N_MASKED, N_MINIMAL_PAIRS = (max(8, int(n * SHARE)) for n in (192, 256, 16, 320))
MAX_TOKENS = 512


@dataclass(frozen=True)
class Job:
    """One kind of work: a model's directory, and its texts; the sides of a pair are one tuple each.

    `words`: whether the tokenizer tells words, which minicons' word-l2r needs.
    """

    folder: Path
    texts: tuple[tuple[str, ...], ...]
    source: str
    words: bool = True


def alignment(folder: Path) -> Job:
    """BERT-base with MeCab and WordPiece; distinct sentence pairs of JSTS."""
    path = SHARED / "jsts" / "valid-v1.3.json"
    _bert(folder, _japanese_tokenizer())
    if path.exists():
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()[:N_SENTENCE_PAIRS]]
        return Job(folder, tuple((row["sentence1"], row["sentence2"]) for row in rows), "JSTS")
    sample = sample_data.sentence_pairs()
    return Job(folder, tuple(zip(sample.references, sample.candidates, strict=True)), "the sample")


def titles(folder: Path) -> Job:
    """The same model (made by `alignment`); titles of livedoor news."""
    root = SHARED / "livedoor" / "text"
    files = [path for path in sorted(root.glob("*/*-*.txt")) if path.name != "LICENSE.txt"] if root.exists() else []
    if files:
        sampled_files = files[::max(1, len(files) // N_TITLES)][:N_TITLES]
        titles = tuple((path.read_text(encoding="utf-8").splitlines()[2],) for path in sampled_files)
        return Job(folder, titles, "livedoor")
    return Job(folder, tuple((text,) for text in sample_data.labelled_sentences().texts), "the sample")


def masked(folder: Path, texts: Job) -> Job:
    """BERT-base with a tokenizer that tells words, where there is one; sentences of `texts`."""
    path = SHARED / "tokenizers" / "bert-base-japanese" / "vocab.txt"
    _bert(folder, BertTokenizer(vocab=str(path), do_lower_case=False, model_max_length=MAX_TOKENS) if path.exists()
          else _japanese_tokenizer())
    sentences = list(dict.fromkeys(side for pair in texts.texts for side in pair))[:N_MASKED]
    return Job(folder, tuple((text,) for text in sentences), texts.source, path.exists())


def causal(folder: Path) -> Job:
    """GPT-2 (small); minimal pairs of BLiMP, of every paradigm alike."""
    vocabulary, paradigms = SHARED / "tokenizers" / "gpt2", sorted((SHARED / "blimp").glob("*.jsonl"))
    torch.manual_seed(0)
    if vocabulary.exists() and paradigms:
        tokenizer = GPT2Tokenizer(vocab=str(vocabulary / "vocab.json"), merges=str(vocabulary / "merges.txt"))
        tokenizer.pad_token = tokenizer.eos_token  # minicons wants one
        model = GPT2LMHeadModel(GPT2Config())
        rows = [json.loads(line) for path in paradigms
                for line in path.read_text(encoding="utf-8").splitlines()[::20]]
        rows = rows[::max(1, len(rows) // N_MINIMAL_PAIRS)][:N_MINIMAL_PAIRS]
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        return Job(folder, tuple((row["sentence_good"], row["sentence_bad"]) for row in rows), "BLiMP")
    built_in = built_in_directory("builtin/gpt2-mini-ja")
    vocabulary_size = json.loads((built_in / "config.json").read_text())["vocab_size"]
    GPT2LMHeadModel(GPT2Config(vocab_size=vocabulary_size)).save_pretrained(folder)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(built_in / name, folder)
    sample = sample_data.minimal_pairs()
    return Job(folder, tuple(zip(sample.acceptable, sample.unacceptable, strict=True))[:N_MINIMAL_PAIRS], "the sample")


def _bert(folder: Path, tokenizer: PreTrainedTokenizerBase) -> None:
    torch.manual_seed(0)
    BertForMaskedLM(BertConfig(vocab_size=len(tokenizer))).save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def _japanese_tokenizer() -> PreTrainedTokenizerBase:
    path = SHARED / "tokenizers" / "bert-base-japanese" / "vocab.txt"
    if not path.exists():
        return BertJapaneseTokenizer.from_pretrained(built_in_directory("builtin/bert-mini-ja"))
    return BertJapaneseTokenizer(str(path), word_tokenizer_type="mecab", subword_tokenizer_type="wordpiece",
                                 mecab_kwargs={"mecab_dic": "ipadic"}, model_max_length=MAX_TOKENS)
