from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import InputError
from engine.runs.storage.json_codec import record_from_json, to_json_value


@dataclass(frozen=True)
class Inner:
    idf: str = "none"
    threshold: float = 0.7


@dataclass(frozen=True)
class Outer:
    models: tuple[str, ...]
    layer: int | None = None
    side: Literal["left", "right"] = "left"
    spans: tuple[tuple[int, int], ...] = ()
    inner: Inner = field(default_factory=Inner)
    inners: tuple[Inner, ...] = ()
    by_name: dict[str, float] = field(default_factory=dict)
    names: list[str] = field(default_factory=list)
    path: Path | None = None
    bos: bool = True
    anything: Any = None


FULL = Outer(
    ("a", "b"),
    3,
    "right",
    ((0, 2), (2, 5)),
    Inner("wiki", 0.5),
    (Inner(), Inner("novel")),
    {"a": math.inf, "b": -math.inf},
    ["x"],
    Path("/m/本"),
    False,
    {"k": [1, None, {"z": 2.5}]},
)


def test_a_record_survives_json() -> None:
    text = json.dumps(to_json_value(FULL), allow_nan=False)
    assert record_from_json(Outer, json.loads(text)) == FULL


@given(
    st.tuples(st.text(), st.text()), st.none() | st.integers(), st.dictionaries(st.text(), st.floats(allow_nan=False))
)
def test_any_record_survives_json(models: tuple[str, str], layer: int | None, by_name: dict[str, float]) -> None:
    record = Outer(models, layer, by_name=by_name)
    assert record_from_json(Outer, json.loads(json.dumps(to_json_value(record), allow_nan=False))) == record


def test_nan_survives_with_and_without_a_hint() -> None:
    record = Outer((), by_name={"a": math.nan}, anything=[math.nan])
    stored = json.loads(json.dumps(to_json_value(record), allow_nan=False))
    restored = record_from_json(Outer, stored)
    assert math.isnan(restored.by_name["a"]) and math.isnan(restored.anything[0])


def test_a_dict_with_a_field_called_float_is_no_number() -> None:
    assert record_from_json(Outer, to_json_value(Outer((), anything={"float": "wide"}))).anything == {"float": "wide"}


def test_numpy_scalars_become_numbers() -> None:
    stored = to_json_value({"n": np.int64(3), "x": np.float32(0.5), "yes": np.bool_(True)})
    assert stored == {"n": 3, "x": 0.5, "yes": True}
    assert [type(value) for value in stored.values()] == [int, float, bool]


def test_missing_fields_take_their_default() -> None:
    assert record_from_json(Outer, {"models": ["a"]}) == Outer(("a",))


@pytest.mark.parametrize(
    ("stored", "words"),
    [
        ({"models": ["a"], "poolng": "cls"}, ["'poolng'", "another version", "layer"]),
        ({}, ["lack 'models'"]),
        ({"models": "a"}, ["settings: models", "tuple"]),
        ({"models": [1]}, ["settings: models", "str", "1"]),
        ({"models": [], "layer": "last"}, ["settings: layer", "int", "'last'"]),
        ({"models": [], "layer": True}, ["settings: layer", "int"]),
        ({"models": [], "bos": 1}, ["settings: bos", "bool"]),
        ({"models": [], "side": "up"}, ["settings: side", "'up'"]),
        ({"models": [], "spans": [[1, 2, 3]]}, ["settings: spans", "2 values"]),
        ({"models": [], "by_name": {"a": "x"}}, ["settings: by_name: a", "float"]),
        ({"models": [], "inner": {"idff": "x"}}, ["settings: inner", "'idff'"]),
        ({"models": [], "inner": 3}, ["settings: inner", "3"]),
    ],
)
def test_what_does_not_fit_is_said_and_not_a_crash(stored: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        record_from_json(Outer, stored)
    assert all(word in str(caught.value) for word in words), str(caught.value)


@pytest.mark.parametrize("value", [{1: "a"}, {1, 2}, np.zeros(2), object(), Outer])
def test_what_json_cannot_hold_is_a_type_error(value: object) -> None:
    with pytest.raises(TypeError):
        to_json_value({"x": value})
