"""The records of fill-mask: what is asked (Settings) and what is found (Result)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd

from engine.evaluations.shared.common_columns import (
    LEFT_OUT_BY,
    MODEL,
    OTHER,
    REASON,
    ROW,
    SEPARABLE,
    interval,
    separable_in_bold,
)
from engine.evaluations.shared.declared_tables import Column, Table, declared, documented, measured
from engine.evaluations.shared.precision import computed_in_fp32, precision_option
from engine.language.normalize import STEP_MEANINGS
from engine.measures.statistics.clustered import FEW_CLUSTERS, FEWEST_CLUSTERS
from engine.measures.statistics.clustered_means import RESAMPLES
from engine.messages.message import Message
from engine.options import option

ALL = "all"  # the domain of the rows over all sentences
NO_DOMAIN = "(none)"


@dataclass(frozen=True)
class Settings:
    """What to evaluate and how."""

    models: tuple[str, ...]
    normalize: tuple[str, ...] = option(
        (),
        "Normalisation of sentences and words before any model reads them; the paper needed both steps.",
        choices=STEP_MEANINGS,
        separator=",",
        metavar="STEPS",
        unset="none",
    )
    top: int = option(10, "Predictions kept at each mask.", least=1)
    precision: str = precision_option()
    resamples: int = option(RESAMPLES, "Resamples of the bootstrap that the intervals come from.", least=1)
    seed: int = option(0, "Seed of the intervals, and of the sentences drawn where they are built.", least=0)

    upgraded = staticmethod(computed_in_fp32)


LABEL = Column("label", "text", "the word that was masked")
DOMAIN = Column("domain", "text", 'the domain; "" where the file names none')
INTERVAL = interval(Message("a bootstrap-t over the words"))
N_WORDS = Column("n_words", "integer", "words that the sentences are masked at, of each domain", "words", since="0.3.0")
NOTE = Column(
    "note",
    "text",
    Message(
        "what the interval rests on, or why there is none: no interval below "
        '{FEWEST_CLUSTERS} words, a rough one below {FEW_CLUSTERS}; "" where there is '
        "nothing to say",
        FEWEST_CLUSTERS=FEWEST_CLUSTERS,
        FEW_CLUSTERS=FEW_CLUSTERS,
    ),
    since="0.3.0",
)
MASK = Column("mask", "integer", "which mask of the word, 1 the first")
RANK = Message("of the token at its mask, 1 the most probable")

MODELS = Table(
    "models",
    Message("A row for each domain of each model, over the sentences that the model could fill."),
    (
        MODEL,
        Column("domain", "text", Message('the domain; "{ALL}" is all sentences', ALL=ALL)),
        Column("n", "integer", "sentences", "sentences"),
        measured("mask_probability", "mean_probability"),
        *INTERVAL,
        Column("n_several_pieces", "integer", "sentences whose word has several tokens", "sentences"),
        Column("n_crossing", "integer", "sentences in which a token crosses the border of the word", "sentences"),
        N_WORDS,
        NOTE,
    ),
    promised=4,
)
COMMON = replace(
    MODELS, name="common", promised=0, meaning=Message("The same over the sentences that every model could fill.")
)
ITEMS = Table(
    "items",
    Message("A row for each sentence that a model could fill."),
    (
        MODEL,
        ROW,
        DOMAIN,
        LABEL,
        measured("mask_probability", "probability"),
        Column(
            "rank", "integer or none", Message("rank {RANK}; none for a word of several", RANK=RANK), better="lower"
        ),
        Column("n_pieces", "integer", "tokens of the word", "tokens"),
        Column("crossing", "boolean", "whether a token crosses the border of the word in the sentence"),
    ),
    promised=6,
)
PIECES = Table(
    "pieces",
    Message("A row for each token of each masked word."),
    (
        MODEL,
        ROW,
        MASK,
        Column("token", "text", "the token"),
        Column("probability", "number", "its probability, given those before it", better="higher"),
        Column("rank", "integer", Message("rank {RANK}", RANK=RANK), better="lower"),
    ),
)
PREDICTIONS = Table(
    "predictions",
    Message("A row for each of the most probable tokens at each mask, all masks masked."),
    (
        MODEL,
        ROW,
        MASK,
        Column("place", "integer", "1 is the most probable"),
        Column("token", "text", "the token"),
        Column("probability", "number", "its probability"),
        Column("is_label", "boolean", "whether it is the masked word's token there"),
    ),
)
COMPARISONS = Table(
    "comparisons",
    Message("Each ordered pair of models, over the sentences that every model could fill."),
    (
        MODEL,
        OTHER,
        Column("difference", "number", "mean probability of the model less that of the other"),
        *interval(Message("Student's over the words")),
        SEPARABLE,
        N_WORDS,
        NOTE,
    ),
    bold=separable_in_bold("difference", Message("95% interval of Student's t, paired, over the words")),
)
SENTENCES = Table(
    "sentences",
    Message("A row for each sentence of the dataset."),
    (
        ROW,
        Column("text", "text", "the sentence"),
        LABEL,
        Column("start", "integer", "where the word begins", "characters"),
        DOMAIN,
        Column("before", "text", "the sentence before the word, normalised as the models got it"),
        Column("asked", "text", "the word, normalised as the models got it"),
        Column("after", "text", "the sentence after the word, normalised as the models got it"),
    ),
)
EXCLUDED = Table(
    "excluded",
    Message("A row for each sentence that a model left out, and for each row of the file that could not be used."),
    (
        LEFT_OUT_BY,
        ROW,
        LABEL,
        REASON,
    ),
)
# What the command writes and a page's downloads hold.
FILES = (
    MODELS,
    ITEMS.with_input(SENTENCES["text"]),
    COMMON,
    COMPARISONS,
    PREDICTIONS,
    PIECES,
    SENTENCES.with_input(),
    EXCLUDED,
)


@documented
@dataclass(frozen=True)
class Result:
    """Everything the fill-mask page draws."""

    settings: Settings
    dataset_name: str
    models: pd.DataFrame = field(metadata=declared(MODELS))
    common: pd.DataFrame = field(metadata=declared(COMMON))
    items: pd.DataFrame = field(metadata=declared(ITEMS))
    pieces: pd.DataFrame = field(metadata=declared(PIECES))
    predictions: pd.DataFrame = field(metadata=declared(PREDICTIONS))
    comparisons: pd.DataFrame = field(metadata=declared(COMPARISONS))
    sentences: pd.DataFrame = field(metadata=declared(SENTENCES))
    excluded: pd.DataFrame = field(metadata=declared(EXCLUDED))
    notices: tuple[str, ...] = ()
    signature: dict[str, Any] = field(default_factory=dict)
