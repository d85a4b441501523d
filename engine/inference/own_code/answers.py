"""What a confined process answers, as bytes that are read without running anything: no pickle, no template of its own.

1 byte    R ready · E an error · P pieces
R         nothing
E         JSON: the class of the error, and its message
P         for each piece 8 bytes, its length, and the bytes of `piece_bytes`

The process runs code that nobody here has written, so that every field is checked: its type, its size, its length.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

from engine.errors import EngineError, InputError, ModelError, RunError
from engine.inference.backend import Piece, Request
from engine.inference.local.worker_loop import portable_error
from engine.inference.piece_bytes import from_bytes, to_bytes
from engine.messages.catalogues import JAPANESE, messages
from engine.messages.message import (
    BETWEEN,
    LOOK,
    PARTS,
    PREFIXES,
    TEMPLATE,
    VALUES,
    Message,
    as_text,
    is_stored,
    restored,
)

READY, ERROR, PIECES = b"R", b"E", b"P"
LARGEST_ANSWER, LARGEST_TEXT = 2**30, 2**25  # bytes: of an answer, and of all in it that is no array
LONGEST_ERROR = 2_000  # characters
_LENGTH, _HEADER = struct.Struct("<Q"), struct.Struct("<I")
_ERRORS: dict[str, type[EngineError]] = {each.__name__: each for each in (ModelError, InputError, RunError)}
_PLAIN = (str, int, float, bool, type(None))
# The fields that each operation answers, and those that have one entry for each token; others may follow.
_FIELDS: dict[str, dict[str, type]] = {
    "loading_checks": {
        "task": str,
        "batching": str,
        "n_unused": int,
        "unused": list,
        "missing": list,
        "seconds": float,
        "reads_ahead": object,
    },
    "sentence_vectors": {"vectors": np.ndarray, "n_tokens": int},
    "token_similarities": {
        "similarity": np.ndarray,
        **{f"{side}_tokens": list for side in ("reference", "candidate")},
        **{f"{side}_{name}": np.ndarray for side in ("reference", "candidate") for name in ("special", "spans")},
    },
    "token_log_likelihoods": {
        "tokens": list,
        **dict.fromkeys(("ids", "spans", "log_likelihoods", "read_ids"), np.ndarray),
        "n_unknown": int,
    },
    "continuation_log_likelihoods": dict.fromkeys(("log_likelihoods", "n_tokens"), np.ndarray),
    "document_log_likelihoods": {
        "tokens": list,
        **dict.fromkeys(("ids", "spans", "log_likelihoods", "read_ids", "unscored_spans"), np.ndarray),
        **dict.fromkeys(("n_unknown", "n_windows"), int),
    },
    "shared_token_log_likelihoods": {
        "tokens": list,
        **dict.fromkeys(("first_log_likelihoods", "second_log_likelihoods"), np.ndarray),
    },
    "fill_masks": {
        "tokens": list,
        "top_tokens": list,
        **dict.fromkeys(("ids", "log_likelihoods", "ranks", "top_ids", "top_log_likelihoods"), np.ndarray),
    },
    "token_lists": {"tokens": list},
    "tokenized": {"tokens": list, **dict.fromkeys(("ids", "spans", "special", "words", "unknown"), np.ndarray)},
    "control_tokens_read": {"tokens": list},
    "document_counts": {
        "tokens": list,
        "control_tokens": list,
        **dict.fromkeys(("documents", "occurrences", "control_documents"), np.ndarray),
        "n_documents": int,
    },
}
_EACH_TOKEN = (
    "ids",
    "spans",
    "log_likelihoods",
    "layer_log_likelihoods",
    "first_log_likelihoods",
    "second_log_likelihoods",
    "documents",
    "ranks",
)
# NaN inside of words, and -inf where no piece of the vocabulary may follow.
_BOUNDARIES = ("word_boundaries", "layer_boundaries")


def packed_pieces(pieces: list[Piece]) -> bytes:
    """The answer with pieces. Raises TypeError for what is none."""
    packed = [to_bytes(piece) for piece in pieces]
    return PIECES + b"".join(part for each in packed for part in (_LENGTH.pack(len(each)), each))


def packed_error(error: Exception, operation: str, request: Request) -> bytes:
    """The answer with an error; one that is none of the engine's is that of a run."""
    told = error if isinstance(error, EngineError) else portable_error(error, operation, request)
    kind = next((name for name, each in _ERRORS.items() if isinstance(told, each)), "RunError")
    if isinstance(told, InputError) and not told.rows:
        text: str = told.message
    else:
        text = str(told) if isinstance(told, EngineError) else f"{type(error).__name__}: {error}"[:LONGEST_ERROR]
    return ERROR + json.dumps([kind, as_text(text)]).encode()


