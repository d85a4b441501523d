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
JAPANESE_VOCABULARY = SHARED / "tokenizers" / "bert-base-japanese" / "vocab.txt"
BUILT_IN_BERT = built_in_directory("builtin/bert-mini-ja")
# HAKARI_BENCH_SHARE=0.25 in the environment takes a quarter of the texts.
SHARE = float(os.environ.get("HAKARI_BENCH_SHARE", "1"))
N_SENTENCE_PAIRS, N_TITLES, N_MASKED, N_MINIMAL_PAIRS = (max(8, int(n * SHARE)) for n in (192, 256, 16, 320))
MAX_TOKENS = 512
SAMPLES = "the samples"  # what a job's texts are where the published ones are absent
CLASS_OF_BOTH = "PreTrainedTokenizerFast"  # in transformers 4 and 5, of a tokenizer that is its tokenizer.json


@dataclass(frozen=True)
class Job:
    """One kind of work: a model's directory, and its texts; the sides of a pair are one tuple each."""

    folder: Path
    texts: tuple[tuple[str, ...], ...]
    source: str


def texts_used() -> str:
    """Where texts and vocabularies come from, for the report."""
    if SHARED.exists():
        return "the published ones beside the checkout, and the samples where one is absent."
    return "the repository's samples and built-in models; no published data lies beside the checkout."


def alignment(folder: Path) -> Job:
    """BERT-base with MeCab and WordPiece; distinct sentence pairs of JSTS."""
    path = SHARED / "jsts" / "valid-v1.3.json"
    _bert(folder, japanese_tokenizer())
    if path.exists():
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()[:N_SENTENCE_PAIRS]]
        return Job(folder, tuple((row["sentence1"], row["sentence2"]) for row in rows), "JSTS")
    sentences = _sample_sentences()
    return Job(folder, tuple(zip(sentences[::2], sentences[1::2], strict=False))[:N_SENTENCE_PAIRS], SAMPLES)


def titles(folder: Path) -> Job:
    """The same model (made by `alignment`); titles of livedoor news."""
    root = SHARED / "livedoor" / "text"
    files = [path for path in sorted(root.glob("*/*-*.txt")) if path.name != "LICENSE.txt"] if root.exists() else []
    if files:
        sampled_files = files[:: max(1, len(files) // N_TITLES)][:N_TITLES]
        titles = tuple((path.read_text(encoding="utf-8").splitlines()[2],) for path in sampled_files)
        return Job(folder, titles, "livedoor")
    return Job(folder, tuple((text,) for text in _sample_sentences()[-N_TITLES:]), SAMPLES)


def masked(folder: Path, texts: Job) -> Job:
    """BERT-base with a tokenizer that tells words, which minicons' word-l2r needs; sentences of `texts`."""
    path = JAPANESE_VOCABULARY if JAPANESE_VOCABULARY.exists() else BUILT_IN_BERT / "vocab.txt"
    _bert(folder, BertTokenizer(vocab=str(path), do_lower_case=False, model_max_length=MAX_TOKENS))
    sentences = list(dict.fromkeys(side for pair in texts.texts for side in pair))[:N_MASKED]
    return Job(folder, tuple((text,) for text in sentences), texts.source)


def causal(folder: Path) -> Job:
    """GPT-2 (small); minimal pairs of BLiMP, of every paradigm alike."""
    vocabulary, paradigms = SHARED / "tokenizers" / "gpt2", sorted((SHARED / "blimp").glob("*.jsonl"))
    torch.manual_seed(0)
    if vocabulary.exists() and paradigms:
        tokenizer = GPT2Tokenizer(vocab=str(vocabulary / "vocab.json"), merges=str(vocabulary / "merges.txt"))
        tokenizer.pad_token = tokenizer.eos_token  # minicons wants one
        model = GPT2LMHeadModel(GPT2Config())
        rows = [json.loads(line) for path in paradigms for line in path.read_text(encoding="utf-8").splitlines()[::20]]
        rows = rows[:: max(1, len(rows) // N_MINIMAL_PAIRS)][:N_MINIMAL_PAIRS]
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        return Job(folder, tuple((row["sentence_good"], row["sentence_bad"]) for row in rows), "BLiMP")
    built_in = built_in_directory("builtin/gpt2-mini-ja")
    config = json.loads((built_in / "config.json").read_text(encoding="utf-8"))
    GPT2LMHeadModel(
        GPT2Config(**{name: config[name] for name in ("vocab_size", "bos_token_id", "eos_token_id")})
    ).save_pretrained(folder)
    shutil.copy(built_in / "tokenizer.json", folder)
    described = json.loads((built_in / "tokenizer_config.json").read_text(encoding="utf-8"))
    # The peers' transformers does not know the name that transformers 5 writes for a tokenizer.json without a class.
    (folder / "tokenizer_config.json").write_text(
        json.dumps(described | {"tokenizer_class": CLASS_OF_BOTH}), encoding="utf-8"
    )
    sample = sample_data.minimal_pairs()
    return Job(folder, tuple(zip(sample.acceptable, sample.unacceptable, strict=True))[:N_MINIMAL_PAIRS], SAMPLES)


def _sample_sentences() -> list[str]:
    """The distinct sentences of all samples, those of sentence pairs first, side by side as they are there."""
    pairs, scored = sample_data.sentence_pairs(), sample_data.scored_pairs()
    sides = [
        side
        for sample in (pairs, scored)
        for sides in zip(sample.references, sample.candidates, strict=True)
        for side in sides
    ]
    single = [*sample_data.minimal_pairs().acceptable, *sample_data.labelled_sentences().texts]
    return list(dict.fromkeys([*sides, *single]))


def _bert(folder: Path, tokenizer: PreTrainedTokenizerBase) -> None:
    torch.manual_seed(0)
    BertForMaskedLM(BertConfig(vocab_size=len(tokenizer))).save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def japanese_tokenizer() -> PreTrainedTokenizerBase:
    """MeCab and WordPiece with the published vocabulary, or that of the built-in model where it is absent."""
    if not JAPANESE_VOCABULARY.exists():
        return BertJapaneseTokenizer.from_pretrained(BUILT_IN_BERT)
    return BertJapaneseTokenizer(
        str(JAPANESE_VOCABULARY),
        word_tokenizer_type="mecab",
        subword_tokenizer_type="wordpiece",
        mecab_kwargs={"mecab_dic": "ipadic"},
        model_max_length=MAX_TOKENS,
    )
