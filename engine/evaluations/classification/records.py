"""The records of classification: what is asked (Settings) and what is found (Result)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from engine.evaluations.shared.common_columns import CLASS, MODEL, OTHER, RANK_GROUP, REASON, ROW, SEPARABLE, interval
from engine.evaluations.shared.declared_tables import Column, Table, declared, documented, measured
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


SENTENCE = Column("text", "text", "the sentence")
N_ASKED = Column("n_asked", "integer", "times that it was tested, over the runs", "tests")
N_CORRECT = Column("n_correct", "integer", "times that its class was predicted, over the runs", "tests", "higher")

MODELS = Table("models", "A row for each model.", (
    MODEL, Column("n_train", "integer", "sentences trained on in each run", "sentences"),
    Column("n_test", "integer", "sentences tested in each run", "sentences"),
    measured("classification_accuracy", "accuracy_min", "the least accuracy of a run"),
    measured("classification_accuracy", "accuracy_max", "the greatest accuracy of a run"),
    measured("classification_accuracy", "accuracy_mean", "mean accuracy of the runs"),
    *interval("Wilson's, at n_test sentences"),
    Column("baseline", "number", "accuracy of always predicting the majority class of the training sentences"),
    Column("rank", "integer", "1 is the best mean accuracy, equal ones share a rank", better="lower"),
    Column("n_classes", "integer", "classes", "classes"),
    RANK_GROUP,
), promised=6)
RUNS = Table("runs", "A row for each run of each model.", (
    MODEL, Column("seed", "integer", "seed of the run"), measured("classification_accuracy", "accuracy"),
    measured("classification_accuracy", "train_accuracy", "accuracy on the sentences trained on"),
))
COMPARISONS = Table("comparisons", "Each two models once, in the order of the settings.", (
    MODEL, OTHER,
    Column("difference", "number", "mean accuracy of the model less that of the other"),
    *interval("by the sentences and by the runs"), SEPARABLE,
))
CONFUSION = Table("confusion", "A row for each class and what was predicted of its sentences, over all runs.", (
    MODEL, CLASS, Column("predicted", "text", "the class that was predicted"),
    Column("n", "integer", "how often, never 0", "tests"),
))
CLASSES = Table("classes", "A row for each class under each model.", (
    MODEL, CLASS, Column("n_train", "integer", "its sentences trained on in each run", "sentences"),
    Column("n_test", "integer", "its sentences tested in each run", "sentences"), N_ASKED, N_CORRECT,
    measured("classification_accuracy", "accuracy", "n_correct / n_asked"),
))
SENTENCES = Table("sentences", "A row for each sentence that was ever tested, under each model.", (
    MODEL, ROW, SENTENCE, CLASS, N_ASKED, N_CORRECT, Column("predicted", "text", "the class most often predicted"),
))
EXCLUDED = Table("excluded", "A row for each sentence that was left out, under each model that is the reason.", (
    MODEL, ROW, SENTENCE, REASON,
))
# What the command writes and a page's archive holds.
FILES = (MODELS, RUNS, COMPARISONS, CLASSES, CONFUSION, SENTENCES, EXCLUDED)


@documented
@dataclass(frozen=True)
class Result:
    """Everything the classification page draws."""

    settings: Settings
    dataset_name: str
    models: pd.DataFrame = field(metadata=declared(MODELS))
    runs: pd.DataFrame = field(metadata=declared(RUNS))
    comparisons: pd.DataFrame = field(metadata=declared(COMPARISONS))
    confusion: pd.DataFrame = field(metadata=declared(CONFUSION))
    classes: pd.DataFrame = field(metadata=declared(CLASSES))
    sentences: pd.DataFrame = field(metadata=declared(SENTENCES))
    excluded: pd.DataFrame = field(metadata=declared(EXCLUDED))
    notices: tuple[str, ...] = ()
    signature: dict[str, Any] = field(default_factory=dict)
