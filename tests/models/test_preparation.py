"""The texts of a chunk are tokenized while another is computed, and not again when its turn comes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.models import preparation, worker
from engine.models.scoring import causal_lm, encoder, masked_lm, sentence_vectors, shared_tokens
from engine.models.scoring.running_text import masked as masked_text
from engine.models.tokenization import token_cache
from tests.support import tiny_models
from tests.support.tiny_models import JAPANESE


@pytest.mark.parametrize(
    ("operation", "items", "settings"),
    [
        ("sentence_vectors", list(JAPANESE), {"layers": [2], "pooling": "cls"}),
        ("sentence_vectors", list(JAPANESE), {"layers": [1], "pooling": "mean", "prompt": "[SEP]query: "}),
        ("sentence_vectors", list(JAPANESE), {"layers": [1], "pooling": "mean-without-special", "prompt": "a"}),
        ("token_similarities", [[f" {JAPANESE[0]}", JAPANESE[1]], list(JAPANESE[2:4])], {"layers": [2]}),
        ("shared_token_log_likelihoods", [list(JAPANESE[4:6]), list(JAPANESE[6:8])], {}),
        ("token_log_likelihoods", list(JAPANESE), {"scoring": "pll-original"}),
        (
            "document_log_likelihoods",
            [(JAPANESE[0] * 9, 0, 1), (JAPANESE[1], 0, 1)],
            {"scoring": "pll-original", "window": 32, "stride": 16},
        ),
        ("token_lists", list(JAPANESE), {}),
    ],
)
def test_a_prepared_chunk_reads_no_text_when_it_is_computed(
    operation: str, items: list[Any], settings: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = {
        "model": str(tiny_models.bert(tmp_path / "bert")),
        "revision": None,
        "items": items,
        "settings": settings,
    }
    cache = token_cache.TokenCache()
    for module in (preparation, worker, causal_lm, encoder, masked_lm, masked_text, sentence_vectors, shared_tokens):
        if hasattr(module, "TOKENS"):
            monkeypatch.setattr(module, "TOKENS", cache)
    worker.prepare_chunk(operation, request)
    assert cache.n_tokens == 0  # the model is not loaded yet
    expected = worker.run_chunk(operation, request)
    monkeypatch.setattr(cache, "_entries", type(cache._entries)())
    worker.prepare_chunk(operation, request)
    for name in ("spans_of_each", "token_ids_of_each"):
        monkeypatch.setattr(token_cache, name, None)  # to call it is an error
    again = worker.run_chunk(operation, request)
    assert len(again) == len(expected)
    for piece, first in zip(again, expected, strict=True):
        for name, value in first.items():
            np.testing.assert_array_equal(piece[name], value)


def test_a_prepared_causal_chunk_with_a_leading_space_reads_no_text_when_it_is_computed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = {
        "model": str(tiny_models.gpt2_byte_level(tmp_path / "gpt2")),
        "revision": None,
        "items": ["The cat.", "A dog."],
        "settings": {"scoring": "causal", "leading_space": True},
    }
    worker.run_chunk("token_log_likelihoods", {**request, "items": ["Warm."]})
    worker.prepare_chunk("token_log_likelihoods", request)
    monkeypatch.setattr(token_cache, "spans_of_each", None)
    assert [piece["tokens"] for piece in worker.run_chunk("token_log_likelihoods", request)]
