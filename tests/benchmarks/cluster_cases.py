"""Clusters of as many documents as livedoor news has, under two models: everything beside the sentence vectors."""

from __future__ import annotations

import itertools
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from transformers import BertConfig, BertModel

from engine.datasets import sample_data
from engine.datasets.labelled.labelled_sentences import LabelledSentences
from engine.evaluations.clusters.evaluate import evaluate
from engine.evaluations.clusters.records import Settings
from engine.inference.backend import Piece
from engine.inference.cache import Cache
from engine.inference.gateway import Gateway, GatewaySession
from engine.inference.local.workers import LocalWorkers
from tests.benchmarks import base_models
from tests.benchmarks.measuring import Budget, ProcessorTime, wall_seconds

N_DOCUMENTS = 7_367
HIDDEN = 768
SECONDS = 40.0
SHORTEST, LONGEST = 20, 40  # characters that are taken of a line: what is measured begins with the vectors


def budgets(folder: Path) -> list[Budget]:
    """Maps, intervals, null, indices and neighbours of a process that has drawn no map, sentence vectors cached.

    The models have the width of BERT-base and one layer: what is measured sees their vectors alone.
    """
    dataset = _documents()
    models = tuple(str(_model(folder / f"wide {seed}", seed)) for seed in range(2))
    cache = Cache(folder / "clusters.sqlite", 2**31)
    settings = Settings(models, pooling="mean")
    with_vectors = LocalWorkers()
    try:
        session = Gateway(with_vectors, cache).session("vectors")
        for model in models:
            session.sentence_vectors(model, dataset.texts, layers=[1], pooling="mean")
    finally:
        with_vectors.close()
    workers = LocalWorkers()
    try:
        session = Gateway(workers, cache).session("bench")
        for model in models:
            session.describe(model)
        processors = ProcessorTime(os.getpid())
        seconds = wall_seconds(lambda: evaluate(settings, dataset, session))
        why = processors.words("the bench with its worker")
        map_seconds = _map_seconds(
            settings, session.sentence_vectors(models[0], dataset.texts, layers=[1], pooling="mean"), session
        )
        why += f" One map by UMAP of as many vectors takes {map_seconds:.2g} s; its seed holds it to one core."
    finally:
        workers.close()
        cache.close()
    return [
        Budget(
            f"Clusters of {dataset.n:,} {dataset.name} under two models beside their vectors: maps, intervals, "
            "null, indices and neighbours",
            seconds,
            SECONDS,
            why=why,
        )
    ]


def _map_seconds(settings: Settings, pieces: Sequence[Piece], session: GatewaySession) -> float:
    """Seconds of one map, of another seed than the one that was drawn."""
    vectors = np.stack([piece["vectors"][0] for piece in pieces])
    return wall_seconds(
        lambda: session.project(
            vectors,
            method="umap",
            n_neighbors=settings.n_neighbors,
            min_dist=settings.min_dist,
            metric=settings.metric,
            seed=settings.seed + 1,
            n_components=settings.dimensions,
        )
    )


def _documents() -> LabelledSentences:
    """Lines of the articles of livedoor news, or pairs of the samples' sentences in nine classes where it is absent."""
    root = base_models.SHARED / "livedoor" / "text"
    lines = {
        line[:LONGEST]: path.parent.name
        for path in (sorted(root.glob("*/*-*.txt")) if root.exists() else [])
        for line in path.read_text(encoding="utf-8").splitlines()[2:]
        if len(line) > SHORTEST
    }
    if len(lines) >= N_DOCUMENTS:
        step = len(lines) // N_DOCUMENTS
        texts = list(lines)[::step][:N_DOCUMENTS]
        labels, name = [lines[text] for text in texts], "lines of livedoor"
    else:
        sentences = dict.fromkeys([*sample_data.labelled_sentences().texts, *sample_data.minimal_pairs().acceptable])
        texts = [" ".join(pair) for pair in itertools.islice(itertools.permutations(sentences, 2), N_DOCUMENTS)]
        labels, name = [f"class {i % 9}" for i in range(len(texts))], "made-up documents"
    return LabelledSentences(name, tuple(texts), tuple(labels), tuple(range(1, len(texts) + 1)))


def _model(folder: Path, seed: int) -> Path:
    tokenizer = base_models.japanese_tokenizer()
    torch.manual_seed(seed)
    BertModel(
        BertConfig(vocab_size=len(tokenizer), hidden_size=HIDDEN, num_hidden_layers=1, intermediate_size=HIDDEN)
    ).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
