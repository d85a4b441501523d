"""From the tokens of a prompt to the piece of its sentence: which tokens are scored, and what cannot be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from zlib import crc32

import numpy as np

from engine.inference.endpoint.prompt_alignment import NOT_ALIGNED, UNKNOWN_TOKENS, Span, is_whole, prompt_spans
from engine.inference.endpoint.replies import PromptTokens, ReplyError, log_probability
from engine.messages.message import Message, named

# The name of a special token that stands before a text and that the server does not spell.
UNNAMED = named("<special token>")
NO_TEXT_TOKENS = 16  # more tokens than four for each character and these are no tokens of the text


def split_prompt(prompt: PromptTokens, text: str, prefix: Sequence[str], n_generated: int) -> tuple[slice, list[Span]]:
    """Where the tokens of `text` are among those of a reply, and the characters of it that each covers.

    prefix: the tokens before them, each shown as it is spelled, as nothing, or not at all; `n_generated`: the tokens
    that were asked for after the prompt, which a server may leave out. Raises ReplyError for tokens of another text.
    """
    n_tokens = len(prompt.tokens)
    if n_tokens > 4 * len(text) + NO_TEXT_TOKENS:
        raise ReplyError(
            Message("it holds {n_tokens:,} tokens for {text:,} characters", n_tokens=n_tokens, text=len(text))
        )
    for shown, expected in zip(prompt.tokens, prefix, strict=False):
        if shown and shown != expected and expected != UNNAMED:
            raise ReplyError(
                Message(
                    "the sentence was read after {shown!r} and not after {expected!r}", shown=shown, expected=expected
                )
            )
    first = len(prefix)
    for end in dict.fromkeys((n_tokens - n_generated, n_tokens)):
        names = [
            _first_token(prompt.tokens[first + 1 : end], text) if name is None and i == 0 and not first else name
            for i, name in enumerate(prompt.tokens[first:end])
        ]
        if None in names:
            continue
        spans = prompt_spans([str(name) for name in names], text)
        if spans is not None and names:
            return slice(first, end), spans
    raise ReplyError(Message("the tokens that came back do not join to the sentence"))


def piece_of_prompt(
    prompt: PromptTokens, text: str, prefix: Sequence[str], n_generated: int, n_spaces: int = 0
) -> dict[str, Any]:
    """The piece of a sentence as `engine.models.scoring.scored_tokens` describes it, or that of one left out.

    A token is scored where another stands before it: all of them after a prefix, all but the first without one,
    whatever number the server gives there. ids: the server's own, or where it sends none, a hash of each token's
    string, which serves to tell tokens apart. `n_spaces`: that were put before the sentence. Raises ReplyError for a
    token of the sentence without a log-probability, and for what `split_prompt` refuses.
    """
    place, spans = split_prompt(prompt, text, prefix, n_generated)
    names = [_name(prompt, place.start, number, text, spans) for number in range(len(spans))]
    own_ids = prompt.ids[place] if prompt.ids is not None and len(prompt.ids) >= place.stop else None
    ids = (
        [_identity(name) for name in names]
        if own_ids is None
        else [_identity(name) if token < 0 else token for name, token in zip(names, own_ids, strict=True)]
    )
    n_unscored = 0 if prefix else 1
    values = [log_probability(value) for value in prompt.log_probabilities[place][n_unscored:]]
    read_ids = [*(_identity(token) for token in prefix), *ids]
    if not values:
        return {"excluded": Message("It has no token to score."), "n_tokens": len(read_ids)}
    shifted = [span if span == NOT_ALIGNED else _span_of_sentence(span, text, n_spaces) for span in spans]
    return {
        "tokens": names[n_unscored:],
        "ids": np.array(ids[n_unscored:], dtype=np.int32),
        "spans": np.array(shifted[n_unscored:], dtype=np.int32),
        "log_likelihoods": np.array(values, dtype=np.float32),
        "read_ids": np.array(read_ids, dtype=np.int32),
        "n_unknown": sum(name in UNKNOWN_TOKENS for name in names[n_unscored:]),
    }


def _span_of_sentence(span: Span, text: str, n_spaces: int) -> Span:
    """A span without its leading white space, as those of models that are loaded, in the sentence that was given."""
    start, end = span
    covered = text[start:end]
    start += len(covered) - len(covered.lstrip()) if covered.strip() else 0
    return max(start - n_spaces, 0), max(end - n_spaces, 0)


def _first_token(others: Sequence[str | None], text: str) -> str | None:
    """The first token of a text, which prompt_logprobs leaves out: the text without all others."""
    for length in range(len(text) + 1):
        if None not in others and prompt_spans([str(token) for token in others], text[length:]) is not None:
            return text[:length]
    return None


def _name(prompt: PromptTokens, first: int, number: int, text: str, spans: Sequence[Span]) -> str:
    """The string of a text's token by its number; one that shows no whole character is told apart by its id, or by its
    place in its character."""
    i, span = first + number, spans[number]
    token = prompt.tokens[i]
    if token is None:
        return text[span[0] : span[1]]
    if is_whole(token):
        return token
    if prompt.ids is not None and i < len(prompt.ids) and prompt.ids[i] >= 0:
        return Message("{token}<id {id}>", token=token, id=prompt.ids[i])
    return f"\ufffd{text[span[0] : span[1]] if span != NOT_ALIGNED else ''}{spans[:number].count(span) + 1}"


def _identity(name: str) -> int:
    return crc32(name.encode("utf-8", "surrogatepass")) & 0x7FFFFFFF
