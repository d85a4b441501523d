"""The tokens of a text with everything known of each, for the inspection of a tokenizer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from transformers import PreTrainedTokenizerBase

from engine.models.tokenization.plain_text import reader
from engine.models.tokenization.recipe_tokenizer import RecipeTokenizer
from engine.models.tokenization.spans import spans_of_each


def token_details(tokenizer: PreTrainedTokenizerBase, texts: Sequence[str]) -> list[dict[str, Any]]:
    """One piece per text, in order, with n tokens, special ones included.

    tokens [str] and ids int32 (n,) as the vocabulary has them, spans int32 (n, 2) characters of the text, (-1, -1) for
    special tokens, special bool (n,), words int32 (n,) numbers of the tokenizer's words, unknown bool (n,), and
    prepared: the text as the vocabulary sees it, where a recipe changes it first ("" where none does).
    """
    pieces = []
    for text, spans in zip(texts, spans_of_each(tokenizer, texts), strict=True):
        ids = np.array(spans.ids, dtype=np.int32)
        unknown = (ids == tokenizer.unk_token_id) & ~spans.special
        pieces.append(
            {
                "tokens": spans.tokens,
                "ids": ids,
                "spans": spans.spans,
                "special": spans.special,
                "words": spans.words,
                "unknown": np.asarray(unknown, dtype=bool),
                "prepared": reader(tokenizer, text).prepared(text) if isinstance(tokenizer, RecipeTokenizer) else "",
            }
        )
    return pieces