def unpacked(answer: bytes, operation: str, n_items: int) -> list[Piece]:
    """The pieces of an answer. Raises the error that it holds, and RunError for an answer that is none."""
    try:
        if answer[:1] == ERROR:
            raise _error(answer[1:])
        pieces = _pieces(answer)
        if len(pieces) != n_items:
            raise ValueError(f"{len(pieces)} pieces for {n_items} items")
        for piece in pieces:
            _check(piece, operation)
    except EngineError:
        raise
    except Exception as error:  # whatever reading may raise: nobody has written these bytes but code of others
        raise RunError(
            Message(
                "The process of the model's own code gave an answer to {operation} that cannot be read ({error}).",
                operation=operation,
                error=str(error)[:200] or type(error).__name__,
            )
        ) from None
    return pieces


def _error(content: bytes) -> EngineError:
    if len(content) > LARGEST_TEXT:
        raise ValueError("a message that is too long")
    kind, text = json.loads(content)
    message = safe_text(text)
    if len(message) > LONGEST_ERROR:
        message = f"{message[:LONGEST_ERROR]}…"
    told = message if isinstance(message, Message) else Message("{text}", text=message)
    return _ERRORS[kind](told)


def _pieces(answer: bytes) -> list[Piece]:
    if answer[:1] != PIECES:
        raise ValueError("it is of no known kind")
    pieces, start, n_text = [], 1, 0
    while start < len(answer):
        (length,) = _LENGTH.unpack_from(answer, start)
        start += _LENGTH.size
        if length > len(answer) - start:
            raise ValueError("a piece ends after its answer")
        n_text += _HEADER.unpack_from(answer, start)[0]
        if n_text > LARGEST_TEXT:
            raise ValueError("too much text")
        pieces.append(from_bytes(answer[start : start + length], safe_text))
        start += length
    return pieces


def safe_text(value: str) -> str:
    """A text, or the message that it stands for, if its template is one of the engine's own. Raises ValueError.

    A template of anybody's would be formatted with our objects: `{x.__class__}` reads what it likes.
    """
    if not isinstance(value, str):
        raise ValueError("no text where one was expected")
    if not value.startswith(PREFIXES):
        return value
    stored = json.loads(value)
    _require_known(stored)
    return restored(stored)  # type: ignore[no-any-return]


def _require_known(stored: Any) -> None:
    if type(stored) in _PLAIN:
        return
    if is_stored(stored) and TEMPLATE in stored and stored[TEMPLATE] in _templates():
        if not isinstance(stored[VALUES], Mapping):
            raise ValueError("a message without values")
        for value in stored[VALUES].values():
            _require_known(value)
    elif is_stored(stored) and BETWEEN in stored and isinstance(stored[BETWEEN], str):
        for part in stored[PARTS]:
            _require_known(part)
    elif not (isinstance(stored, Mapping) and stored.keys() == {LOOK} and isinstance(stored[LOOK], str)):
        raise ValueError("a message that is none of the engine's")


@cache
def _templates() -> frozenset[str]:
    return frozenset(message.id for _, message in messages(JAPANESE))


def _check(piece: Piece, operation: str) -> None:
    """Raise ValueError for a piece without the fields of its operation, or with a number that is none."""
    for name, value in piece.items():
        if isinstance(value, np.ndarray):
            bad = np.isposinf if name in _BOUNDARIES else lambda numbers: ~np.isfinite(numbers)
            if value.dtype.kind == "f" and bad(value).any():
                raise ValueError(f"{name} has numbers that are NaN or infinite")
        elif operation != "describe" and not _is_plain(value):
            raise ValueError(f"{name} is no field of a piece")
    if "excluded" in piece:
        if not isinstance(piece["excluded"], str):
            raise ValueError("excluded for no reason")
        return
    for name, expected in _FIELDS.get(operation, {}).items():
        if not isinstance(piece[name], expected):
            raise ValueError(f"{name} is a {type(piece[name]).__name__}")
    if "tokens" in _FIELDS.get(operation, {}):
        lengths = {len(piece[name]) for name in ("tokens", *_EACH_TOKEN) if name in piece}
        if len(lengths) > 1:
            raise ValueError("its fields are of several lengths")


def _is_plain(value: Any) -> bool:
    return (
        type(value) in _PLAIN
        or isinstance(value, str)
        or (isinstance(value, list) and all(type(each) in _PLAIN for each in value))
    )
