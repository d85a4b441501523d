"""How sentences are scored, in words: what a page, a signature and a table say beside the numbers."""

from __future__ import annotations

from collections.abc import Mapping

from engine.evaluations.minimal_pairs.records import Settings
from engine.models.sources.facts import ModelFacts
from engine.options import option_of

PLL_RULES: Mapping[str, str] = option_of(Settings, "pll").choices
WORD_RULES: Mapping[str, str] = option_of(Settings, "words").choices
SPACE_RULES: Mapping[bool, str] = {
    False: "No space is put before a sentence; a tokenizer that puts one itself (SentencePiece) still does.",
    True: "A space is put before each sentence, as lm-evaluation-harness does for English BLiMP.",
}
_TOO_LONG = "A sentence longer than the model takes is never cut: its pair is left out."


def opening_rule(has_bos: bool, bos: bool) -> str:
    """From where a causal model scores a sentence, by whether its tokenizer has a BOS token and whether it is wanted.

    >>> opening_rule(True, True)
    'Scored from the BOS token, which is put in front unless the tokenizer does so: every token counts.'
    """
    if has_bos and bos:
        return "Scored from the BOS token, which is put in front unless the tokenizer does so: every token counts."
    why = "the tokenizer has no BOS token" if not has_bos else "no BOS token is wanted"
    return (f"The first token is not scored, for {why} and nothing stands before it: pairs that differ in the first "
            "token lose that difference.")


def scoring_rule(facts: ModelFacts, *, pll: str, words: str, bos: bool, leading_space: bool) -> str:
    """How one model scores a sentence under these settings, in whole sentences."""
    if facts.kind == "causal":
        return " ".join(["The log-likelihood of the tokens, from left to right.", opening_rule(facts.has_bos, bos),
                         SPACE_RULES[leading_space], "What the tokenizer puts at the end is not scored.", _TOO_LONG])
    word = f" Words: {WORD_RULES[words]}" if pll == "word-l2r" else ""
    return f"The pseudo-log-likelihood ({pll}). {PLL_RULES[pll]}{word} Special tokens are not scored. {_TOO_LONG}"
