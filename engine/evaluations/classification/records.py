"""The records of classification: what is asked (Settings) and what is found (Result)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from engine.language.normalize import STEP_MEANINGS
from engine.measures.classification import TEST_SHARE
from engine.options import option

MOST_RUNS, MOST_CLASSES = 100, 1000


@dataclass(frozen=True)
class Settings:
    """What is classified and how."""

    models: tuple[str, ...]
    layer: int | None = option(None, "Hidden state that the vectors are taken from: 0 = embeddings, -1 = the last.",
                               unset="the last")
    pooling: str = option("cls", "Vector of a sentence.", choices={
        "cls": "the first token's vector; a model without a CLS token has none",
        "mean": "the mean over the vectors of all tokens"})
    normalize: tuple[str, ...] = option((), "Normalisation of the texts before any model reads them.",
                                        choices=STEP_MEANINGS, separator=",", metavar="STEPS", unset="none")
    split: str = option("tail", "Which sentences of each class are the test, the same for all models.", choices={
        "tail": "the last ones in the order of the file, as the paper printed",
        "stratified": "drawn anew in every run, as the paper recommends"})
    seeds: int = option(5, "Number of runs, each from other random weights.", least=1, most=MOST_RUNS, unit="runs")
    seed: int = option(0, "Seed of the first run; the others take the next ones.", least=0, most=2**32 - MOST_RUNS)
    epochs: int = option(20, "Passes over the training sentences; the paper has 20.", least=1, most=1000)
    hidden: tuple[int, ...] = option((200, 200), "Widths of the hidden layers; the paper has 200, in several layers of "
                                                 "a number that it does not say.", least=1, shown_most=2000,
                                     least_items=1, shown_items=5, unit="units", separator=",", metavar="N,N")
    batch_size: int = option(32, "Training sentences in a step.", least=1, unit="sentences")
    test_share: float = option(TEST_SHARE, "Share of each class that is the test.", least=0, most=1, exclusive=True)
    standardize: bool = option(False, "Bring each dimension to mean 0 and variance 1 over the training sentences. Not "
                                      "in the paper; with few epochs the network then learns its training sentences "
                                      "much further.")


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
