"""The records of classification: what is asked (Settings) and what is found (Result)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from engine.evaluations.shared.common_columns import (
    CLASS,
    LEFT_OUT_BY,
    MODEL,
    OTHER,
    RANK_FIRST,
    RANK_GROUP,
    RANK_LAST,
    REASON,
    ROW,
    SEPARABLE,
    best_in_bold,
    interval,
    separable_in_bold,
)
from engine.evaluations.shared.declared_tables import Column, Table, declared, documented, measured
from engine.evaluations.shared.precision import precision_option
from engine.evaluations.shared.vectors.vector_settings import (
    pooling_option,
    prompt_name_option,
    prompt_option,
    truncate_dim_option,
    upgraded,
)
from engine.language.normalize import STEP_MEANINGS
from engine.measures.classification import TEST_SHARE
from engine.messages.message import Message
from engine.options import Choice, option

MOST_RUNS, MOST_CLASSES = 100, 1000


@dataclass(frozen=True)
class Settings:
    """What is classified and how."""

    models: tuple[str, ...]
    layer: int | None = option(
        None, "Hidden state that the vectors are taken from: 0 = embeddings, -1 = the last.", unset="the last"
    )
    pooling: str = pooling_option(Message("Vector of a sentence."), otherwise="cls")
    prompt: str | None = prompt_option()
    prompt_name: str | None = prompt_name_option()
    truncate_dim: int | None = truncate_dim_option()
    precision: str = precision_option()
    normalize: tuple[str, ...] = option(
        (),
        "Normalisation of the texts before any model reads them.",
        choices=STEP_MEANINGS,
        separator=",",
        metavar="STEPS",
        unset="none",
    )
    split: str = option(
        "tail",
        "Which sentences of each class are the test, the same for all models.",
        choices=(
            Choice(
                "tail",
                "",
                "the last ones in the order of the file, as the paper printed",
                "the last ones in the order of the file",
            ),
            Choice("stratified", "", "drawn anew in every run, as the paper recommends", "drawn anew in every run"),
        ),
    )
    seeds: int = option(5, "Number of runs, each from other random weights.", least=1, most=MOST_RUNS, unit="runs")
    seed: int = option(0, "Seed of the first run; the others take the next ones.", least=0, most=2**32 - MOST_RUNS)
    epochs: int = option(20, "Passes over the training sentences; the paper has 20.", least=1, most=1000)
    hidden: tuple[int, ...] = option(
        (200, 200),
        "Widths of the hidden layers; the paper has 200, in several layers of a number that it does not say.",
        least=1,
        shown_most=2000,
        least_items=1,
        shown_items=5,
        unit="units",
        separator=",",
        metavar="N,N",
    )
    batch_size: int = option(32, "Training sentences in a step.", least=1, unit="sentences")
    test_share: float = option(TEST_SHARE, "Share of each class that is the test.", least=0, most=1, exclusive=True)
    standardize: bool = option(
        False,
        "Bring each dimension to mean 0 and variance 1 over the training sentences. Not "
        "in the paper; with few epochs the network then learns its training sentences "
        "much further.",
    )

    upgraded = staticmethod(upgraded)


SENTENCE = Column("text", "text", "the sentence")
N_ASKED = Column("n_asked", "integer", "times that it was tested, over the runs", "tests")
N_CORRECT = Column("n_correct", "integer", "times that its class was predicted, over the runs", "tests", "higher")

MODELS = Table(
    "models",
    Message("A row for each model."),
    (
        MODEL,
        Column("n_train", "integer", "sentences trained on in each run", "sentences"),
        Column("n_test", "integer", "sentences tested in each run", "sentences"),
        measured("classification_accuracy", "accuracy_min", "the least accuracy of a run"),
        measured("classification_accuracy", "accuracy_max", "the greatest accuracy of a run"),
        measured("classification_accuracy", "accuracy_mean", "mean accuracy of the runs"),
        *interval(Message("Wilson's, at n_test sentences")),
        Column(
            "baseline", "number", "accuracy of always predicting the majority class of the training sentences", digits=3
        ),
        Column("rank", "integer", "1 is the best mean accuracy, equal ones share a rank", better="lower"),
        Column("n_classes", "integer", "classes", "classes"),
        RANK_GROUP,
        RANK_FIRST,
        RANK_LAST,
    ),
    promised=6,
    bold=best_in_bold("accuracy_mean", Message("paired by sentences")),
)
RUNS = Table(
    "runs",
    Message("A row for each run of each model."),
    (
        MODEL,
        Column("seed", "integer", "seed of the run"),
        measured("classification_accuracy", "accuracy"),
        measured("classification_accuracy", "train_accuracy", "accuracy on the sentences trained on"),
    ),
)
COMPARISONS = Table(
    "comparisons",
    Message("Each two models once, in the order of the settings."),
    (
        MODEL,
        OTHER,
        Column("difference", "number", "mean accuracy of the model less that of the other", digits=3),
        *interval(Message("by the sentences and by the runs")),
        SEPARABLE,
    ),
    bold=separable_in_bold("difference", Message("95% interval, paired by sentences")),
)
CONFUSION = Table(
    "confusion",
    Message("A row for each class and what was predicted of its sentences, over all runs."),
    (
        MODEL,
        CLASS,
        Column("predicted", "text", "the class that was predicted"),
        Column("n", "integer", "how often, never 0", "tests"),
    ),
)
CLASSES = Table(
    "classes",
    Message("A row for each class under each model."),
    (
        MODEL,
        CLASS,
        Column("n_train", "integer", "its sentences trained on in each run", "sentences"),
        Column("n_test", "integer", "its sentences tested in each run", "sentences"),
        N_ASKED,
        N_CORRECT,
        measured("classification_accuracy", "accuracy", "n_correct / n_asked"),
    ),
)
SENTENCES = Table(
    "sentences",
    Message("A row for each sentence that was ever tested, under each model."),
    (
        MODEL,
        ROW,
        SENTENCE,
        CLASS,
        N_ASKED,
        N_CORRECT,
        Column("predicted", "text", "the class most often predicted"),
    ),
)
EXCLUDED = Table(
    "excluded",
    Message(
        "A row for each sentence that was left out, under each model that is the reason, "
        "and for each row of the file that could not be used."
    ),
    (
        LEFT_OUT_BY,
        ROW,
        SENTENCE,
        REASON,
    ),
)
# What the command writes and a page's downloads hold.
FILES = (MODELS, RUNS, COMPARISONS, CLASSES, CONFUSION, SENTENCES.with_input(), EXCLUDED)


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
