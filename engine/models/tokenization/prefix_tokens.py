"""What a causal model reads before the first token of a text, so that this token has a probability too.

lm-evaluation-harness reads a text after its prefix token: the BOS, or the EOS of a tokenizer without BOS (`HFLM`'s
`prefix_token_id` in lm_eval/models/huggingface.py, version 0.4.13). Imports no torch.
"""

from __future__ import annotations

from engine.errors import InputError
from engine.messages.message import Message, list_of
from engine.models.sources.facts import ModelFacts

AUTO, BOS, EOS, TEMPLATE, NONE = "auto", "bos", "eos", "template", "none"
PREFIXES = (AUTO, BOS, EOS, TEMPLATE, NONE)


def resolved_prefix(facts: ModelFacts, choice: str) -> str:
    """The choice that "auto" stands for under a model; any other choice itself.

    "auto" is the prefix token of lm-evaluation-harness: "bos", or "eos" where the tokenizer has no BOS. For a tokenizer
    without either, which lm-evaluation-harness cannot score, it is "template". Raises InputError for another choice.
    """
    if choice not in PREFIXES:
        raise InputError(
            Message(
                "The prefix of causal models is one of {PREFIXES}; got {choice!r}.",
                PREFIXES=list_of(PREFIXES),
                choice=choice,
            )
        )
    if choice != AUTO:
        return choice
    return BOS if facts.bos_token else EOS if facts.eos_token else TEMPLATE


def prefix_tokens(facts: ModelFacts, choice: str) -> tuple[str, ...]:
    """The tokens that a causal model reads before a text, as its tokenizer spells them.

    choice: "bos", "eos", "template" (what the tokenizer itself puts there), "none", or "auto" (`resolved_prefix`).
    Empty where the tokenizer has no such token, or the model no embedding for it. Raises InputError for another choice.
    """
    resolved = resolved_prefix(facts, choice)
    if resolved == BOS:
        return (facts.bos_token,) if facts.has_bos else ()
    if resolved == EOS:
        return (facts.eos_token,) if facts.has_eos else ()
    return facts.opening if resolved == TEMPLATE else ()
