"""Alignment on the card of a model: mean similarity, and how its tokenizer cuts and reads the sentences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from engine.evaluations.alignment.records import Result
from engine.evaluations.alignment.rescoring import rescore
from engine.evaluations.alignment.scoring import in_words
from engine.evaluations.shared.on_card import Headline, OnCard
from engine.messages.message import Message

A_DESCRIPTION = Message("a mean similarity describes the pairs; it does not rank models")


def headlines(result: Result, model: str) -> list[Headline]:
    """Mean F1 without and with the penalty, under the scoring of the run; neither ranks models."""
    scores = rescore(result, result.settings.scoring, models=(model,)).pairs
    scoring = result.settings.scoring
    return [
        Headline(
            measure,
            float(scores[measure].mean()) if len(scores) else np.nan,
            len(scores),
            "pairs",
            setting=Message("idf {idf}, penalty {penalty}", **in_words(scoring.idf, penalty)),
            reason=A_DESCRIPTION,
            is_compared=False,
        )
        for measure, penalty in (("f1", "none"), ("penalized_f1", scoring.penalty))
    ]


def reading_counts(result: Result, model: str) -> Mapping[str, Any]:
    """The counts of a row of `card.READINGS` over the sentences of the pairs, under the readings of the run.

    A name is a stretch of tokens that belong to one name; a token across the border of a name belongs to it. tokens per
    name is NaN where there is no name.
    """
    tokens = rescore(result, replace(result.settings.scoring, unit="subword"), models=(model,)).tokens
    tokens = tokens[~tokens["special"].to_numpy(dtype=bool)]
    is_read, is_name = (tokens[column].to_numpy(dtype=bool) for column in ("read_whole", "name"))
    sentence = tokens.groupby(["row", "side", "best_reference"], sort=False, observed=True).ngroup().to_numpy()
    position, text = tokens["position"].to_numpy(), tokens["name_text"].astype(str).to_numpy()
    goes_on = np.zeros(len(tokens), dtype=bool)
    goes_on[1:] = (
        is_name[1:]
        & is_name[:-1]
        & (sentence[1:] == sentence[:-1])
        & (position[1:] == position[:-1] + 1)
        & (text[1:] == text[:-1])
    )
    name = np.cumsum(is_name & ~goes_on)[is_name] - 1  # the number of the name of each of its tokens
    n_tokens = np.bincount(name)
    return {
        "n_tokens": len(tokens),
        "n_unknown": int(tokens["unknown"].to_numpy(dtype=bool).sum()),
        "n_unread": int((~is_read).sum()),
        "n_names": len(n_tokens),
        "n_whole_names": int((n_tokens == 1).sum()),
        "tokens_per_name": float(n_tokens.mean()) if len(n_tokens) else np.nan,
        "n_read_names": int((np.bincount(name, weights=~is_read[is_name]) == 0).sum()) if len(n_tokens) else 0,
    }


def details(result: Result, model: str) -> dict[str, list[dict[str, Any]]]:
    """How the tokenizer cuts and reads the sentences."""
    return {"readings": [dict(reading_counts(result, model))]}


ON_CARD = OnCard(headlines, lambda _, __: "sentence-similarity", "BERTScore", details)
