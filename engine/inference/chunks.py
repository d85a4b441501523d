"""Splitting work into chunks of about a second: short enough for fair scheduling, progress and retries.

The sizes are declared for a kind of device, not measured during a run: which texts share a batch decides the
last digits of their numbers, so that a measured size would give other digits on every run of one machine.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from engine.models.sources.facts import ModelFacts

# Tokens times parameters in a chunk: a forward pass costs about 2 operations per parameter and token.
WORK_BY_DEVICE = {"cpu": 1e11, "cuda": 5e12}
# A card does so much more in half precision in the same time.
HALF_PRECISION_TIMES = 3
# A chunk has at least so many tokens (small batches are inefficient) and at most so many (it is sent as one message).
FEWEST_TOKENS, MOST_TOKENS = 200, 50_000
# For operations that only tokenize.
TOKENS_WITHOUT_MODEL = 500_000
# For a server: about a second of a model of some billions of parameters, and a reply of 0.3 MB.
TOKENS_AT_ENDPOINT = 2_000
# The fixed cost of an item: its special tokens.
SPECIAL_TOKENS = 4


def chunk_slices(operation: str, facts: ModelFacts, settings: Mapping[str, Any], items: Sequence[Any]) -> list[slice]:
    """Consecutive, non-empty slices that together cover `items`, each with the work of about one chunk.

    A character counts as one token, which is about right in Japanese; a Latin letter as the model's share of one.
    """
    if operation == "document_log_likelihoods":
        return _slices_of_documents(facts, settings, items)
    is_quadratic = operation == "shared_token_log_likelihoods" or (
        operation == "token_log_likelihoods" and str(settings.get("scoring")).startswith(("pll", "mntp"))
    )
    budget = _tokens_per_chunk(operation, facts, _speed_up(facts, settings))
    budget /= facts.n_layers + 1 if settings.get("all_layers") else 1  # a head for each
    slices: list[slice] = []
    start, cost = 0, 0.0
    for position, item in enumerate(items):
        tokens = SPECIAL_TOKENS + sum(_n_tokens(text, facts) for text in ([item] if isinstance(item, str) else item))
        # A pseudo-log-likelihood masks each token in a separate copy of the text.
        item_cost = tokens**2 if is_quadratic else tokens
        if position > start and cost + item_cost > budget:
            slices.append(slice(start, position))
            start, cost = position, 0.0
        cost += item_cost
    if items:
        slices.append(slice(start, len(items)))
    return slices


def shares_of_documents(facts: ModelFacts, settings: Mapping[str, Any], texts: Sequence[str]) -> list[int]:
    """In how many shares the windows of each text are computed, one after another: each has about one chunk of work."""
    budget = _tokens_per_chunk("document_log_likelihoods", facts, _speed_up(facts, settings))
    return [math.ceil(_cost_of_document(text, facts, settings) / budget) for text in texts]


def _cost_of_document(text: str, facts: ModelFacts, settings: Mapping[str, Any]) -> float:
    """The tokens that a model reads to score a text in windows."""
    tokens, window = SPECIAL_TOKENS + _n_tokens(text, facts), int(settings["window"])
    if settings["scoring"] != "causal":
        return tokens * min(tokens, window)  # each token is masked in a separate copy of its window
    return tokens if tokens <= window else tokens * window / min(int(settings["stride"]), window)


def _slices_of_documents(facts: ModelFacts, settings: Mapping[str, Any], items: Sequence[Any]) -> list[slice]:
    """As `chunk_slices`, of shares of texts: (text, number of the share, number of shares)."""
    budget = _tokens_per_chunk("document_log_likelihoods", facts, _speed_up(facts, settings))
    slices: list[slice] = []
    start, cost = 0, 0.0
    for position, (text, _, n_shares) in enumerate(items):
        of_item = _cost_of_document(text, facts, settings) / n_shares
        if position > start and cost + of_item > budget:
            slices.append(slice(start, position))
            start, cost = position, 0.0
        cost += of_item
    return [*slices, slice(start, len(items))] if items else []


def _speed_up(facts: ModelFacts, settings: Mapping[str, Any]) -> float:
    is_faster = settings.get("precision") in ("bf16", "fp16") and facts.device.startswith("cuda")
    return HALF_PRECISION_TIMES if is_faster else 1


def chunk_order(operation: str, settings: Mapping[str, Any], items: Sequence[Any]) -> list[int]:
    """The order in which items are best split into chunks, as their indices, so that neighbours share computation.

    Texts of a causal model are sorted alphabetically, because a common prefix is computed once per chunk, and so are
    contexts with what follows them. Other texts
    are sorted by length, the longest first, to reduce padding; pairs by their first text, which several pairs may have
    in common. Items that are not texts keep their order.
    """
    order = range(len(items))
    if operation in ("token_similarities", "shared_token_log_likelihoods"):
        return sorted(order, key=lambda i: (-len(items[i][0]), items[i][0]))
    if operation not in ("sentence_vectors", "token_log_likelihoods", "continuation_log_likelihoods"):
        return list(order)
    if settings.get("scoring") == "causal" or operation == "continuation_log_likelihoods":
        return sorted(order, key=lambda i: str(items[i]))
    return sorted(order, key=lambda i: -len(items[i]))


def _n_tokens(text: str, facts: ModelFacts) -> float:
    n_latin = len(text) if text.isascii() else len(text.encode("ascii", "ignore"))
    return len(text) - n_latin * (1 - min(facts.latin_tokens, 1.0))


def _tokens_per_chunk(operation: str, facts: ModelFacts, speed_up: float) -> float:
    if operation in ("token_lists", "document_counts"):
        return TOKENS_WITHOUT_MODEL
    if facts.endpoint:
        return TOKENS_AT_ENDPOINT
    work = speed_up * WORK_BY_DEVICE.get(facts.device.partition(":")[0], WORK_BY_DEVICE["cpu"])
    return min(max(work / max(facts.n_parameters, 1), FEWEST_TOKENS), MOST_TOKENS)
