"""Cutting work into chunks of about a second: small enough to be fair, to show progress, to be lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from engine.models.sources.facts import ModelFacts

# Tokens times parameters in a chunk: a pass costs about 2 operations per parameter and token.
WORK_BY_DEVICE = {"cpu": 1e11, "cuda": 5e12}
# What bfloat16 does in the same time; rounding the weights, once in a chunk, should stay a small part of it.
BF16_TIMES = 3
# A chunk is never cut to fewer tokens (batches need company) nor to more (its answer is sent whole).
FEWEST_TOKENS, MOST_TOKENS = 200, 50_000
# Cutting texts into tokens asks no model.
TOKENS_WITHOUT_MODEL = 500_000
# What an item costs however short it is: its special tokens.
SPECIAL_TOKENS = 4


def cut(operation: str, facts: ModelFacts, settings: Mapping[str, Any], items: Sequence[Any]) -> list[slice]:
    """Consecutive slices of `items`, each about one chunk's work; none is empty, and all together are `items`.

    A character counts as a token, as in Japanese it nearly is; one of the Latin alphabet as the model's share of one.
    """
    squared = operation == "shared_token_log_likelihoods" or (
        operation == "token_log_likelihoods" and str(settings.get("scoring")).startswith("pll"))
    budget = _budget(operation, facts, BF16_TIMES if settings.get("precision") == "bf16" else 1)
    slices: list[slice] = []
    start, cost = 0, 0.0
    for position, item in enumerate(items):
        tokens = SPECIAL_TOKENS + sum(_tokens(text, facts) for text in ([item] if isinstance(item, str) else item))
        # A pseudo-log-likelihood masks every token in a copy of its own.
        own = tokens**2 if squared else tokens
        if position > start and cost + own > budget:
            slices.append(slice(start, position))
            start, cost = position, 0.0
        cost += own
    if items:
        slices.append(slice(start, len(items)))
    return slices


def arranged(operation: str, settings: Mapping[str, Any], items: Sequence[Any]) -> list[int]:
    """The order in which items are best cut into chunks, as their indices: neighbours share what can be shared.

    Texts of a causal model stand by their spelling, because what they begin with is read once in a chunk. Other texts
    stand by their length, the longest first, so that little is computed on padding; pairs by their first text, which
    several pairs may have in common. What is no text stays where it is.
    """
    order = range(len(items))
    if operation in ("token_similarities", "shared_token_log_likelihoods"):
        return sorted(order, key=lambda i: (-len(items[i][0]), items[i][0]))
    if operation not in ("sentence_vectors", "token_log_likelihoods"):
        return list(order)
    if settings.get("scoring") == "causal":
        return sorted(order, key=lambda i: str(items[i]))
    return sorted(order, key=lambda i: -len(items[i]))


def _tokens(text: str, facts: ModelFacts) -> float:
    n_latin = len(text) if text.isascii() else len(text.encode("ascii", "ignore"))
    return len(text) - n_latin * (1 - min(facts.latin_tokens, 1.0))


def _budget(operation: str, facts: ModelFacts, times: float) -> float:
    if operation in ("token_lists", "document_counts"):
        return TOKENS_WITHOUT_MODEL
    work = times * WORK_BY_DEVICE.get(facts.device.partition(":")[0], WORK_BY_DEVICE["cpu"])
    return min(max(work / max(facts.n_parameters, 1), FEWEST_TOKENS), MOST_TOKENS)
