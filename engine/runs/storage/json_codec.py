"""Conversion of frozen records to JSON values and back, including tuples, nested records and non-finite floats.

JSON has no tuples: they are restored by the type hints of the record. It has no NaN either: a float that is not finite
is written as {"float": "nan"}, which PostgreSQL and browsers can read too.
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
from engine.messages.earlier_texts import Earlier
from engine.messages.message import Message, is_stored, list_of, restored
from engine.options import with_current_names

Record = TypeVar("Record")

_NON_FINITE = {"nan", "inf", "-inf"}


def to_json_value(value: Any) -> Any:
    """`value` as dicts with str keys, lists, str, int, finite float, bool and None.

    Records become dicts of their fields, tuples become lists, numpy scalars their Python value. Raises
    TypeError for values that JSON cannot represent (tables, arrays, sets, objects, keys that are not str).

    >>> to_json_value({"layers": (1, 2), "score": float("nan")})
    {'layers': [1, 2], 'score': {'float': 'nan'}}
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, Message) and value.values:
        return value.stored()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": repr(value)}
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, tuple | list):
        return [to_json_value(item) for item in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: to_json_value(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise TypeError(f"JSON keys are str; got {key!r} ({type(key).__name__}).")
        return {key: to_json_value(item) for key, item in value.items()}
    raise TypeError(f"A value of type {type(value).__name__} cannot be written as JSON.")


def texts_of(value: Any) -> Iterator[str]:
    """Every text in a JSON value, at any depth."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from texts_of(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from texts_of(item)


def record_from_json(
    record_type: type[Record],
    stored: Mapping[str, Any],
    subject: str = Message("settings"),
    *,
    extra_fields: Mapping[str, Any] | None = None,
) -> Record:
    """The record of `record_type` that `to_json_value` wrote; missing fields take their defaults,
    and settings under a former name are read as what they are now.

    `extra_fields`: values of fields that are stored elsewhere (tables, arrays), used unchanged. A record type may have
    a function `upgraded` from the values of earlier versions to those of today. Raises InputError, with
    `subject` and the field in its message, when the values come from another version (an unknown field, or a required
    one missing) or do not match the type hints of the record.
    """
    if not isinstance(stored, Mapping):
        raise InputError(
            Message("The {subject} should be a set of named fields; got {stored!r}.", subject=subject, stored=stored)
        )
    stored = with_current_names(record_type, stored)
    if (upgraded := getattr(record_type, "upgraded", None)) is not None:
        stored = upgraded(stored)
    fields = {field.name: field for field in dataclasses.fields(record_type)}  # type: ignore[arg-type]
    extra_fields = extra_fields or {}
    unknown = sorted({*stored, *extra_fields} - set(fields))
    if unknown:
        raise InputError(
            Message(
                "The {subject} hold {unknown}, which this version does not know; they were made by "
                "another version. Known here: {fields}.",
                subject=subject,
                unknown=list_of(map(repr, unknown)),
                fields=list_of(fields),
            )
        )
    required = [
        name
        for name, field in fields.items()
        if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
    ]
    missing = [name for name in required if name not in stored and name not in extra_fields]
    if missing:
        raise InputError(
            Message(
                "The {subject} lack {missing}, which this version needs.",
                subject=subject,
                missing=list_of(map(repr, missing)),
            )
        )
    hints = _hints(record_type)  # type: ignore[arg-type]
    restored = {
        name: restore_value(hints[name], value, Message("{subject}: {name}", subject=subject, name=name))
        for name, value in stored.items()
    }
    return record_type(**restored, **extra_fields)


def restore_value(hint: Any, value: Any, subject: str) -> Any:
    """`value`, as `to_json_value` wrote it, converted to the type of `hint`.

    Raises InputError, with `subject` in its message, when it does not match.
    """
    if is_stored(value):
        value = restored(value)
    elif _is_non_finite(value):
        value = float(value["float"])
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        return _restore_union(get_args(hint), value, subject)
    if origin is Literal:
        return _require(value in get_args(hint), hint, value, subject)
    if hint in (Any, object):
        return _restore_untyped(value)
    if dataclasses.is_dataclass(hint):
        return record_from_json(hint, value, subject)  # type: ignore[arg-type]
    kind = origin or hint
    if kind is Message and type(value) is str:
        return Earlier(value)
    if kind is tuple:
        return tuple(_restore_items(get_args(hint), _require(isinstance(value, list), hint, value, subject), subject))
    if kind in (list, Sequence):
        inner = (get_args(hint) or (Any,))[0]
        items = _require(isinstance(value, list), hint, value, subject)
        return [restore_value(inner, item, subject) for item in items]
    if kind in (dict, Mapping):
        inner = (get_args(hint) or (str, Any))[1]
        _require(isinstance(value, Mapping), hint, value, subject)
        return {key: restore_value(inner, item, f"{subject}: {key}") for key, item in value.items()}
    if kind is float:
        return float(_require(isinstance(value, int | float) and not isinstance(value, bool), hint, value, subject))
    if kind is int:
        return _require(isinstance(value, int) and not isinstance(value, bool), hint, value, subject)
    if kind is Path:
        return Path(_require(isinstance(value, str), hint, value, subject))
    return _require(isinstance(value, kind), hint, value, subject)


@cache
def _hints(record_type: type[Any]) -> dict[str, Any]:
    return get_type_hints(record_type)


def _restore_items(hints: tuple[Any, ...], items: list[Any], subject: str) -> list[Any]:
    if not hints:
        return [_restore_untyped(item) for item in items]
    if len(hints) == 2 and hints[1] is Ellipsis:
        return [restore_value(hints[0], item, subject) for item in items]
    if len(hints) != len(items):
        raise InputError(
            Message(
                "The {subject} should hold {hints} values; got {items}.",
                subject=subject,
                hints=len(hints),
                items=len(items),
            )
        )
    return [restore_value(hint, item, subject) for hint, item in zip(hints, items, strict=True)]


def _restore_union(hints: tuple[Any, ...], value: Any, subject: str) -> Any:
    if value is None and type(None) in hints:
        return None
    failures = []
    for hint in hints:
        try:
            return restore_value(hint, value, subject)
        except InputError as error:
            failures.append(error)
    raise failures[0]


def _restore_untyped(value: Any) -> Any:
    if is_stored(value):
        return restored(value)
    if isinstance(value, list):
        return [_restore_untyped(item) for item in value]
    if _is_non_finite(value):
        return float(value["float"])
    if isinstance(value, Mapping):
        return {key: _restore_untyped(item) for key, item in value.items()}
    return value


def _is_non_finite(value: Any) -> bool:
    return isinstance(value, Mapping) and len(value) == 1 and value.get("float") in _NON_FINITE


def _require(is_valid: bool, hint: Any, value: Any, subject: str) -> Any:
    if not is_valid:
        name = getattr(hint, "__name__", str(hint))
        raise InputError(
            Message("The {subject} should be of type {name}; got {value!r}.", subject=subject, name=name, value=value)
        )
    return value
