"""A sentence's vector has the same bits whatever it is batched with, and in whatever order."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from sentence_transformers.sentence_transformer.modules import Dense, Pooling

from engine.datasets.sample_data import labelled_sentences
from engine.models.loading.weights import LoadedModel, load
from engine.models.scoring.sentence_vectors import sentence_vectors
from tests.models.scoring.vectors.test_sentence_vectors import published
from tests.support import tiny_models

BERT = "builtin/bert-mini-ja"
POOLINGS = ("cls", "mean", "mean-without-special", "last", "weighted-mean")


@pytest.fixture(params=[1, 2])
def threads(request: pytest.FixtureRequest) -> Iterator[int]:
    """Of torch; products of matrices are divided among them."""
    before = torch.get_num_threads()
    torch.set_num_threads(request.param)
    yield request.param
    torch.set_num_threads(before)


def texts() -> list[str]:
    """Of one character to some hundred, copies among them."""
    sentences = list(labelled_sentences().texts)
    return [*sentences[:40], sentences[0], "猫", "猫が", "".join(sentences[:4])[:90], "".join(sentences[4:12])]


def vectors(loaded: LoadedModel, chosen: list[str], pooling: str) -> list[np.ndarray]:
    layers = [0, loaded.facts.n_layers] if pooling == "mean" else [loaded.facts.n_layers]
    return [piece["vectors"] for piece in sentence_vectors(loaded, chosen, layers=layers, pooling=pooling)]


def require_steady(loaded: LoadedModel, pooling: str) -> None:
    every, drawn = texts(), random.Random(4)
    together = vectors(loaded, every, pooling)
    for n in (1, 1, 2, 3, 5, 9, 17, 33):
        places = drawn.sample(range(len(every)), n)
        for place, vector in zip(places, vectors(loaded, [every[i] for i in places], pooling), strict=True):
            np.testing.assert_array_equal(vector, together[place], err_msg=f"{every[place]} among {n}")


@pytest.mark.parametrize("pooling", POOLINGS)
def test_a_built_in_model(pooling: str, threads: int) -> None:
    require_steady(load(BERT, "encode"), pooling)


@pytest.mark.parametrize("make", [tiny_models.bert, tiny_models.gpt2_unigram])
def test_models_of_other_sizes(make: object, tmp_path: Path, threads: int) -> None:
    require_steady(load(str(make(tmp_path / "model", max_tokens=512)), "encode"), "mean")  # type: ignore[operator]


def test_vectors_as_published_with_a_dense_layer(tmp_path: Path, threads: int) -> None:
    torch.manual_seed(3)
    folder = published(
        tmp_path / "model",
        Pooling(tiny_models.HIDDEN, "mean"),
        Dense(tiny_models.HIDDEN, 24),
        transformer=tiny_models.bert_japanese(tmp_path / "bert"),
    )
    require_steady(load(str(folder), "encode"), "published")
