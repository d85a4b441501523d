"""A text -> the ids of its tokens, whole and unpadded.

The tokenizer neither pads nor truncates: a Rust tokenizer keeps those settings in itself, where another
thread's call can change them.
"""

from __future__ import annotations

import threading
from collections.abc import Collection
from typing import Any

from transformers import BatchEncoding, PreTrainedTokenizerBase

from engine.models.tokenization.plain_text import reader

# Re-entrant: a recipe's tokenizer calls that of its vocabulary.
_encoding = threading.RLock()


def encoded(
    tokenizer: PreTrainedTokenizerBase, text: str, *, control: Collection[str] | None = (), **settings: Any
) -> BatchEncoding:
    """The tokenizer's encoding of one text, whole and unpadded, with the special tokens it adds itself.

    A control token that the text contains is plain text, save those in `control` (`plain_text.reader`).
    """
    with _encoding:
        return reader(tokenizer, text, control)(
            text, padding=False, truncation=False, verbose=False,
            return_attention_mask=False, return_token_type_ids=False, **settings,
        )


def token_ids(tokenizer: PreTrainedTokenizerBase, text: str, *, control: Collection[str] | None = ()) -> list[int]:
    """Ids of `text`, with the special tokens that the tokenizer adds, never truncated; `control` as in `encoded`."""
    return list(encoded(tokenizer, text, control=control)["input_ids"])


def pad_id(tokenizer: PreTrainedTokenizerBase) -> int:
    """The id to pad with: the tokenizer's, or 0 where it has none (padding is masked out in any case)."""
    return int(tokenizer.pad_token_id) if tokenizer.pad_token_id is not None else 0
