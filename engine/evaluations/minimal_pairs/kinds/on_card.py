"""Minimal pairs on the card of a model: the numbers of the kind of data that was evaluated."""

from __future__ import annotations

from typing import Any

from engine.evaluations.minimal_pairs.files import analysis_of
from engine.evaluations.minimal_pairs.records import Result
from engine.evaluations.shared.on_card import Headline, OnCard
from engine.messages.message import named
from engine.models.sources.facts import ModelFacts


def headlines(result: Result, model: str) -> list[Headline]:
    """The numbers of a model."""
    return analysis_of(result.data_kind).headlines(result, model)


def details(result: Result, model: str) -> dict[str, list[dict[str, Any]]]:
    """The effect of length, where there are two sentences to differ in it."""
    return analysis_of(result.data_kind).details(result, model)


def _task(facts: ModelFacts | None) -> str:
    return "text-generation" if facts is not None and facts.kind == "causal" else "fill-mask"


ON_CARD = OnCard(headlines, _task, named("Minimal pairs"), details)
