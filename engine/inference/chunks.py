"""Cutting work into chunks of about a second: small enough to be fair, to show progress, to be lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from engine.models.facts import ModelFacts

# Characters times parameters in a chunk: a pass costs about 2 operations per parameter and token.
WORK_BY_DEVICE = {"cpu": 5e10, "cuda": 5e12}
# A chunk is never cut smaller than these characters (batches need company) nor larger (its answer is sent whole).
FEWEST_CHARACTERS, MOST_CHARACTERS = 200, 50_000
# Cutting texts into tokens asks no model.
TOKENIZER_CHARACTERS = 500_000
# What an item costs however short it is: its special tokens.
CHARACTERS_PER_ITEM = 4


def cut(operation: str, facts: ModelFacts, settings: Mapping[str, Any], items: Sequence[Any]) -> list[slice]:
    """Consecutive slices of `items`, each about one chunk's work; none is empty, and all together are `items`."""
    squared = operation == "shared_token_log_likelihoods" or (
        operation == "token_log_likelihoods" and str(settings.get("scoring")).startswith("pll"))
    budget = _characters(operation, facts)
    slices: list[slice] = []
    start, cost = 0, 0.0
    for position, item in enumerate(items):
        characters = CHARACTERS_PER_ITEM + (len(item) if isinstance(item, str) else sum(map(len, item)))
        # A pseudo-log-likelihood masks every token in a copy of its own.
        own = characters**2 if squared else characters
        if position > start and cost + own > budget:
            slices.append(slice(start, position))
            start, cost = position, 0.0
        cost += own
    if items:
        slices.append(slice(start, len(items)))
    return slices


def _characters(operation: str, facts: ModelFacts) -> float:
    if operation in ("token_lists", "document_counts"):
        return TOKENIZER_CHARACTERS
    work = WORK_BY_DEVICE.get(facts.device.partition(":")[0], WORK_BY_DEVICE["cpu"])
    return min(max(work / max(facts.n_parameters, 1), FEWEST_CHARACTERS), MOST_CHARACTERS)
