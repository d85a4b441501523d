"""Which characters of a sentence each token covers, where a file has tokens as some tokenizer spells them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np

from engine.inference.endpoint.prompt_alignment import NOT_ALIGNED, Span, prompt_spans


def token_spans(tokens: Sequence[str], n_before: int, text: str) -> np.ndarray | None:
    """The characters of `text` of each token, without white space around them: int32 (n, 2).

    tokens: as decoded, with SentencePiece's mark of a space, with WordPiece's "##", or in the letters that stand for
    bytes. The first `n_before` were read and not scored; they may be control tokens, or missing: then the others are the
    end of the text. None where the tokens are not those of the text.
    """
    for spelled in _spellings(tokens):
        for first in range(n_before + 1) if n_before else (0,):
            spans = prompt_spans(spelled[first:], text)
            if spans is not None:
                return _trimmed([NOT_ALIGNED] * first + spans, text, 0)
        start = _start_of_end(spelled[n_before:], text) if not n_before or spelled else None
        if start is not None:
            rest = prompt_spans(spelled[n_before:], text[start:])
            if rest is not None:
                return _trimmed([NOT_ALIGNED] * n_before + rest, text, start)
    return None


def _spellings(tokens: Sequence[str]) -> Iterator[list[str]]:
    yield list(tokens)
    if any(token.startswith("##") for token in tokens):
        yield [token.removeprefix("##") for token in tokens]
    if any(token.endswith("</w>") for token in tokens):
        yield [token.replace("</w>", " ") for token in tokens]
    decoded = [_decoded(token) for token in tokens]
    if None not in decoded and decoded != list(tokens):
        yield [str(token) for token in decoded]


def _start_of_end(tokens: Sequence[str], text: str) -> int | None:
    """Where the text begins whose tokens these are, where they are those of its end alone."""
    length = sum(map(len, tokens))
    for start in range(1, len(text)):
        if len(text) - start <= length and prompt_spans(tokens, text[start:]) is not None:
            return start
    return None


def _trimmed(spans: Sequence[Span], text: str, shift: int) -> np.ndarray:
    places = np.full((len(spans), 2), -1, dtype=np.int32)
    for i, span in enumerate(spans):
        if span == NOT_ALIGNED:
            continue
        start, end = span[0] + shift, span[1] + shift
        covered = text[start:end]
        if covered.strip():
            start += len(covered) - len(covered.lstrip())
            end -= len(covered) - len(covered.rstrip())
        places[i] = start, end
    return places


def _decoded(token: str) -> str | None:
    """A token of a byte-level BPE as text, U+FFFD for a part of a character; None where it is none."""
    letters = _byte_letters()
    try:
        return bytes(letters[letter] for letter in token).decode("utf-8", errors="replace")
    except KeyError:
        return None


@cache
def _byte_letters() -> dict[str, int]:
    """The letter that GPT-2's byte-level BPE writes for each byte: itself where it can be seen, else from U+0100 on."""

    def is_visible(byte: int) -> bool:
        return 33 <= byte <= 126 or 161 <= byte <= 172 or 174 <= byte <= 255

    hidden = [byte for byte in range(256) if not is_visible(byte)]
    return {chr(byte): byte for byte in range(256) if is_visible(byte)} | {
        chr(256 + place): byte for place, byte in enumerate(hidden)
    }
