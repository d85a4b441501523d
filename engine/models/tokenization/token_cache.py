"""The tokens of texts that this process has read lately, by text and tokenizer, within a bound.

A text is read more than once: the next chunk while the one before is computed (`worker.prepare_chunk`), another layer,
another pooling, another prefix, and both sides of many pairs. Kept are whole texts with the tokenizer's own special
tokens, never cut, so that a prefix or a maximum length that is applied afterwards needs no entry of its own.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Sequence
from functools import cache
from itertools import count
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from transformers import PreTrainedTokenizerBase

from engine.models.tokenization.encoding import token_ids_of_each
from engine.models.tokenization.spans import Spans, spans_of_each
from engine.models.tokenization.tokenizing_processes import TokenizingProcesses, n_processes

# About 60 bytes a token, and some hundreds for each text.
MAX_TOKENS, TOKENS_OF_A_TEXT = 1_000_000, 10

Tokens = TypeVar("Tokens")
_Key = tuple[int, str, frozenset[str], str]


class TokenCache:
    """Tokens by (tokenizer, kind of result, control tokens, text), at most `max_tokens`; thread-safe.

    What was used longest ago is dropped first. What is returned must not be modified.
    """

    def __init__(self, max_tokens: int = MAX_TOKENS) -> None:
        """Empty; `max_tokens` counts TOKENS_OF_A_TEXT more for each text."""
        self._max_tokens = max_tokens
        self._lock = threading.Lock()
        self._entries: OrderedDict[_Key, tuple[Any, int]] = OrderedDict()
        self._n_tokens = 0
        # A tokenizer's settings never change once it is loaded; another one has another number, also in its memory.
        self._numbers: WeakKeyDictionary[PreTrainedTokenizerBase, int] = WeakKeyDictionary()
        self._next_number = count()

    @property
    def n_tokens(self) -> int:
        """What the entries count, TOKENS_OF_A_TEXT for each text included."""
        return self._n_tokens

    def token_ids(
        self, tokenizer: PreTrainedTokenizerBase, texts: Sequence[str], control: Collection[str] = ()
    ) -> list[list[int]]:
        """The ids of each text, as `encoding.token_ids_of_each`."""

        def ids_of(missing: list[str]) -> list[list[int]]:
            encodings = _processes().offsets(tokenizer, missing, control)
            if encodings is None:
                return token_ids_of_each(tokenizer, missing, control=control)
            return [encoding.ids for encoding in encodings]

        return self._read("ids", tokenizer, texts, control, ids_of, len)

    def spans(
        self, tokenizer: PreTrainedTokenizerBase, texts: Sequence[str], control: Collection[str] = ()
    ) -> list[Spans]:
        """The tokens of each text with their spans, as `spans.spans_of_each`."""

        def spans_of(missing: list[str]) -> list[Spans]:
            encodings = _processes().offsets(tokenizer, missing, control)
            return spans_of_each(tokenizer, missing, control=control, encodings=encodings)

        return self._read("spans", tokenizer, texts, control, spans_of, lambda spans: len(spans.ids))

    def _read(
        self,
        kind: str,
        tokenizer: PreTrainedTokenizerBase,
        texts: Sequence[str],
        control: Collection[str],
        compute: Callable[[list[str]], list[Tokens]],
        length: Callable[[Tokens], int],
    ) -> list[Tokens]:
        with self._lock:
            if tokenizer not in self._numbers:
                self._numbers[tokenizer] = next(self._next_number)
            number, read_as_control = self._numbers[tokenizer], frozenset(control)
            keys = {text: (number, kind, read_as_control, text) for text in texts}
            tokens_by_text: dict[str, Tokens] = {}
            for text, key in keys.items():
                if key in self._entries:
                    self._entries.move_to_end(key)
                    tokens_by_text[text] = self._entries[key][0]
        missing = [text for text in keys if text not in tokens_by_text]
        if missing:
            computed = dict(zip(missing, compute(missing), strict=True))
            tokens_by_text |= computed
            with self._lock:
                for text, tokens in computed.items():
                    self._store(keys[text], tokens, TOKENS_OF_A_TEXT + length(tokens))
        return [tokens_by_text[text] for text in texts]

    def _store(self, key: _Key, tokens: Any, n_tokens: int) -> None:
        self._n_tokens += n_tokens - self._entries.pop(key, (None, 0))[1]
        self._entries[key] = (tokens, n_tokens)
        while self._n_tokens > self._max_tokens:
            _, (_, dropped) = self._entries.popitem(last=False)
            self._n_tokens -= dropped


_FIRST_USE = threading.Lock()


def _processes() -> TokenizingProcesses:
    """One set for the life of the process; nothing starts before there is work for it."""
    with _FIRST_USE:  # chunks are computed in one thread and prepared in another
        return _made_once()


@cache
def _made_once() -> TokenizingProcesses:
    return TokenizingProcesses(n_processes())


# One for the process: a worker, or a test.
TOKENS = TokenCache()
