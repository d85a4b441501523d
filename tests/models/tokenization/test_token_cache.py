"""The tokens that a process keeps: within a bound, by text, tokenizer and what is read as control tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.models.tokenization import token_cache
from engine.models.tokenization.encoding import token_ids
from engine.models.tokenization.spans import token_spans
from engine.models.tokenization.token_cache import TOKENS_OF_A_TEXT, TokenCache
from engine.models.tokenization.tokenizer_loading import load_tokenizer
from tests.support import tiny_models

TEXTS = [*tiny_models.ENGLISH, *tiny_models.JAPANESE]


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return load_tokenizer(tiny_models.bert(tmp_path_factory.mktemp("bert") / "model"))


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that were tokenized, in order."""
    texts_read: list[str] = []

    def counted(tokenize: Callable[..., Any]) -> Callable[..., Any]:
        def tokenize_and_count(tokenizer: Any, texts: Sequence[str], **settings: Any) -> Any:
            texts_read.extend(texts)
            return tokenize(tokenizer, texts, **settings)

        return tokenize_and_count

    for name in ("token_ids_of_each", "spans_of_each"):
        monkeypatch.setattr(token_cache, name, counted(getattr(token_cache, name)))
    return texts_read


def test_a_text_is_read_once_for_each_kind_of_result(tokenizer: Any, read: list[str]) -> None:
    cache = TokenCache()
    repeated = [*TEXTS, *TEXTS[:3]]
    for _ in range(2):
        assert cache.token_ids(tokenizer, repeated) == [token_ids(tokenizer, text) for text in repeated]
    assert read == TEXTS
    for spans, text in zip(cache.spans(tokenizer, repeated), repeated, strict=True):
        alone = token_spans(tokenizer, text)
        assert (spans.ids, spans.tokens) == (alone.ids, alone.tokens)
        np.testing.assert_array_equal(spans.spans, alone.spans)
        np.testing.assert_array_equal(spans.words, alone.words)
    assert read == TEXTS * 2
    cache.spans(tokenizer, [*TEXTS, "new"])
    assert read == [*TEXTS, *TEXTS, "new"]


def test_what_is_a_control_token_belongs_to_the_key(tokenizer: Any, read: list[str]) -> None:
    cache, text = TokenCache(), "a [MASK] b"
    [plain], [masked] = cache.token_ids(tokenizer, [text]), cache.token_ids(tokenizer, [text], ["[MASK]"])
    assert tokenizer.mask_token_id in masked and tokenizer.mask_token_id not in plain
    assert (cache.token_ids(tokenizer, [text]), cache.token_ids(tokenizer, [text], ["[MASK]"])) == ([plain], [masked])
    assert read == [text, text]


def test_the_tokenizer_belongs_to_the_key_and_truncation_cuts_nothing(tokenizer: Any, tmp_path: Path) -> None:
    cache, text = TokenCache(), TEXTS[0]
    without_cls = load_tokenizer(tiny_models.gpt2_byte_level(tmp_path / "other"))
    short = load_tokenizer(tiny_models.bert(tmp_path / "short", max_tokens=4))
    short.backend_tokenizer.enable_truncation(4)
    [ids], [other], [whole] = (cache.token_ids(each, [text]) for each in (tokenizer, without_cls, short))
    assert ids[0] == tokenizer.cls_token_id and other == token_ids(without_cls, text) != ids
    assert whole == token_ids(short, text) and len(whole) > 4 and whole[-1] == short.sep_token_id


def test_the_cache_is_bounded_and_drops_what_was_used_longest_ago(tokenizer: Any, read: list[str]) -> None:
    costs = [TOKENS_OF_A_TEXT + len(token_ids(tokenizer, text)) for text in TEXTS]
    cache = TokenCache(max_tokens=costs[0] + costs[1] + costs[2])
    cache.token_ids(tokenizer, TEXTS[:3])
    cache.token_ids(tokenizer, TEXTS[:1])  # now the second is the oldest
    assert read == TEXTS[:3] and cache.n_tokens == sum(costs[:3])
    cache.token_ids(tokenizer, TEXTS[3:4])
    assert cache.n_tokens <= sum(costs[:3])
    cache.token_ids(tokenizer, [TEXTS[0]])
    assert read == TEXTS[:4]
    cache.token_ids(tokenizer, [TEXTS[1]])
    assert read == [*TEXTS[:4], TEXTS[1]]
    for text in TEXTS * 3:
        cache.spans(tokenizer, [text])
        assert cache.n_tokens <= sum(costs[:3])


def test_a_text_longer_than_the_bound_is_read_and_not_kept(tokenizer: Any, read: list[str]) -> None:
    cache = TokenCache(max_tokens=5)
    assert cache.token_ids(tokenizer, [TEXTS[0]]) == [token_ids(tokenizer, TEXTS[0])] and cache.n_tokens == 0
    cache.token_ids(tokenizer, [TEXTS[0]])
    assert read == [TEXTS[0]] * 2
