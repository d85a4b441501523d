"""The settings that apply to a way of scoring: equal numbers, equal keys."""

from __future__ import annotations

from typing import Any

from engine.errors import InputError
from engine.models.sources.facts import NO_CHAT_TEMPLATE, ModelFacts
from engine.models.tokenization.prefix_tokens import prefix_tokens


def scoring_settings(
    facts: ModelFacts,
    scoring: str,
    precision: str,
    *,
    words: str,
    prefix: str,
    leading_space: bool,
    word_boundaries: bool = False,
    all_layers: bool = False,
    encoder_reads: str = "nothing",
    encoder_text: str = "",
) -> dict[str, Any]:
    """`scoring` and `precision` with what applies to them, as `GatewaySession.token_log_likelihoods` says."""
    applicable: dict[str, Any] = {"words": words}
    if scoring == "causal":
        applicable = {"prefix": list(prefix_tokens(facts, prefix)), "leading_space": leading_space}
        applicable |= {"word_boundaries": True} if word_boundaries and not facts.endpoint else {}
        applicable |= {"all_layers": True} if all_layers else {}
    elif scoring == "seq2seq":
        applicable = {"encoder_reads": encoder_reads}
        applicable |= {"encoder_text": encoder_text} if encoder_reads == "text" else {}
    return {"scoring": scoring, "precision": precision, **applicable}


def continuation_settings(facts: ModelFacts, precision: str, *, prefix: str, chat: bool) -> dict[str, Any]:
    """`precision` with what is read before a context; raises InputError for a chat template that there is not."""
    if not chat:
        return {"precision": precision, "prefix": list(prefix_tokens(facts, prefix))}
    if not facts.chat_template:
        raise InputError(NO_CHAT_TEMPLATE.format(name=facts.name))
    return {"precision": precision, "chat": facts.chat_template}
