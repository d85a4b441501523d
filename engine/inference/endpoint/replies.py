"""Reading a completions reply: the tokens of each prompt with their log-probabilities, in one of three styles.

    tokens            logprobs: {tokens: […], token_logprobs: [null, …]} with echo, as OpenAI's legacy completions
                      have it, vLLM, SGLang and llama-cpp-python
    content           logprobs: {content: [{token, bytes, logprob}, …]} with echo, the form of chat completions
    prompt_logprobs   prompt_logprobs: [null, {"ID": {logprob, decoded_token}}, …], vLLM's own

What a server sends is checked value by value; nothing is taken for granted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from engine.language.quantities import count
from engine.messages.message import Message

# vLLM writes minus infinity as this, because JSON has none.
IMPOSSIBLE = -9999.0
ROUNDING = 1e-3  # a log-probability may exceed 0 by so much


class ReplyError(Exception):
    """A reply, or the part of it that belongs to one prompt, cannot be used; the message says why."""


@dataclass(frozen=True)
class PromptTokens:
    """The tokens of one prompt as a server sent them, what it generated after the prompt possibly included.

    tokens: decoded, None where the server does not name one. log_probabilities: None where it gives none. ids: of the
    prompt's tokens alone, None where the server does not say.
    """

    tokens: tuple[str | None, ...]
    log_probabilities: tuple[float | None, ...]
    ids: tuple[int, ...] | None


def prompts_of_reply(reply: Any, style: str, n_prompts: int) -> list[PromptTokens | ReplyError]:
    """What a reply says of each of `n_prompts` prompts, in their order; the error where one is malformed.

    Raises ReplyError when the reply does not hold one choice for each prompt.
    """
    choices = reply.get("choices") if isinstance(reply, Mapping) else None
    if not isinstance(choices, list) or len(choices) != n_prompts:
        raise ReplyError(
            Message(
                "it holds {choices} for {n_prompts}",
                choices=count(len(choices), "choice"),
                n_prompts=count(n_prompts, "prompt"),
            )
            if isinstance(choices, list)
            else Message("it holds no choices for {n_prompts}", n_prompts=count(n_prompts, "prompt"))
        )
    by_index = {
        choice.get("index", 0 if n_prompts == 1 else None): choice for choice in choices if isinstance(choice, Mapping)
    }
    if set(by_index) != set(range(n_prompts)):
        raise ReplyError(Message("its choices are not numbered as the prompts are"))
    prompts: list[PromptTokens | ReplyError] = []
    for index in range(n_prompts):
        try:
            prompts.append(STYLES[style](by_index[index]))
        except ReplyError as error:
            prompts.append(error)
    return prompts


def n_prompt_tokens(reply: Any) -> int | None:
    """How many tokens the server counted in all prompts; None where it does not say."""
    usage = reply.get("usage") if isinstance(reply, Mapping) else None
    counted = usage.get("prompt_tokens") if isinstance(usage, Mapping) else None
    return counted if isinstance(counted, int) and not isinstance(counted, bool) else None


def log_probability(value: float | None) -> float:
    """A log-probability that is one: finite and not above 0. Raises ReplyError for any other value."""
    if value is None:
        raise ReplyError(Message("a token has no log-probability"))
    if not math.isfinite(value) or value <= IMPOSSIBLE:
        raise ReplyError(
            Message(
                "a token has the log-probability {value:g}, which stands for a probability of 0 or none", value=value
            )
        )
    if value > ROUNDING:
        raise ReplyError(Message("a token has the log-probability {value:g}, above 0", value=value))
    return min(value, 0.0)


def _of_tokens(choice: Mapping[str, Any]) -> PromptTokens:
    log_probabilities = _mapping(choice.get("logprobs"), "logprobs")
    tokens, values = log_probabilities.get("tokens"), log_probabilities.get("token_logprobs")
    if not isinstance(tokens, list) or not isinstance(values, list) or not tokens:
        raise ReplyError(Message("its logprobs hold no tokens with token_logprobs"))
    if len(tokens) != len(values):
        raise ReplyError(
            Message(
                "its logprobs hold {tokens} tokens and {values} token_logprobs", tokens=len(tokens), values=len(values)
            )
        )
    return PromptTokens(tuple(map(_token, tokens)), tuple(map(_number, values)), _prompt_ids(choice))


def _of_content(choice: Mapping[str, Any]) -> PromptTokens:
    content = _mapping(choice.get("logprobs"), "logprobs").get("content")
    if not isinstance(content, list) or not content:
        raise ReplyError(Message("its logprobs hold no content"))
    entries = [_mapping(entry, Message("an entry of content")) for entry in content]
    return PromptTokens(
        tuple(_token(entry.get("token")) for entry in entries),
        tuple(_number(entry.get("logprob")) for entry in entries),
        _prompt_ids(choice),
    )


def _of_prompt_logprobs(choice: Mapping[str, Any]) -> PromptTokens:
    positions = choice.get("prompt_logprobs")
    if not isinstance(positions, list) or not positions:
        raise ReplyError(Message("it holds no prompt_logprobs"))
    ids = _prompt_ids(choice)
    if ids is not None and len(ids) != len(positions):
        raise ReplyError(
            Message(
                "it holds {ids} prompt_token_ids and {positions} prompt_logprobs",
                ids=len(ids),
                positions=len(positions),
            )
        )
    tokens: list[str | None] = []
    values: list[float | None] = []
    for number, position in enumerate(positions):
        if position is None:
            tokens.append(None)
            values.append(None)
            continue
        entries = _mapping(position, Message("an entry of prompt_logprobs"))
        # Beside the token of the prompt there may be more probable ones.
        chosen = entries.get(str(ids[number])) if ids else next(iter(entries.values())) if len(entries) == 1 else None
        if chosen is None:
            raise ReplyError(
                Message("an entry of prompt_logprobs does not say which of its tokens is that of the prompt")
            )
        tokens.append(_token(_mapping(chosen, Message("a token of prompt_logprobs")).get("decoded_token")))
        values.append(_number(chosen.get("logprob")))
    if ids is None and None not in positions[1:]:
        ids = _ids_of_keys(positions)
    return PromptTokens(tuple(tokens), tuple(values), ids)


STYLES: Mapping[str, Callable[[Mapping[str, Any]], PromptTokens]] = {
    "tokens": _of_tokens,
    "content": _of_content,
    "prompt_logprobs": _of_prompt_logprobs,
}


def _ids_of_keys(positions: list[Any]) -> tuple[int, ...] | None:
    """The ids that are the keys of prompt_logprobs; -1 for the first token, of which there is none."""
    keys = [next(iter(position)) if position else "-1" for position in positions]
    return tuple(map(int, keys)) if all(key.removeprefix("-").isdecimal() for key in keys) else None


def _prompt_ids(choice: Mapping[str, Any]) -> tuple[int, ...] | None:
    ids = choice.get("prompt_token_ids")
    if not isinstance(ids, list) or not all(
        isinstance(token, int) and not isinstance(token, bool) and 0 <= token < 2**31 for token in ids
    ):
        return None
    return tuple(ids)


def _mapping(value: Any, name: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ReplyError(
            Message("{name} is missing", name=name) if value is None else Message("{name} is no object", name=name)
        )
    return value


def _token(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    raise ReplyError(Message("a token is no text"))


def _number(value: Any) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ReplyError(Message("a log-probability is no number"))
    try:
        return float(value)
    except OverflowError:
        raise ReplyError(Message("a log-probability is no number")) from None
