"""The texts that a chunk will have tokenized: they can be read while another chunk is computed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from transformers import PreTrainedTokenizerBase

from engine.models.tokenization.plain_text import control_spellings
from engine.models.tokenization.token_cache import TOKENS


def tokenize_ahead(
    tokenizer: PreTrainedTokenizerBase, operation: str, items: Sequence[Any], settings: dict[str, Any]
) -> None:
    """Put into `TOKENS` what `operation` will ask it for; nothing for operations that read no text from there."""
    if operation == "token_similarities":
        TOKENS.spans(tokenizer, [text.strip() for pair in items for text in pair])
    elif operation == "shared_token_log_likelihoods":
        TOKENS.spans(tokenizer, [text for pair in items for text in pair])
    elif operation == "token_log_likelihoods":
        before = " " if settings.get("scoring") == "causal" and settings.get("leading_space") else ""
        TOKENS.spans(tokenizer, [before + text for text in items])
    elif operation == "continuation_log_likelihoods" and not settings.get("chat"):
        TOKENS.spans(tokenizer, [context + text for context, *texts in items for text in texts])
    elif operation == "document_log_likelihoods":
        before = " " if settings.get("leading_space") else ""
        TOKENS.spans(tokenizer, [before + text for text, *_ in items])
    elif operation == "sentence_vectors":
        prompt = settings.get("prompt", "")
        control = [token for token in control_spellings(tokenizer).tokens if token in prompt]
        read = TOKENS.spans if settings.get("pooling") == "mean-without-special" else TOKENS.token_ids
        read(tokenizer, [prompt + text for text in items], control)
    elif operation == "token_lists":
        TOKENS.token_ids(tokenizer, items)
