"""The whole alignment, dictionary and scores included, against bert_score on JSTS: idf off, of references, of a corpus.

PARITY_PAIRS=1457 in the environment takes every pair (some minutes); otherwise the first few are taken.
"""

from __future__ import annotations

import json
import os
import shutil
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import BertConfig, BertForMaskedLM, BertJapaneseTokenizer

from engine.datasets import sentence_pairs
from engine.datasets.formats.files import read_table
from engine.datasets.sentence_pairs import SentencePairs
from engine.evaluations.alignment.evaluate import evaluate
from engine.evaluations.alignment.records import Scoring, Settings
from engine.evaluations.alignment.rescoring import rescore
from engine.evaluations.shared.idf_files import write_idf
from engine.measures.idf import count_documents
from engine.models.loading.weights import LoadedModel, load
from engine.models.tokenization.encoding import token_ids
from tests.evaluations.alignment.direct_session import DirectSession
from tests.support.shared_data import shared_data

TOLERANCE = 1e-5  # the project's promise; both sides are float32
N_CORPUS = 200


@pytest.fixture(scope="module", params=["builtin", "base"])
def model(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[LoadedModel, int]]:
    """A model in a directory that bert_score reads too, and how many pairs it is held against."""
    folder = tmp_path_factory.mktemp("parity") / request.param
    if request.param == "builtin":
        # The weights are stored in half precision; bert_score would compute in it, as the configuration may say.
        shutil.copytree(load("builtin/bert-mini-ja", "encode").facts.path, folder)
        config = json.loads((folder / "config.json").read_text())
        (folder / "config.json").write_text(json.dumps({**config, "dtype": "float32"}))
        n_pairs = 100
    else:
        vocabulary = shared_data("tokenizers", "bert-base-japanese", "vocab.txt")
        torch.manual_seed(0)
        model = BertForMaskedLM(BertConfig(vocab_size=len(vocabulary.read_text(encoding="utf-8").splitlines())))
        model.save_pretrained(folder)
        BertJapaneseTokenizer(
            str(vocabulary),
            word_tokenizer_type="mecab",
            subword_tokenizer_type="wordpiece",
            mecab_kwargs={"mecab_dic": "ipadic"},
            model_max_length=512,
        ).save_pretrained(folder)
        n_pairs = 20
    yield load(str(folder), "encode"), int(os.environ.get("PARITY_PAIRS", n_pairs))
    shutil.rmtree(folder)  # pytest would keep 440 MB for the next three times


@pytest.fixture(scope="module")
def pairs() -> SentencePairs:
    return sentence_pairs.from_table(read_table(shared_data("jsts", "valid-v1.3.json")))


def test_scores_equal_those_of_bert_score(model: tuple[LoadedModel, int], pairs: SentencePairs, tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its own imports
        import bert_score

    loaded, n = model
    facts = loaded.facts
    references, candidates = list(pairs.references[:n]), list(pairs.candidates[:n])
    corpus = list(pairs.candidates[-N_CORPUS:])
    tokens = [loaded.tokenizer.convert_ids_to_tokens(token_ids(loaded.tokenizer, text)) for text in corpus]
    write_idf(count_documents(tokens, "corpus", facts.tokenizer_fingerprint, "sentence"), tmp_path / "corpus.json.gz")
    few = SentencePairs("JSTS", pairs.references[:n], pairs.candidates[:n], ("",) * n, {}, pairs.rows[:n])
    result = evaluate(Settings((facts.name,)), few, DirectSession(loaded))  # type: ignore[arg-type]

    scorer: dict[str, dict[str, Any]] = {
        "none": {"idf": False},
        "references": {"idf": True, "idf_sents": references},
        str(tmp_path / "corpus.json.gz"): {"idf": True, "idf_sents": corpus},
    }
    for idf, theirs in scorer.items():
        peer = bert_score.BERTScorer(
            model_type=facts.path, num_layers=facts.n_layers, device="cpu", nthreads=0, **theirs
        )
        # The pairs of like length that it pads have no negative similarities here, which it would clamp.
        expected = np.stack([scores.numpy() for scores in peer.score(candidates, references, batch_size=64)], axis=1)
        found = rescore(result, Scoring(idf)).pairs[["precision", "recall", "f1"]].to_numpy()
        deviation = float(np.abs(found - expected).max())
        print(f"{Path(facts.path).name}, idf {Path(idf).name}, {n} pairs: largest deviation {deviation:.1e}")
        assert deviation <= TOLERANCE
