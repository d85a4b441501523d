"""How sentences are scored, in words: what a page, a signature and a table say beside the numbers."""

from __future__ import annotations

from collections.abc import Mapping

from engine.evaluations.minimal_pairs.records import Settings
from engine.models.sources.facts import ModelFacts
from engine.models.tokenization.prefix_tokens import BOS, EOS, NONE, TEMPLATE, prefix_tokens, resolved_prefix
from engine.options import option_of

PLL_RULES: Mapping[str, str] = option_of(Settings, "pll").choices
WORD_RULES: Mapping[str, str] = option_of(Settings, "words").choices
SPACE_RULES: Mapping[bool, str] = {
    False: "No space is put before a sentence; a tokenizer that puts one itself (SentencePiece) still does.",
    True: "A space is put before each sentence, as lm-evaluation-harness does for English BLiMP.",
}
_ROLES: Mapping[str, str] = {BOS: "BOS", EOS: "EOS", TEMPLATE: "the tokenizer's own beginning"}
_SERVED = ("The server computes it, in its own precision, and makes the tokens: it may read as a control token what is "
           "spelled like one.")
_BOUNDARIES = "The boundaries of words are scored, too, where the tokenizer marks with a space how words begin."
_TOO_LONG = "A sentence longer than the model takes is never cut: its pair is left out."


def prefix_rule(facts: ModelFacts, prefix: str) -> str:
    """What a causal model reads before the first token of a sentence under a choice of `prefix`, and what it scores."""
    resolved, tokens = resolved_prefix(facts, prefix), prefix_tokens(facts, prefix)
    if tokens:
        role = _ROLES[resolved] if not facts.endpoint else "put there by the server" if facts.opening else "BOS, sent"
        return f"Each sentence is read after {' '.join(tokens)} ({role}), so its first token is scored."
    if facts.endpoint:
        why = "nothing is to stand before it" if resolved == NONE else "the server shows nothing before it"
        return f"The first token is not scored, for {why}: pairs that differ in the first token lose that difference."
    token = {BOS: facts.bos_token, EOS: facts.eos_token}.get(resolved, "")
    why = ("nothing is to stand before it" if resolved == NONE
           else f"the model has no embedding for {token} ({_ROLES[resolved]})" if token
           else "the tokenizer itself puts nothing before a text" if resolved == TEMPLATE
           else f"the tokenizer has no {_ROLES[resolved]} token")
    return (f"The first token is not scored, for {why}: pairs that differ in the first token lose that difference.")


def scoring_rule(facts: ModelFacts, *, pll: str, words: str, prefix: str, leading_space: bool,
                 word_boundaries: bool = False) -> str:
    """How one model scores a sentence under these settings, in whole sentences."""
    if facts.kind == "causal":
        return " ".join(["The log-likelihood of the tokens, from left to right.", prefix_rule(facts, prefix),
                         SPACE_RULES[leading_space], "What the tokenizer puts at the end is not scored.",
                         *([_BOUNDARIES] if word_boundaries and not facts.endpoint else []), _TOO_LONG,
                         *([_SERVED] if facts.endpoint else [])])
    word = [f"Words: {WORD_RULES[words]}"] if pll == "word-l2r" else []
    return " ".join([f"The pseudo-log-likelihood ({pll}).", PLL_RULES[pll], *word, "Special tokens are not scored.",
                     _TOO_LONG])
