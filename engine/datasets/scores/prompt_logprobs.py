"""vLLM's prompt_logprobs: outputs of its engine (RequestOutput as JSON), replies of its server, or of its batches.

{"prompt": text, "prompt_token_ids": [1, 2], "prompt_logprobs": [null, {"2": {"logprob": -1.5, "decoded_token": " a"}}]}
{"model": name, "choices": [{"index": 0, "prompt_logprobs": […]}]}        a reply, with "prompt" beside where it is known
{"custom_id": …, "response": {"body": a reply}}                            a line of a batch
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from engine.datasets.formats.files import Table
from engine.datasets.scores.lines import Collector, ValueFault
from engine.messages.message import Message

_COLUMNS = ("prompt_logprobs", "choices", "response")
AMBIGUOUS = Message(
    "an entry of prompt_logprobs holds several tokens and does not say which is that of the prompt: ask for "
    "prompt_logprobs=0, or keep prompt_token_ids"
)
NO_TEXT = Message('it does not say which text was scored: keep the prompt beside it, as "prompt"')


def fits(table: Table) -> bool:
    """Whether a table is of such outputs."""
    columns = set(map(str, table.frame.columns))
    return "prompt_logprobs" in columns or (
        bool(columns & {"choices", "response"}) and table.format in ("json", "jsonl")
    )


def read(table: Table, into: Collector) -> list[str]:
    """Add the sentences of all prompts; of each the tokens but those that stand before the text and are not scored."""
    frame = table.frame
    rows = frame.to_dict("records")
    for number, row in zip(map(int, frame.index), rows, strict=True):
        values = {str(name): _value(text) for name, text in row.items()}
        try:
            for model, text, tokens in _prompts(values):
                into.add(model, number, text, "", "", tokens, "prompt_logprobs")
        except ValueFault as fault:
            into.refuse(number, fault.reason)
    return list(map(str, frame.columns))


def _prompts(row: Mapping[str, Any]) -> Iterator[tuple[str, str, list[tuple[str, float | None]]]]:
    response = row.get("response")
    body = response.get("body") if isinstance(response, Mapping) else None
    reply = {**row, **body} if isinstance(body, Mapping) else row
    model = reply.get("model") if isinstance(reply.get("model"), str) else ""
    choices = reply.get("choices")
    if not isinstance(choices, list):
        yield str(model), *_prompt(reply, reply.get("prompt"))
        return
    prompts = reply.get("prompt")
    for place, choice in enumerate(choices):
        if not isinstance(choice, Mapping):
            raise ValueFault(Message("one of its choices is no object"))
        index = choice.get("index", place)
        text = (
            prompts[index] if isinstance(prompts, list) and isinstance(index, int) and index < len(prompts) else prompts
        )
        yield str(model), *_prompt({**reply, **choice}, text)


def _prompt(output: Mapping[str, Any], text: Any) -> tuple[str, list[tuple[str, float | None]]]:
    positions, ids = output.get("prompt_logprobs"), output.get("prompt_token_ids")
    if not isinstance(positions, list) or not positions:
        raise ValueFault(Message("it has no prompt_logprobs"))
    tokens: list[tuple[str, float | None]] = []
    for number, position in enumerate(positions):
        if position is None:
            tokens.append(("", None))
            continue
        if not isinstance(position, Mapping):
            raise ValueFault(Message("an entry of its prompt_logprobs is no object"))
        own = str(ids[number]) if isinstance(ids, list) and number < len(ids) else None
        entry = position.get(own) if own is not None else next(iter(position.values())) if len(position) == 1 else None
        if entry is None:
            raise ValueFault(AMBIGUOUS)
        token, value = _token(entry)
        tokens.append((token, value))
    joined = "".join(token for token, _ in tokens)
    if not isinstance(text, str):
        raise ValueFault(NO_TEXT)
    first = _first_token(text, joined)
    if tokens[0][1] is None:
        tokens[0] = (first, None)
    return text, [entry for entry in tokens if entry[0] or entry[1] is not None]


def _first_token(text: str, others: str) -> str:
    """The text of the first token, which has no entry: what the others leave of the text; "" for one before it."""
    return text[: -len(others)] if others and text.endswith(others) else ""


def _token(entry: Any) -> tuple[str, float | None]:
    if isinstance(entry, Mapping):
        token, value = entry.get("decoded_token"), entry.get("logprob")
    else:  # as Python's Logprob is written by json.dumps(…, default=vars) or as a bare number
        token, value = None, entry
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueFault(Message("an entry of its prompt_logprobs has no logprob"))
    return token if isinstance(token, str) else "", float(value)


def _value(text: str) -> Any:
    try:
        return json.loads(text) if text[:1] in ("[", "{") else text
    except (ValueError, RecursionError):
        return text
