"""The records of classification: what is asked (Settings) and what is found (Result)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from engine.measures.classification import TEST_SHARE

POOLINGS = ("cls", "mean")
SPLITS = ("tail", "stratified")
MOST_RUNS, MOST_EPOCHS, MOST_CLASSES = 100, 1000, 1000


@dataclass(frozen=True)
class Settings:
    """What is classified and how.

    layer: None is the last hidden state, 0 the embeddings, negative from the end. normalize: steps of
    `engine.language.normalize`. split: "tail", the last sentences of each class as the file has them (as printed), or
    "stratified", a random share of each class, another in every run (as the paper recommends). seeds: the number of
    runs; they take the seeds `seed`, seed + 1, … standardize: each dimension to mean 0 and variance 1 first (not in
    the paper; with few epochs it decides how well the training sentences are learnt).
    """

    models: tuple[str, ...]
    layer: int | None = None
    pooling: str = "cls"
    normalize: tuple[str, ...] = ()
    split: str = "tail"
    seeds: int = 5
    seed: int = 0
    epochs: int = 20
    hidden: tuple[int, ...] = (200, 200)
    batch_size: int = 32
    test_share: float = TEST_SHARE
    standardize: bool = False


@dataclass(frozen=True)
class Result:
    """Everything the classification page draws.

    models: model, n_train, n_test, accuracy_min, accuracy_max, accuracy_mean, ci_low, ci_high (95 %, Wilson, of the
        mean, at n_test sentences), baseline (the majority class's share), rank, n_classes, rank_group (1 = best;
        models that cannot be told apart from its best share a group).
    runs: model, seed, accuracy, train_accuracy.
    comparisons: model, other, difference (of the mean accuracies), ci_low, ci_high, separable; each pair of models
        once, in the order of `settings.models`; 95 %, by the sentences and by the runs.
    confusion: model, class, predicted, n; summed over the runs, cells of 0 left out.
    classes: model, class, n_train, n_test (of one run), n_asked, n_correct (over the runs), accuracy.
    sentences: model, row, text, class, n_asked, n_correct, predicted (the class most often said); those ever tested.
    excluded: model, row, text, reason.
    """

    settings: Settings
    dataset_name: str
    models: pd.DataFrame
    runs: pd.DataFrame
    comparisons: pd.DataFrame
    confusion: pd.DataFrame
    classes: pd.DataFrame
    sentences: pd.DataFrame
    excluded: pd.DataFrame
    notices: tuple[str, ...] = ()
    signature: dict[str, Any] = field(default_factory=dict)
