"""The map of models: which resemble each other, by the log-likelihoods of stored runs of minimal pairs.

Pure arithmetic on results: nothing is asked of a model. The texts are the acceptable sentences that all models scored.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from engine.datasets.outside_names import is_from_file
from engine.errors import InputError
from engine.evaluations.minimal_pairs.records import Result
from engine.evaluations.minimal_pairs.views import byte_counts, of_model
from engine.evaluations.shared.common_columns import MODEL, OTHER
from engine.evaluations.shared.declared_tables import Column, Table, declared, documented, measured
from engine.language.quantities import count
from engine.measures.model_map import kl_divergence, model_map
from engine.messages.message import Message, list_of, together
from engine.models.sources.names import without_label
from engine.options import option
from engine.version import VERSION

_SINCE = "0.3.0"
CAUSAL, MASKED, SEQ2SEQ = "causal", "masked", "encoder-decoder"
# The settings that change a log-likelihood of each kind of model.
SCORING = {
    CAUSAL: ("prefix", "leading_space"),
    MASKED: ("pll", "words", "predicted_at"),
    SEQ2SEQ: ("encoder_reads", "encoder_text"),
}
# How the rules of a causal model and of an encoder-decoder begin, in runs of every version.
LEFT_TO_RIGHT, BY_DECODER = "The log-likelihood of the tokens", "The decoder's log-likelihood"
# The kinds in a sentence.
KIND_WORDS = {CAUSAL: Message("causal"), MASKED: Message("masked"), SEQ2SEQ: Message("encoder-decoder")}

RUN = Column("run", "text", "id of the run that its log-likelihoods are of")
N_TEXTS = Column("n", "integer", "sentences that all models of the map scored", "sentences")
MODELS = Table(
    "models",
    Message("A row for each model of the map."),
    (
        MODEL,
        RUN,
        N_TEXTS,
        Column("x", "number", "first coordinate", "nats per square root of a sentence"),
        Column("y", "number", "second coordinate", "nats per square root of a sentence"),
        Column("log_likelihood", "number", "mean log-likelihood of a sentence", "nats", "higher"),
        measured("log_likelihood_per_byte", "bits_per_byte", "the same for each byte"),
    ),
    since=_SINCE,
)
DISTANCES = Table(
    "distances",
    Message("Each two models once."),
    (
        MODEL,
        OTHER,
        N_TEXTS,
        Column("squared_distance", "number", "squared distance of their centred log-likelihoods", "nats² per sentence"),
        measured(
            "model_kl",
            "kl",
            "approximate KL divergence; NaN for masked models, whose pseudo-log-likelihoods are no "
            "probabilities of sentences",
        ),
    ),
    since=_SINCE,
)
FILES = (MODELS, DISTANCES)


@dataclass(frozen=True)
class Mapped:
    """Which models are on the map."""

    kind: str | None = option(
        None,
        "Models on the map: likelihoods and pseudo-likelihoods are not compared.",
        choices={
            CAUSAL: "causal models, by the log-likelihood of the sentences",
            MASKED: "masked models, by their pseudo-log-likelihood: distances without a KL divergence",
            SEQ2SEQ: "encoder-decoders, by the log-likelihood of their decoder: distances without a KL divergence",
        },
        unset="the first of causal, masked and encoder-decoder that the runs have two models of",
    )


@documented
@dataclass(frozen=True)
class MapOfModels:
    """Models as points; explained: the share of all squared distances that each of the two axes shows."""

    models: pd.DataFrame = field(metadata=declared(MODELS))
    distances: pd.DataFrame = field(metadata=declared(DISTANCES))
    explained: tuple[float, float] = (0.0, 0.0)
    notices: tuple[str, ...] = ()
    signature: dict[str, Any] = field(default_factory=dict)


def models_of(results: Mapping[str, Result], kind: str) -> dict[str, str]:
    """The models of a kind in results by run, each with the first run that has it; a label makes no other model."""
    runs: dict[str, tuple[str, str]] = {}
    for run_id, result in results.items():
        for model in result.settings.models:
            if kind_of(result, model) == kind:
                runs.setdefault(without_label(model), (model, run_id))
    return dict(runs.values())


def possible_kinds(results: Mapping[str, Result]) -> tuple[str, ...]:
    """The kinds of models of which a map can be made, CAUSAL first: those with two models or more."""
    return tuple(kind for kind in SCORING if len(models_of(results, kind)) > 1)


def map_of(results: Mapping[str, Result], kind: str | None = None) -> MapOfModels:
    """The map of the models of a kind, CAUSAL or MASKED, in results of minimal pairs by the id of their runs.

    kind: None for the first of `possible_kinds`. Raises InputError for fewer than 2 such models, for runs that score
    sentences in different ways, and for fewer than 2 sentences that all of them scored.
    """
    kind = kind or next(iter(possible_kinds(results)), CAUSAL)
    runs = models_of(results, kind)
    if len(runs) < 2:
        raise InputError(_too_few(results, kind))
    ways = {repr([getattr(results[run].settings, name) for name in SCORING[kind]]) for run in runs.values()}
    if len(ways) > 1:
        raise InputError(
            Message(
                "The runs score sentences in different ways: {kind} must be the same in all of them.",
                kind=list_of(SCORING[kind]),
            )
        )
    columns = {model: _log_likelihoods(results[run], model) for model, run in runs.items()}
    table = pd.concat([column for column, _ in columns.values()], axis=1, join="inner", keys=list(columns))
    if len(table) < 2:
        raise InputError(
            Message("All models scored {table} in common; a map needs at least 2.", table=count(len(table), "sentence"))
        )
    lengths = next(iter(columns.values()))[1].reindex(table.index)
    found = model_map(table.T.to_numpy())
    mean_bytes = float(lengths.mean())
    kl = (
        kl_divergence(found.squared_distances, mean_bytes)
        if kind == CAUSAL
        else np.full(found.squared_distances.shape, np.nan)
    )
    names, means = list(runs), table.mean(axis=0).to_numpy()
    models = MODELS.frame(
        [
            (model, runs[model], len(table), x, y, mean, mean / np.log(2) / mean_bytes)
            for model, (x, y), mean in zip(names, found.coordinates, means, strict=True)
        ]
    )
    distances = DISTANCES.frame(
        [
            (names[i], names[j], len(table), found.squared_distances[i, j], kl[i, j])
            for i in range(len(names))
            for j in range(i + 1, len(names))
        ]
    )
    return MapOfModels(
        models,
        distances,
        (float(found.explained[0]), float(found.explained[1])),
        _notices(results, runs, kind, len(table), max(len(column) for column, _ in columns.values())),
        {
            "map": kind,
            "runs": {model: run for model, run in runs.items()},
            "signatures": {run: results[run].signature for run in dict.fromkeys(runs.values())},
            "n": len(table),
            "versions": {"hakari": VERSION},
        },
    )


def _too_few(results: Mapping[str, Result], kind: str) -> Message:
    """Which models there are, and what would make a map of them."""
    causal, masked, decoders = (list_of(models_of(results, of_kind)) or Message("none") for of_kind in SCORING)
    possible = (
        Message("A map of the {other} models is possible.", other=KIND_WORDS[other])
        for other in possible_kinds(results)
    )
    said = Message(
        "A map needs at least 2 {kind} models. The runs have these causal models: {causal}; these masked models: {masked}; and "
        "these encoder-decoders: {decoders}. Add a run of another {kind} model on the same pairs.",
        kind=KIND_WORDS[kind],
        causal=causal,
        masked=masked,
        decoders=decoders,
    )
    return together(" ", [said, *possible])


def kind_of(result: Result, model: str) -> str:
    """How a run scored a model: a kind of SCORING; scores from a file are taken as log-likelihoods of the sentences."""
    if is_from_file(without_label(model)):
        return CAUSAL
    rule = result.rules.get(model, "")
    if model in result.prefixes or rule.startswith(LEFT_TO_RIGHT):
        return CAUSAL
    return SEQ2SEQ if rule.startswith(BY_DECODER) else MASKED


def _log_likelihoods(result: Result, model: str) -> tuple[pd.Series, pd.Series]:
    """The log-likelihood and the bytes of each acceptable sentence, each once, by its text."""
    pairs = of_model(result, model)
    once = ~pairs["acceptable"].duplicated().to_numpy()
    texts = pd.Index(pairs["acceptable"].to_numpy()[once])
    return (
        pd.Series(pairs["acceptable_log_likelihood"].to_numpy()[once], index=texts),
        pd.Series(byte_counts(pairs, "acceptable")[once], index=texts),
    )


def _notices(
    results: Mapping[str, Result], runs: Mapping[str, str], kind: str, n_common: int, n_most: int
) -> tuple[str, ...]:
    notices = []
    if n_common < n_most:
        notices.append(
            Message(
                "The map is of the {n_common} that all models scored; one scored {n_most:,}.",
                n_common=count(n_common, "sentence"),
                n_most=n_most,
            )
        )
    without = [model for model, run in runs.items() if kind == CAUSAL and results[run].prefixes.get(model) == ""]
    if without and len(without) < len(runs):
        notices.append(
            Message(
                "{without}: the first token is not scored, which moves the model away from those that score it.",
                without=list_of(without),
            )
        )
    if from_files := [model for model in runs if is_from_file(without_label(model))]:
        notices.append(
            Message(
                "{models}: scores from a file, taken as log-likelihoods of the sentences, as causal models have them.",
                models=list_of(from_files),
            )
        )
    for other in SCORING:
        if other != kind and (others := list_of(models_of(results, other))):
            notices.append(_not_on_map(kind, other, others))
    return tuple(notices)


def _not_on_map(kind: str, other: str, others: str) -> Message:
    """The notice that models of another kind are not on the map of a kind."""
    if SEQ2SEQ in (kind, other):
        return Message(
            "Not on this map: {others}. The log-likelihoods of encoder-decoders are conditional on what their "
            "encoder reads, and are compared with one another alone.",
            others=others,
        )
    if kind == CAUSAL:
        return Message(
            "Not on this map: {others}. Masked models have pseudo-log-likelihoods, which are not "
            "compared with the log-likelihoods of causal models.",
            others=others,
        )
    return Message(
        "Not on this map: {others}. Causal models have log-likelihoods, which are not compared "
        "with the pseudo-log-likelihoods of masked models.",
        others=others,
    )
