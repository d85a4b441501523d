"""When does a model learn a word: surprisals over its checkpoints, the age of acquisition, and that of children."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pandas as pd

from engine.datasets.minimal_pairs import acquisition
from engine.datasets.minimal_pairs.pairs import FIELD
from engine.evaluations.minimal_pairs.records import PAIR_ROW, Result
from engine.evaluations.minimal_pairs.scoring_rules import checkpoint_series
from engine.evaluations.minimal_pairs.views import by_model
from engine.evaluations.shared.checkpoints import Checkpoint
from engine.evaluations.shared.common_columns import MODEL, WHY_UNDEFINED, interval
from engine.evaluations.shared.declared_tables import Column, Table, measured, returns
from engine.evaluations.shared.stored_table import rows_where
from engine.measures.statistics.correlations.correlation import pearson, spearman
from engine.measures.word_acquisition import FEWEST_POINTS, WORDS_OF_CHANCE, child_age, model_age
from engine.messages.message import Message

VERSION = "0.3.0"
NO_SERIES = Message(
    "When a word is learned shows in a training alone: at least {fewest} of the models have to be checkpoints of one, with "
    "their steps in their names (…@step1000, …/checkpoint-500, …_10M)."
)
_SERIES = Column("series", "text", "the training that models are checkpoints of")
_WORD = Column("word", "text", "the word")
_CHILD = Column("child_age", "number", "age at which children learn it, in months; NaN without one", "months")

SURPRISALS = Table(
    "context_surprisals",
    Message("A row for each word in each of its contexts under each model."),
    (
        MODEL,
        PAIR_ROW,
        _WORD,
        Column("tokens", "integer", "its tokens", "tokens"),
        measured("region_surprisal", "surprisal", "its surprisal"),
    ),
    only_with_rows=True,
    since=VERSION,
)
CURVES = Table(
    "word_curves",
    Message("A row for each word at each checkpoint of each training."),
    (
        _SERIES,
        MODEL,
        Column("step", "number", "step of the checkpoint, or whatever its name counts"),
        _WORD,
        Column("n", "integer", "contexts", "contexts"),
        measured("region_surprisal", "surprisal", "mean over the contexts"),
    ),
    only_with_rows=True,
    since=VERSION,
)
LEARNED = Table(
    "learned_words",
    Message("A row for each word of each training: when the model learns it, and when children do."),
    (
        _SERIES,
        _WORD,
        Column("n", "integer", "surprisals, of all contexts at all checkpoints"),
        _CHILD,
        Column(
            "model_age",
            "number",
            "log10(step + 1) at which surprisal is half-way from chance to its least, both in bits; NaN where it is not "
            "between the first and the last step",
        ),
        Column(
            "challenge_age", "number", "likewise, with surprisals in nats and chance in bits, as the challenge has it"
        ),
    ),
    only_with_rows=True,
    since=VERSION,
)
AGES = Table(
    "acquisition",
    Message("A row for each training: whether the model learns words in the order in which children do."),
    (
        _SERIES,
        Column("n_checkpoints", "integer", "its checkpoints", "checkpoints"),
        Column("n_words", "integer", "words", "words"),
        Column("n", "integer", "of them, those with an age of both", "words"),
        measured("acquisition_correlation", "pearson"),
        *interval(Message("Fisher's"), of="pearson"),
        Column("spearman", "number", "Spearman's coefficient of the same", "", "higher", digits=3),
        Column("n_challenge", "integer", "words with an age of both, as the challenge has it", "words"),
        Column(
            "challenge",
            "number",
            "Pearson's coefficient as the challenge counts it; 0 for fewer than 3 words",
            "",
            "higher",
            digits=3,
        ),
        WHY_UNDEFINED,
    ),
    only_with_rows=True,
    since=VERSION,
)


class Training(NamedTuple):
    """A training: its checkpoints by step, the surprisal of each text at each of them in bits, (n_steps, n_texts)."""

    series: str
    checkpoints: tuple[Checkpoint, ...]
    bits: np.ndarray


@returns(SURPRISALS)
def context_surprisals(result: Result) -> pd.DataFrame:
    """The surprisal of each word in each of its contexts, in bits: the sum over its tokens; no row for other data.

    A token of white space alone is of the word after it; the challenge's script leaves it out. Tokenizers that join it
    with the word have none.
    """
    words = _words(result)
    if words is None:
        return SURPRISALS.frame()
    parts = [SURPRISALS.frame()]
    for model, (bits, tokens) in _bits(result).items():
        kept = np.flatnonzero(tokens > 0)
        columns = {
            "model": pd.Series([model] * len(kept), dtype="str"),
            "row": result.items["row"].to_numpy()[kept],
            "word": pd.Series(words[kept], dtype="str"),
            "tokens": tokens[kept],
            "surprisal": bits[kept],
        }
        parts.append(pd.DataFrame(columns))
    return pd.concat([part for part in parts if len(part)] or parts, ignore_index=True)


@returns(CURVES)
def word_curves(result: Result) -> pd.DataFrame:
    """The mean surprisal of each word at each checkpoint; no row for other data, and for models that are none."""
    words = _words(result)
    parts = [CURVES.frame()]
    if words is None:
        return parts[0]
    for training in trainings(result):
        for checkpoint, bits in zip(training.checkpoints, training.bits, strict=True):
            grouped = pd.Series(bits).groupby(words, sort=False)
            means = grouped.mean()
            parts.append(
                pd.DataFrame(
                    {
                        "series": pd.Series([training.series] * len(means), dtype="str"),
                        "model": pd.Series([checkpoint.model] * len(means), dtype="str"),
                        "step": checkpoint.step,
                        "word": pd.Series(means.index.astype("str")),
                        "n": grouped.count().to_numpy(),
                        "surprisal": means.to_numpy(),
                    }
                )
            )
    return CURVES.arranged(pd.concat([part for part in parts if len(part)] or parts, ignore_index=True))


@returns(LEARNED)
def learned_words(result: Result) -> pd.DataFrame:
    """When each word is learned, by all of its surprisals together; no row for other data."""
    words = _words(result)
    if words is None:
        return LEARNED.frame()
    ages = dict(zip(words[::-1].tolist(), _child_ages(result)[::-1].tolist(), strict=True))  # of a word its first row
    # Chance in the unit of the surprisals, and in bits whatever it is, as the challenge's script has it.
    chances = np.array([np.log(WORDS_OF_CHANCE), np.log2(WORDS_OF_CHANCE)])
    rows = []
    for training in trainings(result):
        steps = np.array([checkpoint.step for checkpoint in training.checkpoints])
        for word in dict.fromkeys(words.tolist()):
            nats = training.bits[:, words == word] * np.log(2)
            places, has_settled = model_age(np.repeat(steps, nats.shape[1]), nats.ravel(), chances)
            of_challenge = float(places[1]) if has_settled else np.nan
            n = int(np.isfinite(nats).sum())
            rows.append((training.series, word, n, ages[word], float(places[0]), of_challenge))
    return LEARNED.frame(rows)


@returns(AGES)
def acquisition_ages(result: Result, learned: pd.DataFrame | None = None) -> pd.DataFrame:
    """How the ages of model and children agree, over words; no row for other data, and where there is no training.

    learned: of `learned_words`, where it is known already.
    """
    table = learned_words(result) if learned is None else learned
    n_checkpoints = {series: len(found) for series, found in checkpoint_series(result, result.scored_models).items()}
    rows = []
    for series, own in table.groupby("series", sort=False):
        found = pearson(own["child_age"], own["model_age"], names=("child_age", "model_age"))
        of_challenge = pearson(own["child_age"], own["challenge_age"])
        rows.append(
            {
                "series": series,
                "n_checkpoints": n_checkpoints[str(series)],
                "n_words": len(own),
                "n": found.n,
                "pearson": found.value,
                "ci_low": found.ci_low,
                "ci_high": found.ci_high,
                "spearman": spearman(own["child_age"], own["model_age"]).value,
                "n_challenge": of_challenge.n,
                "challenge": of_challenge.value if of_challenge.n >= FEWEST_POINTS else 0.0,
                "reason": found.reason,
            }
        )
    return AGES.frame_of_records(rows)


def trainings(result: Result) -> Iterator[Training]:
    """Each training that the models of a result are checkpoints of, with the surprisals of its words."""
    bits = _bits(result)
    for series, checkpoints in checkpoint_series(result, result.scored_models).items():
        yield Training(series, checkpoints, np.array([bits[checkpoint.model][0] for checkpoint in checkpoints]))


def _words(result: Result) -> np.ndarray | None:
    """The word of each text; None for other data."""
    column = f"{FIELD}{acquisition.AGE}"
    if column not in result.items.columns or f"{FIELD}{acquisition.WORD}" not in result.items.columns:
        return None
    return result.items[f"{FIELD}{acquisition.WORD}"].to_numpy(dtype=object)


def _child_ages(result: Result) -> np.ndarray:
    """The age of children of the word of each text, in months, nan without one: float64 (n_texts,)."""
    return np.array([_child_age(text) for text in result.items[f"{FIELD}{acquisition.AGE}"]], dtype=np.float64)


@lru_cache(maxsize=4096)
def _child_age(text: str) -> float:
    if not text.startswith("{"):
        return float(text or "nan")
    shares = json.loads(text)
    return child_age([int(month) for month in shares], list(shares.values()))


def _bits(result: Result) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """By model of each text the surprisal of its word in bits, nan where it was not scored, and the word's tokens."""
    n = len(result.items)
    found = {}
    for model, pairs in by_model(result):
        own = rows_where(result.tokens, ["row", "region", "log_likelihood"], model=model, side="acceptable")
        own = own[own["region"] == 1]
        place = pairs["item"].to_numpy()[pd.Index(pairs["row"]).get_indexer(own["row"])]
        tokens = np.bincount(place, minlength=n)
        values = np.bincount(place, -own["log_likelihood"].to_numpy(dtype=np.float64) / np.log(2), minlength=n)
        found[str(model)] = np.where(tokens > 0, values, np.nan), tokens
    return found
