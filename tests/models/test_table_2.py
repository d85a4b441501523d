"""The token counts of the seed paper's table 2, exactly, with the vocabularies at hand, where the data set lies beside
the checkout. JBLiMP goes into shared/data/jblimp/validated_minimal_pairs.jsonl (github.com/osekilab/JBLiMP)."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from transformers import BertTokenizer, PreTrainedTokenizerBase

from engine.datasets.formats.files import read_table
from engine.datasets.minimal_pairs.pairs import MinimalPairs, from_table
from engine.measures.minimal_pairs.length_bias import STRATA, strata
from engine.models.tokenization.spans import token_spans
from engine.models.tokenization.tokenizer_loading import load_tokenizer
from tests.support.shared_data import shared_data

# Ueda, Mita, Komachi 2024, table 2, JBLiMP: A=U, A>U, A<U under japanese-gpt2-medium and multilingual BERT.
JBLIMP = {"rinna": (147, 65, 119), "multilingual BERT": (208, 58, 65)}


def rinna(folder: Path) -> PreTrainedTokenizerBase:
    """japanese-gpt2-medium's tokenizer, from its SentencePiece model, as its publisher configured it."""
    shutil.copy(shared_data("tokenizers", "rinna-japanese", "google_sp.model"), folder / "spiece.model")
    configured = {
        "tokenizer_class": "T5Tokenizer",
        "eos_token": "</s>",
        "unk_token": "<unk>",
        "bos_token": "<s>",
        "pad_token": "[PAD]",
        "cls_token": "[CLS]",
        "sep_token": "[SEP]",
        "mask_token": "[MASK]",
        "extra_ids": 0,
        "do_lower_case": True,
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(configured))
    (folder / "config.json").write_text(json.dumps({"model_type": "gpt2", "vocab_size": 32_000}))
    return load_tokenizer(folder)


def multilingual_bert(folder: Path) -> PreTrainedTokenizerBase:
    pieces = shared_data("tokenizers", "bert-base-multilingual-cased", "vocab.txt").read_text(encoding="utf-8").split()
    return BertTokenizer(vocab={piece: i for i, piece in enumerate(pieces)}, do_lower_case=False, model_max_length=512)


def counted(pairs: MinimalPairs, tokenizer: PreTrainedTokenizerBase) -> tuple[int, ...]:
    a, u = (
        [int((~token_spans(tokenizer, text).special).sum()) for text in texts]
        for texts in (pairs.acceptable, pairs.unacceptable)
    )
    found = strata(a, u)
    return tuple(int(np.sum(found == name)) for name in STRATA[1:])


@pytest.mark.parametrize(("name", "make"), [("rinna", rinna), ("multilingual BERT", multilingual_bert)])
def test_jblimp_falls_into_the_papers_strata(
    name: str, make: Callable[[Path], PreTrainedTokenizerBase], tmp_path: Path
) -> None:
    pairs = from_table(read_table(shared_data("jblimp", "validated_minimal_pairs.jsonl")))
    assert pairs.n == 331
    assert counted(pairs, make(tmp_path)) == JBLIMP[name]
