"""Models that cost next to nothing (2 layers, 64 wide, 1,000 tokens), so that a measurement shows what the host does.

Their tokenizers are trained on the texts that are measured, which are the published ones beside the checkout; where
these are absent, the samples.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
from transformers import (
    BertConfig,
    BertForMaskedLM,
    BertTokenizer,
    GPT2Config,
    GPT2LMHeadModel,
)

from engine.datasets import sample_data
from tests.benchmarks.base_models import SHARE, SHARED

N_TOKENS, WIDTH, LAYERS, HEADS, MAX_TOKENS = 1000, 64, 2, 2, 512
N_TEXTS = max(64, int(8000 * SHARE))


@dataclass(frozen=True)
class TinyJob:
    """A model's directory and distinct texts for it, an even number; pairs are neighbours."""

    folder: Path
    texts: tuple[str, ...]
    source: str

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """The first text of the list with the second, the third with the fourth."""
        return tuple(zip(self.texts[::2], self.texts[1::2], strict=True))


def bert(folder: Path) -> TinyJob:
    """BERT with a WordPiece vocabulary and sentences in Japanese."""
    path = SHARED / "jsts" / "valid-v1.3.json"
    if path.exists():
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        job = _job(folder, [row[side] for row in rows for side in ("sentence1", "sentence2")], "JSTS")
    else:
        sample = sample_data.sentence_pairs()
        job = _job(folder, [*sample.references, *sample.candidates], "the sample")
    learner = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    learner.normalizer = normalizers.BertNormalizer(lowercase=False)
    learner.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    learner.train_from_iterator(
        job.texts,
        trainers.WordPieceTrainer(
            vocab_size=N_TOKENS,
            limit_alphabet=N_TOKENS // 3,
            show_progress=False,
            special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"],
        ),
    )
    torch.manual_seed(0)
    BertForMaskedLM(
        BertConfig(
            vocab_size=N_TOKENS,
            hidden_size=WIDTH,
            num_hidden_layers=LAYERS,
            num_attention_heads=HEADS,
            intermediate_size=4 * WIDTH,
            max_position_embeddings=MAX_TOKENS,
        )
    ).save_pretrained(folder)
    tokenizer = BertTokenizer(vocab=learner.get_vocab(), do_lower_case=False, model_max_length=MAX_TOKENS)
    tokenizer.save_pretrained(folder)
    # bert_score takes the slow tokenizer of the peers' transformers, which reads a vocab.txt.
    (folder / "vocab.txt").write_text(
        "".join(f"{token}\n" for token in tokenizer.convert_ids_to_tokens(list(range(len(tokenizer))))),
        encoding="utf-8",
    )
    return job


def gpt2(folder: Path) -> TinyJob:
    """GPT-2 with a byte-level vocabulary, and minimal pairs of BLiMP."""
    paths = sorted((SHARED / "blimp").glob("*.jsonl")) if SHARED.exists() else []
    rows = [json.loads(line) for path in paths for line in path.read_text(encoding="utf-8").splitlines()]
    if rows:
        job = _job(folder, [row[side] for row in rows for side in ("sentence_good", "sentence_bad")], "BLiMP")
    else:
        sample = sample_data.minimal_pairs()
        job = _job(
            folder,
            [text for pair in zip(sample.acceptable, sample.unacceptable, strict=True) for text in pair],
            "the sample",
        )
    learner = Tokenizer(models.BPE())
    learner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    learner.decoder = decoders.ByteLevel()
    learner.train_from_iterator(
        job.texts,
        trainers.BpeTrainer(
            vocab_size=N_TOKENS,
            special_tokens=["<|endoftext|>"],
            show_progress=False,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        ),
    )
    torch.manual_seed(0)
    GPT2LMHeadModel(
        GPT2Config(
            vocab_size=N_TOKENS,
            n_embd=WIDTH,
            n_layer=LAYERS,
            n_head=HEADS,
            n_positions=MAX_TOKENS,
            bos_token_id=0,
            eos_token_id=0,
        )
    ).save_pretrained(folder)
    learner.save(str(folder / "tokenizer.json"))
    # A class that the older transformers of the peers knows too.
    roles = dict.fromkeys(("bos_token", "eos_token", "pad_token"), "<|endoftext|>")
    settings = {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": MAX_TOKENS, **roles}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings), encoding="utf-8")
    return job


def _job(folder: Path, texts: list[str], source: str) -> TinyJob:
    """N_TEXTS texts: distinct ones, then those again with a number appended, until there are enough."""
    distinct = list(dict.fromkeys(texts))
    numbered = (f"{text} {number // len(distinct) + 1}" for number, text in enumerate(cycle(distinct)))
    return TinyJob(folder, tuple(islice((*distinct, *islice(numbered, N_TEXTS)), N_TEXTS)), source)
