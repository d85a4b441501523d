"""Log-likelihoods of what follows a context, under a causal model: a sentence in a template, the answers to a question.

One pass reads the context with the first continuation; further continuations of one token each need no other, because
only the distribution after the context decides them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from transformers import PreTrainedTokenizerBase

from engine.errors import ModelError
from engine.messages.message import Message
from engine.models.loading.weights import LoadedModel
from engine.models.scoring.causal_lm import TokenSequence, ids_of_prefix, read_texts, sequence_scores
from engine.models.scoring.probes import require_causal
from engine.models.scoring.scored_tokens import excluded_piece, too_long
from engine.models.tokenization.plain_text import control_spellings

# What a chat template is told that today is (that of Llama's where it is not told), so that no number changes with the day.
TODAY = datetime(2024, 7, 26)  # no time zone: it is read by its parts
_ON_A_FIXED_DAY = (
    "{% macro strftime_now(format) %}{{ format"
    + "".join(f" | replace('%{code}', '{TODAY:%{code}}')" for code in "aAbBdHIjmMpSyY")
    + " }}{% endmacro +%}"
)


@dataclass(frozen=True)
class _Read:
    """One item as the model reads it: the sequences to score, and the continuation that each of their targets is of."""

    sequences: list[TokenSequence]
    owners: list[np.ndarray]  # int64, as many as the targets of the sequence
    n_tokens: np.ndarray  # int32 (n_continuations,)


def continuation_log_likelihoods(
    loaded: LoadedModel, items: Sequence[Sequence[str]], *, prefix: Sequence[str] | None = None, chat: str = ""
) -> list[dict[str, Any]]:
    """The log-likelihood of each continuation of each context, (context, continuation, …), in nats.

    prefix: the special tokens before each context, as in `causal_lm.token_log_likelihoods`. chat: where it names a chat
    template (`ModelFacts.chat_template`), the context is the message of a user, put into the tokenizer's own up to where
    the reply begins, in place of a prefix; a control token that a context spells out is then read as one. A template that
    writes today's date writes `TODAY`. Raises ModelError for one that does not write the message.

    A context and its continuation are tokenized together. A continuation begins with the first token that reaches beyond
    the context, white space at its end aside, which tokenizers write with the word that follows; several continuations
    begin where the first of them does, and before the first id in which they differ, so that all are given the same ids.
    Its log-likelihood is the sum over all its tokens, however many.

    Returns one piece for each item, in order: log_likelihoods float64 (n_continuations,) and n_tokens int32
    (n_continuations,); or {"excluded": reason, "n_tokens": n}, as of a sentence: nothing is truncated. With an empty
    context and without a prefix the first token is not scored; of several continuations there is then no piece.
    """
    require_causal(loaded)
    contexts = [_as_chat(loaded, item[0]) if chat else item[0] for item in items]
    texts = [context + continuation for context, item in zip(contexts, items, strict=True) for continuation in item[1:]]
    spans_by_text, sequences = read_texts(
        loaded,
        texts,
        [] if chat else ids_of_prefix(loaded, prefix),
        leading_space=False,
        control=_control_tokens(loaded.tokenizer) if chat else (),
    )
    pieces: list[dict[str, Any]] = []
    read: list[_Read] = []
    end = 0
    for context, item in zip(contexts, items, strict=True):
        start, end = end, end + len(item) - 1
        of_item = sequences[start:end]
        longest = max(len(sequence.ids) for sequence in of_item)
        length = len(context.rstrip())
        places = [
            sequence.at[spans.spans[sequence.tokens, 1] > length]
            for spans, sequence in zip(spans_by_text[start:end], of_item, strict=True)
        ]
        if reason := too_long(loaded, longest):
            pieces.append(excluded_piece(reason, longest))
        elif (scored := _scored(of_item, places)) is None:
            pieces.append(excluded_piece(Message("It has no token to score."), longest))
        else:
            pieces.append({"n_tokens": scored.n_tokens})
            read.append(scored)
    scores = iter(sequence_scores(loaded, [sequence for scored in read for sequence in scored.sequences]))
    of_pieces = iter(read)
    for piece in pieces:
        if "excluded" not in piece:
            found = next(of_pieces)
            weights = np.concatenate([next(scores) for _ in found.sequences]).astype(np.float64)
            piece["log_likelihoods"] = np.bincount(np.concatenate(found.owners), weights, minlength=len(found.n_tokens))
    return pieces


def _scored(sequences: Sequence[TokenSequence], places: Sequence[np.ndarray]) -> _Read | None:
    """What is scored of the continuations of one context; None where one of them has no token that can be.

    places: of each, the ids of `sequences` that are its own, int64 (n_tokens,).
    """
    if any(not len(of_one) for of_one in places):
        return None
    ids = [np.array(sequence.ids, dtype=np.int64) for sequence in sequences]
    least = int(sequences[0].at[0])
    start = min(int(of_one[0]) for of_one in places)
    if len(ids) > 1:
        start = min(start, _n_common(ids))
        if start < least:
            return None
    own = [np.arange(start, int(of_one[-1]) + 1) for of_one in places]
    first, *others = own
    longer = [number for number, of_one in enumerate(others, 1) if len(of_one) > 1]
    return _Read(
        [
            TokenSequence(
                sequences[0].ids,
                np.concatenate([first, np.full(len(others), start)]),
                first,
                targets=np.concatenate([ids[0][first], *(of_one[start : start + 1] for of_one in ids[1:])]),
            ),
            *(
                TokenSequence(
                    sequences[number].ids, own[number][1:], own[number][1:], targets=ids[number][own[number][1:]]
                )
                for number in longer
            ),
        ],
        [
            np.concatenate([np.zeros(len(first), dtype=np.int64), np.arange(1, len(ids))]),
            *(np.full(len(own[number]) - 1, number) for number in longer),
        ],
        np.array([len(of_one) for of_one in own], dtype=np.int32),
    )


def _n_common(ids: Sequence[np.ndarray]) -> int:
    """How many ids all begin with."""
    shortest = min(map(len, ids))
    differ = np.flatnonzero((np.stack([of_one[:shortest] for of_one in ids]) != ids[0][:shortest]).any(axis=0))
    return int(differ[0]) if len(differ) else shortest


def _as_chat(loaded: LoadedModel, message: str) -> str:
    """A message of a user as the tokenizer's chat template writes it, up to where the reply begins.

    Raises ModelError for a template that does not write it, whatever it raises.
    """
    conversation = [{"role": "user", "content": message}]
    try:
        return str(
            loaded.tokenizer.apply_chat_template(
                conversation,
                chat_template=_ON_A_FIXED_DAY + loaded.tokenizer.get_chat_template(),
                tokenize=False,
                add_generation_prompt=True,
            )
        )
    except Exception as error:
        raise ModelError(
            Message(
                "The chat template of {name} does not write a question as the message of a user ({kind}: {error}). Leave "
                "--chat-template out, or choose another model.",
                name=loaded.facts.name,
                kind=type(error).__name__,
                error=str(error).partition("\n")[0],
            )
        ) from error


def _control_tokens(tokenizer: PreTrainedTokenizerBase) -> tuple[str, ...]:
    return tuple(control_spellings(tokenizer).tokens)
