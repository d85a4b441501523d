"""The scores of an alignment on show: which layer, kept for each scoring, and what their signature and tables say."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

import pandas as pd
import streamlit as st

from dashboard.shared.exports.signing import csv_bytes, digest
from engine.evaluations.alignment.records import Result, Scoring
from engine.evaluations.alignment.rescoring import Scores, rescore

# Of large runs only the last few scorings are kept: one of 100,000 pairs takes some hundred megabytes.
LARGE = 5_000
KEPT, LARGE_KEPT = 24, 3
# Up to here the tokens are a table like the others; beyond, they are written part by part when they are asked for.
TOKENS_IN_A_TABLE = 200_000


def scored(run_id: str, model: str, scoring: Scoring, layer: int, result: Result) -> Scores:
    """The scores of one model under a scoring, shared by all sessions: nobody writes into them. Raises InputError."""
    keep = _kept if len(result.pairs) <= LARGE else _few_kept
    return keep(run_id, model, scoring, layer, result)


def layer_input(run_id: str, result: Result, model: str) -> None:
    """A slider over the layers that the run holds of a model; nothing where it holds one only."""
    held = result.layers[model]
    if len(held) > 1:
        st.slider("Layer", min(held), max(held), own_layer(result, model), key=_layer_key(run_id, model), width=230,
                  persist_state="session", help="0 = embeddings. The run holds the similarities of every layer, so the "
                  "model is not asked again.")


def shown_layer(run_id: str, result: Result, model: str) -> int:
    """The layer that the slider of a model says, at first the one that the run was asked for."""
    return int(st.session_state.get(_layer_key(run_id, model), own_layer(result, model)))


def own_layer(result: Result, model: str) -> int:
    """The layer of a model that the settings of the run ask for, by number."""
    return result.layers[model][result.layer_index(model)]


def shown_signature(result: Result, scores: Mapping[str, Scores], layers: Mapping[str, int]) -> dict[str, Any]:
    """The signature of what is on show: the run's, with the scoring and the layers as they are set now.

    scores, layers: by model. Thresholds are idf in nats, and missing where there is no dictionary.
    """
    given, first = result.signature.get("settings", {}), next(iter(scores.values()))
    moved = any(layers[model] != own_layer(result, model) for model in layers)
    settings = {**given, **({"layer": None} if moved else {}), "scoring": asdict(first.scoring)}
    found = {name: {model: value for one in scores.values() for model, value in getattr(one, name).items()}
             for name in ("dictionaries", "thresholds")}
    thresholds = {model: round(value, 4) for model, value in found["thresholds"].items() if math.isfinite(value)}
    weights = {"dictionaries": found["dictionaries"], "thresholds": thresholds} if found["dictionaries"] else {}
    return result.signature | {"settings": settings, "layers": dict(layers)} | weights


def tables(scores: Mapping[str, Scores]) -> dict[str, pd.DataFrame]:
    """The pairs of all models, and their tokens unless there are too many for a table."""
    found = {"pairs": pd.concat([one.pairs for one in scores.values()], ignore_index=True)}
    if not _too_many(scores):
        found["tokens"] = pd.concat([one.tokens for one in scores.values()], ignore_index=True)
    return found


def tokens_download(scores: Mapping[str, Scores], signature: Mapping[str, Any]) -> None:
    """A button for the tokens where `tables` leaves them out; the file is made when it is asked for."""
    if _too_many(scores):
        st.download_button(
            "tokens.csv", lambda: b"".join(_parts(scores, signature)), file_name=f"tokens-{digest(signature)}.csv",
            mime="text/csv", key="download-tokens", on_click="ignore", icon=":material/download:",
            help="Large: it takes a moment.")


def _too_many(scores: Mapping[str, Scores]) -> bool:
    return sum(len(found.match) for one in scores.values() for found in one.by_model.values()) > TOKENS_IN_A_TABLE


def _parts(scores: Mapping[str, Scores], signature: Mapping[str, Any]) -> Iterator[bytes]:
    """The file in parts: the head, and the byte order mark that Excel reads, stand in the first one only."""
    for number, part in enumerate(part for one in scores.values() for part in one.token_parts()):
        written = csv_bytes(part, signature)
        yield written if number == 0 else written.split(b"\n", 1)[1]


def _layer_key(run_id: str, model: str) -> str:
    return f"alignment-shown-layer-{run_id}-{model}"


@st.cache_resource(max_entries=KEPT, show_spinner=False)
def _kept(run_id: str, model: str, scoring: Scoring, layer: int, _result: Result) -> Scores:
    return rescore(_result, scoring, layer, models=(model,))


@st.cache_resource(max_entries=LARGE_KEPT, show_spinner="Scoring …")
def _few_kept(run_id: str, model: str, scoring: Scoring, layer: int, _result: Result) -> Scores:
    return rescore(_result, scoring, layer, models=(model,))
