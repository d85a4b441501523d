"""The scores that the page shows: their layer, cached for each scoring, with their signature and tables."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from typing import Any

import pandas as pd
import streamlit as st

from dashboard.shared.exports.signing import csv_bytes, digest
from engine.evaluations.alignment.records import Result, Scoring, Settings
from engine.evaluations.alignment.rescoring import Scores, rescore
from engine.messages.languages import tr

# Of large runs only the last few scorings are kept: one of 100,000 pairs takes some hundred megabytes.
LARGE = 5_000
KEPT, LARGE_KEPT = 24, 3
# Up to this many tokens are a table like the others; more are written in parts when they are downloaded.
TOKENS_IN_A_TABLE = 200_000


def scored(run_id: str, model: str, scoring: Scoring, layer: int, result: Result) -> Scores:
    """The scores of one model under a scoring, shared by all sessions and never changed. Raises InputError."""
    if len(result.pairs) <= LARGE:
        return _cached(run_id, model, scoring, layer, result)
    with st.spinner(tr("Scoring …")):
        return _few_cached(run_id, model, scoring, layer, result)


def first_rows(result: Result) -> pd.DataFrame:
    """What the page shows of the first rows while the others are computed: each pair with its scores."""
    scores = rescore(result, result.settings.scoring).pairs
    return result.pairs[["row", "reference", "candidate"]].merge(
        scores[["row", "precision", "recall", "f1", "penalized_f1"]].round(4), on="row"
    )


def layer_input(place: str, result: Result, model: str, first: int) -> None:
    """Draw a slider over the layers that the run has of a model, at first `first`; nothing where it has only one."""
    layers = result.layers[model]
    if len(layers) > 1:
        st.slider(
            tr("Layer"),
            min(layers),
            max(layers),
            first,
            key=_layer_key(place, model),
            width=190,
            persist_state="session",
            help=tr("0 = embeddings. The run has the similarities of every layer, so the model is not run again."),
        )


def shown_layer(place: str, model: str, first: int) -> int:
    """The layer chosen by the slider of a model, `first` before it was shown."""
    return int(st.session_state.get(_layer_key(place, model), first))


def own_layer(result: Result, model: str) -> int:
    """The number of the layer of a model that the settings of the run name."""
    return result.layers[model][result.layer_index(model)]


def shown_signature(result: Result, scores: Mapping[str, Scores], layers: Mapping[str, int]) -> dict[str, Any]:
    """The signature of what is shown: the run's, with the scoring and the layers as they are set now.

    scores, layers: by model. Thresholds are idf in nats, and missing where there is no dictionary.
    """
    run_settings, first = result.signature.get("settings", {}), next(iter(scores.values()))
    is_other_layer = any(layers[model] != own_layer(result, model) for model in layers)
    settings = {**run_settings, **({"layer": None} if is_other_layer else {}), "scoring": asdict(first.scoring)}
    idf = {
        name: {model: value for model_scores in scores.values() for model, value in getattr(model_scores, name).items()}
        for name in ("dictionaries", "thresholds", "weightless")
    }
    thresholds = {model: round(value, 4) for model, value in idf["thresholds"].items() if math.isfinite(value)}
    weights = {"dictionaries": idf["dictionaries"], "thresholds": thresholds} if idf["dictionaries"] else {}
    weightless = {model: list(tokens) for model, tokens in idf["weightless"].items()}
    return result.signature | {"settings": settings, "layers": dict(layers), "weightless_tokens": weightless} | weights


def shown_settings(result: Result, scoring: Scoring, layers: Mapping[str, int]) -> list[Settings]:
    """The settings of which commands give what is shown: one of them, or one for the models of each layer."""
    by_layer: dict[int | None, list[str]] = {}
    for model in result.settings.models:
        layer = result.settings.layer if layers[model] == own_layer(result, model) else layers[model]
        by_layer.setdefault(layer, []).append(model)
    return [
        replace(result.settings, models=tuple(models), layer=layer, scoring=scoring)
        for layer, models in by_layer.items()
    ]


def tables(scores: Mapping[str, Scores]) -> dict[str, pd.DataFrame]:
    """The pairs of all models, and their tokens unless there are too many for a table."""
    by_name = {"pairs": pd.concat([model_scores.pairs for model_scores in scores.values()], ignore_index=True)}
    if not _too_many(scores):
        by_name["tokens"] = pd.concat([model_scores.tokens for model_scores in scores.values()], ignore_index=True)
    return by_name


def tokens_download(scores: Mapping[str, Scores], signature: Mapping[str, Any]) -> None:
    """Draw a button for the tokens where `tables` leaves them out; the file is written when it is pressed."""
    if _too_many(scores):
        st.download_button(
            "tokens.csv",  # untranslated
            lambda: b"".join(_parts(scores, signature)),
            file_name=f"tokens-{digest(signature)}.csv",
            mime="text/csv",
            key="download-tokens",
            on_click="ignore",
            icon=":material/download:",
            help=tr("A large file: writing it takes a while."),
        )


def _too_many(scores: Mapping[str, Scores]) -> bool:
    n_tokens = sum(
        len(alignment.match) for model_scores in scores.values() for alignment in model_scores.by_model.values()
    )
    return n_tokens > TOKENS_IN_A_TABLE


def _parts(scores: Mapping[str, Scores], signature: Mapping[str, Any]) -> Iterator[bytes]:
    """The file in parts; the header, and the byte order mark that Excel needs, are in the first one only."""
    parts = (part for model_scores in scores.values() for part in model_scores.token_parts())
    for number, part in enumerate(parts):
        content = csv_bytes(part, signature)
        yield content if number == 0 else content.split(b"\n", 1)[1]


def _layer_key(place: str, model: str) -> str:
    return f"alignment-shown-layer-{place}-{model}"


@st.cache_resource(max_entries=KEPT, show_spinner=False)
def _cached(run_id: str, model: str, scoring: Scoring, layer: int, _result: Result) -> Scores:
    return rescore(_result, scoring, layer, models=(model,))


@st.cache_resource(max_entries=LARGE_KEPT, show_spinner=False)
def _few_cached(run_id: str, model: str, scoring: Scoring, layer: int, _result: Result) -> Scores:
    return rescore(_result, scoring, layer, models=(model,))
