"""Minimal pairs on the card of a model: the numbers of the kind of data that was evaluated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.evaluations.minimal_pairs.files import analysis_of
from engine.evaluations.minimal_pairs.records import Result
from engine.evaluations.minimal_pairs.scoring_rules import SEQ2SEQ
from engine.evaluations.shared.on_card import Headline, OnCard
from engine.messages.message import named
from engine.models.sources.names import without_label


def headlines(result: Result, model: str) -> list[Headline]:
    """The numbers of a model."""
    return analysis_of(result.data_kind).headlines(result, model)


def details(result: Result, model: str) -> dict[str, list[dict[str, Any]]]:
    """The effect of length, where there are two sentences to differ in it."""
    return analysis_of(result.data_kind).details(result, model)


def _task(signature: Mapping[str, Any], model: str) -> str:
    """By how the run scored the model: what a file says, and a run that does not tell, are likelihoods of sentences."""
    rules = {without_label(name): str(rule) for name, rule in signature.get("scoring", {}).items()}
    rule = rules.get(without_label(model), "")
    if rule.startswith(("pll", "mntp")):
        return "fill-mask"
    return "text2text-generation" if rule == SEQ2SEQ else "text-generation"


ON_CARD = OnCard(headlines, _task, named("Minimal pairs"), details)
