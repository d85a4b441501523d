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
from engine.runs.storage.json_codec import from_plain, to_plain


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


FULL = Outer(("a", "b"), 3, "right", ((0, 2), (2, 5)), Inner("wiki", 0.5), (Inner(), Inner("novel")),
             {"a": math.inf, "b": -math.inf}, ["x"], Path("/m/本"), False, {"k": [1, None, {"z": 2.5}]})


def test_a_record_survives_json() -> None:
    text = json.dumps(to_plain(FULL), allow_nan=False)
    assert from_plain(Outer, json.loads(text)) == FULL


@given(st.tuples(st.text(), st.text()), st.none() | st.integers(),
       st.dictionaries(st.text(), st.floats(allow_nan=False)))
def test_any_record_survives_json(models: tuple[str, str], layer: int | None, by_name: dict[str, float]) -> None:
    record = Outer(models, layer, by_name=by_name)
    assert from_plain(Outer, json.loads(json.dumps(to_plain(record), allow_nan=False))) == record


def test_nan_survives_with_and_without_a_hint() -> None:
    plain = json.loads(json.dumps(to_plain(Outer((), by_name={"a": math.nan}, anything=[math.nan])), allow_nan=False))
    back = from_plain(Outer, plain)
    assert math.isnan(back.by_name["a"]) and math.isnan(back.anything[0])


def test_a_dict_with_a_field_called_float_is_no_number() -> None:
    assert from_plain(Outer, to_plain(Outer((), anything={"float": "wide"}))).anything == {"float": "wide"}


def test_numpy_scalars_become_numbers() -> None:
    plain = to_plain({"n": np.int64(3), "x": np.float32(0.5), "yes": np.bool_(True)})
    assert plain == {"n": 3, "x": 0.5, "yes": True} and [type(value) for value in plain.values()] == [int, float, bool]


def test_missing_fields_take_their_default() -> None:
    assert from_plain(Outer, {"models": ["a"]}) == Outer(("a",))


@pytest.mark.parametrize(("plain", "words"), [
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
])
def test_what_does_not_fit_is_said_and_not_a_crash(plain: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        from_plain(Outer, plain)
    assert all(word in str(caught.value) for word in words), str(caught.value)


@pytest.mark.parametrize("value", [{1: "a"}, {1, 2}, np.zeros(2), object(), Outer])
def test_what_json_cannot_hold_is_a_type_error(value: object) -> None:
    with pytest.raises(TypeError):
        to_plain({"x": value})
