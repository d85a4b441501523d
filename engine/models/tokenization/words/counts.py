"""How often words occur in texts of any length, and in how many of the texts; and the counting of anything in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from engine.datasets.corpora.corpus import pieces
from engine.language.word_entries import word_entries

# MeCab, also under BertJapaneseTokenizer, crashes the process on texts of some hundred thousand characters.
MAX_CHARACTERS_PER_CALL = 4_000


def word_document_counts(documents: Sequence[str]) -> dict[str, Any]:
    """What `token_counts.document_counts` returns, of words (`language.word_entries`) in place of tokens.

    Needs no model. No text is a control token here.
    """
    return counted(documents, lambda part: Counter(word_entries(part)), lambda part: ())


def counted(
    documents: Sequence[str], count: Callable[[str], Counter[str]], control_tokens: Callable[[str], Iterable[str]]
) -> dict[str, Any]:
    """What `token_counts.document_counts` returns, by what counts a part of a document and finds its control tokens."""
    document_counts_by_token: Counter[str] = Counter()
    occurrences: Counter[str] = Counter()
    control: Counter[str] = Counter()
    for document in documents:
        counts: Counter[str] = Counter()
        read_as_control: set[str] = set()
        for part in pieces(document, MAX_CHARACTERS_PER_CALL):
            counts.update(count(part))
            read_as_control.update(control_tokens(part))
        control.update(read_as_control)
        document_counts_by_token.update(counts.keys())
        occurrences.update(counts)
    tokens = list(occurrences)
    return {
        "tokens": tokens,
        "documents": np.array([document_counts_by_token[token] for token in tokens], dtype=np.int32),
        "occurrences": np.array([occurrences[token] for token in tokens], dtype=np.int32),
        "n_documents": len(documents),
        "control_tokens": sorted(control),
        "control_documents": np.array([control[token] for token in sorted(control)], dtype=np.int32),
    }
