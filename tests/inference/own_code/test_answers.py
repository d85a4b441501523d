"""Answers of confined processes: what is packed comes back equal, and whatever else is sent is refused in words."""

from __future__ import annotations

import json
import pickle
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import InputError, ModelError, RunError
from engine.inference.own_code.answers import _FIELDS, LARGEST_TEXT, packed_error, packed_pieces, unpacked
from engine.messages.message import Message, as_text, together
from engine.models.scoring.vector_operations import VECTOR_OPERATIONS
from engine.models.worker import OPERATIONS

PIECE = {
    "tokens": ["猫", "が"],
    "ids": np.array([5, 6], dtype=np.int32),
    "spans": np.array([[0, 1], [1, 2]], dtype=np.int32),
    "log_likelihoods": np.array([-1.5, -0.25], dtype=np.float32),
    "read_ids": np.array([2, 5, 6, 3], dtype=np.int32),
    "n_unknown": 0,
}
SCORES = "token_log_likelihoods"
TOO_LONG = Message("It has no token to score.")


def answer(arrays: dict[str, Any], content: bytes = b"", **fields: Any) -> bytes:
    """An answer of one piece, with whatever header."""
    header = json.dumps([fields, [[name, *form] for name, form in arrays.items()]]).encode()
    body = struct.pack("<I", len(header)) + header + content
    return b"P" + struct.pack("<Q", len(body)) + body


def error(text: Any, kind: Any = "ModelError") -> bytes:
    return b"E" + json.dumps([kind, text]).encode()


def test_pieces_come_back_equal() -> None:
    excluded = {"excluded": TOO_LONG, "n_tokens": 2}
    found = unpacked(packed_pieces([PIECE, excluded]), SCORES, 2)
    for name, value in PIECE.items():
        np.testing.assert_array_equal(found[0][name], value)
    assert found[1] == excluded and isinstance(found[1]["excluded"], Message)


def test_boundaries_of_words_are_no_numbers_inside_of_words() -> None:
    """As `causal_lm` gives them: NaN before a token that goes on with a word, -inf where no piece of a set may follow."""
    boundaries = np.array([-0.5, np.nan, -np.inf], dtype=np.float32)
    layers = {
        "layer_log_likelihoods": np.zeros((2, 3), np.float32),
        "layer_boundaries": np.stack([boundaries] * 3, axis=1),
    }
    (found,) = unpacked(packed_pieces([{**PIECE, "word_boundaries": boundaries, **layers}]), SCORES, 1)
    np.testing.assert_array_equal(found["word_boundaries"], boundaries)
    np.testing.assert_array_equal(found["layer_boundaries"], layers["layer_boundaries"])
    for wrong in ({"word_boundaries": -boundaries}, {"layer_log_likelihoods": np.zeros((3, 3), np.float32)}):
        with pytest.raises(RunError, match="cannot be read"):
            unpacked(packed_pieces([{**PIECE, **wrong}]), SCORES, 1)


@pytest.mark.parametrize("kind", [ModelError, InputError, RunError])
def test_errors_come_back_with_their_message(kind: Any) -> None:
    message = Message("There is no operation {operation!r}; there are {OPERATIONS}.", operation="x", OPERATIONS="y")
    with pytest.raises(kind) as raised:
        unpacked(packed_error(kind(message), SCORES, {}), SCORES, 1)
    assert str(raised.value) == message and raised.value.args[0].template == message.template


def test_an_error_of_any_other_class_is_one_of_the_run() -> None:
    with pytest.raises(RunError, match="ZeroDivisionError: division by zero"):
        unpacked(packed_error(ZeroDivisionError("division by zero"), SCORES, {}), SCORES, 1)
    with pytest.raises(RunError, match="not enough memory"):
        unpacked(packed_error(MemoryError(), SCORES, {"model": "m"}), SCORES, 1)


