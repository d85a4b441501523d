"""Texts -> the ids of their tokens, whole and unpadded; a Rust tokenizer reads many texts in one call.

The tokenizer neither pads nor truncates: a Rust tokenizer keeps those settings in itself, where another
thread's call can change them.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from tokenizers import Encoding
from transformers import BatchEncoding, PreTrainedTokenizerBase

from engine.models.tokenization.plain_text import TakesControlTokens, reader, texts_by_reader

# Re-entrant: a recipe's tokenizer calls that of its vocabulary.
_encoding = threading.RLock()


def encoded(
    tokenizer: PreTrainedTokenizerBase, text: str, *, control: Collection[str] | None = (), **settings: Any
) -> BatchEncoding:
    """The tokenizer's encoding of one text, whole and unpadded, with the special tokens it adds itself.

    A control token that the text contains is plain text, save those in `control` (`plain_text.reader`).
    """
    with _encoding:
        encoding: BatchEncoding = reader(tokenizer, text, control)(
            text,
            padding=False,
            truncation=False,
            verbose=False,
            return_attention_mask=False,
            return_token_type_ids=False,
            **settings,
        )
    return encoding


def encoded_each(
    tokenizer: PreTrainedTokenizerBase, texts: Sequence[str], *, control: Collection[str] | None = ()
) -> Iterator[tuple[int, list[int], Encoding]]:
    """The number of each text with its ids and its encoding, by a Rust tokenizer, as `encoded` of each text alone.

    In the order of `texts_by_reader`: texts that contain the spelling of a control token come last.
    """
    for plain, numbers in texts_by_reader(tokenizer, texts, control):
        with _encoding:
            batch = plain(
                [texts[number] for number in numbers],
                padding=False,
                truncation=False,
                verbose=False,
                return_attention_mask=False,
                return_token_type_ids=False,
            )
        yield from zip(numbers, batch["input_ids"], batch.encodings or (), strict=True)


def token_ids_of_each(
    tokenizer: PreTrainedTokenizerBase, texts: Sequence[str], *, control: Collection[str] | None = ()
) -> list[list[int]]:
    """Ids of each text, with the special tokens that the tokenizer adds, never truncated; `control` as in `encoded`."""
    if isinstance(tokenizer, TakesControlTokens) or not tokenizer.is_fast:
        return [list(encoded(tokenizer, text, control=control)["input_ids"]) for text in texts]
    ids_by_number = {number: ids for number, ids, _ in encoded_each(tokenizer, texts, control=control)}
    return [ids_by_number[number] for number in range(len(texts))]


def token_ids(tokenizer: PreTrainedTokenizerBase, text: str, *, control: Collection[str] | None = ()) -> list[int]:
    """Ids of one text, as `token_ids_of_each`."""
    return token_ids_of_each(tokenizer, [text], control=control)[0]


def pad_id(tokenizer: PreTrainedTokenizerBase) -> int:
    """The id to pad with: the tokenizer's, or 0 where it has none (padding is masked out in any case)."""
    return int(tokenizer.pad_token_id) if tokenizer.pad_token_id is not None else 0
