"""Frozen records to JSON-able values and back: tuples, nested records and non-finite floats survive.

JSON knows no tuple, so the type hints of the record say where one was; it knows no NaN either, so a
float that is not finite is written as {"float": "nan"}, which PostgreSQL and browsers read too.
"""

from __future__ import annotations

import dataclasses
import math
import types
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from engine.errors import InputError

Record = TypeVar("Record")

_NON_FINITE = {"nan", "inf", "-inf"}


def to_plain(value: Any) -> Any:
    """`value` in dicts with str keys, lists, str, int, finite float, bool and None.

    Records become dicts of their fields, tuples become lists, numpy scalars their Python value. Raises
    TypeError for what JSON cannot hold (tables, arrays, sets, objects, keys that are not str).

    >>> to_plain({"layers": (1, 2), "score": float("nan")})
    {'layers': [1, 2], 'score': {'float': 'nan'}}
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": repr(value)}
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, tuple | list):
        return [to_plain(item) for item in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: to_plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise TypeError(f"JSON keys are str; got {key!r} ({type(key).__name__}).")
        return {key: to_plain(item) for key, item in value.items()}
    raise TypeError(f"A value of type {type(value).__name__} cannot be written as JSON.")


def texts_of(value: Any) -> Iterator[str]:
    """Every text in JSON-able settings, however deep."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from texts_of(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from texts_of(item)


def from_plain(record_type: type[Record], plain: Mapping[str, Any], what: str = "settings", *,
               given: Mapping[str, Any] | None = None) -> Record:
    """The record of `record_type` that `to_plain` wrote; fields that are missing take their default.

    `given` are fields that were kept apart (tables, arrays) and go in as they are. Raises InputError, naming
    the field and starting with `what`, when the values come from another version (a field unknown here, a
    required one missing) or have another type than the record's hints.
    """
    if not isinstance(plain, Mapping):
        raise InputError(f"The {what} should be a set of named fields; got {plain!r}.")
    fields = {field.name: field for field in dataclasses.fields(record_type)}  # type: ignore[arg-type]
    given = given or {}
    unknown = sorted({*plain, *given} - set(fields))
    if unknown:
        raise InputError(f"The {what} hold {', '.join(map(repr, unknown))}, which this version does not know; they "
                         f"were made by another version. Known here: {', '.join(fields)}.")
    required = [name for name, field in fields.items()
                if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING]
    missing = [name for name in required if name not in plain and name not in given]
    if missing:
        raise InputError(f"The {what} lack {', '.join(map(repr, missing))}, which this version needs.")
    hints = _hints(record_type)  # type: ignore[arg-type]
    restored = {name: restore(hints[name], value, f"{what}: {name}") for name, value in plain.items()}
    return record_type(**restored, **given)


def restore(hint: Any, value: Any, what: str) -> Any:
    """`value`, as `to_plain` left it, in the shape of the type hint `hint`.

    Raises InputError, starting with `what`, when it does not fit.
    """
    if _is_non_finite(value):
        value = float(value["float"])
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        return _restore_union(get_args(hint), value, what)
    if origin is Literal:
        return _checked(value in get_args(hint), hint, value, what)
    if hint in (Any, object):
        return _restore_untyped(value)
    if dataclasses.is_dataclass(hint):
        return from_plain(hint, value, what)  # type: ignore[arg-type]
    kind = origin or hint
    if kind is tuple:
        return tuple(_restore_items(get_args(hint), _checked(isinstance(value, list), hint, value, what), what))
    if kind in (list, Sequence):
        inner = (get_args(hint) or (Any,))[0]
        return [restore(inner, item, what) for item in _checked(isinstance(value, list), hint, value, what)]
    if kind in (dict, Mapping):
        inner = (get_args(hint) or (str, Any))[1]
        _checked(isinstance(value, Mapping), hint, value, what)
        return {key: restore(inner, item, f"{what}: {key}") for key, item in value.items()}
    if kind is float:
        return float(_checked(isinstance(value, int | float) and not isinstance(value, bool), hint, value, what))
    if kind is int:
        return _checked(isinstance(value, int) and not isinstance(value, bool), hint, value, what)
    if kind is Path:
        return Path(_checked(isinstance(value, str), hint, value, what))
    return _checked(isinstance(value, kind), hint, value, what)


@cache
def _hints(record_type: type[Any]) -> dict[str, Any]:
    return get_type_hints(record_type)


def _restore_items(hints: tuple[Any, ...], items: list[Any], what: str) -> list[Any]:
    if not hints:
        return [_restore_untyped(item) for item in items]
    if len(hints) == 2 and hints[1] is Ellipsis:
        return [restore(hints[0], item, what) for item in items]
    if len(hints) != len(items):
        raise InputError(f"The {what} should hold {len(hints)} values; got {len(items)}.")
    return [restore(hint, item, what) for hint, item in zip(hints, items, strict=True)]


def _restore_union(hints: tuple[Any, ...], value: Any, what: str) -> Any:
    if value is None and type(None) in hints:
        return None
    failures = []
    for hint in hints:
        try:
            return restore(hint, value, what)
        except InputError as error:
            failures.append(error)
    raise failures[0]


def _restore_untyped(value: Any) -> Any:
    if isinstance(value, list):
        return [_restore_untyped(item) for item in value]
    if _is_non_finite(value):
        return float(value["float"])
    if isinstance(value, Mapping):
        return {key: _restore_untyped(item) for key, item in value.items()}
    return value


def _is_non_finite(value: Any) -> bool:
    return isinstance(value, Mapping) and len(value) == 1 and value.get("float") in _NON_FINITE


def _checked(fits: bool, hint: Any, value: Any, what: str) -> Any:
    if not fits:
        name = getattr(hint, "__name__", str(hint))
        raise InputError(f"The {what} should be of type {name}; got {value!r}.")
    return value