def test_a_template_that_is_not_the_engines_is_no_template() -> None:
    evil = {"$template": "{x.__class__.__init__.__globals__}", "$values": {"x": 1}}
    hidden = {"$between": " ", "$parts": ["a", evil]}
    within = {"$template": str(TOO_LONG.template), "$values": {"x": evil}}
    for stored in (evil, hidden, within):
        with pytest.raises(RunError, match="cannot be read"):
            unpacked(error(json.dumps(stored)), SCORES, 1)
        with pytest.raises(RunError, match="cannot be read"):
            unpacked(answer({}, excluded=json.dumps(stored), n_tokens=1), SCORES, 1)
    with pytest.raises(ModelError, match=r"^\{x\.__class__\}$"):  # a text stays a text
        unpacked(error("{x.__class__}"), SCORES, 1)
    with pytest.raises(ModelError, match=r"It has no token to score\. It has no token to score\."):
        unpacked(error(as_text(together(" ", [TOO_LONG, TOO_LONG]))), SCORES, 1)


class Bomb:
    """Leaves a mark where it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> Any:
        return Path.touch, (self.mark,)


def test_no_pickle_is_read(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    packed = pickle.dumps(Bomb(mark))
    framed = b"P" + struct.pack("<Q", len(packed)) + packed
    for content in (packed, framed, b"E" + packed, answer({"vectors": ["|O", [1]]}, packed)):
        with pytest.raises(RunError, match="cannot be read"):
            unpacked(content, "sentence_vectors", 1)
    assert not mark.exists()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"R",
        b"P",
        b"P123",
        b"E" + b"[" * 1_000_000,
        error("x", "SystemExit"),
        error(["x"]),
        answer({}, tokens="x"),
        answer({"vectors": ["|O", [1]]}, b"12345678", n_tokens=1),
        answer({"vectors": ["<f4", [2**62]]}, b"1234", n_tokens=1),
        answer({"vectors": ["<f4", [1]]}, np.float32("nan").tobytes(), n_tokens=1),
        answer({"vectors": ["<f4", [1]]}, bytes(4), n_tokens="1"),
        answer({"vectors": ["<f4", [1]]}, bytes(4), n_tokens=1, more={"a": []}),
        answer({}, excluded=3),
        packed_pieces([{"vectors": np.zeros((1, 2), np.float32), "n_tokens": 1}] * 2),
        b"P" + struct.pack("<QI", 4, LARGEST_TEXT + 1),
    ],
)
def test_anything_else_is_refused(content: bytes) -> None:
    with pytest.raises(RunError, match="cannot be read"):
        unpacked(content, "sentence_vectors", 1)


def test_fields_of_several_lengths_are_refused() -> None:
    short = {**PIECE, "log_likelihoods": PIECE["log_likelihoods"][:1]}  # type: ignore[index]
    with pytest.raises(RunError, match="several lengths"):
        unpacked(packed_pieces([short]), SCORES, 1)


@given(st.binary(max_size=200))
def test_any_bytes_end_in_words(content: bytes) -> None:
    for kind in (b"", b"P", b"E", b"P" + struct.pack("<QI", 60, 20)):
        with pytest.raises((RunError, ModelError, InputError)):
            unpacked(kind + content, "sentence_vectors", 1)


def test_the_fields_of_every_operation_that_asks_a_model_are_known() -> None:
    """`describe` has a check of its own; the others work on vectors and texts, or on a directory without a model."""
    without_model = {"project", "classify", "word_counts", "surface_scores", "tokenized_alone", *VECTOR_OPERATIONS}
    assert OPERATIONS.keys() - without_model - {"describe"} == _FIELDS.keys()


def test_windows_of_running_text_come_back_and_one_without_its_number_does_not() -> None:
    piece = PIECE | {"unscored_spans": np.zeros((0, 2), dtype=np.int32), "n_windows": 2}
    (back,) = unpacked(packed_pieces([piece]), "document_log_likelihoods", 1)
    assert back["n_windows"] == 2 and (back["log_likelihoods"] == piece["log_likelihoods"]).all()
    with pytest.raises(RunError, match="cannot be read"):
        unpacked(packed_pieces([piece | {"n_windows": "2"}]), "document_log_likelihoods", 1)
